package cli

import (
	"context"
	"encoding/json"
	"net/http"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"hookd/internal/control"
)

func TestUsageErrors(t *testing.T) {
	f := serve(t, routes())
	tests := []struct {
		args string
		want []string // parts of stderr
	}{
		{"lst", []string{`unknown command "lst"`, "hint:"}},
		{"subs", []string{`unknown command "subs"`, "did you mean sub?"}},
		{"sub lst", []string{`hookctl sub: unknown command "lst"`, "did you mean list?"}},
		{"sub lst --limit 5", []string{`unknown command "lst"`}},
		{"sub list --limt 5", []string{"unknown flag: --limt", "did you mean --limit?"}},
		{"sub list --xyzzyx", []string{"unknown flag: --xyzzyx", "--help lists the flags"}},
		{"sub list -q", []string{"unknown shorthand flag"}},
		{"sub list extra", []string{`argument "extra" is too many`, "usage: hookctl sub list"}},
		{"sub show", []string{"SUB is missing", "usage: hookctl sub show SUB"}},
		{"sub list -o xml", []string{"must be one of table, tsv, json, jsonl, yaml"}},
		{"sub list --color pink", []string{"must be one of auto, always, never"}},
		{"sub list --limit 0", []string{"--limit 0: it must be from 1 to 1000"}},
		{"sub list --limit 1001", []string{"--limit 1001"}},
		{"sub list --limit ten", []string{"--limit"}},
		{"sub list --state asleep", []string{"must be one of active, paused, disabled"}},
		{"event list --since yesterday", []string{"RFC 3339"}},
		{"event list --until -2h", []string{"RFC 3339"}},
		{"delivery list --status gone", []string{"must be one of pending"}},
		{"delivery show orders", []string{"is not SUBSCRIPTION/SEQ"}},
		{"delivery show orders/x", []string{`"x" is not a seq`}},
		{"dlq show seven", []string{`id "seven"`}},
		{"dlq replay", []string{"ids, --sub, --since or --all"}},
		{"dlq replay 7 --all", []string{"cannot be combined"}},
		{"dlq replay --sub orders --all", []string{"cannot be combined"}},
		{"dlq replay x", []string{`id "x"`}},
		{"quarantine show -1", []string{"unknown shorthand flag"}},
		{"secret rotate orders --overlap -1h", []string{"--overlap -1h0m0s: it must not be negative"}},
		{"secret rotate orders --overlap soon", []string{"--overlap"}},
		{"sub create https://example.com/ --timeout 0s", []string{"--timeout 0s: it must be above 0s"}},
		{"sub create https://example.com/ --max-failures -1", []string{"--max-failures -1"}},
		{"wait", []string{"one of --idle, --delivered and --state"}},
		{"wait --idle --state paused", []string{"one of --idle"}},
		{"wait --idle --timeout -1s", []string{"must not be negative"}},
		{"listen --addr 0.0.0.0:0", []string{"must be a loopback address"}},
		{"listen --addr example.com:80", []string{"must be a loopback address"}},
		{"listen --addr 127.0.0.1", []string{"is not ADDRESS:PORT"}},
		{"listen --addr 127.0.0.1:http", []string{"port"}},
		{"listen --status 101", []string{"from 200 to 599"}},
		{"listen --fail -1", []string{"--fail -1"}},
		{"listen --count -1", []string{"--count -1"}},
		{"listen -o yaml", []string{"not yaml"}},
		{"completion tcsh", []string{"one of bash, zsh, fish, powershell"}},
		{"help nothing", []string{`unknown command "nothing"`}},
		{"help sub nothing", []string{`unknown command "nothing"`}},
	}
	for _, tt := range tests {
		r := f.run(pipe, strings.Fields(tt.args)...)
		if r.code != control.ExitUsage || r.stdout != "" {
			t.Errorf("%s: exit %d, stdout %q", tt.args, r.code, r.stdout)
		}
		if !strings.HasPrefix(r.stderr, "hookctl: error: ") {
			t.Errorf("%s: stderr %q", tt.args, r.stderr)
		}
		for _, part := range tt.want {
			if !strings.Contains(r.stderr, part) {
				t.Errorf("%s: %q is not in %q", tt.args, part, r.stderr)
			}
		}
	}
	if asked := f.asked(); len(asked) != 0 {
		t.Errorf("the daemon was asked: %q", asked)
	}
}

func lastLine(s string) string {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	return lines[len(lines)-1]
}

