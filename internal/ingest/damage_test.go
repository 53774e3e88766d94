package ingest

import (
	"os"
	"runtime"
	"strings"
	"testing"

	"hookd/internal/event"
)

// TAIL-08: a line that is too long is skipped, and only it.
func TestLongLines(t *testing.T) {
	long := func(n int) string { // an event of n bytes, of which the envelope has few
		return strings.Replace(ev("long"), ",", ","+strings.Repeat(" ", n-len(ev("long"))), 1)
	}
	const maxBytes = event.DefaultMaxBytes
	for name, tt := range map[string]struct {
		line   string
		taken  bool
		length int64
	}{
		"at the limit":             {long(maxBytes) + "\n", true, 0},
		"at the limit, CR":         {long(maxBytes) + "\r\n", true, 0},
		"one over":                 {long(maxBytes+1) + "\n", false, maxBytes + 1},
		"one over, CR":             {long(maxBytes+1) + "\r\n", false, maxBytes + 1},
		"70 kB":                    {long(70_000) + "\n", false, 70_000},
		"over what is read once":   {long(3<<20+5) + "\r\n", false, 3<<20 + 5},
		"NUL bytes before it":      {strings.Repeat("\x00", 2<<20) + long(maxBytes) + "\n", true, 0},
		"and of NUL bytes":         {"x" + strings.Repeat("\x00", 5<<20) + "\n", false, 5<<20 + 1},
		"its envelope is too long": {`{"type":"t","x":"` + strings.Repeat("x", maxBytes-19) + `"}` + "\n", false, maxBytes},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.write(evs("a") + tt.line + evs("ok"))
			w.start()
			if tt.taken {
				w.wants("a", "long", "ok")
				return
			}
			w.wants("a", "ok")
			q := w.quarantine()
			if len(q) != 1 || q[0].Reason != event.TooLarge || q[0].Offset != int64(len(evs("a"))) || q[0].Length != tt.length ||
				string(q[0].Bytes) != tt.line[:keptBytes] {
				t.Fatalf("quarantine %+.300v", q)
			}
			w.restart()
			w.wants()
		})
	}
}

// It may come in small pieces, over a restart, or never end.
func TestLongLineInPieces(t *testing.T) {
	w := newWorld(t)
	w.c.MaxBytes = 10_000
	w.start()
	piece := strings.Repeat("p", 997)
	for i := range 30 {
		w.write(piece)
		if i%7 == 0 {
			w.wants()
		}
		if i == 20 {
			w.restart()
		}
	}
	w.wants()
	if s := w.tail.Status(); s.Offset != 0 || s.Lag != 30*997 || s.State != Running {
		t.Errorf("status %+v", s)
	}
	w.write("\n" + evs("a"))
	w.wants("a")
	w.write(strings.Repeat(piece, 20))
	w.wants()
	w.must(os.Truncate(w.path, 500)) // in the middle of nowhere
	w.write(evs("b"))
	w.drain()
	w.rename("", ".1")
	w.write(evs("c") + strings.Repeat(piece, 20))
	w.drain()
	w.rename("", ".2")
	w.write(evs("d"))
	w.drain()
	if got := w.reasons(); got != "too_large not_json too_large" {
		t.Errorf("quarantine: %s", got)
	}
	if last := w.quarantine()[2]; last.Length != 20*997 || len(last.Bytes) != keptBytes {
		t.Errorf("the one that never ended: %d bytes, %d kept", last.Length, len(last.Bytes))
	}
}

// A line of any length costs no memory.
func TestLongLineIsNotHeld(t *testing.T) {
	w := newWorld(t)
	f := w.writer(w.path)
	defer f.Close()
	block := []byte(strings.Repeat("y", 1<<20))
	for range 64 {
		_, err := f.Write(block)
		w.must(err)
	}
	_, err := f.WriteString("\n" + evs("a"))
	w.must(err)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	w.start().wants("a")
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 16<<20 {
		t.Errorf("%d MiB were allocated", n>>20)
	}
	if q := w.quarantine(); len(q) != 1 || q[0].Length != 64<<20 {
		t.Errorf("quarantine %+.300v", q)
	}
}

// TAIL-09: a writer that keeps its place leaves a hole when the file is cut.
func TestHoles(t *testing.T) {
	w := newWorld(t)
	f, err := os.OpenFile(w.path, os.O_CREATE|os.O_WRONLY, 0o600) // not for append
	w.must(err)
	defer f.Close()
	put := func(text string) {
		t.Helper()
		_, err := f.WriteString(text)
		w.must(err)
	}
	ids := run("a", 1, 5000)
	put(evs(ids...))
	w.start().wants(ids...)
	w.must(os.Truncate(w.path, 0))
	w.wants()
	put(evs("b"))
	w.wants("b")
	put(evs("c"))
	w.wants("c")
	w.restart()
	w.must(os.Truncate(w.path, 0))
	put(ev("d"))
	w.wants()
	put("\n")
	w.wants("d")
	_, err = f.Seek(4<<30, 1)
	w.must(err)
	put(evs("e"))
	w.wants("e")
	put("x\x00y\n" + `{"id":"f","type":"t"}` + "\x00\n" + evs("g"))
	w.wants("g")
	if got := w.reasons(); got != "not_json not_json" {
		t.Errorf("quarantine: %s", got)
	}
	if !strings.Contains(w.logs.String(), "open it for append") {
		t.Errorf("no advice: %s", w.logs.String())
	}
}

