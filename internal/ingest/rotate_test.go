package ingest

import (
	"context"
	"os"
	"path/filepath"
	"strings"
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
	now := time.Now()
	w.set = func(tail *Tail) { tail.now = func() time.Time { return now } }
	w.write(evs("a"))
	w.start().wants("a")
	w.rename("", ".1")
	w.write(evs("b"))
	w.wants("b")
	w.writeTo(w.at(".1"), ev("half but whole"[:4]))
	w.stop()
	w.start().wants()
	now = now.Add(2 * lingerFor) // seen by the next pass only: Drain is between
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

// TAIL-01: the file is cut, and grows or not, while hookd runs or not.
func TestCutFile(t *testing.T) {
	first := run("old", 1, 30)
	for name, next := range map[string][]string{"shorter": {"n"}, "longer": run("new", 1, 100), "as long": run("oLd", 1, 30)} {
		for _, down := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				w := newWorld(t)
				w.write(evs(first...) + `{"half`)
				w.start().wants(first...)
				if down {
					w.stop()
				}
				w.must(os.Truncate(w.path, 0))
				w.write(evs(next...))
				if down {
					w.start()
				}
				w.wants(next...)
				w.write(evs("more"))
				w.wants("more")
				w.restart()
				w.wants()
				if !strings.Contains(w.logs.String(), "certain=true") {
					t.Errorf("the half line is lost in silence: %s", w.logs.String())
				}
			})
		}
	}
}

func TestCopyTruncate(t *testing.T) {
	for _, down := range []bool{false, true} {
		w := newWorld(t)
		w.write(evs("a1"))
		w.start().wants("a1")
		if down {
			w.stop()
		}
		w.write(evs("a2")) // unread when the file is cut: the copy has it
		w.cutCopy(".1")
		w.write(evs("b1"))
		if down {
			w.start()
		}
		w.wants("a2", "b1")
		w.write(evs(run("b", 2, 90)...)) // more than the prints hold
		w.wants(run("b", 2, 90)...)
		if down {
			w.stop()
		}
		w.rename(".1", ".2")
		w.cutCopy(".1") // nothing is unread
		w.write(evs("c1"))
		w.rename(".2", ".3")
		w.rename(".1", ".2")
		w.cutCopy(".1") // of a file that was not seen yet
		w.write(evs("d1"))
		if down {
			w.start()
		}
		w.wants("c1", "d1")
		w.restart()
		w.wants()
		if n := strings.Count(w.logs.String(), "certain=true"); n != 0 {
			t.Errorf("%d losses: %s", n, w.logs.String())
		}
	}
}

// A copy that was made while the file goes on is read at the path, not twice.
func TestCopyOfAFileNotMetYet(t *testing.T) {
	w := newWorld(t)
	w.write(evs(run("a", 1, 100)...))
	w.start()
	w.drain()
	w.came()
	w.stop()
	w.rename("", ".2")
	w.write(evs(run("b", 1, 100)...))
	text, err := os.ReadFile(w.path)
	w.must(err)
	w.must(os.WriteFile(w.at(".1"), text, 0o600))
	w.start().wants(run("b", 1, 100)...)
	w.must(os.Truncate(w.path, 0))
	w.write(evs("c"))
	w.wants("c")
}

