package store

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"hookd/internal/event"
)

// the same bytes are a duplicate, other bytes under a known id a conflict; wherever the first one is found: in the
// same batch, the same group, in memory, in the index, before a restart.
func TestDuplicatesAndConflicts(t *testing.T) {
	first, other := line("id-1", "t", 1), line("id-1", "t", 2)
	verify := func(t *testing.T, placed []Placed) {
		t.Helper()
		if p := placed[0]; !p.Duplicate || p.Seq != 1 || p.Refused != nil {
			t.Errorf("the same bytes: %+v", p)
		}
		if p := placed[1]; p.Refused == nil || p.Refused.Code != event.IDConflict || p.Seq != 0 {
			t.Errorf("other bytes: %+v", p)
		}
	}
	for name, between := range map[string]func(*testing.T, *Store) *Store{
		"in memory":                 func(_ *testing.T, s *Store) *Store { return s },
		"in the index":              func(t *testing.T, s *Store) *Store { indexNow(t, s); return s },
		"after a clean stop":        func(t *testing.T, s *Store) *Store { return reopen(t, s) },
		"after a crash":             func(t *testing.T, s *Store) *Store { return crash(t, s) },
		"indexed and after a crash": func(t *testing.T, s *Store) *Store { indexNow(t, s); return crash(t, s) },
	} {
		t.Run(name, func(t *testing.T) {
			s := openTest(t, t.TempDir())
			if p := appended(t, s, first)[0]; p.Seq != 1 || p.Duplicate || p.Refused != nil {
				t.Fatalf("the first: %+v", p)
			}
			s = between(t, s)
			verify(t, appended(t, s, first, other))
			if p := appended(t, s, line("id-2", "t", 1))[0]; p.Seq != 2 {
				t.Errorf("the next: %+v", p)
			}
			if src := s.Sources()[0]; src.Accepted != 2 || src.Duplicates != 1 || src.Rejected != 1 {
				t.Errorf("counts are %+v", src)
			}
			e, err := s.EventByID(t.Context(), "id-1")
			check(t, err)
			if e.Seq != 1 || string(e.Line) != string(first.Event.Line) {
				t.Errorf("the first is %d %s now", e.Seq, e.Line)
			}
		})
	}
	t.Run("in the same batch", func(t *testing.T) {
		s := openTest(t, t.TempDir())
		verify(t, appended(t, s, first, first, other)[1:])
	})
	t.Run("in the same group", func(t *testing.T) {
		s := openTest(t, t.TempDir())
		src, err := s.Source(t.Context(), "test", "file")
		check(t, err)
		var placed [2][]Placed
		units := make([]func() error, 2)
		for i, lines := range [][]Line{{first}, {first, other}} {
			units[i] = func() (err error) {
				placed[i], err = s.Append(t.Context(), Batch{Source: src.ID, Lines: lines})
				return err
			}
		}
		for _, err := range together(t, s, units...) {
			check(t, err)
		}
		verify(t, placed[1])
	})
}

// Ids whose hashes are the same are different ids all the same.
func TestHashCollision(t *testing.T) {
	s := openTest(t, t.TempDir())
	a, b := "x0007", "x00007" // another number of digits, so they need help
	collide := func(id string) int64 { return idHash(id) }
	if collide(a) == collide(b) {
		t.Fatal("the example collides by itself")
	}
	appended(t, s, line(a, "t", 1))
	s.recent.add(idHash(b), 1)
	if p := appended(t, s, line(b, "t", 1))[0]; p.Seq != 2 || p.Duplicate || p.Refused != nil {
		t.Errorf("placed %+v, want seq 2", p)
	}
	if p := appended(t, s, line(b, "t", 1))[0]; p.Seq != 2 || !p.Duplicate {
		t.Errorf("placed %+v, want a duplicate of 2", p)
	}
}

func TestAppendedRowsComeBack(t *testing.T) {
	s := openTest(t, t.TempDir())
	src, err := s.Source(t.Context(), "log", "file")
	check(t, err)
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	in := []Line{
		{Event: event.Event{ID: "a", Type: "order.paid", App: "shop", Resource: "support/1", Key: "k", Time: at, Line: []byte(`{"a":1}`)}},
		{Event: event.Event{ID: "b", Type: "order.paid", Line: []byte(`{"b":2}`)}},
	}
	var told []Event
	s.OnAppend(func(events []Event) { told = append(told, events...) })
	_, err = s.Append(t.Context(), Batch{Source: src.ID, Lines: in, Now: 5000})
	check(t, err)
	want := []Event{
		{
			Seq: 1, Kind: Kind{1, "shop", "order.paid"}, Source: src.ID, ID: "a", ReceivedAt: 5000, At: at.UnixMilli(), Resource: "support/1", Key: "k",
			Line: []byte(`{"a":1}`),
		},
		{Seq: 2, Kind: Kind{2, "", "order.paid"}, Source: src.ID, ID: "b", ReceivedAt: 5000, Line: []byte(`{"b":2}`)},
	}
	read, err := s.EventsAfter(t.Context(), 0, 10, 1<<20)
	check(t, err)
	for name, got := range map[string][]Event{"told": told, "read": read} {
		if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
			t.Errorf("%s: %+v\nwant %+v", name, got, want)
		}
	}
}

