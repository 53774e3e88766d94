package config

import (
	"strings"
	"time"
)

// key is one setting: the whole of what is known about it.
type key struct {
	name    string // section.name, as errors and the manual write it
	initial string // the default as text; empty: derived, or nothing
	example string // what the written file shows where initial is empty
	flag    string // the flag that sets it, with its dashes
	envToo  string // a variable beside the systematic one, which it beats
	rule    rule
	doc     string // for the written file
}

const (
	day  = 24 * time.Hour
	year = 365 * day
)

// keys is the table of every setting but the sources.
var keys = []key{
	{
		name: "data_dir", example: "/var/lib/hookd", flag: "--data-dir", rule: path(),
		doc: "Where the database and the master key live. A user's default is $XDG_STATE_HOME/hookd (~/.local/state/hookd), root's is /var/lib/hookd.",
	},
	{
		name: "control.socket", example: "/run/hookd/hookd.sock", flag: "--socket", envToo: "HOOKD_SOCKET", rule: socketPath(),
		doc: "The socket that hookctl talks to. Default: $XDG_RUNTIME_DIR/hookd/hookd.sock for a user, /run/hookd/hookd.sock for root or where that variable is not set. hookctl does not read this file: tell it another place with --socket or HOOKD_SOCKET, which hookd obeys too.",
	},
	{
		name: "control.socket_mode", initial: "0660", rule: fileMode(),
		doc: "Who may write to the socket has the owner's rights over hookd: subscriptions, secrets, payloads.",
	},
	{
		name: "control.socket_group", example: "hookd", rule: text("a group's name or number"),
		doc: "The group of the socket. Default: that of the process.",
	},
	{
		name: "delivery.retry", initial: "tiers:0s,1s,5s,30s,5m,30m,2h", rule: text("a retry policy"),
		doc: "Attempt n is due the n-th delay after attempt n-1 ended; after the last one the event is a dead letter.",
	},
	{
		name: "delivery.jitter", initial: "0.1", rule: fraction(0, 1),
		doc: "A delay is stretched at random by up to this part of it, never shortened.",
	},
	{
		name: "delivery.timeout", initial: "15s", rule: duration(time.Millisecond, 5*time.Minute),
		doc: "How long one attempt may take, from looking up the name to the end of the response's headers.",
	},
	{
		name: "delivery.retry_after_cap", initial: "24h", rule: duration(0, year),
		doc: "The longest wait that a receiver can ask for with Retry-After.",
	},
	{
		name: "delivery.max_in_flight", initial: "1024", rule: integer(1, 65536),
		doc: "Attempts at the same time, over all subscriptions.",
	},
	{
		name: "delivery.max_in_flight_per_host", initial: "64", rule: integer(1, 65536),
		doc: "Attempts at the same time to one host.",
	},
	{
		name: "delivery.max_consecutive_failures", initial: "50", rule: integer(0, 1_000_000),
		doc: "A subscription is disabled after so many counted failures in a row; 0 means never.",
	},
	{
		name: "delivery.shutdown_timeout", initial: "10s", rule: duration(0, time.Hour),
		doc: "How long attempts in flight may go on after hookd was told to stop.",
	},
	{
		name: "egress.allow_http", initial: "false", rule: boolean(),
		doc: "Whether subscriptions may have http URLs, whose requests anyone on the way can read.",
	},
	{
		name: "egress.allowed_hosts", initial: "*", rule: listOf(`hosts, such as ["*.example.com", "example.org:8443"]`),
		doc: "Hosts that subscriptions may name: \"*\", \"host\", \"host:port\", \"*.example.com\" (not example.com itself). Without a port it means 443, with allow_http also 80.",
	},
	{
		name: "egress.allow_private", rule: listOf(`hosts, addresses or CIDRs, such as ["10.1.2.0/24"]`),
		doc: "Targets that are allowed although their addresses are not public: \"host\", \"host:port\", an address or a CIDR.",
	},
	{
		name: "egress.ca_file", example: "/etc/hookd/ca.pem", rule: path(),
		doc: "Certificates (PEM) that are trusted beside the system's.",
	},
	{
		name: "signing.overlap", initial: "24h", rule: duration(0, year),
		doc: "How long the old secret still signs after a rotation, unless the rotation says otherwise.",
	},
	{
		name: "signing.master_key_file", example: "/var/lib/hookd/master.key", rule: path(),
		doc: "The key that protects every secret at rest. Default: $CREDENTIALS_DIRECTORY/hookd-master-key where systemd provides it, else master.key in data_dir.",
	},
	{
		name: "limits.event_bytes", initial: "64KiB", rule: size(1<<10, 1<<20),
		doc: "The longest event line, and the longest body made of one. Many receivers stop at 64 KiB.",
	},
	{
		name: "log.level", initial: "info", flag: "--log-level", rule: logLevel(),
		doc: "The least important level that is logged: debug, info, warn or error.",
	},
	{
		name: "log.format", initial: FormatText, flag: "--log-format", rule: oneOf(FormatText, FormatJSON),
		doc: "text (key=value) or json (one object a line).",
	},
}

