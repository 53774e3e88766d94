package ingest

import (
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"hookd/internal/store"
)

// TAIL-13: what the world does to the path is a state with a reason, and is tried again.
func TestTroubles(t *testing.T) {
	mkdir := func(w *world) { w.must(os.Mkdir(w.path, 0o700)) }
	tests := []struct {
		name   string
		make   func(*world)
		undo   func(*world)
		state  string
		reason string
	}{
		{"no file", func(*world) {}, func(*world) {}, Waiting, "the file does not exist"},
		{"no folder", func(w *world) { w.path = filepath.Join(w.dir, "sub", "events.ndjson") }, func(w *world) { w.must(os.Mkdir(filepath.Dir(w.path), 0o700)) }, Waiting, "the folder does not exist"},
		{"dangling link", func(w *world) { w.must(os.Symlink("nowhere", w.path)) }, func(w *world) { w.remove("") }, Waiting, "the link leads to a file that does not exist"},
		{"circle", func(w *world) { w.must(os.Symlink(w.path, w.path)) }, func(w *world) { w.remove("") }, Broken, "the links of the path lead in a circle"},
		{"folder", mkdir, func(w *world) { w.remove("") }, Broken, "it is a folder, not a file"},
		{"FIFO", func(w *world) { w.must(unix.Mkfifo(w.path, 0o600)) }, func(w *world) { w.remove("") }, Broken, "it is a named pipe, not a regular file"},
		{"device", func(w *world) { w.must(os.Symlink("/dev/null", w.path)) }, func(w *world) { w.remove("") }, Broken, "it is a device, not a regular file"},
		{"file for a folder", func(w *world) {
			w.must(os.WriteFile(w.at("x"), nil, 0o600))
			w.path = filepath.Join(w.at("x"), "events.ndjson")
		}, func(w *world) { w.must(os.Remove(filepath.Dir(w.path))); w.must(os.Mkdir(filepath.Dir(w.path), 0o700)) }, Broken, "a part of the path is a file, not a folder"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			tt.make(w)
			w.start()
			for range 3 {
				if err := w.tail.Drain(w.context()); (err != nil) != (tt.state == Broken) {
					t.Fatalf("drain: %v", err)
				}
				for range 20 {
					w.tick <- time.Time{}
				}
			}
			if s := w.tail.Status(); s.State != tt.state || s.Reason != tt.reason || s.Problem != (tt.state == Broken) || s.Kind != "file" || s.Name != "app" {
				t.Fatalf("status %+v", s)
			}
			if n := strings.Count(w.logs.String(), "\n"); n != 1 {
				t.Errorf("%d log lines: %s", n, w.logs.String())
			}
			tt.undo(w)
			w.write(evs("a", "b", "c"))
			w.wants("a", "b", "c")
			if s := w.tail.Status(); s.State != Running || s.Reason != "" || s.Problem {
				t.Errorf("status %+v", s)
			}
		})
	}
}

func TestReasons(t *testing.T) {
	for err, want := range map[error]trouble{
		syscall.EACCES: {Broken, "permission denied"},
		syscall.EIO:    {Broken, "input/output error"},
		os.ErrClosed:   {Broken, "it cannot be read: file already closed"},
	} {
		if got := troubleOf("x", err); *got != want {
			t.Errorf("%v: %+v", err, *got)
		}
	}
}

// A path that cannot be read is looked at less and less often.
func TestBackoff(t *testing.T) {
	w := newWorld(t)
	w.start()
	tail := w.tail
	w.drain()
	w.stop()
	pause := 0
	var got []int
	for range 7 {
		done := make(chan struct{})
		go func() {
			pause = tail.sleep(t.Context(), rest{trouble: &trouble{}}, pause)
			close(done)
		}()
		n := 0
		for open := true; open; {
			select {
			case w.tick <- time.Time{}:
				n++
			case <-done:
				open = false
			}
		}
		got = append(got, n)
	}
	for i, want := range []int{1, 2, 4, 8, 10, 10, 10} {
		if got[i] != want {
			t.Fatalf("polls left out %v", got)
		}
	}
}

