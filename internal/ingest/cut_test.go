package ingest

import (
	"os"
	"strings"
	"testing"
)

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
