package cli

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"hookd/internal/control"
)

// asking has the commands that ask, with the request that would do it.
var asking = []struct{ args, does string }{
	{"sub delete orders", "DELETE "},
	{"secret rotate orders --overlap 0s", "POST /v1/subscriptions/orders/secret/rotate"},
	{"dlq replay 7 8", "POST /v1/dead-letters/replay"},
	{"dlq replay --all", "POST /v1/dead-letters/replay"},
	{"dlq replay --sub orders --since 1h", "POST /v1/dead-letters/replay"},
}

func askingRoutes() map[string]http.HandlerFunc {
	all := routes()
	all["GET /v1/dead-letters"] = answer(json.RawMessage(
		`{"items":[{"id":1},{"id":2,"replay_status":"dead"},{"id":3,"replay_status":"succeeded"},{"id":4,"replay_status":"pending"}]}`))
	return all
}

func did(f *fake, request string) bool {
	for _, asked := range f.asked() {
		if strings.HasPrefix(asked, request) {
			return true
		}
	}
	return false
}

func TestConfirmation(t *testing.T) {
	onTerminal := func(stdin string) setting {
		s := terminal
		s.stdin = stdin
		return s
	}
	tests := []struct {
		name    string
		setting setting
		yes     bool
		done    bool
	}{
		{"no terminal", pipe, false, false},
		{"no terminal, yes", pipe, true, true},
		{"terminal, y", onTerminal("y\n"), false, true},
		{"terminal, YES", onTerminal("YES\r\n"), false, true},
		{"terminal, n", onTerminal("n\n"), false, false},
		{"terminal, enter", onTerminal("\n"), false, false},
		{"terminal, end", onTerminal(""), false, false},
		{"terminal, yes", onTerminal(""), true, true},
	}
	for _, tt := range tests {
		for _, command := range asking {
			f := serve(t, askingRoutes())
			args := strings.Fields(command.args)
			if tt.yes {
				args = append(args, "--yes")
			}
			r := f.run(tt.setting, args...)
			if got := did(f, command.does); got != tt.done {
				t.Errorf("%s, %s: done %v", tt.name, command.args, got)
			}
			if want := map[bool]int{true: 0, false: control.ExitRefused}[tt.done]; r.code != want {
				t.Errorf("%s, %s: exit %d, %s", tt.name, command.args, r.code, r.stderr)
			}
			if asked := strings.Contains(r.stderr, "[y/N]"); asked != (tt.setting.terminal && !tt.yes) {
				t.Errorf("%s, %s: asked %v", tt.name, command.args, asked)
			}
			if !tt.done && r.stdout != "" {
				t.Errorf("%s, %s: stdout %q", tt.name, command.args, r.stdout)
			}
		}
	}
}

func TestQuestionSaysHowMany(t *testing.T) {
	s := terminal
	s.stdin = "n\n"
	if r := serve(t, askingRoutes()).run(s, "dlq", "replay", "--all"); !strings.Contains(r.stderr, "replay 2 dead letters? [y/N]") {
		t.Errorf("stderr %q", r.stderr)
	}
	if r := serve(t, askingRoutes()).run(s, "sub", "delete", "x"); !strings.Contains(r.stderr, "with at most 12 pending events? [y/N]") {
		t.Errorf("stderr %q", r.stderr)
	}
}

func TestInterruptedQuestion(t *testing.T) {
	reader, writer := io.Pipe()
	ctx, cancel := context.WithCancelCause(t.Context())
	asked := make(chan struct{})
	c := &ctl{Streams: Streams{In: reader, Err: signalWriter(asked), InTTY: true, ErrTTY: true}}
	go func() {
		<-asked
		cancel(errInterrupted)
	}()
	err := c.confirm(ctx, "do it")
	writer.Close()
	if classify(err).ExitCode != control.ExitInterrupted {
		t.Errorf("got %v", err)
	}
}

// signalWriter closes its channel at the first write.
type signalWriter chan struct{}

func (w signalWriter) Write(p []byte) (int, error) {
	select {
	case <-w:
	default:
		close(w)
	}
	return len(p), nil
}
