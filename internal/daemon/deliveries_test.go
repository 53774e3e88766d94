package daemon

import (
	"context"
	"strings"
	"testing"
	"time"

	"hookd/internal/control"
	"hookd/internal/egress"
	"hookd/internal/signing"
)

// failing answers 500 to the first n requests for an id and 200 to the others.
func failing(id string, n int) func(context.Context, *egress.Request) egress.Result {
	return func(_ context.Context, r *egress.Request) egress.Result {
		// The name stands in the map as it goes out, in lower case, which Get would not find.
		if name := signing.HeaderID; r.Header[name][0] == id && n > 0 {
			n--
			return egress.Result{Status: 500, Duration: time.Millisecond}
		}
		return egress.Result{Status: 200, Duration: time.Millisecond}
	}
}

func deliveryIDs(page *control.Page[control.Delivery]) string {
	var list []string
	for _, d := range page.Items {
		list = append(list, d.ID+"="+d.Status)
	}
	return strings.Join(list, " ")
}

func TestShowDelivery(t *testing.T) {
	f := start(t)
	ctx := t.Context()
	f.receivers.answers(failing("a-1", 2))
	f.create(control.CreateSubscription{Name: "crm", Types: []string{"order.*"}})
	f.write(append(events("a", "order.paid", 2), events("b", "user.made", 1)...)...)
	f.idle()
	d, err := f.Delivery(ctx, "crm", 1)
	if err != nil {
		t.Fatal(err)
	}
	if d.ID != "crm/1" || d.EventID != "a-1" || d.Type != "order.paid" || d.Status != control.StatusSucceeded || d.Attempts != 3 ||
		d.ResponseCode == nil || *d.ResponseCode != 200 || d.LastError != "" || d.FirstAttemptAt == nil || d.FinishedAt == nil ||
		d.DurationMS == nil || d.NextAttemptAt != nil {
		t.Errorf("delivery %+v", d)
	}
	if len(d.History) != 3 {
		t.Fatalf("history %+v", d.History)
	}
	for i, a := range d.History {
		code, lastError := 500, "http_status"
		if i == 2 {
			code, lastError = 200, ""
		}
		if a.Attempt != i+1 || a.ResponseCode == nil || *a.ResponseCode != code || a.LastError != lastError || a.DurationMS == nil ||
			(a.NextAttemptAt != nil) != (i < 2) {
			t.Errorf("attempt %d of the history is %+v", i+1, a)
		}
	}
	if !d.FirstAttemptAt.Equal(d.History[0].At) {
		t.Errorf("first attempt at %s, the history begins at %s", d.FirstAttemptAt, d.History[0].At)
	}
	refused(t, second(f.Delivery(ctx, "crm", 3)), control.CodeNotFound, "") // another type
	refused(t, second(f.Delivery(ctx, "crm", 4)), control.CodeNotFound, "")
	refused(t, second(f.Delivery(ctx, "crm", -4)), control.CodeNotFound, "")
	refused(t, second(f.Delivery(ctx, "nobody", 1)), control.CodeNotFound, "")
}

func TestPendingDelivery(t *testing.T) {
	f := start(t)
	ctx := t.Context()
	f.receivers.answers(status(503))
	f.create(control.CreateSubscription{Name: "crm", Retry: "tiers:0s,1h"})
	f.write(events("a", "order.paid", 3)...)
	var d *control.Delivery
	f.until(func() bool {
		var err error
		if d, err = f.Delivery(ctx, "crm", 1); err != nil {
			t.Fatal(err)
		}
		return d.Attempts == 1
	})
	if d.Status != control.StatusPending || d.LastError != "throttled" || *d.ResponseCode != 503 || d.FirstAttemptAt == nil ||
		d.NextAttemptAt == nil || time.Until(*d.NextAttemptAt) < 59*time.Minute || d.FinishedAt != nil || len(d.History) != 1 ||
		d.DurationMS == nil {
		t.Errorf("head: %+v", d)
	}
	second, err := f.Delivery(ctx, "crm", 2)
	if err != nil || second.Status != control.StatusPending || second.Attempts != 0 || second.FirstAttemptAt != nil ||
		second.NextAttemptAt != nil || len(second.History) != 0 {
		t.Errorf("behind the head: %+v, %v", second, err)
	}
	s, err := f.Subscription(ctx, "crm")
	if err != nil {
		t.Fatal(err)
	}
	if h := s.Head; s.Pending != 3 || s.OldestPendingAt == nil || h == nil || h.Seq != 1 || h.EventID != "a-1" || h.Attempt != 2 ||
		h.LastError != "throttled" || h.BlockedSince == nil {
		t.Errorf("subscription %+v, head %+v", s, s.Head)
	}
}