func TestDaemonErrors(t *testing.T) {
	tests := []struct {
		code control.Code
		exit int
	}{
		{control.CodeNotFound, 4},
		{control.CodeConflict, 5},
		{control.CodeAmbiguous, 5},
		{control.CodeRefused, 5},
		{control.CodeNameTaken, 5},
		{control.CodeAddressBlocked, 5},
		{control.CodeInvalidRequest, 2},
		{control.CodeInternal, 1},
		{control.CodeStoreFull, 1},
	}
	for _, tt := range tests {
		problem := control.NewProblem(tt.code, "because\x1b[2J").WithHint("do otherwise")
		f := serve(t, map[string]http.HandlerFunc{"/": refuse(problem)})
		for _, command := range everyCommand {
			r := f.run(pipe, append(command.args, "-o", "json")...)
			if r.code != tt.exit || r.stdout != "" {
				t.Errorf("%s, %s: exit %d, stdout %q", command.name, tt.code, r.code, r.stdout)
			}
			if !strings.Contains(r.stderr, `: because\x1b[2J`+"\nhookctl: hint: do otherwise\n") {
				t.Errorf("%s, %s: stderr %q", command.name, tt.code, r.stderr)
			}
			var got failure
			if err := json.Unmarshal([]byte(lastLine(r.stderr)), &got); err != nil {
				t.Fatalf("%s: %v in %q", command.name, err, r.stderr)
			}
			if got.Code != tt.code || got.ExitCode != tt.exit || got.Hint != "do otherwise" || !strings.HasSuffix(got.Message, ": because\x1b[2J") {
				t.Errorf("%s: got %+v", command.name, got)
			}
			if r := f.run(pipe, command.args...); strings.Contains(r.stderr, "{") {
				t.Errorf("%s: JSON without -o json: %q", command.name, r.stderr)
			}
		}
	}
}

func TestDaemonDown(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	for _, command := range everyCommand {
		r := runIn(t.Context(), pipe, append(command.args, "--socket", socket, "-o", "json")...)
		if r.code != control.ExitUnreachable || r.stdout != "" || !strings.Contains(r.stderr, socket) || !strings.Contains(r.stderr, "hint: start it") {
			t.Errorf("%s: exit %d, stdout %q, stderr %q", command.name, r.code, r.stdout, r.stderr)
		}
		if !strings.HasPrefix(lastLine(r.stderr), `{"code":"unreachable",`) {
			t.Errorf("%s: stderr %q", command.name, r.stderr)
		}
	}
}

func TestSocketFromTheEnvironment(t *testing.T) {
	f := serve(t, routes())
	t.Setenv("HOOKD_SOCKET", f.socket)
	if r := runIn(t.Context(), pipe, "source", "list"); r.code != 0 {
		t.Errorf("exit %d, %s", r.code, r.stderr)
	}
	t.Setenv("HOOKD_SOCKET", "/nobody/listens/here")
	if r := f.run(pipe, "source", "list"); r.code != 0 {
		t.Errorf("the flag does not win: exit %d, %s", r.code, r.stderr)
	}
	long := "/" + strings.Repeat("x", 200)
	t.Setenv("HOOKD_SOCKET", long)
	r := runIn(t.Context(), pipe, "source", "list")
	for _, part := range []string{long, "201 bytes", "at most 107", "HOOKD_SOCKET", "--socket"} {
		if !strings.Contains(r.stderr, part) {
			t.Errorf("%q is not in %q", part, r.stderr)
		}
	}
	if r.code != control.ExitUsage {
		t.Errorf("exit %d", r.code)
	}
}

func TestInterrupted(t *testing.T) {
	entered := make(chan struct{})
	f := serve(t, map[string]http.HandlerFunc{"/": func(_ http.ResponseWriter, r *http.Request) {
		close(entered)
		<-r.Context().Done()
	}})
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		<-entered
		cancel(errInterrupted)
	}()
	r := runIn(ctx, pipe, "wait", "--idle", "--socket", f.socket)
	if r.code != control.ExitInterrupted || r.stdout != "" {
		t.Errorf("exit %d, %q", r.code, r.stdout)
	}
}

func TestUsageErrorsAsJSON(t *testing.T) {
	tests := []struct {
		args string
		want bool
	}{
		{"sub list --bad -o json", true},
		{"sub list -o json --bad", true},
		{"sub list -ojson --bad", true},
		{"sub list -o=json --bad", true},
		{"sub list --output=json --bad", true},
		{"sub list --output json --bad", true},
		{"sub list --bad -o yaml", false},
		{"sub list --bad -o json -o tsv", false},
		{"sub list --bad", false},
	}
	for _, tt := range tests {
		r := runIn(t.Context(), pipe, strings.Fields(tt.args)...)
		if got := strings.HasPrefix(lastLine(r.stderr), `{"code":"usage",`); got != tt.want || r.code != 2 {
			t.Errorf("%s: exit %d, %q", tt.args, r.code, r.stderr)
		}
	}
}

