package delivery

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"hookd/internal/egress"
	"hookd/internal/store"
)

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
		w.pass(time.Hour)
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
		w.pass(time.Hour)
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
		w.pass(time.Hour)
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
		w.pass(10 * time.Second)
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

func TestLeaseEndsWithItsHolder(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.subscribe(NewSubscription{Lease: true})
		ctx, cancel := context.WithCancel(t.Context())
		held := make(chan error, 1)
		go func() { held <- w.engine.Hold(ctx, "s1") }()
		w.pass(time.Hour)
		w.append("a")
		w.expect("a/1")
		cancel()
		if err := <-held; err != nil {
			t.Fatal(err)
		}
		w.pass(LeaseGrace + time.Second)
		synctest.Wait()
		if _, err := w.engine.Subscription(t.Context(), "s1"); !errors.Is(err, ErrNotFound) {
			t.Errorf("the leased subscription is still there: %v", err)
		}
	})
}
