package store

import (
	"errors"
	"fmt"
	"testing"
)

func count(t *testing.T, s *Store, table string) (n int64) {
	t.Helper()
	check(t, one(s.read.QueryRowContext(t.Context(), `SELECT count(*) FROM `+table), &n))
	return n
}

// A head that fails, is retried and is given up: each step leaves what the next start goes on with.
func TestRetryThenDead(t *testing.T) {
	s := openTest(t, t.TempDir())
	sub := subscribed(t, s, "a")
	appended(t, s, line("e1", "order.paid", 1))
	kind := s.Kinds()[0]
	retry := Retry{
		Seq: 1, Attempt: 1, Step: 1, Counted: true, FirstAt: 10, DueAt: 1020, DelayMS: 1000, Error: CodeHTTPStatus, HTTPStatus: 500, Since: 20,
	}
	check(t, s.Record(t.Context(), Outcome{
		Sub: sub, Seq: 1, Kind: kind.ID, Moves: true, Code: CodeHTTPStatus, HTTPStatus: 500, Attempts: 1, FirstAt: 10, EndedAt: 20, TookMS: 10,
		Failed: &Attempt{Attempt: 1, At: 10, TookMS: 10, Code: CodeHTTPStatus, HTTPStatus: 500, NextAt: 1020}, Retry: &retry, Failures: 1, SetFailures: true,
	}))
	got := subscription(t, crash(t, s), sub)
	if len(got.Retries) != 1 || got.Retries[0] != retry || got.Failures != 1 || got.Cursor != 0 {
		t.Errorf("after one attempt: %+v", got)
	}
	check(t, s.Record(t.Context(), Outcome{
		Sub: sub, Seq: 1, Kind: kind.ID, Moves: true, Finished: Dead, Code: CodeTimeout, Attempts: 2, FirstAt: 10, EndedAt: 1030, TookMS: 10,
		Failed: &Attempt{Attempt: 2, At: 1020, TookMS: 10, Code: CodeTimeout}, HadRetry: true, Failures: 2, SetFailures: true,
		State: &Change{Sub: sub, Rev: 0, State: Disabled, Cause: CauseMaxFailures, At: 1030},
		Dead: &DeadLetter{
			Sub: sub, App: "default", Seq: 1, Kind: kind, EventID: "e1", ReceivedAt: 5, At: 6, Resource: "r/1", Key: "k", Line: []byte("line"),
			Attempts: 2, Code: CodeTimeout, HTTPStatus: 0, DeadAt: 1030,
		},
	}))
	after := crash(t, s)
	got = subscription(t, after, sub)
	if len(got.Retries) != 0 || got.Failures != 2 || got.Cursor != 1 || got.LastSeq != 0 ||
		got.State != Disabled || got.Cause != CauseMaxFailures || got.StateAt != 1030 {
		t.Errorf("after it was given up: %+v", got)
	}
	attempts, err := after.Attempts(t.Context(), sub, 1, 10)
	check(t, err)
	want := []Attempt{
		{Attempt: 2, At: 1020, TookMS: 10, Code: CodeTimeout}, {Attempt: 1, At: 10, TookMS: 10, Code: CodeHTTPStatus, HTTPStatus: 500, NextAt: 1020},
	}
	if fmt.Sprint(attempts) != fmt.Sprint(want) {
		t.Errorf("attempts are %+v", attempts)
	}
	d, err := after.DeadLetter(t.Context(), 1)
	check(t, err)
	wantDead := DeadLetter{
		ID: 1, Sub: sub, SubName: "a", App: "default", Seq: 1, Kind: kind, EventID: "e1", ReceivedAt: 5, At: 6, Resource: "r/1", Key: "k",
		Line: []byte("line"), Attempts: 2, Code: CodeTimeout, DeadAt: 1030,
	}
	if fmt.Sprintf("%+v", d) != fmt.Sprintf("%+v", wantDead) {
		t.Errorf("dead letter is %+v\nwant %+v", d, wantDead)
	}
	of, err := after.DeliveryOf(t.Context(), sub, 1)
	check(t, err)
	wantOf := []Delivery{{
		N: 1, Sub: sub, Seq: 1, Kind: kind, Status: Dead, Code: CodeTimeout, Attempts: 2, FirstAt: 10, EndedAt: 1030, TookMS: 10, EventID: "e1",
	}}
	if fmt.Sprint(of) != fmt.Sprint(wantOf) {
		t.Errorf("delivery is %+v", of)
	}
}

