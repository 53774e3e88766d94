package ingest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// A reader finds the same lines however the file grows, and none before it has ended.
func TestLinesOfAGrowingFile(t *testing.T) {
	text := "\ufeffone\n\r\n\x00\x00two\r\n" + string(bytes.Repeat([]byte("l"), 60)) + "\n  \nthree\nfour"
	want := "3:one 11:two 16:lllll+60 80:three "
	for step := 1; step <= len(text); step++ {
		f, err := os.Create(filepath.Join(t.TempDir(), "f"))
		if err != nil {
			t.Fatal(err)
		}
		r := newLineReader(f, 20, 0, 0, prints{}, nil)
		var got bytes.Buffer
		for from := 0; from < len(text); from += step {
			if _, err := f.WriteString(text[from:min(from+step, len(text))]); err != nil {
				t.Fatal(err)
			}
			collect(t, r, &got)
		}
		if got.String() != want {
			t.Fatalf("in steps of %d:\n got %s\nwant %s", step, got.String(), want)
		}
		l, ok, more, err := r.last()
		if err != nil || !ok || more || string(l.text) != "four" || l.offset != int64(len(text)-4) || r.offset != int64(len(text)) {
			t.Fatalf("last: %+v %v %v %v", l, ok, more, err)
		}
		if same, err := r.before.standIn(f, r.offset, make([]byte, printLen)); err != nil || !same {
			t.Fatalf("prints do not stand in the file: %v", err)
		}
		if r.nuls != 2 {
			t.Errorf("%d NUL bytes", r.nuls)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func collect(t *testing.T, r *lineReader, to *bytes.Buffer) {
	t.Helper()
	for {
		for l, ok := r.next(); ok; l, ok = r.next() {
			writeLine(to, l)
		}
		more, err := r.more()
		if err != nil {
			t.Fatal(err)
		}
		if !more {
			return
		}
	}
}

func TestLastLineEnd(t *testing.T) {
	pad := bytes.Repeat([]byte("p"), scanBytes)
	for _, tt := range []struct {
		text string
		want int64
	}{
		{"", 0},
		{"x", 0},
		{"\n", 1},
		{"a\nb", 2},
		{"a\nb\n", 4},
		{"a\n" + string(pad), 2},
		{"a\n" + string(pad) + string(pad[1:]), 2},
		{string(pad) + "\n", scanBytes + 1},
	} {
		if got, err := lastLineEnd(bytes.NewReader([]byte(tt.text)), int64(len(tt.text))); err != nil || got != tt.want {
			t.Errorf("%.10q of %d bytes: %d %v, want %d", tt.text, len(tt.text), got, err, tt.want)
		}
	}
}

func writeLine(to *bytes.Buffer, l line) {
	fmt.Fprintf(to, "%d:%s", l.offset, l.text[:min(len(l.text), 5)])
	if l.length > 20 { // too long for the reader of these tests, held or not
		fmt.Fprintf(to, "+%d", l.length)
	}
	to.WriteByte(' ')
}
