package store

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/uuid"
)

// Random ids through several runs of the index, with crashes: each id is found, and known, exactly as it was appended.
func TestIDsThroughTheIndex(t *testing.T) {
	const run = 2200
	s := openTest(t, t.TempDir())
	s.ids.size = run
	var ids []string
	for round := range 3 {
		for range (run + 2000) / 1000 {
			var lines []Line
			for range 1000 {
				id := fmt.Sprintf("%016x", rand.Uint64())
				switch rand.IntN(3) {
				case 0:
					id = uuid.Must(uuid.NewV7()).String()
				case 1:
					id = fmt.Sprintf("evt-%08d", len(ids)+len(lines))
				}
				lines = append(lines, line(id, "t", 1))
			}
			for i, p := range appended(t, s, lines...) {
				if p.Duplicate || p.Refused != nil || p.Seq != int64(len(ids)+1) {
					t.Fatalf("event %d: %+v", len(ids)+1, p)
				}
				ids = append(ids, lines[i].Event.ID)
			}
		}
		if round == 1 {
			s = crash(t, s)
			s.ids.size = run
		}
	}
	if count(t, s, "event_ids") < run {
		t.Error("hardly an id is indexed")
	}
	if len(s.ids.tail)+len(s.ids.run)-s.ids.done > 2*run+1000 {
		t.Errorf("%d ids wait in memory", len(s.ids.tail)+len(s.ids.run))
	}
	if n := len(s.recent.one) + len(s.recent.more); n > len(s.ids.tail)+len(s.ids.run) {
		t.Errorf("%d ids are in memory, %d wait for the index", n, len(s.ids.tail)+len(s.ids.run))
	}
	verify := func(s *Store) {
		t.Helper()
		for range 100 {
			n := rand.IntN(len(ids))
			e, err := s.EventByID(t.Context(), ids[n])
			if err != nil || e.Seq != int64(n+1) {
				t.Fatalf("id %s: seq %d, %v, want %d", ids[n], e.Seq, err, n+1)
			}
			if p := appended(t, s, line(ids[n], "t", 1))[0]; !p.Duplicate || p.Seq != int64(n+1) {
				t.Fatalf("id %s again: %+v, want a duplicate of %d", ids[n], p, n+1)
			}
			if p := appended(t, s, line(ids[n], "t", 2))[0]; p.Refused == nil {
				t.Fatalf("id %s with other bytes: %+v", ids[n], p)
			}
		}
	}
	verify(s)
	verify(crash(t, s))
	s = reopen(t, s)
	if len(s.ids.tail) != 0 {
		t.Errorf("%d ids are read back after a clean stop", len(s.ids.tail))
	}
	verify(s)
	if n := count(t, s, "event_ids"); n != int64(len(ids)) {
		t.Errorf("%d ids are indexed, want %d", n, len(ids))
	}
}
