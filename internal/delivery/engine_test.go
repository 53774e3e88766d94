package delivery

import (
	"context"
	"errors"
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

func (w *world) send(ctx context.Context, r *egress.Request) egress.Result {
	attempt, _ := strconv.Atoi(r.Header[signing.HeaderAttempt][0])
	s := sent{
		host: r.Target.Host, id: r.Header[signing.HeaderID][0], attempt: attempt, at: time.Since(epoch),
		fresh: r.Fresh, body: string(r.Body),
	}
	if replay := r.Header[signing.HeaderReplay]; replay != nil {
		s.replay = replay[0]
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

func TestStreamKeepsOrder(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.subscribe(NewSubscription{Types: []string{"t"}})
		w.append("a", "x@other", "b", "c")
		w.expect("a/1", "b/1", "c/1")
		v := w.view("s1")
		if v.Pending != 0 || v.LastSeq != 4 || v.Head != nil {
			t.Errorf("view: %+v", v)
		}
	})
}

func TestHeadHoldsStreamUntilItSucceeds(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.subscribe(NewSubscription{})
		w.subscribe(NewSubscription{})
		w.answers(func(s sent) egress.Result {
			if s.host == "127.0.0.1" && s.id == "a" && s.attempt < 3 {
				return egress.Result{Status: 500}
			}
			return ok(s)
		})
		w.append("a", "b")
		if got := w.came(); len(got) != 3 { // the other subscription does not wait
			t.Fatalf("at once came %v", got)
		}
		v := w.view("s1")
		if v.Pending != 2 || v.Head == nil || v.Head.Attempt != 2 || v.Head.Error != store.CodeHTTPStatus || v.Failures != 1 {
			t.Errorf("view: %+v head %+v", v, v.Head)
		}
		time.Sleep(time.Second)
		w.expect("a/2")
		time.Sleep(5 * time.Second)
		w.expect("a/3", "b/1")
		if v := w.view("s1"); v.Pending != 0 || v.Failures != 0 {
			t.Errorf("view: %+v", v)
		}
	})
}

func TestScheduleRunsOut(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.subscribe(NewSubscription{})
		w.answers(func(s sent) egress.Result {
			if s.id == "a" {
				return egress.Result{Failure: egress.ConnectionFailed}
			}
			return ok(s)
		})
		w.append("a", "b")
		time.Sleep(6 * time.Second)
		w.expect("a/1", "a/2", "a/3", "b/1")
		dead, err := w.store.ListDeadLetters(t.Context(), store.DeadFilter{Limit: 10})
		if err != nil || len(dead) != 1 || dead[0].EventID != "a" || dead[0].Attempts != 3 || dead[0].Code != store.CodeConnectionFailed {
			t.Fatalf("dead letters: %+v %v", dead, err)
		}
	})
}

func TestRestartKeepsTheDelay(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.subscribe(NewSubscription{Retry: "tiers:0s,10s,20s"})
		w.answers(status(500))
		w.append("a", "b")
		w.expect("a/1")
		time.Sleep(6 * time.Second)
		w.restart()
		w.expect()
		time.Sleep(4 * time.Second)
		w.expect("a/2")
		w.restart()
		time.Sleep(19 * time.Second)
		w.expect()
		w.answers(ok)
		time.Sleep(time.Second)
		w.expect("a/3", "b/1")
		w.restart()
		w.append("c")
		w.expect("c/1")
	})
}

func TestPauseHoldsAndResumeGoesOn(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		w.subscribe(NewSubscription{})
		w.answers(status(500))
		w.append("a", "b")
		w.expect("a/1")
		if _, err := w.engine.Pause(ctx, "s1"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		w.append("c")
		w.expect()
		w.restart()
		w.expect()
		w.answers(ok)
		if _, err := w.engine.Resume(ctx, "s1"); err != nil {
			t.Fatal(err)
		}
		w.expect("a/2", "b/1", "c/1")
	})
}

