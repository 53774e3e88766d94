package store

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"hookd/internal/event"
)

// Counts by blocks, next seqs by the kind index and lists equal a scan: across closed blocks, the open one, a crash and a
// clean stop.
func TestCountsAndSeqsEqualAScan(t *testing.T) {
	s := openTest(t, t.TempDir())
	kindOf := []KindID{0} // by seq
	grow := func(n int) {
		var types []string
		for range 997 { // some types often, some hardly ever, in no order
			types = append(types, fmt.Sprintf("t.%d", int(30*rand.Float64()*rand.Float64())))
		}
		fill(t, s, n, types...)
		events, err := s.EventsAfter(t.Context(), int64(len(kindOf)-1), n, 1<<30)
		check(t, err)
		for _, e := range events {
			kindOf = append(kindOf, e.Kind.ID)
		}
	}
	ctx := t.Context()
	verify := func(t *rapid.T) {
		kinds := s.Kinds()
		var chosen []KindID
		for _, k := range kinds {
			if rapid.Bool().Draw(t, "chosen") {
				chosen = append(chosen, k.ID)
			}
		}
		if len(chosen) > 3 && rapid.Bool().Draw(t, "few") {
			chosen = chosen[:3]
		}
		last := int64(len(kindOf) - 1)
		after := rapid.Int64Range(-1, last+1).Draw(t, "after")
		if rapid.Bool().Draw(t, "at a block's edge") {
			after = rapid.Int64Range(0, last>>blockBits).Draw(t, "block")<<blockBits + rapid.Int64Range(-2, 2).Draw(t, "edge")
		}
		upTo := rapid.Int64Range(after, max(after, last)+1).Draw(t, "up to")
		limit := rapid.IntRange(1, 300).Draw(t, "limit")
		var is [64]bool
		for _, k := range chosen {
			is[k] = true
		}
		var count int64
		var next []int64
		for seq := max(after+1, 1); seq <= last; seq++ {
			if is[kindOf[seq]] {
				count++
				if seq <= upTo && len(next) < limit {
					next = append(next, seq)
				}
			}
		}
		if got, err := s.Count(ctx, chosen, after); err != nil || got != count {
			t.Fatalf("count of %v after %d: %d %v, want %d", chosen, after, got, err, count)
		}
		if got, err := s.NextSeqs(ctx, chosen, after, upTo, limit); err != nil || !slices.Equal(got, next) {
			t.Fatalf("next of %v in (%d, %d]: %v %v, want %v", chosen, after, upTo, got, err, next)
		}
	}
	for _, n := range []int{0, 4094, 1, 4100} {
		grow(n)
		rapid.Check(t, verify)
	}
	s = crash(t, s)
	rapid.Check(t, verify)
	grow(1500)
	s = reopen(t, s)
	grow(700)
	rapid.Check(t, verify)
}

// One group that closes several blocks counts each event in its own.
func TestGroupClosesSeveralBlocks(t *testing.T) {
	s := openTest(t, t.TempDir())
	src, err := s.Source(t.Context(), "test", "file")
	check(t, err)
	fill(t, s, 300, "t.0")
	const batches = 10
	var units []func() error
	for b := range batches {
		var lines []Line
		for i := range 1000 {
			id := fmt.Sprintf("%d-%d", b, i)
			lines = append(lines, Line{Event: event.Event{ID: id, Type: fmt.Sprint("t.", i%3), Line: []byte(id)}})
		}
		units = append(units, func() error {
			_, err := s.Append(t.Context(), Batch{Source: src.ID, Lines: lines})
			return err
		})
	}
	before := s.groups
	for _, err := range together(t, s, units...) {
		check(t, err)
	}
	if n := s.groups - before; n != 2 {
		t.Fatalf("%d groups, want 2", n)
	}
	for _, s := range []*Store{s, crash(t, s)} {
		for _, k := range s.Kinds() {
			want := int64(batches * 333)
			if k.Type == "t.0" {
				want = 300 + batches*334
			}
			if n, err := s.Count(t.Context(), []KindID{k.ID}, 0); err != nil || n != want {
				t.Errorf("%s: %d %v, want %d", k.Type, n, err, want)
			}
		}
	}
}
