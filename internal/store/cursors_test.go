package store

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// A cursor after a crash is that of the last outcome that moved it, or what was saved, whichever is further: in any order
// of outcomes and saves, with marks that are behind, and with idle subscriptions beside it.
func TestCursorsAfterACrash(t *testing.T) {
	s := openTest(t, t.TempDir())
	cursor, succeeded := map[SubID]int64{}, map[SubID]int64{}
	round := 0
	rapid.Check(t, func(rt *rapid.T) {
		round++
		var subs []SubID
		for _, name := range []string{"a", "b", "idle"} {
			subs = append(subs, subscribed(t, s, fmt.Sprint(name, round)))
		}
		for range rapid.IntRange(0, 15).Draw(rt, "steps") {
			sub := subs[rapid.IntRange(0, 1).Draw(rt, "sub")]
			seq := cursor[sub] + rapid.Int64Range(1, 5).Draw(rt, "further")
			switch rapid.IntRange(0, 4).Draw(rt, "step") {
			case 0:
				o := success(sub, seq)
				if rapid.Bool().Draw(rt, "fails") {
					o.Finished, o.Code = Failed, CodeGone
				} else {
					succeeded[sub] = seq
				}
				check(t, s.Record(t.Context(), o))
				cursor[sub] = seq
			case 1: // of an older revision: history only
				o := success(sub, seq)
				o.Moves = false
				check(t, s.Record(t.Context(), o))
			case 2: // passed over without a delivery
				check(t, s.SaveCursors(t.Context(), []Mark{{Sub: sub, Cursor: seq, LastSeq: succeeded[sub]}}))
				cursor[sub] = seq
			case 3: // read before outcomes that were committed first
				check(t, s.SaveCursors(t.Context(), []Mark{{Sub: sub, Cursor: max(cursor[sub]-1, 0)}}))
			case 4:
				check(t, s.SaveCursors(t.Context(), nil))
			}
			if rapid.IntRange(0, 99).Draw(rt, "stop") == 99 {
				s = reopen(t, s)
			}
		}
		for _, sub := range subs {
			got := subscription(t, s, sub) // what the start reads too
			if got.Cursor != cursor[sub] || got.LastSeq != succeeded[sub] {
				rt.Fatalf("subscription %d: cursor %d, last %d, want %d, %d", sub, got.Cursor, got.LastSeq, cursor[sub], succeeded[sub])
			}
		}
	})
	list, err := crash(t, s).Subscriptions(t.Context())
	check(t, err)
	for _, sub := range list {
		if sub.Cursor != cursor[sub.ID] || sub.LastSeq != succeeded[sub.ID] {
			t.Errorf("after a crash: %s: cursor %d, last %d, want %d, %d", sub.Name, sub.Cursor, sub.LastSeq, cursor[sub.ID], succeeded[sub.ID])
		}
	}
}

// A save in the same group as outcomes: those before it are in it, those after it are told by the history.
func TestSaveCursorsWithinAGroup(t *testing.T) {
	s := openTest(t, t.TempDir())
	sub, other := subscribed(t, s, "a"), subscribed(t, s, "b")
	record := func(sub SubID, seq int64) func() error {
		return func() error { return s.Record(t.Context(), success(sub, seq)) }
	}
	save := func(marks ...Mark) func() error { return func() error { return s.SaveCursors(t.Context(), marks) } }
	for _, err := range together(t, s, record(sub, 1), record(other, 7), save(Mark{Sub: sub}), record(sub, 2), save(), record(sub, 3)) {
		check(t, err)
	}
	verify := func(s *Store) {
		t.Helper()
		if a, b := subscription(t, s, sub).Cursor, subscription(t, s, other).Cursor; a != 3 || b != 7 {
			t.Errorf("cursors are %d and %d, want 3 and 7", a, b)
		}
	}
	verify(crash(t, s))
	check(t, s.SaveCursors(t.Context(), []Mark{{Sub: other, Cursor: 7}}))
	verify(crash(t, s))
	verify(reopen(t, s))
}

// The start reads no history that is in the cursors already, also where a subscription has not moved for long.
func TestStartReadsNoOldHistory(t *testing.T) {
	s := openTest(t, t.TempDir())
	subscribed(t, s, "idle")
	busy := subscribed(t, s, "busy")
	for seq := range int64(100) {
		check(t, s.Record(t.Context(), success(busy, seq+1)))
	}
	check(t, s.SaveCursors(t.Context(), nil))
	check(t, s.Record(t.Context(), success(busy, 101)))
	if n := meta(t, s, "cursors_n"); n != "100" {
		t.Errorf("the start reads history after %s, want 100", n)
	}
	if got := subscription(t, s, busy).Cursor; got != 101 {
		t.Errorf("cursor is %d, want 101", got)
	}
}
