package store

import (
	"errors"
	"fmt"
	"testing"

	"hookd/internal/event"
)

func seqsOf(events []Event) (seqs []int64) {
	for _, e := range events {
		seqs = append(seqs, e.Seq)
	}
	return seqs
}

func TestEventLists(t *testing.T) {
	s := openTest(t, t.TempDir())
	src, err := s.Source(t.Context(), "log", "file")
	check(t, err)
	for i, e := range []event.Event{{Type: "a"}, {Type: "b"}, {Type: "a", App: "shop"}, {Type: "c", App: "shop"}, {Type: "a"}} {
		e.ID, e.Line = fmt.Sprint("id", i), []byte(`{"x":1}`)
		_, err := s.Append(t.Context(), Batch{Source: src.ID, Lines: []Line{{Event: e}}, Now: int64(1000 * (i + 1))})
		check(t, err)
	}
	for _, tt := range []struct {
		f    EventFilter
		want string
	}{
		{EventFilter{Limit: 10}, "[5 4 3 2 1]"},
		{EventFilter{Limit: 2}, "[5 4]"},
		{EventFilter{Limit: 2, Before: 4}, "[3 2]"},
		{EventFilter{Limit: 10, Type: "a"}, "[5 3 1]"},
		{EventFilter{Limit: 2, Type: "a"}, "[5 3]"},
		{EventFilter{Limit: 2, Type: "a", Before: 5}, "[3 1]"},
		{EventFilter{Limit: 10, App: "shop"}, "[4 3]"},
		{EventFilter{Limit: 10, App: "shop", Type: "a"}, "[3]"},
		{EventFilter{Limit: 10, Type: "none"}, "[]"},
		{EventFilter{Limit: 10, Since: 3000}, "[5 4 3]"},
		{EventFilter{Limit: 10, Since: 3001}, "[5 4]"},
		{EventFilter{Limit: 10, Until: 3000}, "[2 1]"},
		{EventFilter{Limit: 10, Since: 2000, Until: 4001, Type: "a"}, "[3]"},
		{EventFilter{Limit: 10, Since: 9000}, "[]"},
		{EventFilter{Limit: 10, Until: 1}, "[]"},
		{EventFilter{Limit: 10, Before: 1}, "[]"},
	} {
		list, err := s.ListEvents(t.Context(), tt.f)
		if got := fmt.Sprint(seqsOf(list)); err != nil || got != tt.want {
			t.Errorf("%+v: %s %v, want %s", tt.f, got, err, tt.want)
		}
	}
	if e, err := s.EventsAt(t.Context(), []int64{9, 3, 0, 1, -1}); err != nil || fmt.Sprint(seqsOf(e)) != "[1 3]" {
		t.Errorf("events at: %v %v", seqsOf(e), err)
	}
	if _, err := s.EventBySeq(t.Context(), 6); !errors.Is(err, ErrNotFound) {
		t.Errorf("no event: %v", err)
	}
	if _, err := s.EventByID(t.Context(), "none"); !errors.Is(err, ErrNotFound) {
		t.Errorf("no id: %v", err)
	}
	for _, tt := range []struct {
		after           int64
		limit, maxBytes int
		want            string
	}{
		{0, 3, 1000, "[1 2 3]"}, {3, 10, 1000, "[4 5]"}, {5, 10, 1000, "[]"}, {9, 10, 1000, "[]"}, {0, 10, 15, "[1 2]"}, {0, 10, 1, "[1]"}, {0, 0, 1, "[]"},
	} {
		e, err := s.EventsAfter(t.Context(), tt.after, tt.limit, tt.maxBytes)
		if got := fmt.Sprint(seqsOf(e)); err != nil || got != tt.want {
			t.Errorf("after %d, %d, %d bytes: %s %v, want %s", tt.after, tt.limit, tt.maxBytes, got, err, tt.want)
		}
	}
}

