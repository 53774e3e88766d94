package delivery

import (
	"slices"
	"testing"
	"time"

	"hookd/internal/egress"
	"hookd/internal/store"
)

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
		w.pass(10 * time.Second)
		w.expect("a/1", "a/2")
		if _, _, err := w.engine.ReplayDeadLetters(t.Context(), store.Selection{All: true, Now: time.Now().UnixMilli()}); err != nil {
			t.Fatal(err)
		}
		w.expect("r1:a/1")
		w.restart()
		w.expect()
		w.answers(ok)
		w.pass(10 * time.Second)
		w.expect("r1:a/2")
		w.restart()
		w.expect()
	})
}