// until looks again after every change.
func (f *fixture) until(reached func() bool) {
	f.t.Helper()
	late := time.After(time.Minute)
	for {
		changed, done := f.api.engine.Changed()
		if reached() {
			done()
			return
		}
		select {
		case <-changed:
			done()
		case <-late:
			done()
			f.t.Fatal("not reached within a minute")
		}
	}
}

func TestListDeliveries(t *testing.T) {
	f := start(t)
	ctx := t.Context()
	// Both have the first event; then one is stopped at the second by its receiver, the other by its owner.
	f.create(control.CreateSubscription{Name: "blocked", Retry: "tiers:0s,1h"})
	f.create(control.CreateSubscription{Name: "paused", Types: []string{"order.*"}})
	f.write(events("a", "order.paid", 1)...)
	f.idle()
	if _, err := f.ChangeSubscription(ctx, "paused", control.ActionPause); err != nil {
		t.Fatal(err)
	}
	f.receivers.answers(status(500))
	f.write(append(events("b", "order.sent", 3), events("c", "user.made", 1)...)...)
	f.until(func() bool {
		d, err := f.Delivery(ctx, "blocked", 2)
		return err == nil && d.Attempts == 1
	})
	const finished = " paused/1=succeeded blocked/1=succeeded"
	for _, tt := range []struct {
		filter control.Filter
		want   string
	}{
		{control.Filter{}, "blocked/2=pending paused/2=pending" + finished},
		{control.Filter{Sub: "paused"}, "paused/2=pending paused/1=succeeded"},
		{control.Filter{Status: "succeeded"}, finished[1:]},
		{control.Filter{Status: "dead"}, ""},
		{control.Filter{Status: "pending"}, "blocked/2=pending blocked/3=pending blocked/4=pending blocked/5=pending paused/2=pending paused/3=pending paused/4=pending"},
		{control.Filter{Status: "pending", Type: "user.*"}, "blocked/5=pending"},
		{control.Filter{Status: "pending", Sub: "paused"}, "paused/2=pending paused/3=pending paused/4=pending"},
		{control.Filter{Status: "pending", Since: time.Now().Add(time.Hour)}, ""},
		{control.Filter{Status: "pending", Until: time.Now().Add(-time.Hour)}, ""},
		{control.Filter{Type: "order.paid"}, finished[1:]},
		{control.Filter{Type: "order.*"}, "blocked/2=pending paused/2=pending" + finished},
		{control.Filter{Since: time.Now().Add(time.Hour)}, ""},
		{control.Filter{Event: "a-1"}, finished[1:]},
		{control.Filter{Event: "3"}, "blocked/3=pending paused/3=pending"},
		{control.Filter{Event: "5"}, "blocked/5=pending"},
		{control.Filter{Event: "3", Status: "succeeded"}, ""},
		{control.Filter{Event: "unknown"}, ""},
		{control.Filter{Event: "99"}, ""},
	} {
		// In one page, and in pages of every size: they say the same.
		for limit := range 4 {
			filter, got := tt.filter, []string{}
			filter.Limit = limit
			for {
				page, err := f.Deliveries(ctx, filter)
				if err != nil {
					t.Fatalf("%+v: %v", filter, err)
				}
				if ids := deliveryIDs(page); ids != "" {
					got = append(got, ids)
				}
				if limit > 0 && len(page.Items) > limit {
					t.Errorf("%+v: a page of %d", filter, len(page.Items))
				}
				if page.Next == "" {
					break
				}
				filter.After = page.Next
			}
			list := strings.Join(got, " ")
			if !sameFinished(list, tt.want) {
				t.Errorf("%+v: %s, want %s", tt.filter, list, tt.want)
			}
		}
	}
	refused(t, second(f.Deliveries(ctx, control.Filter{Status: "lost"})), control.CodeInvalidRequest, "/status")
	refused(t, second(f.Deliveries(ctx, control.Filter{Sub: "nobody"})), control.CodeNotFound, "")
	for _, cursor := range []string{"7", "x1.1", "h1", "f1.x", "p.1", "."} {
		refused(t, second(f.Deliveries(ctx, control.Filter{After: cursor})), control.CodeInvalidRequest, "/after")
	}
}

// sameFinished compares two lists; the first event went to two subscriptions at once, in either order.
func sameFinished(got, want string) bool {
	other := strings.Replace(want, "paused/1=succeeded blocked/1=succeeded", "blocked/1=succeeded paused/1=succeeded", 1)
	return got == want || got == other
}