// While the store takes nothing, the offset stands still, and everything comes when it does again.
func TestFullStore(t *testing.T) {
	w := newWorld(t)
	var full atomic.Bool
	asked, again := make(chan time.Duration), make(chan time.Time)
	w.set = func(tail *Tail) {
		tail.after = func(d time.Duration) <-chan time.Time { asked <- d; return again }
		tail.fault = func() error {
			if full.Load() {
				return store.ErrFull
			}
			return nil
		}
	}
	full.Store(true)
	w.start() // already at the start
	for i := range 10 {
		if d, want := <-asked, min(firstPause<<i, longestPause); d != want {
			t.Fatalf("pause %v, want %v", d, want)
		}
		if s := w.tail.Status(); s.State != Paused || s.Reason == "" || !s.Problem {
			t.Fatalf("status %+v", s)
		}
		again <- time.Time{}
	}
	<-asked
	full.Store(false)
	again <- time.Time{}
	w.write(evs("a"))
	w.wants("a")
	full.Store(true)
	ids := run("b", 1, 5000)
	w.write(evs(ids...))
	w.tick <- time.Time{}
	<-asked
	again <- time.Time{}
	<-asked
	if s := w.tail.Status(); s.State != Paused || s.Offset != int64(len(evs("a"))) || s.Lag == 0 {
		t.Errorf("status %+v", s)
	}
	w.stop() // a stop does not wait for the store
	if ids := w.came(); len(ids) != 0 {
		t.Fatalf("came %s", short(ids))
	}
	full.Store(false)
	w.start().wants(ids...)
	if s := w.tail.Status(); s.State != Running || s.Reason != "" || s.Problem || s.Lag != 0 {
		t.Errorf("status %+v", s)
	}
}

// What happens to the file is seen without a poll.
func TestFileSystemEvents(t *testing.T) {
	w := newWorld(t)
	came := make(chan string, 100)
	w.store.OnAppend(func(list []store.Event) {
		for _, e := range list {
			came <- e.ID
		}
	})
	w.set = func(tail *Tail) { tail.events = true }
	w.start()
	for i, step := range []func(){
		func() { w.write(evs("1")) },
		func() { w.write(evs("2")) },
		func() { w.rename("", ".1"); w.write(evs("3")) },
		func() { w.must(os.Truncate(w.path, 0)); w.write(evs("4")) },
		func() { w.writeTo(w.at(".2"), evs("5")); w.must(os.Rename(w.at(".2"), w.path)) },
	} {
		if i == 0 {
			w.drain() // or the watch may not stand yet
		}
		step()
		select {
		case id := <-came:
			if want := string(rune('1' + i)); id != want {
				t.Fatalf("came %q, want %q", id, want)
			}
		case <-w.context().Done():
			t.Fatalf("step %d is not seen; log %s", i, w.logs.String())
		}
	}
}

// A file that cannot be read any more is opened again.
func TestReadFails(t *testing.T) {
	w := newWorld(t)
	w.write(evs("a"))
	w.start().wants("a")
	w.must(w.tail.cur.lines.file.Close())
	w.write(evs("b"))
	if err := w.tail.Drain(w.context()); err == nil {
		t.Fatal("drained")
	}
	if s := w.tail.Status(); s.State != Broken || !strings.HasPrefix(s.Reason, "it cannot be read") || !s.Problem {
		t.Errorf("status %+v", s)
	}
	w.wants("b")
	if s := w.tail.Status(); s.State != Running {
		t.Errorf("status %+v", s)
	}
}

// A folder that went and came back is watched again.
func TestWatchOfANewFolder(t *testing.T) {
	w := newWorld(t)
	sub := filepath.Join(w.dir, "sub")
	w.path = filepath.Join(sub, "events.ndjson")
	w.must(os.Mkdir(sub, 0o700))
	w.write(evs("a"))
	came := make(chan string, 10)
	w.store.OnAppend(func(list []store.Event) { came <- list[0].ID })
	w.set = func(tail *Tail) { tail.events = true }
	w.start().wants("a")
	<-came
	w.must(os.RemoveAll(sub))
	w.must(os.Mkdir(sub, 0o700))
	for range 2 * maxPause { // a poll at least, and then one that begins after it
		w.tick <- time.Time{}
	}
	w.drain()
	w.write(evs("b"))
	select {
	case id := <-came:
		if id != "b" {
			t.Errorf("came %q", id)
		}
	case <-w.context().Done():
		t.Error("the folder is not watched")
	}
}
