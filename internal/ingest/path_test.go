package ingest

import (
	"context"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"
)

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
	began := time.Now()
	var ahead atomic.Int64 // of the clock, while the file is followed
	w.set = func(tail *Tail) { tail.now = func() time.Time { return began.Add(time.Duration(ahead.Load())) } }
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
	ahead.Store(int64(2 * lingerFor))
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