// Room that was taken in advance is not passed over before something follows it.
func TestRoomTakenInAdvance(t *testing.T) {
	w := newWorld(t)
	w.write(evs("a"))
	w.must(os.Truncate(w.path, 1<<20))
	w.start().wants("a")
	f, err := os.OpenFile(w.path, os.O_WRONLY, 0o600)
	w.must(err)
	defer f.Close()
	at := int64(len(evs("a")))
	for _, id := range []string{"b", "c"} {
		_, err = f.WriteAt([]byte(evs(id)), at)
		w.must(err)
		at += int64(len(evs(id)))
		w.wants(id)
	}
	w.restart()
	w.wants()
}

// TAIL-14 and TAIL-15, and everything else that is no event; what is none is skipped or kept, and the next line is taken.
func TestDamagedLines(t *testing.T) {
	tests := []struct {
		name, text string
		ids        []string
		reasons    string
	}{
		{"byte order mark", "\ufeff" + evs("a", "b"), []string{"a", "b"}, ""},
		{"byte order mark alone", "\ufeff\n" + evs("a"), []string{"a"}, ""},
		{"byte order mark later", evs("a") + "\ufeff" + evs("b"), []string{"a"}, "not_json"},
		{"CR LF", ev("a") + "\r\n" + ev("b") + "\r\n", []string{"a", "b"}, ""},
		{"blank lines", "\n\r\n \t \n" + evs("a") + "\n\n\n" + evs("b") + "\n", []string{"a", "b"}, ""},
		{"only blank lines", "\n\n\r\n", nil, ""},
		{"glued", `{"id":"1","x":{"id":"2"}` + "\n" + `{"id":"3","type":"t"}{"id":"4","type":"t"}` + "\n" + `8"}` + "\n" + evs("a"), []string{"a"}, "not_json not_json not_json"},
		{"not UTF-8", `{"id":"u","type":"t","a":"` + "\xff\"}\n" + `{"id":"v","type":"t","a":"` + "\xc0\x80\"}\n" + evs("a"), []string{"a"}, "not_utf8 not_utf8"},
		{"no object", "[1]\n" + evs("a") + "7\n", []string{"a"}, "not_object not_object"},
		{"no type", `{"id":"x"}` + "\n" + evs("a"), []string{"a"}, "type_missing"},
		{"one id, two bodies", evs("a") + `{"id":"a","type":"t","data":1}` + "\n" + evs("a", "b"), []string{"a", "b"}, "id_conflict"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.write(tt.text)
			w.start().wants(tt.ids...)
			if got := w.reasons(); got != tt.reasons {
				t.Errorf("quarantine %q, want %q", got, tt.reasons)
			}
			if s := w.tail.Status(); s.Offset != int64(len(tt.text)) || s.Lag != 0 {
				t.Errorf("status %+v of %d bytes", s, len(tt.text))
			}
			w.restart()
			w.wants()
			if got := w.reasons(); got != tt.reasons {
				t.Errorf("quarantine after a restart %q", got)
			}
		})
	}
}

func TestQuarantineHasTheLine(t *testing.T) {
	w := newWorld(t)
	bad := `{"id":"1","x":{"id":"2"}`
	w.write(evs("a") + bad + "\r\n" + evs("b"))
	w.start().wants("a", "b")
	q := w.quarantine()
	if len(q) != 1 || string(q[0].Bytes) != bad || q[0].Offset != int64(len(evs("a"))) || q[0].Length != int64(len(bad)) || q[0].Source != "app" {
		t.Errorf("quarantine %+v", q)
	}
}

// Lines without an id get one that is the same when they are read again, and rises.
func TestMadeIDs(t *testing.T) {
	w := newWorld(t)
	line := `{"type":"t"}` + "\n"
	w.write(strings.Repeat(line, 300))
	w.start().drain()
	ids := w.came()
	if len(ids) != 300 {
		t.Fatalf("%d events", len(ids))
	}
	for i, id := range ids {
		if err := event.ValidID(id); err != nil || len(id) != 29 || i > 0 && id <= ids[i-1] {
			t.Fatalf("id %q after %q: %v", id, ids[max(0, i-1)], err)
		}
	}
	g := w.tail.known[0]
	if g.eventID(int64(len(line))) != ids[1] {
		t.Error("reading again gives another id")
	}
	w.stop()
	if same := storedGeneration("app", g.mark); same.eventID(0) != ids[0] {
		t.Error("a restart gives another id")
	}
	if other := storedGeneration("other", g.mark); other.eventID(0) == ids[0] {
		t.Error("another source gives the same id")
	}
	if id := g.eventID(1 << 50); !strings.HasSuffix(id, "-4000000000000") {
		t.Errorf("id of a large offset %q", id)
	}
}
