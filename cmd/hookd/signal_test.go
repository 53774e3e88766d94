package main

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"hookd/internal/control"
)

// TestMain makes the test binary hookd itself where a test starts it so.
func TestMain(m *testing.M) {
	if os.Getenv("HOOKD_TEST_AS") == "hookd" {
		os.Unsetenv("HOOKD_TEST_AS") // no key of the configuration has this name
		main()
	}
	os.Exit(m.Run())
}

// A delivery is out and its receiver does not answer: the first signal waits for it, the second one does not.
func TestSecondSignal(t *testing.T) {
	asked, held := make(chan struct{}, 8), make(chan struct{})
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		select {
		case <-held:
		case <-r.Context().Done():
		}
	}))
	defer receiver.Close()
	defer close(held)
	dir, err := os.MkdirTemp("", "hd")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	socket, file := filepath.Join(dir, "s"), filepath.Join(dir, "events.ndjson")
	child := exec.CommandContext(t.Context(), os.Args[0],
		"run", "--dev", "--data-dir", filepath.Join(dir, "data"), "--socket", socket, "--source", "file:"+file)
	child.Env = []string{"HOOKD_TEST_AS=hookd", "HOME=" + dir}
	stderr, err := child.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(stderr)
	until(t, lines, "msg=ready")

	client := control.NewClient(socket)
	defer client.Close()
	if _, err := client.CreateSubscription(t.Context(), control.CreateSubscription{URL: receiver.URL + "/x"}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(`{"type":"x"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	<-asked
	if err := child.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	until(t, lines, `cause="signal: interrupt"`)
	if err := child.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(lines)
	if err != nil || !strings.Contains(string(rest), "hookd: error: stop: cut short by a second signal (terminated)\n") {
		t.Errorf("at the end it says %q, %v", rest, err)
	}
	var ended *exec.ExitError
	if err := child.Wait(); !errors.As(err, &ended) || ended.ExitCode() != control.ExitFailed {
		t.Errorf("it ended with %v", err)
	}
}

// until reads lines up to one with a text in it.
func until(t *testing.T, lines *bufio.Reader, text string) {
	t.Helper()
	for {
		line, err := lines.ReadString('\n')
		if strings.Contains(line, text) {
			return
		}
		if err != nil {
			t.Fatalf("it ended without saying %q: %s %v", text, line, err)
		}
	}
}