func TestDeliveryLists(t *testing.T) {
	s := openTest(t, t.TempDir())
	a, b := subscribed(t, s, "a"), subscribed(t, s, "b")
	fill(t, s, 6, "x", "y")
	record := func(sub SubID, seq int64, status Status, at int64) {
		e, err := s.EventBySeq(t.Context(), seq)
		check(t, err)
		check(t, s.Record(t.Context(), Outcome{Sub: sub, Seq: seq, Kind: e.Kind.ID, Moves: true, Finished: status, Attempts: 1, EndedAt: at}))
	}
	record(a, 1, Succeeded, 100)
	record(b, 1, Dead, 200)
	record(a, 2, Failed, 300)
	record(a, 3, Succeeded, 400)
	verify := func(s *Store) {
		t.Helper()
		for _, tt := range []struct {
			f    DeliveryFilter
			want string
		}{
			{DeliveryFilter{Limit: 10}, "[4 3 2 1]"},
			{DeliveryFilter{Limit: 2}, "[4 3]"},
			{DeliveryFilter{Limit: 2, Before: 3}, "[2 1]"},
			{DeliveryFilter{Limit: 10, Sub: a}, "[4 3 1]"},
			{DeliveryFilter{Limit: 10, Status: Dead}, "[2]"},
			{DeliveryFilter{Limit: 10, Type: "x"}, "[4 2 1]"},
			{DeliveryFilter{Limit: 10, EventID: "fill-1"}, "[2 1]"},
			{DeliveryFilter{Limit: 10, EventID: "fill-1", Sub: b}, "[2]"},
			{DeliveryFilter{Limit: 10, EventID: "fill-1", Before: 2}, "[1]"},
			{DeliveryFilter{Limit: 10, EventID: "none"}, "[]"},
			{DeliveryFilter{Limit: 10, Since: 200, Until: 400}, "[3 2]"},
		} {
			list, err := s.ListDeliveries(t.Context(), tt.f)
			var ns []int64
			for _, d := range list {
				ns = append(ns, d.N)
				if d.EventID != fmt.Sprint("fill-", d.Seq) {
					t.Errorf("delivery %+v", d)
				}
			}
			if got := fmt.Sprint(ns); err != nil || got != tt.want {
				t.Errorf("%+v: %s %v, want %s", tt.f, got, err, tt.want)
			}
		}
		if of, err := s.DeliveryOf(t.Context(), a, 2); err != nil || len(of) != 1 || of[0].Status != Failed {
			t.Errorf("delivery of: %+v %v", of, err)
		}
		if of, err := s.DeliveryOf(t.Context(), b, 2); err != nil || len(of) != 0 {
			t.Errorf("delivery of none: %+v %v", of, err)
		}
	}
	verify(s)
	verify(crash(t, s))
	indexNow(t, s)
	verify(s)
	verify(reopen(t, s))
}