// TAIL-05: files that look like another.
func TestLookAlikes(t *testing.T) {
	alike := strings.Repeat(`{"type":"boot"}`+"\n", 100) // well over the first KiB
	t.Run("same beginning", func(t *testing.T) {
		w := newWorld(t)
		w.write(alike + evs("a"))
		w.start().drain()
		if n := len(w.came()); n != 101 {
			t.Fatalf("%d events", n)
		}
		for _, suffix := range []string{".1", ".2"} {
			w.stop()
			w.rename("", suffix)
			w.write(alike + evs("b"+suffix[1:]))
			w.start().drain()
			if n := len(w.came()); n != 101 {
				t.Fatalf("%d events", n)
			}
		}
	})
	t.Run("one line", func(t *testing.T) {
		w := newWorld(t)
		w.start()
		for i := range 4 {
			w.write(`{"type":"boot"}` + "\n")
			if i%2 == 0 {
				w.drain()
			}
			w.stop()
			w.rename("", "."+string(rune('4'-i)))
			w.start()
			w.drain()
		}
		if ids := w.came(); len(ids) != 4 {
			t.Fatalf("came %q\n%s", ids, w.logs.String())
		}
	})
	t.Run("recreated", func(t *testing.T) {
		w := newWorld(t)
		w.start()
		for i := range 20 { // the inode comes again, soon
			ids := run("f"+string(rune('a'+i))+"-", 1, i+1)
			w.write(evs(ids...))
			w.wants(ids...)
			w.stop()
			w.remove("")
			w.start()
		}
	})
	t.Run("empty", func(t *testing.T) {
		w := newWorld(t)
		w.write("")
		w.start().wants()
		w.rename("", ".1")
		w.write("")
		w.wants()
		w.write(evs("a"))
		w.wants("a")
	})
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

// TAIL-10: the path is a link.
func TestLink(t *testing.T) {
	for _, down := range []bool{false, true} {
		w := newWorld(t)
		data := t.TempDir()
		one, two := filepath.Join(data, "log-1"), filepath.Join(data, "log-2")
		link := func(target string) {
			w.must(os.Symlink(target, w.at(".tmp")))
			w.must(os.Rename(w.at(".tmp"), w.path))
		}
		w.writeTo(one, evs("a"))
		link(one)
		w.start().wants("a")
		if down {
			w.stop()
		}
		w.writeTo(one, evs("b"))
		w.writeTo(two, evs("c"))
		link(two)
		w.writeTo(one, evs("late"))
		if down {
			w.start()
		}
		w.wants("b", "late", "c")
		if s := w.tail.Status(); s.Target != two || s.Path != w.path {
			t.Errorf("status %+v", s)
		}
		w.must(os.Remove(two))
		w.drain()
		if s := w.tail.Status(); s.State != Waiting || s.Reason != "the link leads to a file that does not exist" || s.Problem {
			t.Errorf("status %+v", s)
		}
		w.writeTo(two, evs("d"))
		w.wants("d")
		w.must(os.Rename(two, two+".1")) // the file behind the link is rotated
		w.writeTo(two, evs("e"))
		w.must(os.Rename(two, two+".2"))
		w.writeTo(two, evs("f"))
		w.wants("e", "f")
	}
}

func TestStartAtEnd(t *testing.T) {
	w := newWorld(t)
	w.c.Start = StartEnd
	w.write(evs("a", "b") + `{"id":"c",`)
	w.start().wants()
	w.write(`"type":"t"}` + "\n" + evs("d"))
	w.wants("c", "d")
	w.stop()
	w.write(evs("e"))
	w.start().wants("e")
	w.rename("", ".1")
	w.write(evs("f"))
	w.wants("f")

	w = newWorld(t) // a file that is not there yet is new from its first line on
	w.c.Start = StartEnd
	w.start().wants()
	w.write(evs("a"))
	w.wants("a")
}

// A file that is not there at the start may come back with its file system.
func TestFileComesBack(t *testing.T) {
	w := newWorld(t)
	sub := filepath.Join(w.dir, "mount")
	w.must(os.Mkdir(sub, 0o700))
	w.path = filepath.Join(sub, "events.ndjson")
	w.write(evs("a"))
	w.start().wants("a")
	w.stop()
	w.must(os.Rename(sub, sub+"-away"))
	w.start().drain()
	if s := w.tail.Status(); s.State != Waiting || s.Reason != "the folder does not exist" {
		t.Errorf("status %+v", s)
	}
	w.must(os.Mkdir(sub, 0o700))
	w.wants()
	w.must(os.Remove(sub))
	w.must(os.Rename(sub+"-away", sub))
	w.write(evs("b"))
	w.wants("b")
}

// What a rename takes back is not read again.
func TestRotationUndone(t *testing.T) {
	w := newWorld(t)
	w.write(evs("a"))
	w.start().wants("a")
	w.rename("", ".1")
	w.write(evs("b"))
	w.wants("b")
	w.remove("")
	w.rename(".1", "")
	w.write(evs("c"))
	w.wants("c")
	w.restart()
	w.write(evs("d"))
	w.wants("d")
}

func TestUnlinkedFileIsLetGo(t *testing.T) {
	w := newWorld(t)
	now := time.Now()
	w.set = func(tail *Tail) { tail.now = func() time.Time { return now } }
	w.write(evs("a"))
	old := w.writer(w.path)
	defer old.Close()
	w.start().wants("a")
	w.remove("")
	_, err := old.WriteString(evs("b"))
	w.must(err)
	w.wants("b")
	w.stop()
	w.start()
	w.write(evs("c"))
	w.wants("c")
	w.remove("")
	w.wants()
	now = now.Add(2 * lingerFor)
	w.wants()
	w.stop()
	if w.tail.cur.open() {
		t.Error("the file keeps its place on the disk")
	}
}

func TestDrainEnds(t *testing.T) {
	w := newWorld(t)
	w.write(evs("a"))
	w.start().wants("a")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := w.tail.Drain(ctx); err == nil {
		t.Error("a drain outlives its context")
	}
	w.stop()
	if err := w.tail.Drain(context.Background()); err == nil {
		t.Error("a drain waits for a run that is over")
	}
}
