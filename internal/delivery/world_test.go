package delivery

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"hookd/internal/egress"
	"hookd/internal/event"
	"hookd/internal/keyring"
	"hookd/internal/signing"
	"hookd/internal/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a store, an engine over it, and a receiver that is a function, in one synctest bubble.
type world struct {
	t      *testing.T
	dir    string
	store  *store.Store
	engine *Engine
	source store.SourceID
	made   int

	mu     sync.Mutex
	answer func(sent) egress.Result
	log    []sent
}

// sent is one request as the receiver saw it.
type sent struct {
	host    string
	id      string
	attempt int
	replay  string
	at      time.Duration // since the world began
	fresh   bool
	body    string
}

var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) // where a bubble's clock starts

func (s sent) String() string {
	text := fmt.Sprintf("%s/%d", s.id, s.attempt)
	if s.replay != "" {
		text = "r" + s.replay + ":" + text
	}
	return text
}

// pass lets time go by in the bubble: nobody really waits.
func (w *world) pass(d time.Duration) { time.Sleep(d) }

func ok(sent) egress.Result { return egress.Result{Status: 200} }

// inWorld runs a test in a bubble.
func inWorld(t *testing.T, test func(*testing.T, *world)) {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, dir: dir, answer: ok}
		w.open()
		defer func() { w.close() }() // also after a t.Fatal, which would else leave goroutines in the bubble
		test(t, w)
	})
}

func (w *world) open() {
	w.t.Helper()
	ctx := w.t.Context()
	st, err := store.Open(ctx, store.Options{Dir: w.dir, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		w.t.Fatal(err)
	}
	src, err := st.Source(ctx, "test", "file")
	if err != nil {
		w.t.Fatal(err)
	}
	policy, err := egress.NewPolicy(egress.Rules{Dev: true})
	if err != nil {
		w.t.Fatal(err)
	}
	master, err := keyring.FromHex(strings.Repeat("01", 32))
	if err != nil {
		w.t.Fatal(err)
	}
	w.store, w.source = st, src.ID
	w.engine = New(Options{
		Store: st, Master: master, Policy: policy, Send: w.send, UserAgent: "hookd/test",
		MaxInFlight: 64, MaxInFlightPerHost: 64, Log: slog.New(slog.NewTextHandler(w.t.Output(), nil)),
		Defaults: Defaults{
			Schedule: mustSchedule(w.t, "tiers:0s,1s,5s"), Timeout: 15 * time.Second,
			RetryAfterCap: 24 * time.Hour, MaxFailures: 50,
		},
	})
	if err := w.engine.Start(ctx); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) close() {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	w.engine.Stop(ctx)
	if err := w.store.Close(); err != nil {
		w.t.Error(err)
	}
}

func (w *world) restart() {
	w.t.Helper()
	w.close()
	w.open()
}

// header returns a header by the very name that goes out, "" where it is not there.
func header(r *egress.Request, name string) string {
	if values := r.Header[name]; len(values) == 1 {
		return values[0]
	}
	return ""
}

func (w *world) send(ctx context.Context, r *egress.Request) egress.Result {
	attempt, _ := strconv.Atoi(header(r, signing.HeaderAttempt))
	s := sent{
		host: r.Target.Host, id: header(r, signing.HeaderID), attempt: attempt, at: time.Since(epoch),
		fresh: r.Fresh, body: string(r.Body), replay: header(r, signing.HeaderReplay),
	}
	w.mu.Lock()
	w.log = append(w.log, s)
	answer := w.answer
	w.mu.Unlock()
	res := answer(s)
	if ctx.Err() != nil {
		return egress.Result{Interrupted: true}
	}
	return res
}

// answers makes the receiver answer with f from now on.
func (w *world) answers(f func(sent) egress.Result) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answer = f
}

// came returns what the receiver saw since the last call, once everything that can happen now has happened.
func (w *world) came() []string {
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	var texts []string
	for _, s := range w.log {
		texts = append(texts, s.String())
	}
	w.log = nil
	return texts
}

func (w *world) expect(want ...string) {
	w.t.Helper()
	if got := w.came(); !slices.Equal(got, want) {
		w.t.Fatalf("the receiver saw %v, want %v", got, want)
	}
}

// subscribe makes a subscription to its own host.
func (w *world) subscribe(n NewSubscription) View {
	w.t.Helper()
	w.made++
	if n.URL == "" {
		n.URL = fmt.Sprintf("http://127.0.0.%d/hook", w.made)
	}
	if n.Name == "" {
		n.Name = fmt.Sprintf("s%d", w.made)
	}
	_, n.After = w.store.Bounds()
	v, _, err := w.engine.Create(w.t.Context(), n)
	if err != nil {
		w.t.Fatal(err)
	}
	return v
}

// append puts events of type "t" with these ids into the log.
func (w *world) append(ids ...string) {
	w.t.Helper()
	var lines []store.Line
	for _, id := range ids {
		typ := "t"
		if name, suffix, ok := strings.Cut(id, "@"); ok {
			id, typ = name, suffix
		}
		ev, err := event.Parse([]byte(fmt.Sprintf(`{"id":%q,"type":%q}`, id, typ)), event.DefaultMaxBytes)
		if err != nil {
			w.t.Fatal(err)
		}
		lines = append(lines, store.Line{Event: ev})
	}
	batch := store.Batch{Source: w.source, Lines: lines, Now: time.Now().UnixMilli()}
	if _, err := w.store.Append(w.t.Context(), batch); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) view(name string) View {
	w.t.Helper()
	v, err := w.engine.Subscription(w.t.Context(), name)
	if err != nil {
		w.t.Fatal(err)
	}
	return v
}

func status(code int) func(sent) egress.Result {
	return func(sent) egress.Result { return egress.Result{Status: code} }
}
