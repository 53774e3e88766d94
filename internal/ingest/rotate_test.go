package ingest

import (
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func TestFollowsAppends(t *testing.T) {
	w := newWorld(t)
	w.write(evs("a", "b"))
	w.start().wants("a", "b")
	w.write(evs("c"))
	w.wants("c")
	w.restart()
	w.write(evs("d"))
	w.wants("d")
	if s := w.tail.Status(); s.State != Running || s.Reason != "" || s.Lag != 0 || s.Offset != int64(len(evs("a", "b", "c", "d"))) {
		t.Errorf("status %+v", s)
	}
}

func TestRenameRotation(t *testing.T) {
	for _, down := range []bool{false, true} {
		w := newWorld(t)
		w.write(evs("a1", "a2"))
		w.start().wants("a1", "a2")
		if down {
			w.stop()
		}
		// What is unread of the old file, what was rotated away before it was ever seen, and the new one, in this order.
		w.write(evs("a3"))
		w.rename("", ".1")
		w.write(evs(run("b", 1, 2500)...))
		w.rename(".1", ".2")
		w.rename("", ".1")
		w.write(evs("c1"))
		w.rename(".2", ".3")
		w.rename(".1", ".2")
		w.rename("", ".1")
		w.write(evs("d1"))
		if down {
			w.start()
		}
		w.wants(append(append([]string{"a3"}, run("b", 1, 2500)...), "c1", "d1")...)
		w.restart()
		w.wants()
	}
}

// Dates, or whatever a rotation takes for a suffix, tell no order.
func TestSuffixesTellNoOrder(t *testing.T) {
	w := newWorld(t)
	w.write(evs("a"))
	w.start().wants("a")
	w.stop()
	for i, suffix := range []string{"-2026-01-01", ".old", ".1"} {
		w.rename("", suffix)
		w.old(suffix, 10-i)
		w.write(evs("b" + suffix[1:2]))
	}
	w.start().wants("b2", "bo", "b1")
}

// But they do among files that seem to be of one time, when others say which way they count.
func TestSuffixesOfOneTime(t *testing.T) {
	for name, tt := range map[string]struct {
		hours map[string]int
		want  []string
	}{
		"up with age":    {map[string]int{".12": 9, ".11": 8, ".10": 8, ".9": 8, ".8": 7}, []string{".12", ".11", ".10", ".9", ".8"}},
		"down with age":  {map[string]int{".8": 9, ".9": 8, ".10": 8, ".11": 8, ".12": 7}, []string{".8", ".9", ".10", ".11", ".12"}},
		"nobody can say": {map[string]int{".1": 8, ".2": 8}, []string{".2", ".1"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			then := time.Now()
			for suffix, hours := range tt.hours {
				w.writeTo(w.at(suffix), "x")
				at := then.Add(-time.Duration(hours) * time.Hour)
				w.must(os.Chtimes(w.at(suffix), at, at))
			}
			w.writeTo(w.at(".0"), "") // an empty one does not count
			list, err := rotated(placesOf(w.path, ""))
			w.must(err)
			var got []string
			for _, s := range list {
				got = append(got, strings.TrimPrefix(s.path, w.path))
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestOlderFilesAreNotRead(t *testing.T) {
	w := newWorld(t)
	w.writeTo(w.at(".1"), evs("before1"))
	w.old(".1", 24)
	w.writeTo(w.at(".2.gz"), evs("packed"))
	w.write(evs("a"))
	w.start().wants("a")
	w.rename(".1", ".2")
	w.rename("", ".1")
	w.writeTo(w.at(".3.gz"), evs("packed too"))
	w.write(evs("b"))
	w.wants("b")
}

// TAIL-03: the writer goes on with the old file for a while, and what it writes there comes first.
func TestOldFileIsWaitedFor(t *testing.T) {
	w := newWorld(t)
	again := make(chan time.Time)
	asked := make(chan time.Duration)
	w.set = func(tail *Tail) {
		tail.quiet = time.Hour
		tail.after = func(d time.Duration) <-chan time.Time { asked <- d; return again }
	}
	w.write(evs(run("a", 1, 5000)...))
	old := w.writer(w.path)
	defer old.Close()
	w.start()
	w.wants(run("a", 1, 5000)...)
	w.rename("", ".1")
	w.write(evs("new"))
	w.tick <- time.Time{}
	for i, id := range run("late", 1, 10) {
		if d := <-asked; d <= 0 || d > longestHold {
			t.Fatalf("waits %v", d)
		}
		_, err := old.WriteString(evs(id))
		w.must(err)
		if i == 9 {
			w.tail.quiet = 0 // read after the next line below
		}
		again <- time.Time{}
	}
	w.wants(append(run("late", 1, 10), "new")...)
}

// Lines that come to a file after the next one was begun are read all the same, over a restart too.
func TestLateLines(t *testing.T) {
	w := newWorld(t)
	w.write(evs("a"))
	w.start().wants("a")
	w.rename("", ".1")
	w.write(evs("b"))
	w.wants("b")
	w.writeTo(w.at(".1"), evs("late1"))
	w.wants("late1")
	w.stop()
	w.writeTo(w.at(".1"), evs("late2"))
	w.write(evs("c"))
	w.start().wants("late2", "c")
	w.remove(".1")
	w.wants()
}

func TestLateFileIsLetGo(t *testing.T) {
	w := newWorld(t)
	began := time.Now()
	var ahead atomic.Int64 // of the clock, while the file is followed
	w.set = func(tail *Tail) { tail.now = func() time.Time { return began.Add(time.Duration(ahead.Load())) } }
	w.write(evs("a"))
	w.start().wants("a")
	w.rename("", ".1")
	w.write(evs("b"))
	w.wants("b")
	w.writeTo(w.at(".1"), ev("half but whole"[:4]))
	w.stop()
	w.start().wants()
	ahead.Store(int64(2 * lingerFor))
	w.wants("half")
	w.stop()
	if n := len(w.tail.late); n != 0 {
		t.Errorf("%d files are still open", n)
	}
}

// A last line without a newline waits; at the end of a rotated file it counts when it is whole.
func TestLastLine(t *testing.T) {
	w := newWorld(t)
	w.write(evs("a") + ev("b"))
	w.start().wants("a")
	w.write("\n" + ev("c"))
	w.wants("b")
	w.rename("", ".1")
	w.write(evs("d") + `{"id":"torn"`)
	w.wants("c", "d")
	w.rename("", ".2")
	w.write(evs("e"))
	w.wants("e")
	q := w.quarantine()
	if len(q) != 1 || q[0].Reason != "not_json" || string(q[0].Bytes) != `{"id":"torn"` || q[0].Offset != int64(len(evs("d"))) {
		t.Errorf("quarantine %+v", q)
	}
}

// TAIL-06: half a line at a stop.
func TestHalfALineAtShutdown(t *testing.T) {
	w := newWorld(t)
	w.write(ev("1") + "\n" + `{"id":"2",`)
	w.start().wants("1")
	w.stop()
	w.write(`"type":"t"}` + "\n")
	w.start().wants("2")
}

func TestReplacedByRename(t *testing.T) {
	w := newWorld(t)
	w.write(evs("a", "b"))
	w.start().wants("a", "b")
	w.writeTo(w.at(".new"), evs("c"))
	w.must(os.Rename(w.at(".new"), w.path))
	w.wants("c")
	w.write(evs("d"))
	w.wants("d")
}