// Receipt times never fall within the log, whatever the clock does.
func TestReceiptNeverFalls(t *testing.T) {
	s := openTest(t, t.TempDir())
	src, err := s.Source(t.Context(), "log", "file")
	check(t, err)
	put := func(id string, now int64) {
		_, err := s.Append(t.Context(), Batch{Source: src.ID, Lines: []Line{line(id, "t", 1)}, Now: now})
		check(t, err)
	}
	put("a", 2000)
	put("b", 1000)
	s = reopen(t, s)
	put("c", 1500)
	put("d", 3000)
	events, err := s.EventsAfter(t.Context(), 0, 10, 1<<20)
	check(t, err)
	var got []int64
	for _, e := range events {
		got = append(got, e.ReceivedAt)
	}
	if fmt.Sprint(got) != "[2000 2000 2000 3000]" {
		t.Errorf("received at %v", got)
	}
}

// Appends of many goroutines: the callback sees every event once and in order, and seqs have no holes.
func TestOnAppendOrder(t *testing.T) {
	s := openTest(t, t.TempDir())
	src, err := s.Source(t.Context(), "log", "socket")
	check(t, err)
	var told []int64
	s.OnAppend(func(events []Event) {
		for _, e := range events {
			told = append(told, e.Seq)
		}
	})
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for n := range 50 {
				var lines []Line
				for i := range rand.IntN(5) {
					lines = append(lines, line(fmt.Sprintf("%d-%d-%d", g, n, i), "t", 1))
				}
				placed, err := s.Append(t.Context(), Batch{Source: src.ID, Lines: lines})
				if err != nil {
					t.Error(err)
				}
				for i := 1; i < len(placed); i++ {
					if placed[i].Seq != placed[i-1].Seq+1 {
						t.Errorf("a batch was torn: %+v", placed)
					}
				}
			}
		})
	}
	wg.Wait()
	_, last := s.Bounds()
	if int64(len(told)) != last || !slices.IsSorted(told) || told[0] != 1 || told[len(told)-1] != last {
		t.Errorf("told of %d events up to %d", len(told), last)
	}
}

// the checkpoint moves with the events of its batch, and quarantine with both.
func TestBatchIsOne(t *testing.T) {
	s := openTest(t, t.TempDir())
	src, err := s.Source(t.Context(), "log", "file")
	check(t, err)
	gen, err := s.BeginGeneration(t.Context(), src.ID, FileMark{Salt: []byte("salt"), State: GenOpen})
	check(t, err)
	bad := Line{Refused: &event.Refusal{Code: event.NotJSON, Message: "not JSON"}, Offset: 7, Length: 9000, Bytes: []byte("{bad")}
	batch := Batch{
		Source: src.ID, Lines: []Line{line("a", "t", 1), bad, line("a", "t", 2)}, Quarantine: true, Now: 1234,
		Mark: &FileMark{Gen: gen, Offset: 100, SizeSeen: 120, State: GenOpen},
	}
	placed, err := s.Append(t.Context(), batch)
	check(t, err)
	if placed[0].Seq != 1 || placed[1].Refused != bad.Refused || placed[2].Refused.Code != event.IDConflict {
		t.Errorf("placed %+v", placed)
	}
	conflict := string(batch.Lines[2].Event.Line)
	after := func(s *Store) {
		t.Helper()
		marks, err := s.Generations(t.Context(), src.ID)
		check(t, err)
		if len(marks) != 1 || marks[0].Offset != 100 || marks[0].SizeSeen != 120 || string(marks[0].Salt) != "salt" {
			t.Errorf("marks are %+v", marks)
		}
		list, err := s.ListQuarantine(t.Context(), QuarantineFilter{Limit: 10})
		check(t, err)
		if len(list) != 2 || list[0].Reason != event.IDConflict || list[1].Reason != event.NotJSON || list[1].Bytes != nil {
			t.Fatalf("quarantine is %+v", list)
		}
		q, err := s.Quarantine(t.Context(), list[1].ID)
		check(t, err)
		want := QuarantineEntry{
			ID: 1, Source: "log", Gen: gen, Offset: 7, Length: 9000, Reason: event.NotJSON, Message: "not JSON", At: 1234, Bytes: []byte("{bad"),
		}
		if fmt.Sprintf("%+v", q) != fmt.Sprintf("%+v", want) {
			t.Errorf("entry is %+v, want %+v", q, want)
		}
		q, err = s.Quarantine(t.Context(), list[0].ID)
		check(t, err)
		if string(q.Bytes) != conflict {
			t.Errorf("the conflict keeps %s", q.Bytes)
		}
	}
	after(s)
	after(crash(t, s))

	// A batch that fails moves nothing: here its checkpoint cannot be written.
	batch.Lines, batch.Mark.Offset = []Line{line("b", "t", 1), bad}, 200
	err = inTransaction(t, s, func(tx *tx) error {
		a := &appending{Batch: batch, placed: make([]Placed, 2)}
		if err := a.run(tx); err != nil {
			return err
		}
		return fmt.Errorf("the disk is gone")
	})
	if err == nil {
		t.Fatal("it did not fail")
	}
	after(s)
	batch.Quarantine = false
	_, err = s.Append(t.Context(), batch)
	check(t, err)
	if list, err := s.ListQuarantine(t.Context(), QuarantineFilter{Limit: 10}); err != nil || len(list) != 2 {
		t.Errorf("a source that answers put into quarantine: %+v %v", list, err)
	}
}