func TestWaitTimesOut(t *testing.T) {
	f := serve(t, map[string]http.HandlerFunc{"POST /v1/wait": answer(control.WaitAnswer{Detail: "3 events are pending"})})
	r := f.run(pipe, "wait", "--idle", "--timeout", "0s")
	if r.code != control.ExitTimedOut || r.stdout != "" || !strings.Contains(r.stderr, "3 events are pending") {
		t.Errorf("exit %d, %q, %q", r.code, r.stdout, r.stderr)
	}
}

func TestRequests(t *testing.T) {
	tests := []struct {
		args string
		want []string
	}{
		{
			"sub create https://example.com/ --name a --type x.* --type !x.y --app z --retry tiers:0s --timeout 1500ms " +
				"--max-failures 0 --from beginning --if-not-exists",
			[]string{`POST /v1/subscriptions {"url":"https://example.com/","name":"a","app":"z","types":["x.*","!x.y"],` +
				`"retry":"tiers:0s","timeout_s":1.5,"max_consecutive_failures":0,"from":"beginning","if_not_exists":true}`},
		},
		{"sub create https://example.com/", []string{`POST /v1/subscriptions {"url":"https://example.com/"}`}},
		{"sub list --state paused --app x --limit 3 --after c", []string{"GET /v1/subscriptions?after=c&app=x&limit=3&state=paused"}},
		{"sub resume a", []string{"POST /v1/subscriptions/a/resume"}},
		{"sub enable a", []string{"POST /v1/subscriptions/a/enable"}},
		{"sub disable a", []string{"POST /v1/subscriptions/a/disable"}},
		{
			"sub delete a --yes",
			[]string{"GET /v1/subscriptions/a", "DELETE /v1/subscriptions/" + blockedSub.ID},
		},
		{"secret rotate a", []string{"POST /v1/subscriptions/a/secret/rotate {}"}},
		{
			"secret rotate a --overlap 0s --if-older-than 1h --yes",
			[]string{`POST /v1/subscriptions/a/secret/rotate {"overlap_s":0,"if_older_than_s":3600}`},
		},
		{
			"event list --type a.* --since 2h --until 2026-11-30T12:00:00+01:00",
			[]string{"GET /v1/events?limit=50&since=2026-11-30T10%3A00%3A00Z&type=a.%2A&until=2026-11-30T11%3A00%3A00Z"},
		},
		{"event show id:7", []string{"GET /v1/events/id:7"}},
		{"delivery list --sub a --status dead --event 7", []string{"GET /v1/deliveries?event=7&limit=50&status=dead&sub=a"}},
		{"delivery show a/7", []string{"GET /v1/deliveries/a/7"}},
		{"dlq replay 7", []string{`POST /v1/dead-letters/replay {"ids":[7]}`}},
		{"dlq replay --all --yes", []string{`POST /v1/dead-letters/replay {"all":true}`}},
		{
			"dlq replay --sub a --since 1h --yes",
			[]string{`POST /v1/dead-letters/replay {"sub":"a","since":"2026-11-30T11:00:00Z"}`},
		},
		{
			"dlq replay --sub a", // one is open: nobody needs to be asked
			[]string{"GET /v1/dead-letters?limit=1000&sub=a", `POST /v1/dead-letters/replay {"sub":"a"}`},
		},
		{"quarantine list --source s", []string{"GET /v1/quarantine?limit=50&source=s"}},
		{"wait --sub a --delivered evt-7 --timeout 10s", []string{`POST /v1/wait {"sub":"a","delivered":"evt-7","timeout_s":10}`}},
		{"wait --state paused", []string{`POST /v1/wait {"state":"paused","timeout_s":30}`}},
	}
	for _, tt := range tests {
		f := serve(t, routes())
		r := f.run(pipe, strings.Fields(tt.args)...)
		asked := f.asked()
		if strings.HasPrefix(tt.args, "wait") && len(asked) == 1 {
			asked[0] = strings.Replace(asked[0], `"timeout_s":9.9`, `"timeout_s":10`, 1)
			if i := strings.Index(asked[0], `"timeout_s":10`); i > 0 {
				asked[0] = asked[0][:i] + `"timeout_s":10}`
			}
		}
		if r.code != 0 || !reflect.DeepEqual(asked, tt.want) {
			t.Errorf("%s: exit %d, %s asked\n%q, want\n%q", tt.args, r.code, r.stderr, asked, tt.want)
		}
	}
}
