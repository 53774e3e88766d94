package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hookd/internal/control"
)

// place is where a daemon of a test lives.
type place struct{ dir, data, socket, ready, file string }

func newPlace(t *testing.T) place {
	t.Helper()
	for _, name := range []string{
		"HOOKD_SOCKET", "HOOKD_CONFIG", "HOOKD_DATA_DIR", "NOTIFY_SOCKET", "SYSTEMD_EXEC_PID", "CREDENTIALS_DIRECTORY", "XDG_STATE_HOME",
	} {
		t.Setenv(name, "")
	}
	dir := shortDir(t)
	t.Setenv("HOME", dir)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, "config"))
	return place{
		dir: dir, data: filepath.Join(dir, "data"), socket: filepath.Join(dir, "s"),
		ready: filepath.Join(dir, "ready.json"), file: filepath.Join(dir, "app.ndjson"),
	}
}

func (p place) flags() Flags {
	return Flags{
		Keys: map[string]string{"data_dir": p.data, "control.socket": p.socket}, Sources: []string{"file:" + p.file}, ReadyFile: p.ready,
	}
}

// running is a daemon that takes events and commands.
type running struct {
	t    *testing.T
	log  *syncBuffer
	end  context.CancelCauseFunc
	done chan error
}

// startRun runs a daemon until it says that it is ready.
func startRun(t *testing.T, f Flags) *running {
	t.Helper()
	r := &running{t: t, log: &syncBuffer{}, done: make(chan error, 1)}
	o, err := Configure(f, r.log)
	if err != nil {
		t.Fatal(err)
	}
	listener, notified := systemdSocket(t)
	ctx, cancel := context.WithCancelCause(context.Background())
	r.end = cancel
	go func() { r.done <- Run(ctx, o) }()
	select {
	case err := <-r.done:
		t.Fatalf("run: %v\n%s", err, r.log)
	case state := <-notified:
		if state != "READY=1" {
			t.Fatalf("systemd was told %q", state)
		}
	}
	t.Cleanup(func() {
		cancel(errors.New("end of test"))
		listener.Close()
	})
	return r
}

func (r *running) stop() error {
	r.end(errors.New("told to"))
	return <-r.done
}

// systemdSocket takes what hookd says to systemd.
func systemdSocket(t *testing.T) (*net.UnixConn, <-chan string) {
	t.Helper()
	path := filepath.Join(shortDir(t), "n")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("NOTIFY_SOCKET", path)
	states := make(chan string, 4)
	go func() {
		defer close(states)
		buf := make([]byte, 256)
		for {
			n, err := conn.Read(buf)
			if err != nil {
				return
			}
			states <- string(buf[:n])
		}
	}()
	return conn, states
}

func TestRun(t *testing.T) {
	p := newPlace(t)
	r := startRun(t, p.flags())
	text, err := os.ReadFile(p.ready)
	if err != nil {
		t.Fatal(err)
	}
	var ready control.ReadyFile
	if err := json.Unmarshal(text, &ready); err != nil {
		t.Fatal(err)
	}
	if ready.PID != os.Getpid() || ready.Socket != p.socket || len(ready.Sources) != 1 ||
		ready.Sources[0] != (control.ReadySource{Name: p.file, Kind: "file", Path: p.file}) {
		t.Errorf("ready file %s", text)
	}
	client := control.NewClient(p.socket)
	defer client.Close()
	if err := os.WriteFile(p.file, []byte(`{"id":"a","type":"x"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if answer, err := client.Wait(t.Context(), control.WaitRequest{Idle: true}, time.Minute); err != nil || !answer.Done {
		t.Fatalf("wait: %+v, %v", answer, err)
	}
	made, err := client.CreateSubscription(t.Context(), control.CreateSubscription{URL: testURL, Name: "crm"})
	if err != nil {
		t.Fatal(err)
	}
	s, err := client.Status(t.Context())
	if err != nil || s.Socket != p.socket || !s.Healthy || s.Log.LastSeq != 1 {
		t.Errorf("status %+v, %v", s, err)
	}
	client.Close()
	if err := r.stop(); err != nil {
		t.Errorf("stop: %v", err)
	}
	for _, path := range []string{p.ready, p.socket} {
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s stays: %v", path, err)
		}
	}
	log := r.log.String()
	for _, want := range []string{"msg=ready", "socket=" + p.socket, "file:" + p.file, "made master key", "msg=stopping", `cause="told to"`} {
		if !strings.Contains(log, want) {
			t.Errorf("the log lacks %q:\n%s", want, log)
		}
	}
	if strings.Contains(log, "canary") || strings.Contains(log, made.Secret) {
		t.Errorf("the log shows a URL or a secret:\n%s", log)
	}

	// What was made is there at the next start, and the key fits.
	r = startRun(t, p.flags())
	again := control.NewClient(p.socket)
	defer again.Close()
	if s, err := again.Subscription(t.Context(), "crm"); err != nil || s.ID != made.ID || s.URL != testURL {
		t.Errorf("after a restart: %+v, %v", s, err)
	}
	if e, err := again.Event(t.Context(), "a"); err != nil || e.Seq != 1 {
		t.Errorf("after a restart: %+v, %v", e, err)
	}
	again.Close()
	if err := r.stop(); err != nil {
		t.Errorf("second stop: %v", err)
	}
}

func TestDevRunsInTemporaryDirectory(t *testing.T) {
	p := newPlace(t)
	f := p.flags()
	f.Dev = true
	delete(f.Keys, "data_dir")
	t.Setenv("TMPDIR", p.dir)
	r := startRun(t, f)
	log := r.log.String()
	dirs, err := filepath.Glob(filepath.Join(p.dir, "hookd-dev-*"))
	if err != nil || len(dirs) != 1 || !strings.Contains(log, dirs[0]) || !strings.Contains(log, "running with --dev") {
		t.Errorf("directories %v, %v; log:\n%s", dirs, err, log)
	}
	client := control.NewClient(p.socket)
	defer client.Close()
	if _, err := client.CreateSubscription(t.Context(), control.CreateSubscription{URL: "http://127.0.0.1:9/"}); err != nil {
		t.Errorf("a loopback target: %v", err)
	}
	if s, err := client.Status(t.Context()); err != nil || s.Healthy || s.Problems[0].Code != "dev" {
		t.Errorf("status %+v, %v", s, err)
	}
	client.Close()
	if err := r.stop(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(dirs[0]); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the directory stays: %v", err)
	}
}
