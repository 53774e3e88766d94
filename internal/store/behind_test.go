package store

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Whatever comes in whatever portions, and whatever is rolled back, each row is in the index once a run is complete, none
// before it came, and not many wait.
func TestBehindIndexesEachRowOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := behind[idRow]{compare: compareIDs, size: runRows}
		indexed := map[idRow]int{}
		var complete, came int64
		for range rapid.IntRange(1, 40).Draw(t, "transactions") {
			added := rapid.IntRange(1, 3000).Draw(t, "added")
			rows, last := b.slice(added)
			if len(rows) > sliceRows {
				t.Fatalf("a slice of %d", len(rows))
			}
			if !slices.IsSortedFunc(rows, compareIDs) {
				t.Fatal("a slice is not sorted")
			}
			if rapid.IntRange(0, 4).Draw(t, "rolled back") == 0 {
				continue
			}
			for _, r := range rows {
				if indexed[r]++; indexed[r] > 1 {
					t.Fatalf("%v is indexed twice", r)
				}
			}
			end := b.end.seq
			whole := b.committed(len(rows))
			if last != (whole != nil) {
				t.Fatalf("last %v, but %d rows are complete", last, len(whole))
			}
			if last {
				for seq := complete + 1; seq <= end; seq++ {
					if indexed[rowOf(seq)] != 1 {
						t.Fatalf("%d is not indexed, the run up to %d is complete", seq, end)
					}
				}
				complete = end
			}
			for range added {
				came++
				b.tail = append(b.tail, rowOf(came))
			}
			if n := len(b.tail) + len(b.run) - b.done; n > 2*runRows+6000 {
				t.Fatalf("%d rows wait", n)
			}
		}
	})
}

// rowOf is a row with a hash that does not rise.
func rowOf(seq int64) idRow { return idRow{seq * 7919 % 10007, seq} }
