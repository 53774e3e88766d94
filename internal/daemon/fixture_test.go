package daemon

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"hookd/internal/config"
	"hookd/internal/control"
	"hookd/internal/delivery"
	"hookd/internal/egress"
	"hookd/internal/keyring"
	"hookd/internal/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const testKey = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"

const testURL = "https://hooks.example.com/path-canary?q=query-canary"

// receivers stands for everything that hookd could send to.
type receivers struct {
	mu     sync.Mutex
	answer func(context.Context, *egress.Request) egress.Result
}

func (r *receivers) send(ctx context.Context, req *egress.Request) egress.Result {
	r.mu.Lock()
	answer := r.answer
	r.mu.Unlock()
	return answer(ctx, req)
}

// answers makes what every request gets from now on.
func (r *receivers) answers(f func(context.Context, *egress.Request) egress.Result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = f
}

func status(code int) func(context.Context, *egress.Request) egress.Result {
	return func(context.Context, *egress.Request) egress.Result {
		return egress.Result{Status: code, Duration: time.Millisecond}
	}
}

// fixture is a daemon without its way out: a real store, engine, source and control socket.
type fixture struct {
	*control.Client
	t         *testing.T
	receivers *receivers
	api       *api
	server    *controlServer
	socket    string
	log       *syncBuffer
	file      string // of the source "app"
}

// shortDir is a directory whose path leaves room for a socket, which those of testing do not.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "hd")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func start(t *testing.T) *fixture {
	t.Helper()
	dir := shortDir(t)
	f := &fixture{
		t: t, receivers: &receivers{answer: status(200)}, log: &syncBuffer{},
		socket: filepath.Join(dir, "s"), file: filepath.Join(dir, "app.ndjson"),
	}
	log := NewLog(f.log, slog.LevelDebug, config.FormatText)
	st, err := store.Open(t.Context(), store.Options{Dir: filepath.Join(dir, "data"), Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	master, err := keyring.FromHex(testKey)
	if err != nil {
		t.Fatal(err)
	}
	policy, err := egress.NewPolicy(egress.Rules{})
	if err != nil {
		t.Fatal(err)
	}
	schedule, err := delivery.ParseSchedule("tiers:0s,0s,0s")
	if err != nil {
		t.Fatal(err)
	}
	engine := delivery.New(delivery.Options{
		Store: st, Master: master, Policy: policy, Send: f.receivers.send, MaxInFlight: 8, MaxInFlightPerHost: 8,
		Defaults:  delivery.Defaults{Schedule: schedule, Timeout: 15 * time.Second, MaxFailures: 50},
		UserAgent: "hookd/test", Log: log,
	})
	if err := engine.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	socket, err := bind(t.Context(), f.socket, 0o600, -1)
	if err != nil {
		t.Fatal(err)
	}
	f.api = &api{
		store: st, engine: engine, overlap: time.Hour, socket: f.socket, started: time.Now(), log: log,
		sources: []*source{newSource(st, config.Source{
			Name: "app", Kind: config.KindFile, Path: f.file, Start: config.StartBeginning,
		}, 65536, log)},
		stopping: make(chan struct{}),
	}
	failed := make(chan error, 1)
	stopSources := startSources(context.Background(), f.api.sources, failed)
	f.server = serve(f.api, socket)
	f.Client = control.NewClient(f.socket)
	t.Cleanup(func() {
		f.Close()
		f.stop()
		stopSources()
		hard, cancel := context.WithCancel(context.Background())
		cancel()
		engine.Stop(hard)
		if err := st.Close(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Log(f.log.String())
		}
	})
	return f
}

// stop stops the control server; only the first call does.
func (f *fixture) stop() {
	select {
	case <-f.api.stopping:
		return
	default:
	}
	if err := f.server.stop(context.Background()); err != nil {
		f.t.Error(err)
	}
}

// write appends lines to the source's file and waits until they are read.
func (f *fixture) write(lines ...string) {
	f.t.Helper()
	file, err := os.OpenFile(f.file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		f.t.Fatal(err)
	}
	if _, err := file.WriteString(strings.Join(lines, "\n") + "\n"); err != nil {
		f.t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		f.t.Fatal(err)
	}
	if behind, err := f.api.drain(f.t.Context(), time.Now().Add(time.Minute)); err != nil || behind != "" {
		f.t.Fatalf("drain: %s %v", behind, err)
	}
}

// events makes lines of a type with ids PREFIX-1 and up.
func events(prefix, typ string, n int) []string {
	var lines []string
	for i := range n {
		lines = append(lines, `{"id":"`+prefix+`-`+number(int64(i+1))+`","type":"`+typ+`","data":{"n":1.50}}`)
	}
	return lines
}

func (f *fixture) create(in control.CreateSubscription) *control.Subscription {
	f.t.Helper()
	if in.URL == "" {
		in.URL = testURL
	}
	s, err := f.CreateSubscription(f.t.Context(), in)
	if err != nil {
		f.t.Fatal(err)
	}
	return s
}

// waitFor waits a minute at most for what every test reaches at once.
func (f *fixture) waitFor(in control.WaitRequest) {
	f.t.Helper()
	answer, err := f.Wait(f.t.Context(), in, time.Minute)
	if err != nil {
		f.t.Fatal(err)
	}
	if !answer.Done {
		f.t.Fatalf("not reached: %s", answer.Detail)
	}
}

func (f *fixture) idle() { f.t.Helper(); f.waitFor(control.WaitRequest{Idle: true}) }

// refused checks that err is a problem with this code, about this member.
func refused(t *testing.T, err error, code control.Code, pointer string) *control.Problem {
	t.Helper()
	var p *control.Problem
	if !errors.As(err, &p) {
		t.Fatalf("error %v is no problem, want %s", err, code)
	}
	if p.Code != code || p.Pointer != pointer {
		t.Errorf("problem %s at %q (%s), want %s at %q", p.Code, p.Pointer, p.Detail, code, pointer)
	}
	return p
}

// raw sends a request as no control client would.
func (f *fixture) raw(method, path, body string, change func(*http.Request)) (int, string, http.Header) {
	f.t.Helper()
	client := &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", f.socket)
		},
		DisableKeepAlives: true,
	}}
	req, err := http.NewRequestWithContext(f.t.Context(), method, "http://hookd"+path, strings.NewReader(body))
	if err != nil {
		f.t.Fatal(err)
	}
	if change != nil {
		change(req)
	}
	resp, err := client.Do(req)
	if err != nil {
		f.t.Fatal(err)
	}
	defer resp.Body.Close()
	var text bytes.Buffer
	if _, err := text.ReadFrom(resp.Body); err != nil {
		f.t.Fatal(err)
	}
	return resp.StatusCode, text.String(), resp.Header
}

// syncBuffer is a bytes.Buffer for several goroutines.
type syncBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
