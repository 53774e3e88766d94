package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"hookd/internal/control"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var testNow = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func ago(d time.Duration) *time.Time {
	t := testNow.Add(-d)
	return &t
}

func ptr[T any](v T) *T { return &v }

const testSecret = "whsec_RVhBTVBMRS1leGFtcGxlLUVYQU1QTEUtZXhhbXBsZQ=="

// fake is a control server on a real unix socket with answers of the test's choice.
type fake struct {
	socket string

	mu       sync.Mutex
	requests []string // method, URI and body, in the order of arrival
}

// serve runs a fake with a handler for each pattern of http.ServeMux.
func serve(t *testing.T, routes map[string]http.HandlerFunc) *fake {
	t.Helper()
	// The directories of testing are too deep for a socket.
	dir, err := os.MkdirTemp("", "h")
	if err != nil {
		t.Fatal(err)
	}
	f := &fake{socket: filepath.Join(dir, "s")}
	l, err := net.Listen("unix", f.socket)
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	for pattern, h := range routes {
		mux.HandleFunc(pattern, h)
	}
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		f.mu.Lock()
		f.requests = append(f.requests, strings.TrimSpace(r.Method+" "+r.RequestURI+" "+string(body)))
		f.mu.Unlock()
		mux.ServeHTTP(w, r)
	}))
	s.Listener.Close()
	s.Listener = l
	s.Start()
	t.Cleanup(func() {
		s.Close()
		os.RemoveAll(dir)
	})
	return f
}

// asked lists the requests so far.
func (f *fake) asked() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string(nil), f.requests...)
}

func answer(v any) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { control.WriteJSON(w, http.StatusOK, v) }
}

func refuse(p *control.Problem) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { control.WriteProblem(w, p) }
}

func noContent(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }

// setting is where a command runs.
type setting struct {
	terminal bool // all three streams
	width    int
	stdin    string
	env      map[string]string
	out      io.Writer // instead of the buffer
}

type result struct {
	stdout, stderr string
	code           int
}

func (f *fake) run(s setting, args ...string) result {
	return runIn(context.Background(), s, append(args, "--socket", f.socket)...)
}

func runIn(ctx context.Context, s setting, args ...string) result {
	var stdout, stderr bytes.Buffer
	var out io.Writer = &stdout
	if s.out != nil {
		out = s.out
	}
	code := run(ctx, args, Streams{
		In: strings.NewReader(s.stdin), Out: out, Err: &stderr,
		InTTY: s.terminal, OutTTY: s.terminal, ErrTTY: s.terminal, Width: s.width,
		Getenv: func(name string) string { return s.env[name] },
		Now:    func() time.Time { return testNow },
	})
	return result{stdout: stdout.String(), stderr: stderr.String(), code: code}
}

var (
	pipe = setting{env: map[string]string{"LANG": "C.UTF-8"}}
	// A terminal without colour, so that tests can be read.
	terminal = setting{terminal: true, width: 100, env: map[string]string{"LANG": "C.UTF-8", "NO_COLOR": "1"}}
)

var (
	healthySub = control.Subscription{
		ID: "0193c5a0-7b2e-7cc3-8a55-0d7f3a6b1c01", Name: "orders", App: "default", Host: "hooks.example.com",
		Types: []string{"order.*", "!order.draft"}, Filters: []string{}, State: "active", Cursor: 40, LastDeliveredSeq: 40,
		PendingExact: true, Order: "strict", Sign: []string{"v1"}, Profile: "standard", Payload: "envelope",
		Retry: "tiers:0s,1s,5s,30s,5m,30m,2h", TimeoutS: 15, MaxConsecutiveFailures: 50, CreatedAt: *ago(48 * time.Hour),
	}
	blockedSub = control.Subscription{
		ID: "0193c5a0-7b2e-7cc3-8a55-0d7f3a6b1c02", Name: "日本語のフック", App: "default", Host: "127.0.0.1:9000",
		Types: []string{"*"}, State: "disabled", Cause: "max_consecutive_failures", DisabledAt: ago(time.Minute), Cursor: 41,
		Pending: 12, OldestPendingAt: ago(time.Hour),
		Head: &control.Head{
			Seq: 42, EventID: "evt-42", Attempt: 3, LastError: "http_status", ResponseCode: ptr(500),
			BlockedSince: ago(4 * time.Minute), NextAttemptAt: ago(-30 * time.Second),
		},
		ConsecutiveFailures: 2, Order: "strict", Sign: []string{"v1"}, Profile: "standard", Payload: "envelope",
		Retry: "tiers:0s", TimeoutS: 1.5, CreatedAt: *ago(3 * time.Hour),
	}
)

// The numbers of these payloads do not fit a float64, and the texts try to steer the terminal.
const (
	testBody = `{"id":"evt-42","type":"order.paid","n":9007199254740993,"big":1e400,"one":1.0,"zero":-0,` +
		`"url":"https://example.com/?a=1&b=<2>","evil":"\u001b[2J` + "\u202e" + `"}`
	testLine = "not json \x1b]52;c;ZXZpbA==\x07\n"
)

var testSource = control.Source{
	Name: "events.log", Kind: "file", State: "waiting", Reason: "no such file", Path: "/var/log/events.log", Offset: 2048,
	LagBytes: 1536, Accepted: 42, Duplicates: 1, Rejected: 2,
}

