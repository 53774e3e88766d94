package store

import (
	"errors"
	"fmt"
	"testing"
)

// replayed ends the item that the replay lane has next.
func replayed(t *testing.T, s *Store, sub SubID, status Status, at int64) {
	t.Helper()
	item, ok, err := s.NextReplayItem(t.Context(), sub)
	check(t, err)
	if !ok {
		t.Fatal("no item to replay")
	}
	o := Outcome{
		Sub: sub, Seq: item.Seq, Kind: 1, Replay: item.Replay, DeadRef: item.DeadLetter, Finished: status, Attempts: 1, EndedAt: at, HadRetry: true,
	}
	if status == Dead {
		o.Dead = &DeadLetter{Sub: sub, App: "default", Seq: item.Seq, Kind: Kind{ID: 1}, Line: []byte("l"), DeadAt: at, Replay: item.Replay}
	}
	check(t, s.Record(t.Context(), o))
}

func replay(t *testing.T, s *Store, id int64) (r Replay, state int) {
	t.Helper()
	row := s.read.QueryRowContext(t.Context(), `SELECT id, sub, state, total, done, dead, ifnull(ended_at, 0) FROM replays WHERE id = ?`, id)
	check(t, one(row, &r.ID, &r.Sub, &state, &r.Total, &r.Done, &r.Dead, &r.EndedAt))
	return r, state
}

// Spec 3.8, 3.9: dead letters of two subscriptions become one replay each, lowest seq first, older replays first; what is
// pending is not asked for twice; the dead letter keeps how it ended.
func TestReplayDeadLetters(t *testing.T) {
	s := openTest(t, t.TempDir())
	a, b := subscribed(t, s, "a"), subscribed(t, s, "b")
	fill(t, s, 5)
	var ids []int64
	for _, seq := range []int64{3, 1, 2} {
		ids = append(ids, buried(t, s, a, seq))
	}
	other := buried(t, s, b, 1)

	made, skipped, err := s.ReplayDeadLetters(t.Context(), Selection{IDs: []int64{ids[0], ids[1], other}, Now: 1000})
	check(t, err)
	if fmt.Sprint(made) != fmt.Sprint([]Replay{{ID: 1, Sub: a, State: "running", Total: 2, CreatedAt: 1000}, {ID: 2, Sub: b, State: "running", Total: 1, CreatedAt: 1000}}) || skipped != nil {
		t.Errorf("made %+v, skipped %+v", made, skipped)
	}
	made, skipped, err = s.ReplayDeadLetters(t.Context(), Selection{Sub: a, Now: 1001})
	check(t, err)
	if len(made) != 1 || made[0].Total != 1 || len(skipped) != 2 {
		t.Errorf("made %+v, skipped %+v", made, skipped)
	}
	s = reopen(t, s)
	if open, err := s.OpenReplays(t.Context()); err != nil || len(open) != 2 {
		t.Errorf("open: %v %v", open, err)
	}
	var order []int64
	for range 2 {
		item, _, err := s.NextReplayItem(t.Context(), a)
		check(t, err)
		if item.Replay != 1 || item.DeadLetter == 0 {
			t.Errorf("item %+v", item)
		}
		order = append(order, item.Seq)
		replayed(t, s, a, Succeeded, 2000)
	}
	if fmt.Sprint(order) != "[1 3]" {
		t.Errorf("order is %v, want the lowest seq first", order)
	}
	if r, state := replay(t, s, 1); r.Done != 2 || r.Dead != 0 || r.EndedAt != 2000 || state != replayDone {
		t.Errorf("replay is %+v %d", r, state)
	}
	d, err := s.DeadLetter(t.Context(), ids[0])
	if err != nil || d.ReplayedAt != 2000 || d.ReplayStatus != Succeeded {
		t.Errorf("dead letter is %+v %v", d, err)
	}

	// One that runs out again is a new dead letter, and the old one says so.
	replayed(t, s, a, Dead, 3000)
	if d, err = s.DeadLetter(t.Context(), ids[2]); err != nil || d.ReplayStatus != Dead || d.ReplayedAt != 3000 {
		t.Errorf("dead letter is %+v %v", d, err)
	}
	if r, state := replay(t, s, 3); r.Done != 0 || r.Dead != 1 || state != replayDone {
		t.Errorf("replay is %+v %d", r, state)
	}
	if _, ok, err := s.NextReplayItem(t.Context(), a); ok || err != nil {
		t.Errorf("an item is left: %v", err)
	}

	// All takes what was not replayed with success: of two of one delivery the newest, and of b's nothing: it is pending.
	made, skipped, err = s.ReplayDeadLetters(t.Context(), Selection{All: true, Now: 4000})
	check(t, err)
	if len(made) != 1 || made[0].Sub != a || made[0].Total != 1 || len(skipped) != 1 || skipped[0].ID != other {
		t.Errorf("made %+v, skipped %+v", made, skipped)
	}
	if n, err := s.CountDeadLetters(t.Context()); err != nil || n != 3 {
		t.Errorf("%d dead letters, %v, want 3", n, err)
	}
	replayed(t, s, a, Succeeded, 5000)
	// Delivered now: none of that delivery's dead letters is left to replay.
	if n, err := s.CountDeadLetters(t.Context()); err != nil || n != 1 {
		t.Errorf("%d dead letters, %v, want 1", n, err)
	}
	if made, _, err = s.ReplayDeadLetters(t.Context(), Selection{Sub: a}); err != nil || len(made) != 0 {
		t.Errorf("made %+v %v", made, err)
	}
	// By its id it is replayed all the same.
	if made, _, err = s.ReplayDeadLetters(t.Context(), Selection{IDs: []int64{ids[0]}}); err != nil || len(made) != 1 {
		t.Errorf("made %+v %v", made, err)
	}
	if _, _, err = s.ReplayDeadLetters(t.Context(), Selection{IDs: []int64{ids[1], 999}}); !errors.Is(err, ErrNotFound) {
		t.Errorf("one that is not there: %v", err)
	}
	if made, _, err = s.ReplayDeadLetters(t.Context(), Selection{Since: 99999}); err != nil || len(made) != 0 {
		t.Errorf("since later: %+v %v", made, err)
	}
}

// The cursor and the last delivered seq are the stream's: a replay moves neither.
func TestReplayMovesNoCursor(t *testing.T) {
	s := openTest(t, t.TempDir())
	sub := subscribed(t, s, "a")
	fill(t, s, 3)
	for seq := range int64(3) {
		buried(t, s, sub, seq+1)
	}
	_, _, err := s.ReplayDeadLetters(t.Context(), Selection{All: true})
	check(t, err)
	replayed(t, s, sub, Succeeded, 1)
	if got := subscription(t, crash(t, s), sub); got.Cursor != 3 || got.LastSeq != 0 {
		t.Errorf("cursor %d, last %d, want 3, 0", got.Cursor, got.LastSeq)
	}
	// What is not in the replay any more counts nowhere.
	again := success(sub, 1)
	again.Replay, again.DeadRef, again.Moves = 1, 1, false
	check(t, s.Record(t.Context(), again))
	if r, _ := replay(t, s, 1); r.Done != 1 || r.EndedAt != 0 {
		t.Errorf("replay is %+v", r)
	}
	of, err := s.DeliveryOf(t.Context(), sub, 1)
	check(t, err)
	if len(of) != 3 || of[1].Status != Succeeded || of[1].Replay != 1 || of[2].Status != Dead {
		t.Errorf("outcomes are %+v", of)
	}
}