// An owner's change: the head starts again, or goes on.
func TestChangeState(t *testing.T) {
	s := openTest(t, t.TempDir())
	sub := subscribed(t, s, "a")
	retry := Retry{Seq: 1, Attempt: 3, Step: 3, DueAt: 5000, DelayMS: 100, Error: CodeTimeout}
	check(t, s.Record(t.Context(), Outcome{
		Sub: sub, Seq: 1, Kind: 1, Failed: &Attempt{Attempt: 3, Code: CodeTimeout}, Retry: &retry, Failures: 3, SetFailures: true,
	}))
	check(t, s.ChangeState(t.Context(), Change{Sub: sub, Rev: 0, State: Paused, Cause: CauseOwner, At: 7}))
	if got := subscription(t, s, sub); got.State != Paused || got.Cause != CauseOwner || got.StateAt != 7 || got.Failures != 3 || got.Retries[0] != retry {
		t.Errorf("paused: %+v", got)
	}
	due := retry
	due.DueAt, due.DelayMS = 8, 0
	check(t, s.ChangeState(t.Context(), Change{Sub: sub, Rev: 1, State: Active, At: 8, ResetFailures: true, Retry: &due}))
	if got := subscription(t, s, sub); got.State != Active || got.Rev != 1 || got.Failures != 0 || got.Retries[0] != due {
		t.Errorf("resumed: %+v", got)
	}
	check(t, s.ChangeState(t.Context(), Change{Sub: sub, Rev: 1, State: Active, At: 9, ClearRetry: true}))
	if got := subscription(t, s, sub); len(got.Retries) != 0 {
		t.Errorf("enabled: %+v", got)
	}
	if err := s.ChangeState(t.Context(), Change{Sub: 99, State: Active}); !errors.Is(err, ErrNotFound) {
		t.Errorf("of none: %v", err)
	}
}

func TestSubscriptionsComeBack(t *testing.T) {
	s := openTest(t, t.TempDir())
	limit := 0
	id, err := s.CreateSubscription(t.Context(), NewSubscription{
		UUID: "u", Name: "crm", App: "shop", Host: "example.com", URL: []byte("sealed url"), Headers: []byte("sealed headers"), Cursor: 42,
		Spec: Spec{Types: []string{"order.*", "!order.x"}, Retry: "tiers:0s", TimeoutMS: 5, MaxFailures: &limit}, LeaseUntil: 99, Now: 7, Generation: 1, Master: 3,
	})
	check(t, err)
	generations := []Generation{{Generation: 2, Master: 3, Sealed: []byte("s"), CreatedAt: 8}, {Generation: 1, Master: 3, CreatedAt: 7, NotAfter: 9}}
	check(t, s.SetSecrets(t.Context(), id, generations))
	check(t, s.SetLease(t.Context(), id, 0))
	got := fmt.Sprintf("%+v", subscription(t, crash(t, s), id))
	want := Subscription{
		ID: id, UUID: "u", Name: "crm", App: "shop", State: Active, StateAt: 7, Host: "example.com", URL: []byte("sealed url"),
		Headers: []byte("sealed headers"), Spec: Spec{Types: []string{"order.*", "!order.x"}, Retry: "tiers:0s", TimeoutMS: 5, MaxFailures: &limit},
		Cursor: 42, CreatedAt: 7, Secrets: generations,
	}
	sub := subscription(t, s, id)
	want.Spec.MaxFailures = sub.Spec.MaxFailures
	if *sub.Spec.MaxFailures != 0 || fmt.Sprintf("%+v", sub) != fmt.Sprintf("%+v", want) {
		t.Errorf("it is %s\nwant %+v", got, want)
	}
	if _, err := s.CreateSubscription(t.Context(), NewSubscription{UUID: "v", Name: "crm"}); !errors.Is(err, ErrNameTaken) {
		t.Errorf("a second of that name: %v", err)
	}
	if err := s.SetLease(t.Context(), 99, 1); !errors.Is(err, ErrNotFound) {
		t.Errorf("lease of none: %v", err)
	}
}