// routes answers everything that a command of this version asks for.
func routes() map[string]http.HandlerFunc {
	shown := blockedSub
	shown.URL = "http://127.0.0.1:9000/hook?token=a"
	shown.Gaps = []control.Gap{{FromSeq: 3, ToSeq: 5, Count: 2, Exact: true, Cause: "retention", At: *ago(time.Hour)}}
	created := healthySub
	created.URL, created.Secret = "https://hooks.example.com/in", testSecret
	created.Warnings = []string{"retry is not shorter than retention.events"}
	paused := healthySub
	paused.State = "paused"
	event := control.Event{
		Seq: 42, ID: "evt-42", Type: "order.paid", Key: "A-17", Timestamp: *ago(time.Hour), ReceivedAt: *ago(59 * time.Minute),
		Source: "events.log",
	}
	odd := control.Event{
		Seq: 41, ID: "evt-41", Type: "a\x1b]52;c;ZXZpbA==\a", Timestamp: *ago(time.Hour), ReceivedAt: *ago(2 * time.Hour),
		Source: "tab\there\\\u202egpj",
	}
	shownEvent := event
	shownEvent.Body = json.RawMessage(testBody)
	shownEvent.Deliveries = []control.EventDelivery{
		{Subscription: "orders", SubscriptionID: healthySub.ID, Status: "succeeded"},
		{Subscription: "日本語のフック", SubscriptionID: blockedSub.ID, Status: "pending"},
	}
	delivery := control.Delivery{
		ID: "orders/42", Subscription: "orders", SubscriptionID: healthySub.ID, Seq: 42, EventID: "evt-42", Type: "order.paid",
		Status: "dead", Attempts: 2, ResponseCode: ptr(500), LastError: "http_status", FirstAttemptAt: ago(3 * time.Minute),
		FinishedAt: ago(2 * time.Minute), DurationMS: ptr(int64(12)),
	}
	waiting := control.Delivery{
		ID: "orders/43", Subscription: "orders", SubscriptionID: healthySub.ID, Seq: 43, Status: "pending",
		NextAttemptAt: ago(-90 * time.Second),
	}
	shownDelivery := delivery
	shownDelivery.History = []control.Attempt{
		{At: *ago(3 * time.Minute), Attempt: 1, LastError: "timeout", DurationMS: ptr(int64(15000)), NextAttemptAt: ago(2 * time.Minute)},
		{At: *ago(2 * time.Minute), Attempt: 2, ResponseCode: ptr(500), LastError: "http_status", DurationMS: ptr(int64(12))},
	}
	letter := control.DeadLetter{
		ID: 7, Subscription: "orders", App: "default", EventID: "evt-42", Seq: 42, Type: "order.paid", Attempts: 7,
		LastStatus: ptr(500), LastError: "http_status", DeadAt: *ago(2 * time.Minute),
	}
	replayed := letter
	replayed.ID, replayed.LastStatus, replayed.LastError = 8, nil, "timeout"
	replayed.ReplayedAt, replayed.ReplayStatus = ago(time.Minute), "succeeded"
	shownLetter := letter
	shownLetter.Payload = json.RawMessage(testBody)
	entry := control.QuarantineEntry{
		ID: 3, Source: "events.log", Reason: "not_json", Message: "the line is not JSON", Offset: 100, Length: 30, At: *ago(time.Hour),
	}
	shownEntry := entry
	shownEntry.Line = ptr(testLine)
	status := control.Status{
		Version: "1.2.3", UptimeS: 11520, Healthy: true, Sources: []control.Source{testSource},
		Log: control.LogRange{FirstSeq: 1, LastSeq: 42}, Subscriptions: control.SubscriptionCounts{Active: 1},
		StoreBytes: 12 << 20, WALBytes: 4096, Socket: "/run/hookd/hookd.sock",
	}
	return map[string]http.HandlerFunc{
		"GET /v1/status":  answer(status),
		"GET /v1/version": answer(control.BuildInfo{Version: "1.2.3", Commit: "abc", Go: "go1.26", SQLite: "3.51"}),
		"GET /v1/subscriptions": answer(control.Page[control.Subscription]{
			Items: []control.Subscription{blockedSub, healthySub}, Next: "c-1",
		}),
		"POST /v1/subscriptions":                     answer(created),
		"GET /v1/subscriptions/{ref}":                answer(shown),
		"DELETE /v1/subscriptions/{ref}":             noContent,
		"POST /v1/subscriptions/{ref}/{action}":      answer(paused),
		"POST /v1/subscriptions/{ref}/secret/rotate": answer(control.RotatedSecret{Subscription: "orders", Generation: 2, Rotated: true, Secret: testSecret, OverlapUntil: ago(-24 * time.Hour)}),
		"GET /v1/events":                             answer(control.Page[control.Event]{Items: []control.Event{event, odd}}),
		"GET /v1/events/{ref}":                       answer(shownEvent),
		"GET /v1/deliveries":                         answer(control.Page[control.Delivery]{Items: []control.Delivery{waiting, delivery}}),
		"GET /v1/deliveries/{sub}/{seq}":             answer(shownDelivery),
		"GET /v1/dead-letters":                       answer(control.Page[control.DeadLetter]{Items: []control.DeadLetter{replayed, letter}}),
		"GET /v1/dead-letters/{id}":                  answer(shownLetter),
		"POST /v1/dead-letters/replay": answer(control.ReplayedDeadLetters{
			Replays:  []control.Replay{{ID: 1, Subscription: "orders", Origin: "dead_letters", State: "running", Total: 1, CreatedAt: testNow}},
			Replayed: 1, Skipped: []control.SkippedDeadLetter{{ID: 8, Reason: "a replay of it is pending"}},
		}),
		"GET /v1/sources":         answer(control.Page[control.Source]{Items: []control.Source{testSource}}),
		"GET /v1/quarantine":      answer(control.Page[control.QuarantineEntry]{Items: []control.QuarantineEntry{entry}}),
		"GET /v1/quarantine/{id}": answer(shownEntry),
		"POST /v1/wait":           answer(control.WaitAnswer{Done: true, Detail: "nothing is pending"}),
	}
}