func TestFailuresDisableAndEnableStartsAfresh(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		two := 2
		w.subscribe(NewSubscription{MaxFailures: &two})
		w.answers(status(500))
		w.append("a", "b")
		time.Sleep(time.Hour)
		w.expect("a/1", "a/2")
		if v := w.view("s1"); v.State != store.Disabled || v.Cause != store.CauseMaxFailures || v.Pending != 2 {
			t.Errorf("view: %+v", v)
		}
		if _, err := w.engine.Resume(ctx, "s1"); !errors.Is(err, ErrConflict) {
			t.Errorf("resume of a disabled subscription: %v", err)
		}
		w.answers(ok)
		if _, err := w.engine.Enable(ctx, "s1"); err != nil {
			t.Fatal(err)
		}
		w.expect("a/1", "b/1")
		if v := w.view("s1"); v.State != store.Active || v.Failures != 0 {
			t.Errorf("view: %+v", v)
		}
	})
}

func TestGoneDisablesAndTheNextGoesFirst(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.subscribe(NewSubscription{})
		w.answers(status(410))
		w.append("a", "b", "c")
		time.Sleep(time.Hour)
		w.expect("a/1")
		w.restart()
		w.expect()
		v := w.view("s1")
		if v.State != store.Disabled || v.Cause != store.CauseGone || v.Pending != 2 {
			t.Errorf("view: %+v", v)
		}
		w.answers(ok)
		if _, err := w.engine.Enable(t.Context(), "s1"); err != nil {
			t.Fatal(err)
		}
		w.expect("b/1", "c/1")
		outcomes, err := w.store.DeliveryOf(t.Context(), v.ID, 1)
		if err != nil || len(outcomes) != 1 || outcomes[0].Status != store.Failed {
			t.Errorf("outcomes of the one that got the 410: %+v %v", outcomes, err)
		}
	})
}

func TestThrottledWaitsAndDoesNotCount(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.subscribe(NewSubscription{})
		w.answers(func(s sent) egress.Result {
			if s.attempt == 1 {
				return egress.Result{Status: 429, RetryAfter: "60"}
			}
			return ok(s)
		})
		w.append("a")
		w.expect("a/1")
		if v := w.view("s1"); v.Failures != 0 || v.Head.Error != store.CodeThrottled {
			t.Errorf("view: %+v", v)
		}
		time.Sleep(59 * time.Second)
		w.expect()
		time.Sleep(time.Second)
		w.expect("a/2")
	})
}

func TestStaleConnectionIsRepeatedAtOnce(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.subscribe(NewSubscription{})
		var fresh []bool
		w.answers(func(s sent) egress.Result {
			fresh = append(fresh, s.fresh)
			if s.attempt == 1 {
				return egress.Result{Failure: egress.ConnectionFailed, Stale: true}
			}
			return ok(s)
		})
		w.append("a")
		w.expect("a/1", "a/2")
		if !slices.Equal(fresh, []bool{false, true}) {
			t.Errorf("fresh connections: %v", fresh)
		}
		if v := w.view("s1"); v.Failures != 0 {
			t.Errorf("it counted: %+v", v)
		}
	})
}

func TestReplayRunsBesideTheStream(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		w.subscribe(NewSubscription{Retry: "tiers:0s"})
		w.answers(status(500))
		w.append("a", "b")
		w.expect("a/1", "b/1")
		replay := func() {
			t.Helper()
			if _, _, err := w.engine.ReplayDeadLetters(ctx, store.Selection{All: true, Now: time.Now().UnixMilli()}); err != nil {
				t.Fatal(err)
			}
		}
		// The lane's poisoned head does not hold the stream.
		w.answers(func(s sent) egress.Result {
			if s.id == "a" {
				return egress.Result{Status: 503, RetryAfter: "10"}
			}
			return ok(s)
		})
		replay()
		w.append("c")
		got := w.came()
		slices.Sort(got)
		if !slices.Equal(got, []string{"c/1", "r1:a/1", "r1:b/1"}) {
			t.Fatalf("with a poisoned replay came %v", got)
		}
		w.answers(ok)
		dead, err := w.store.ListDeadLetters(ctx, store.DeadFilter{Limit: 10})
		if err != nil || len(dead) != 3 {
			t.Fatalf("a replay that runs out makes a new dead letter: %+v %v", dead, err)
		}
		if _, _, err := w.engine.ReplayDeadLetters(ctx, store.Selection{IDs: []int64{dead[0].ID}, Now: time.Now().UnixMilli()}); err != nil {
			t.Fatal(err)
		}
		w.expect("r2:a/1")
	})
}

