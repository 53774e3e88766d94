package delivery

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"hookd/internal/egress"
	"hookd/internal/store"
)

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
		w.pass(time.Second)
		w.expect("a/2")
		w.pass(5 * time.Second)
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
		w.pass(6 * time.Second)
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
		w.pass(6 * time.Second)
		w.restart()
		w.expect()
		w.pass(4 * time.Second)
		w.expect("a/2")
		w.restart()
		w.pass(19 * time.Second)
		w.expect()
		w.answers(ok)
		w.pass(time.Second)
		w.expect("a/3", "b/1")
		w.restart()
		w.append("c")
		w.expect("c/1")
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
		w.pass(59 * time.Second)
		w.expect()
		w.pass(time.Second)
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
		w.pass(time.Second)
		w.expect("a/2")
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