// sourceKeys is the table of what one [[source]] may say. Its names have no
// section: errors write source.NAME.
var sourceKeys = []key{
	{
		name: "name", example: "app", rule: sourceName(),
		doc: "What commands and logs call the source. Default: the path. Ids of events that bring none are made from it.",
	},
	{
		name: "kind", example: KindFile, rule: sourceKind(),
		doc: "Required. \"file\": follow a file of event lines, over rotations.",
	},
	{
		name: "path", example: "/var/log/app/events.ndjson", rule: path(),
		doc: "Required. The file; it need not exist yet.",
	},
	{
		name: "start", initial: StartBeginning, rule: oneOf(StartBeginning, StartEnd),
		doc: "Where reading starts the first time the file is met: \"beginning\" or \"end\".",
	},
}

// env is the variable that sets the key.
func (k key) env() string {
	return "HOOKD_" + strings.ToUpper(strings.ReplaceAll(k.name, ".", "_"))
}

// initialValue is the default as a Go value.
func (k key) initialValue() any {
	if k.initial == "" {
		if k.rule.list {
			return []string{}
		}
		return ""
	}
	value, _ := k.fromText(k.initial)
	return value
}

// fromText reads a value as the environment and flags write it: lists are
// separated by commas.
func (k key) fromText(text string) (value any, problem string) {
	if !k.rule.list {
		return k.rule.parse(text)
	}
	var list []string
	for entry := range strings.SplitSeq(text, ",") {
		entry = strings.TrimSpace(entry)
		if _, problem := k.rule.parse(entry); problem != "" {
			return nil, problem
		}
		list = append(list, entry)
	}
	return list, ""
}

// fromTOML reads a value as go-toml decodes it.
func (k key) fromTOML(v any) (value any, problem string) {
	if !k.rule.list {
		return k.scalar(v)
	}
	entries, ok := v.([]any)
	if !ok {
		return nil, k.wrongType(v)
	}
	list := make([]string, 0, len(entries))
	for _, entry := range entries {
		if _, problem := k.scalar(entry); problem != "" {
			return nil, problem
		}
		list = append(list, entry.(string))
	}
	return list, ""
}

func (k key) scalar(v any) (value any, problem string) {
	for _, t := range k.rule.types {
		if t == tomlType(v) {
			return k.rule.parse(tomlText(v))
		}
	}
	return nil, k.wrongType(v)
}

func (k key) wrongType(v any) string {
	return "must be " + k.rule.want + ", not " + tomlType(v)
}

// findKey looks a name up in a table.
func findKey(table []key, name string) (key, bool) {
	for _, k := range table {
		if k.name == name {
			return k, true
		}
	}
	return key{}, false
}

// isSection tells whether keys begin with the name and a dot.
func isSection(name string) bool {
	for _, k := range keys {
		if strings.HasPrefix(k.name, name+".") {
			return true
		}
	}
	return false
}