// A deleted subscription is in no list, frees its name, ends its replays, and a result that was under way is dropped; its
// dead letters stay.
func TestDelete(t *testing.T) {
	s := openTest(t, t.TempDir())
	sub := subscribed(t, s, "a")
	appended(t, s, line("e1", "t", 1))
	buried(t, s, sub, 1)
	replays, _, err := s.ReplayDeadLetters(t.Context(), Selection{All: true, Now: 5})
	check(t, err)
	check(t, s.DeleteSubscription(t.Context(), sub, 1, 50))
	for _, s := range []*Store{s, crash(t, s)} {
		check(t, s.Record(t.Context(), success(sub, 2)))
		check(t, s.Record(t.Context(), Outcome{Sub: sub, Seq: 3, Kind: 1, Failed: &Attempt{}, Retry: &Retry{Seq: 3}, Dead: &DeadLetter{Sub: sub}}))
		if list, err := s.Subscriptions(t.Context()); err != nil || len(list) != 0 {
			t.Errorf("subscriptions: %+v %v", list, err)
		}
		for table, want := range map[string]int64{"history": 1, "retries": 0, "secrets": 0, "attempts": 0, "dead_letters": 1, "replay_items": 0} {
			if n := count(t, s, table); n != want {
				t.Errorf("%s has %d rows, want %d", table, n, want)
			}
		}
		if open, err := s.OpenReplays(t.Context()); err != nil || len(open) != 0 {
			t.Errorf("open replays: %v %v", open, err)
		}
		if list, err := s.ListDeliveries(t.Context(), DeliveryFilter{Limit: 10}); err != nil || len(list) != 0 {
			t.Errorf("deliveries: %v %v", list, err)
		}
		d, err := s.DeadLetter(t.Context(), 1)
		if err != nil || !d.SubDeleted || d.SubName != "a" {
			t.Errorf("dead letter: %+v %v", d, err)
		}
		made, skipped, err := s.ReplayDeadLetters(t.Context(), Selection{IDs: []int64{1}})
		if err != nil || len(made) != 0 || len(skipped) != 1 {
			t.Errorf("replay: %v %v %v", made, skipped, err)
		}
	}
	if len(replays) != 1 {
		t.Errorf("replays: %v", replays)
	}
	if err := s.DeleteSubscription(t.Context(), sub, 2, 60); !errors.Is(err, ErrNotFound) {
		t.Errorf("deleted twice: %v", err)
	}
	subscribed(t, s, "a2")
	if id, err := s.CreateSubscription(t.Context(), NewSubscription{UUID: "other", Name: "a", Host: "h", URL: []byte("u")}); err != nil || id == sub {
		t.Errorf("the name again: %d %v", id, err)
	}
}

// Units of one group see that an earlier one of them deleted the subscription.
func TestDeleteWithinAGroup(t *testing.T) {
	s := openTest(t, t.TempDir())
	sub := subscribed(t, s, "a")
	appended(t, s, line("e1", "t", 1))
	buried(t, s, sub, 1)
	retry := Outcome{Sub: sub, Seq: 2, Kind: 1, Failed: &Attempt{}, Retry: &Retry{Seq: 2}}
	errs := together(t, s,
		func() error { return s.DeleteSubscription(t.Context(), sub, 1, 5) },
		func() error { return s.Record(t.Context(), retry) },
		func() error { return s.SetSecrets(t.Context(), sub, []Generation{{Generation: 2}}) },
		func() error { return s.ChangeState(t.Context(), Change{Sub: sub, State: Paused}) },
		func() error { return s.SetLease(t.Context(), sub, 9) },
		func() error {
			made, skipped, err := s.ReplayDeadLetters(t.Context(), Selection{IDs: []int64{1}})
			if len(made) != 0 || len(skipped) != 1 {
				t.Errorf("made %+v, skipped %+v", made, skipped)
			}
			return err
		})
	for i, want := range []error{nil, nil, ErrNotFound, ErrNotFound, ErrNotFound, nil} {
		if !errors.Is(errs[i], want) {
			t.Errorf("unit %d: %v, want %v", i, errs[i], want)
		}
	}
	if n := count(t, s, "retries") + count(t, s, "attempts") + count(t, s, "secrets") + count(t, s, "replays"); n != 0 {
		t.Errorf("%d rows are left", n)
	}
}

// buried gives an event's delivery up and returns the dead letter's id.
func buried(t *testing.T, s *Store, sub SubID, seq int64) int64 {
	t.Helper()
	e, err := s.EventBySeq(t.Context(), seq)
	check(t, err)
	check(t, s.Record(t.Context(), Outcome{
		Sub: sub, Seq: seq, Kind: e.Kind.ID, Moves: true, Finished: Dead, Code: CodeTimeout, Attempts: 7, EndedAt: 100 + seq,
		Dead: &DeadLetter{Sub: sub, App: "default", Seq: seq, Kind: e.Kind, EventID: e.ID, Line: e.Line, Attempts: 7, Code: CodeTimeout, DeadAt: 100 + seq},
	}))
	list, err := s.ListDeadLetters(t.Context(), DeadFilter{Limit: 1})
	check(t, err)
	return list[0].ID
}