// History through several runs of its index and stretches of its list.
func TestHistoryThroughTheIndex(t *testing.T) {
	s := openTest(t, t.TempDir())
	a, b := subscribed(t, s, "a"), subscribed(t, s, "b")
	appended(t, s, line("e", "t", 1))
	const run, each = 3000, 3000 + 700 // the second ends while a run is half in the index
	s.history.size = run
	check(t, s.Record(t.Context(), success(b, 1)))
	for low := int64(1); low <= each; low += 512 {
		check(t, inTransaction(t, s, func(tx *tx) error {
			for seq := low; seq < low+512; seq++ {
				o := success(a, seq)
				if err := tx.finish(&o); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	verify := func(s *Store) {
		t.Helper()
		for _, seq := range []int64{1, 2, 511, 512, 513, 1500, 2500, run - 1, run, run + 1, each} {
			of, err := s.DeliveryOf(t.Context(), a, seq)
			if err != nil || len(of) != 1 || of[0].Seq != seq {
				t.Fatalf("delivery %d: %+v %v", seq, of, err)
			}
		}
		list, err := s.ListDeliveries(t.Context(), DeliveryFilter{Sub: b, Limit: 5})
		if err != nil || len(list) != 1 || list[0].N != 1 {
			t.Errorf("the oldest: %+v %v", list, err)
		}
	}
	verify(s)
	verify(crash(t, s))
	if count(t, s, "history_ix") == 0 {
		t.Error("nothing is indexed yet")
	}
	if s.history.done == 0 || s.history.done == len(s.history.run) {
		t.Errorf("%d of a run of %d are indexed: this shows nothing", s.history.done, len(s.history.run))
	}
	s = reopen(t, s)
	verify(s)
	if n, want := count(t, s, "history_ix"), count(t, s, "history"); n != want {
		t.Errorf("%d rows are indexed, want %d", n, want)
	}
}

func TestDeadLetterAndQuarantineLists(t *testing.T) {
	s := openTest(t, t.TempDir())
	a, b := subscribed(t, s, "a"), subscribed(t, s, "b")
	fill(t, s, 4, "x", "y")
	buried(t, s, a, 1)
	buried(t, s, b, 2)
	buried(t, s, a, 3)
	for _, tt := range []struct {
		f    DeadFilter
		want string
	}{
		{DeadFilter{Limit: 10}, "[3 2 1]"},
		{DeadFilter{Limit: 1}, "[3]"},
		{DeadFilter{Limit: 10, Before: 3}, "[2 1]"},
		{DeadFilter{Limit: 10, Sub: a}, "[3 1]"},
		{DeadFilter{Limit: 10, Type: "y"}, "[2]"},
		{DeadFilter{Limit: 10, App: "default"}, "[3 2 1]"},
		{DeadFilter{Limit: 10, App: "none"}, "[]"},
		{DeadFilter{Limit: 10, Since: 102, Until: 103}, "[2]"},
	} {
		list, err := s.ListDeadLetters(t.Context(), tt.f)
		var ids []int64
		for _, d := range list {
			ids = append(ids, d.ID)
			if d.Line != nil {
				t.Error("a list has a line")
			}
		}
		if got := fmt.Sprint(ids); err != nil || got != tt.want {
			t.Errorf("%+v: %s %v, want %s", tt.f, got, err, tt.want)
		}
	}
	if _, err := s.DeadLetter(t.Context(), 9); !errors.Is(err, ErrNotFound) {
		t.Errorf("no dead letter: %v", err)
	}

	for i, name := range []string{"one", "two"} {
		src, err := s.Source(t.Context(), name, "file")
		check(t, err)
		_, err = s.Append(t.Context(), Batch{
			Source: src.ID, Quarantine: true, Now: int64(5000 + i),
			Lines: []Line{{Refused: &event.Refusal{Code: event.NotJSON, Message: "m"}, Bytes: []byte("x")}},
		})
		check(t, err)
	}
	for _, tt := range []struct {
		f    QuarantineFilter
		want string
	}{
		{QuarantineFilter{Limit: 10}, "[2 1]"},
		{QuarantineFilter{Limit: 10, Before: 2}, "[1]"},
		{QuarantineFilter{Limit: 10, Source: "two"}, "[2]"},
		{QuarantineFilter{Limit: 10, Since: 5001}, "[2]"},
		{QuarantineFilter{Limit: 1}, "[2]"},
	} {
		list, err := s.ListQuarantine(t.Context(), tt.f)
		var ids []int64
		for _, q := range list {
			ids = append(ids, q.ID)
		}
		if got := fmt.Sprint(ids); err != nil || got != tt.want {
			t.Errorf("%+v: %s %v, want %s", tt.f, got, err, tt.want)
		}
	}
	if _, err := s.Quarantine(t.Context(), 9); !errors.Is(err, ErrNotFound) {
		t.Errorf("no entry: %v", err)
	}
}

func TestSourcesAndGenerations(t *testing.T) {
	s := openTest(t, t.TempDir())
	units := make([]func() error, 4)
	ids := make([]SourceID, len(units))
	for i := range units {
		units[i] = func() error {
			src, err := s.Source(t.Context(), "log", "file")
			ids[i] = src.ID
			return err
		}
	}
	for _, err := range together(t, s, units...) {
		check(t, err)
	}
	if len(s.Sources()) != 1 || ids[0] != ids[3] {
		t.Errorf("sources are %+v, ids %v", s.Sources(), ids)
	}
	src := s.Sources()[0]
	open, err := s.BeginGeneration(t.Context(), src.ID, FileMark{Salt: []byte("s0"), State: GenOpen})
	check(t, err)
	for i := range keptGenerations + 5 {
		m := FileMark{
			Salt: fmt.Appendf(nil, "s%d", i+1), Dev: 1 << 63, Ino: 1<<64 - 1, HeadLen: 3, HeadSum: []byte("h"), TailLen: 2, TailSum: []byte("t"),
			Offset: int64(i), SizeSeen: 9, State: GenOpen,
		}
		m.Gen, err = s.BeginGeneration(t.Context(), src.ID, m)
		check(t, err)
		m.State, m.Offset = GenClosed, m.Offset+100
		check(t, s.SaveMark(t.Context(), m))
	}
	if err := s.SaveMark(t.Context(), FileMark{Gen: 999, State: GenOpen}); !errors.Is(err, ErrNotFound) {
		t.Errorf("mark of none: %v", err)
	}
	marks, err := reopen(t, s).Generations(t.Context(), src.ID)
	check(t, err)
	// The last one was closed after the last deletion.
	if len(marks) != keptGenerations+2 || marks[len(marks)-1].Gen != open || marks[0].Gen <= marks[1].Gen {
		t.Fatalf("%d generations: %+v", len(marks), marks)
	}
	want := FileMark{
		Gen: marks[0].Gen, Salt: []byte("s21"), Dev: 1 << 63, Ino: 1<<64 - 1, HeadLen: 3, HeadSum: []byte("h"), TailLen: 2, TailSum: []byte("t"),
		Offset: 120, SizeSeen: 9, State: GenClosed,
	}
	if fmt.Sprint(marks[0]) != fmt.Sprint(want) {
		t.Errorf("mark is %+v, want %+v", marks[0], want)
	}
}