func TestReplayGoesOnAfterARestart(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.subscribe(NewSubscription{Retry: "tiers:0s,10s"})
		w.answers(status(500))
		w.append("a")
		time.Sleep(10 * time.Second)
		w.expect("a/1", "a/2")
		if _, _, err := w.engine.ReplayDeadLetters(t.Context(), store.Selection{All: true, Now: time.Now().UnixMilli()}); err != nil {
			t.Fatal(err)
		}
		w.expect("r1:a/1")
		w.restart()
		w.expect()
		w.answers(ok)
		time.Sleep(10 * time.Second)
		w.expect("r1:a/2")
		w.restart()
		w.expect()
	})
}

func TestStopInterruptsWithoutAnAttempt(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.subscribe(NewSubscription{})
		hang := make(chan struct{})
		w.answers(func(s sent) egress.Result { <-hang; return ok(s) })
		w.append("a")
		w.expect("a/1")
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		stopped := make(chan struct{})
		go func() { w.engine.Stop(ctx); close(stopped) }()
		time.Sleep(10 * time.Second)
		synctest.Wait()
		close(hang)
		<-stopped
		w.answers(ok)
		if err := w.store.Close(); err != nil {
			t.Fatal(err)
		}
		w.open()
		w.expect("a/1")
	})
}

func TestDeletedWhileInFlight(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		v := w.subscribe(NewSubscription{})
		hang := make(chan struct{})
		w.answers(func(s sent) egress.Result { <-hang; return ok(s) })
		w.append("a", "b")
		w.expect("a/1")
		if err := w.engine.Delete(t.Context(), "s1"); err != nil {
			t.Fatal(err)
		}
		close(hang)
		w.expect()
		if outcomes, err := w.store.DeliveryOf(t.Context(), v.ID, 1); err != nil || len(outcomes) != 0 {
			t.Errorf("a deleted subscription's result was kept: %+v %v", outcomes, err)
		}
	})
}

func TestPanicIsAFailedAttempt(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.subscribe(NewSubscription{})
		w.answers(func(s sent) egress.Result {
			if s.attempt == 1 {
				panic("odd")
			}
			return ok(s)
		})
		w.append("a")
		w.expect("a/1")
		time.Sleep(time.Second)
		w.expect("a/2")
	})
}

func TestLeaseEndsWithItsHolder(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.subscribe(NewSubscription{Lease: true})
		ctx, cancel := context.WithCancel(t.Context())
		held := make(chan error, 1)
		go func() { held <- w.engine.Hold(ctx, "s1") }()
		time.Sleep(time.Hour)
		w.append("a")
		w.expect("a/1")
		cancel()
		if err := <-held; err != nil {
			t.Fatal(err)
		}
		time.Sleep(LeaseGrace + time.Second)
		synctest.Wait()
		if _, err := w.engine.Subscription(t.Context(), "s1"); !errors.Is(err, ErrNotFound) {
			t.Errorf("the leased subscription is still there: %v", err)
		}
	})
}

// TestBehindReadsTheLog: a subscription that falls far behind gets everything, once, in order.
func TestBehindReadsTheLog(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		const events = 3*queueLength + 7
		w.subscribe(NewSubscription{Types: []string{"even", "t"}})
		gate := make(chan struct{})
		w.answers(func(s sent) egress.Result { <-gate; return ok(s) })
		var want []string
		for i := range events {
			typ := []string{"even", "odd"}[i%2]
			w.append(fmt.Sprintf("e%d@%s", i, typ))
			if typ == "even" {
				want = append(want, fmt.Sprintf("e%d/1", i))
			}
		}
		close(gate)
		w.expect(want...)
	})
}
