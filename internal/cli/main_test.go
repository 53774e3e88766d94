package cli

import (
	"bytes"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"hookd/internal/control"
)

// An interrupt of the process ends a command that waits, with the exit code of the shells.
func TestMainIsInterrupted(t *testing.T) {
	f := serve(t, map[string]http.HandlerFunc{"/": func(_ http.ResponseWriter, r *http.Request) {
		if err := syscall.Kill(syscall.Getpid(), syscall.SIGINT); err != nil {
			t.Error(err)
		}
		<-r.Context().Done()
	}})
	var stdout, stderr bytes.Buffer
	code := Main([]string{"wait", "--idle", "--socket", f.socket}, Streams{
		In: strings.NewReader(""), Out: &stdout, Err: &stderr, Getenv: func(string) string { return "" }, Now: time.Now,
	})
	if code != control.ExitInterrupted || stdout.Len() > 0 || !strings.Contains(stderr.String(), "interrupted") {
		t.Errorf("exit %d, %q, %q", code, stdout.String(), stderr.String())
	}
}

func TestMainRuns(t *testing.T) {
	var stdout, stderr bytes.Buffer
	code := Main([]string{"help", "exit-codes"}, Streams{
		In: strings.NewReader(""), Out: &stdout, Err: &stderr, Getenv: func(string) string { return "" }, Now: time.Now,
	})
	if code != 0 || stdout.Len() == 0 || stderr.Len() > 0 {
		t.Errorf("exit %d, %q, %q", code, stdout.String(), stderr.String())
	}
}
