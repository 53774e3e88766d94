package config

import (
	"errors"
	"strings"
	"testing"
)

// TestMistakes pins what a user reads. FILE stands for the path of the file.
func TestMistakes(t *testing.T) {
	long := "/" + strings.Repeat("s", MaxSocketPath)
	for _, c := range []struct {
		name, file string
		env        []string
		flags      map[string]string
		sources    []string
		want       string
	}{
		{name: "unknown key", file: "\n\n[delivery]\nretri = \"tiers:1s\"", want: `FILE:4: delivery.retri: no key has this name`},
		{name: "unknown key at the top", file: "datadir = 1", want: `FILE:1: datadir: no key has this name`},
		{name: "another case", file: "Data_Dir = \"/d\"", want: `FILE:1: Data_Dir: no key has this name`},
		{name: "unknown section", file: "[log]\n[public]\nlisten = \"x\"", want: `FILE:2: public: no section has this name`},
		{name: "quoted dots are no section", file: `"log.level" = "info"`, want: `FILE:1: "log.level": no key has this name`},
		{name: "control characters in a key", file: `"a\u001b[2J" = 1`, want: `FILE:1: "a\x1b[2J": no key has this name`},
		{name: "section without a table", file: "log = 1", want: `FILE:1: log: must be a table, not an integer`},
		{
			name: "key with a table", file: "[delivery.timeout]\nx = 1",
			want: `FILE:1: delivery.timeout: must be a duration from 1ms to 5m, written like "1m30s", not a table`,
		},
		{
			name: "duration as a number", file: "delivery = {jitter = 0.5, timeout = 15}",
			want: `FILE:1: delivery.timeout: must be a duration from 1ms to 5m, written like "1m30s", not an integer`,
		},
		{
			name: "duration without a unit", env: []string{"HOOKD_DELIVERY_TIMEOUT=15"},
			want: `HOOKD_DELIVERY_TIMEOUT: delivery.timeout: must be a duration from 1ms to 5m, written like "1m30s"`,
		},
		{
			name: "duration out of bounds", file: "delivery.timeout = \"301s\"",
			want: `FILE:1: delivery.timeout: must be a duration from 1ms to 5m, written like "1m30s"`,
		},
		{
			name: "negative duration", file: "signing.overlap = \"-1s\"",
			want: `FILE:1: signing.overlap: must be a duration from 0s to 8760h, written like "1m30s"`,
		},
		{name: "number too large", file: "delivery.jitter = 1.1", want: `FILE:1: delivery.jitter: must be a number from 0 to 1`},
		{name: "no number", file: "delivery.jitter = nan", want: `FILE:1: delivery.jitter: must be a number from 0 to 1`},
		{name: "number as text", file: "delivery.jitter = \"0.1\"", want: `FILE:1: delivery.jitter: must be a number from 0 to 1, not text`},
		{
			name: "whole number out of bounds", file: "delivery.max_in_flight = 0",
			want: `FILE:1: delivery.max_in_flight: must be a whole number from 1 to 65536`,
		},
		{
			name: "whole number wanted", file: "delivery.max_in_flight = 1.0",
			want: `FILE:1: delivery.max_in_flight: must be a whole number from 1 to 65536, not a number`,
		},
		{
			name: "integer that overflows", env: []string{"HOOKD_DELIVERY_MAX_IN_FLIGHT=99999999999999999999"},
			want: `HOOKD_DELIVERY_MAX_IN_FLIGHT: delivery.max_in_flight: must be a whole number from 1 to 65536`,
		},
		{name: "boolean as text", file: "egress.allow_http = \"yes\"", want: `FILE:1: egress.allow_http: must be true or false, not text`},
		{
			name: "boolean in the environment", env: []string{"HOOKD_EGRESS_ALLOW_HTTP=1"},
			want: `HOOKD_EGRESS_ALLOW_HTTP: egress.allow_http: must be true or false`,
		},
		{
			name: "size too small", file: "limits.event_bytes = 1023",
			want: `FILE:1: limits.event_bytes: must be a size from 1KiB to 1MiB, in bytes or written like "64KiB"`,
		},
		{
			name: "size that overflows", file: "limits.event_bytes = \"9223372036854775807MiB\"",
			want: `FILE:1: limits.event_bytes: must be a size from 1KiB to 1MiB, in bytes or written like "64KiB"`,
		},
		{
			name: "decimal unit", file: "limits.event_bytes = \"64KB\"",
			want: `FILE:1: limits.event_bytes: must be a size from 1KiB to 1MiB, in bytes or written like "64KiB"`,
		},
		{
			name: "mode as a number", file: "control.socket_mode = 0o660",
			want: `FILE:1: control.socket_mode: must be an octal file mode in quotes, from "0600" to "0777", that lets the owner read and write, not an integer`,
		},
		{
			name: "mode that locks the owner out", file: "control.socket_mode = \"0060\"",
			want: `FILE:1: control.socket_mode: must be an octal file mode in quotes, from "0600" to "0777", that lets the owner read and write`,
		},
		{name: "unknown word", file: "log.level = \"loud\"", want: `FILE:1: log.level: must be "debug", "info", "warn" or "error"`},
		{name: "word of a flag", flags: map[string]string{"log.format": "xml"}, want: `--log-format: log.format: must be "text" or "json"`},
		{name: "date", file: "log.level = 2026-11-30", want: `FILE:1: log.level: must be "debug", "info", "warn" or "error", not a date or time`},
		{name: "empty path", file: "data_dir = \"\"", want: `FILE:1: data_dir: must be a path, in UTF-8 and without a zero byte`},
		{name: "empty flag", flags: map[string]string{"data_dir": ""}, want: `--data-dir: data_dir: must be a path, in UTF-8 and without a zero byte`},
		{
			name: "list as text", file: "egress.allowed_hosts = \"*\"",
			want: `FILE:1: egress.allowed_hosts: must be a list of hosts, such as ["*.example.com", "example.org:8443"], not text`,
		},
		{
			name: "list of numbers", file: "egress.allow_private = [1]",
			want: `FILE:1: egress.allow_private: must be a list of hosts, addresses or CIDRs, such as ["10.1.2.0/24"], not an integer`,
		},
		{
			name: "empty entry", env: []string{"HOOKD_EGRESS_ALLOWED_HOSTS=a,,b"},
			want: `HOOKD_EGRESS_ALLOWED_HOSTS: egress.allowed_hosts: must be a list of hosts, such as ["*.example.com", "example.org:8443"]`,
		},
		{name: "unknown variable", env: []string{"HOOKD_DATADIR=/d", "HOOKD_EMPTY="}, want: `HOOKD_DATADIR: no key has this variable`},
		{
			name: "source as a variable", env: []string{"HOOKD_SOURCE=file:x"},
			want: `HOOKD_SOURCE: source: must be given in the file ([[source]]) or with --source, not by a variable`,
		},
		{name: "unknown flag key", flags: map[string]string{"no.such": "1"}, want: `flag: no.such: no key has this name`},
		{
			name: "syntax", file: "[log]\nlevel = info",
			want: `FILE:2: not valid TOML: expected newline but got U+006F 'o'`,
		},
		{name: "table twice", file: "[log]\n\n[egress]\n[log]\n[delivery]\nretry = \"\"\"\n\"\"\"\n", want: `FILE:4: not valid TOML: table log already exists`},
		{name: "key twice before another mistake", file: "data_dir = \"x\"\ndata_dir = \"y\"\n]", want: `FILE:2: not valid TOML: key data_dir is already defined`},
		{name: "key twice", file: "[log]\nlevel = \"info\"\nlevel = \"warn\"", want: `FILE:3: not valid TOML: key level is already defined`},
		{
			name: "socket path too long", file: "control.socket = \"" + long + "\"",
			want: `FILE:1: control.socket: "` + long + `" has 108 bytes, a socket's path at most 107: set a shorter one with --socket, HOOKD_SOCKET or control.socket`,
		},
		{name: "abstract socket", env: []string{"HOOKD_SOCKET=@hookd"}, want: `HOOKD_SOCKET: control.socket: must be a file and cannot begin with @`},
		{name: "socket that is a directory", flags: map[string]string{"control.socket": "/run/"}, want: `--socket: control.socket: must be a file, not a directory`},
		{
			name: "several, in the order of their places",
			file: "[log]\nlevel = 1\n[egress]\nallow = true\n[delivery]\njitter = 2\n", env: []string{"HOOKD_X=1", "HOOKD_LOG_FORMAT=x"},
			flags: map[string]string{"log.level": "x"}, sources: []string{"x"},
			want: `FILE:2: log.level: must be "debug", "info", "warn" or "error", not an integer
FILE:4: egress.allow: no key has this name
FILE:6: delivery.jitter: must be a number from 0 to 1
HOOKD_LOG_FORMAT: log.format: must be "text" or "json"
HOOKD_X: no key has this variable
--log-level: log.level: must be "debug", "info", "warn" or "error"
--source: source: must be KIND:WHERE; the kind there is: file:PATH`,
		},
		{
			name: "a beaten value is checked too", file: "log.level = \"x\"", flags: map[string]string{"log.level": "info"},
			want: `FILE:1: log.level: must be "debug", "info", "warn" or "error"`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, path, err := loadText(t, c.file, Options{Env: user(t, c.env...), Flags: c.flags, Sources: c.sources})
			if err == nil {
				t.Fatalf("accepted: %+v", got)
			}
			if _, ok := errors.AsType[*Error](err); !ok {
				t.Errorf("error has type %T", err)
			}
			if text := strings.ReplaceAll(err.Error(), path, "FILE"); text != c.want {
				t.Errorf("got:\n%s\nwant:\n%s", text, c.want)
			}
		})
	}
}

func TestSocketPathBounds(t *testing.T) {
	dir := "/with a space/"
	for _, length := range []int{MaxSocketPath, MaxSocketPath + 1, 200} {
		path := dir + strings.Repeat("s", length-len(dir))
		c, _, err := loadText(t, "", Options{Flags: map[string]string{"control.socket": path}})
		if refused := err != nil; refused != (length > MaxSocketPath) {
			t.Errorf("%d bytes: %v", length, err)
		}
		if err == nil && c.Control.Socket != path {
			t.Errorf("got %q", c.Control.Socket)
		}
	}
	if MaxSocketPath != 107 {
		t.Errorf("limit is %d; on Linux it is 107", MaxSocketPath)
	}
}
