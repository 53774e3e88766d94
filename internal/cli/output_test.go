package cli

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"

	"gopkg.in/yaml.v3"

	"hookd/internal/control"
)

var emptyLists = map[string]string{
	"sub list": "GET /v1/subscriptions", "event list": "GET /v1/events", "delivery list": "GET /v1/deliveries",
	"dlq list": "GET /v1/dead-letters", "source list": "GET /v1/sources", "quarantine list": "GET /v1/quarantine",
}

func TestEmptyLists(t *testing.T) {
	for command, route := range emptyLists {
		f := serve(t, map[string]http.HandlerFunc{route: answer(json.RawMessage(`{"items":[]}`))})
		for format, want := range map[string]string{"json": "[]\n", "jsonl": "", "yaml": "[]\n", "tsv": "", "table": ""} {
			r := f.run(pipe, append(strings.Fields(command), "-o", format)...)
			if r.code != 0 || r.stdout != want {
				t.Errorf("%s -o %s: exit %d, %q", command, format, r.code, r.stdout)
			}
			if hint := format == "tsv" || format == "table"; hint != (r.stderr != "") {
				t.Errorf("%s -o %s: stderr %q", command, format, r.stderr)
			}
		}
	}
}

func TestJQ(t *testing.T) {
	f := serve(t, routes())
	tests := []struct {
		args []string
		want string
	}{
		{[]string{"sub", "list", "--jq", ".[].name"}, "日本語のフック\norders\n"},
		{[]string{"sub", "list", "-o", "jsonl", "--jq", ".state"}, "disabled\nactive\n"},
		{[]string{"event", "show", "42", "--jq", ".body.n, .body.big, .body.one, .body.zero"}, "9007199254740993\n1e400\n1.0\n-0\n"},
		{[]string{"event", "show", "42", "--jq", ".body.n + 1"}, "9007199254740994\n"},
		{[]string{"event", "show", "42", "--jq", ".body | {n, url}"}, `{"n":9007199254740993,"url":"https://example.com/?a=1&b=<2>"}` + "\n"},
		{[]string{"sub", "list", "--jq", "map(select(.pending > 100))"}, "[]\n"},
		{[]string{"sub", "list", "--jq", "empty"}, ""},
		{[]string{"status", "--jq", ".healthy"}, "true\n"},
		{[]string{"status", "--jq", "env | length"}, "0\n"},
	}
	for _, tt := range tests {
		r := f.run(pipe, tt.args...)
		if r.code != 0 || r.stdout != tt.want {
			t.Errorf("%q: exit %d, %q, %s", tt.args, r.code, r.stdout, r.stderr)
		}
	}
	for _, tt := range []struct {
		args []string
		code int
	}{
		{[]string{"sub", "list", "--jq", ".["}, 2},
		{[]string{"sub", "list", "--jq", "nofunction"}, 2},
		{[]string{"sub", "list", "--jq", ".name"}, 1},
		{[]string{"sub", "list", "--jq", ".", "-o", "yaml"}, 2},
		{[]string{"sub", "list", "--jq", ".", "-o", "table"}, 2},
	} {
		r := f.run(pipe, tt.args...)
		if r.code != tt.code || r.stdout != "" {
			t.Errorf("%q: exit %d, stdout %q, %s", tt.args, r.code, r.stdout, r.stderr)
		}
	}
	// A string goes to a terminal without what would steer it.
	if r := f.run(terminal, "event", "show", "42", "--jq", ".body.evil"); strings.Contains(r.stdout, "\x1b") || !strings.Contains(r.stdout, `\x1b[2J`) {
		t.Errorf("on a terminal: %q", r.stdout)
	}
	if r := f.run(pipe, "event", "show", "42", "--jq", ".body.evil"); r.stdout != "\x1b[2J\u202e\n" {
		t.Errorf("in a pipe: %q", r.stdout)
	}
}