func TestDeadLetters(t *testing.T) {
	f := start(t)
	ctx := t.Context()
	f.receivers.answers(failing("a-1", 3))
	f.create(control.CreateSubscription{Name: "crm"})
	f.write(events("a", "order.paid", 2)...)
	f.idle()
	page, err := f.DeadLetters(ctx, control.Filter{Sub: "crm", Type: "order.*"})
	if err != nil || len(page.Items) != 1 {
		t.Fatalf("list: %+v, %v", page, err)
	}
	if d := page.Items[0]; d.Subscription != "crm" || d.App != "default" || d.EventID != "a-1" || d.Seq != 1 || d.Type != "order.paid" ||
		d.Attempts != 3 || d.LastStatus == nil || *d.LastStatus != 500 || d.LastError != "http_status" || d.DeadAt.IsZero() ||
		d.ReplayedAt != nil || d.ReplayStatus != "" || d.Payload != nil {
		t.Errorf("dead letter %+v", d)
	}
	id := page.Items[0].ID
	shown, err := f.DeadLetter(ctx, id)
	if err != nil || string(shown.Payload) != events("a", "order.paid", 1)[0] {
		t.Errorf("show: %s, %v", shown.Payload, err)
	}
	refused(t, second(f.DeadLetter(ctx, 99)), control.CodeNotFound, "")
	refused(t, second(f.DeadLetters(ctx, control.Filter{Sub: "nobody"})), control.CodeNotFound, "")
	refused(t, second(f.DeadLetters(ctx, control.Filter{Type: "a b"})), control.CodeInvalidRequest, "/type")
	refused(t, second(f.ReplayDeadLetters(ctx, control.ReplayDeadLetters{})), control.CodeInvalidRequest, "")
	refused(t, second(f.ReplayDeadLetters(ctx, control.ReplayDeadLetters{IDs: []int64{1}, All: true})), control.CodeInvalidRequest, "")
	refused(t, second(f.ReplayDeadLetters(ctx, control.ReplayDeadLetters{IDs: []int64{id, 99}})), control.CodeNotFound, "")
	refused(t, second(f.ReplayDeadLetters(ctx, control.ReplayDeadLetters{Sub: "nobody"})), control.CodeNotFound, "")

	// While the replay's attempt is out, another one does nothing and says so.
	out, held := make(chan struct{}), make(chan struct{})
	f.receivers.answers(func(context.Context, *egress.Request) egress.Result {
		out <- struct{}{}
		<-held
		return egress.Result{Status: 200}
	})
	r, err := f.ReplayDeadLetters(ctx, control.ReplayDeadLetters{IDs: []int64{id}})
	if err != nil || r.Replayed != 1 || len(r.Replays) != 1 || r.Replays[0].Subscription != "crm" ||
		r.Replays[0].Origin != "dead_letters" || r.Replays[0].State != "running" || r.Replays[0].Total != 1 || len(r.Skipped) != 0 {
		t.Errorf("replay: %+v, %v", r, err)
	}
	<-out
	if r, err = f.ReplayDeadLetters(ctx, control.ReplayDeadLetters{IDs: []int64{id}}); err != nil || r.Replayed != 0 ||
		len(r.Skipped) != 1 || r.Skipped[0].ID != id || r.Skipped[0].Reason == "" {
		t.Errorf("replay while one is pending: %+v, %v", r, err)
	}
	answer, err := f.Wait(ctx, control.WaitRequest{Idle: true}, 0)
	if err != nil || answer.Done || !strings.Contains(answer.Detail, "crm: a replay is pending") {
		t.Errorf("wait while a replay is pending: %+v, %v", answer, err)
	}
	close(held)
	f.idle()
	shown, err = f.DeadLetter(ctx, id)
	if err != nil || shown.ReplayStatus != control.StatusSucceeded || shown.ReplayedAt == nil {
		t.Errorf("after the replay: %+v, %v", shown, err)
	}
	if r, err = f.ReplayDeadLetters(ctx, control.ReplayDeadLetters{All: true}); err != nil || r.Replayed != 0 {
		t.Errorf("all of none: %+v, %v", r, err)
	}
	if err := f.DeleteSubscription(ctx, "crm"); err != nil {
		t.Fatal(err)
	}
	refused(t, second(f.ReplayDeadLetters(ctx, control.ReplayDeadLetters{IDs: []int64{id}})), control.CodeConflict, "")
	if shown, err = f.DeadLetter(ctx, id); err != nil || shown.Subscription != "crm" {
		t.Errorf("of a deleted subscription: %+v, %v", shown, err)
	}
}
