package ingest

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"hookd/internal/store"
)

// Prints that grew with the offset are those that are read before it, and stand in this file and in no other.
func TestPrints(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var text []byte
		var grown prints
		for range rapid.IntRange(0, 8).Draw(t, "pieces") {
			if rapid.Bool().Draw(t, "zeros") {
				n := rapid.IntRange(0, 4000).Draw(t, "n")
				grown.passZeros(int64(n))
				text = append(text, make([]byte, n)...)
				continue
			}
			piece := rapid.SliceOfN(rapid.Byte(), 0, 1500).Draw(t, "piece")
			grown.pass(piece)
			text = append(text, piece...)
		}
		offset := int64(len(text))
		read, err := loadPrints(bytes.NewReader(text), offset)
		if err != nil || !bytes.Equal(read.head, grown.head) || !bytes.Equal(read.tail, grown.tail) {
			t.Fatalf("read %d and %d bytes, grown %d and %d: %v", len(read.head), len(read.tail), len(grown.head), len(grown.tail), err)
		}
		m := store.FileMark{Offset: offset, SizeSeen: offset}
		grown.mark(&m)
		more := append(bytes.Clone(text), "more"...)
		check := func(text []byte, want likeness, stands bool) {
			t.Helper()
			f := bytes.NewReader(text)
			if got, err := compare(f, int64(len(text)), &m); err != nil || got != want {
				t.Fatalf("compare: %v %v, want %v", got, err, want)
			}
			if got, err := grown.standIn(f, offset, make([]byte, printLen)); err != nil || got != stands {
				t.Fatalf("stand in: %v %v, want %v", got, err, stands)
			}
		}
		check(text, continues, true)
		check(more, continues, true)
		if offset == 0 {
			return
		}
		for _, at := range []int{0, len(grown.head) - 1, len(text) - len(grown.tail), len(text) - 1} {
			other := bytes.Clone(more)
			other[at] ^= 1
			check(other, differs, false)
		}
		want := differs
		if offset > printLen {
			want = begins
		}
		check(text[:offset-1], want, false)
	})
}