// YAML must say the same as JSON, whatever the strings look like.
func TestYAMLKeepsValues(t *testing.T) {
	const text = `{"a":"yes","b":"1e3","c":"","d":null,"e":"- x","f":"line\nline","g":"\u202e\u009b[m","h":"~","i":[],"j":{},` +
		`"k":true,"l":"2026-11-30","m":1.50,"n":"#x: y","null":"null","o":" pad ","p":"\"'\\"}`
	out, err := tree{raw: json.RawMessage(text)}.yaml()
	if err != nil {
		t.Fatal(err)
	}
	if strings.ContainsFunc(string(out), steers) {
		t.Errorf("it steers: %q", out)
	}
	var fromYAML, fromJSON map[string]any
	if err := yaml.Unmarshal(out, &fromYAML); err != nil {
		t.Fatalf("%v in\n%s", err, out)
	}
	if err := json.Unmarshal([]byte(text), &fromJSON); err != nil {
		t.Fatal(err)
	}
	a, _ := json.Marshal(fromYAML)
	b, _ := json.Marshal(fromJSON)
	if string(a) != string(b) {
		t.Errorf("got\n%s, want\n%s", a, b)
	}
}

type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }

func TestClosedPipeIsQuiet(t *testing.T) {
	f := serve(t, routes())
	for _, tt := range everyCommand {
		s := pipe
		s.out = failingWriter{&os.PathError{Op: "write", Path: "|1", Err: syscall.EPIPE}}
		r := f.run(s, tt.args...)
		if r.code != 0 || strings.Contains(r.stderr, "error") {
			t.Errorf("%s: exit %d, %s", tt.name, r.code, r.stderr)
		}
	}
	s := pipe
	s.out = failingWriter{errors.New("disk full")}
	if r := f.run(s, "sub", "list"); r.code != 1 || !strings.Contains(r.stderr, "disk full") {
		t.Errorf("full disk: exit %d, %s", r.code, r.stderr)
	}
}

func TestNoSecretOutsideItsTwoAnswers(t *testing.T) {
	f := serve(t, routes())
	for _, tt := range everyCommand {
		shows := tt.name == "sub-create" || tt.name == "secret-rotate"
		for _, s := range []setting{terminal, pipe} {
			r := f.run(s, tt.args...)
			if got := strings.Contains(r.stdout, testSecret); got != shows {
				t.Errorf("%s: secret on stdout %v", tt.name, got)
			}
			if strings.Contains(r.stderr, "whsec_") {
				t.Errorf("%s: secret on stderr", tt.name)
			}
		}
	}
}

func TestStatusDegraded(t *testing.T) {
	broken := control.Status{
		Version: "1", Problems: []control.Trouble{{Code: "source_failed", Message: "no permission", Source: "events.log"}},
		Pending: 3, OldestPendingAgeS: 90,
		Disabled: []control.DisabledSubscription{{Name: "orders", Cause: "gone", DisabledAt: ago(60e9)}},
		Blocked:  []control.BlockedSubscription{{Name: "slow", Head: *blockedSub.Head}},
	}
	f := serve(t, map[string]http.HandlerFunc{"GET /v1/status": answer(broken)})
	r := f.run(terminal, "status")
	if r.code != control.ExitDegraded {
		t.Errorf("exit %d", r.code)
	}
	for _, part := range []string{"degraded", "source_failed no permission (events.log)", "3, oldest 1m30s", "orders  gone", "slow"} {
		if !strings.Contains(r.stdout, part) {
			t.Errorf("%q is not in\n%s", part, r.stdout)
		}
	}
	r = f.run(pipe, "status", "-o", "json")
	var got control.Status
	if err := json.Unmarshal([]byte(r.stdout), &got); err != nil || r.code != control.ExitDegraded || len(got.Problems) != 1 {
		t.Errorf("exit %d, %v, %s", r.code, err, r.stdout)
	}
}
