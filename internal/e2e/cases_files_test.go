package e2e

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// TestHalfALine: half a line at a stop, and at a kill, arrives whole and once (TAIL-06).
func TestHalfALine(t *testing.T) {
	t.Parallel()
	for _, kill := range []bool{false, true} {
		t.Run(fmt.Sprintf("kill=%v", kill), func(t *testing.T) {
			t.Parallel()
			r := newReceiver(t, nil)
			p := newPlace(t, "--dev")
			log := p.path("events.ndjson")
			d := p.start("--source", "file:"+log)
			p.subscribe("crm", r.url)
			write := func(text string) {
				f, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
				if err != nil {
					t.Fatal(err)
				}
				defer f.Close()
				if _, err := f.WriteString(text); err != nil {
					t.Fatal(err)
				}
			}
			write(`{"id":"e1","type":"t"}` + "\n" + `{"id":"e2","ty`)
			p.must("wait", "--delivered", "e1", "--timeout", "60s")
			if kill {
				d.kill()
			} else {
				d.stop()
			}
			write(`pe":"t"}` + "\n")
			p.start("--source", "file:"+log)
			p.must("wait", "--delivered", "e2", "--timeout", "60s")
			if ids, _ := accepted(r.got()); !slices.Equal(ids, sampleIDs(1, 2)) {
				t.Errorf("came %v", ids)
			}
		})
	}
}

// TestLineTooLong: a line over the limit, also one in small writes, is kept in quarantine by its beginning; the next
// line is delivered (TAIL-08).
func TestLineTooLong(t *testing.T) {
	t.Parallel()
	r := newReceiver(t, nil)
	p := newPlace(t, "--dev")
	log := p.path("events.ndjson")
	p.start("--source", "file:"+log)
	p.subscribe("crm", r.url)
	p.appendLines(log, `{"id":"long","type":"t","data":"`+strings.Repeat("x", 70_000)+`"}`)
	f, err := os.OpenFile(log, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for range 300 {
		if _, err := f.WriteString(strings.Repeat("y", 1000)); err != nil {
			t.Fatal(err)
		}
	}
	p.appendLines(log, "", `{"id":"e1","type":"t"}`)
	p.must("wait", "--delivered", "e1", "--timeout", "60s")
	var entries []struct {
		Reason         string
		Offset, Length int64
	}
	p.ask(&entries, "quarantine", "list")
	if len(entries) != 2 || entries[0].Reason != "too_large" || entries[0].Length != 300_000 || entries[1].Offset != 0 {
		t.Errorf("quarantine: %+v", entries)
	}
}

// rotate renames a file and its older ones as logrotate does: the highest number is the oldest.
func rotate(t *testing.T, log string) {
	t.Helper()
	old, err := filepath.Glob(log + ".*")
	if err != nil {
		t.Fatal(err)
	}
	for n := len(old); n > 0; n-- {
		if err := os.Rename(fmt.Sprintf("%s.%d", log, n), fmt.Sprintf("%s.%d", log, n+1)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Rename(log, log+".1"); err != nil {
		t.Fatal(err)
	}
}

// TestKilledWhileRotating: kill -9 twenty times while a writer appends and rotates: every number once, in order, in the
// log and at the receiver.
func TestKilledWhileRotating(t *testing.T) {
	t.Parallel()
	const kills, each = 20, 60
	r := newReceiver(t, nil)
	p := newPlace(t, "--dev")
	log := p.path("events.ndjson")
	d := p.start("--source", "file:"+log)
	p.subscribe("crm", r.url)
	n := 1
	for kill := range kills {
		p.appendLines(log, sample(n, each)...)
		n += each
		if kill%3 == 1 { // not the first time: a file that was never met under its name cannot be known
			rotate(t, log)
			p.appendLines(log, sample(n, each)...)
			n += each
		}
		at := len(r.got()) + 1 + rand.IntN(each/2)
		r.await("some events before the kill", func(all []request) bool { return len(all) >= min(at, n-1) })
		d.kill()
		d = p.start("--source", "file:"+log)
	}
	last := fmt.Sprintf("e%d", n-1)
	p.must("wait", "--delivered", last, "--timeout", "60s")
	ids, repeats := accepted(r.got())
	if !slices.Equal(ids, sampleIDs(1, n-1)) || repeats > kills {
		t.Errorf("%d of %d events came, or in another order; %d twice", len(ids), n-1, repeats)
	}
	var events []struct{ Seq int64 }
	p.ask(&events, "event", "list", "--limit", "1")
	if len(events) != 1 || events[0].Seq != int64(n-1) {
		t.Errorf("the log ends with %+v, want seq %d", events, n-1)
	}
}

// TestOneDaemonADirectory: a second hookd is refused and names the first, which goes on; after kill -9 the next one
// starts at once, over the socket that was left (DB-08).
func TestOneDaemonADirectory(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "--dev")
	d := p.start()
	second, _ := p.launch("--socket", p.path("other"))
	<-second.exited
	if said := second.stderr(); second.code != 5 || !strings.Contains(said, fmt.Sprint(d.cmd.Process.Pid)) {
		t.Errorf("the second one ended with %d and said %q", second.code, said)
	}
	p.must("sub", "list")
	other := newPlace(t, "--dev", "--socket", p.socket)
	third, _ := other.launch()
	<-third.exited
	if third.code != 5 || !strings.Contains(third.stderr(), p.socket) {
		t.Errorf("on a live socket it ended with %d and said %q", third.code, third.stderr())
	}
	d.kill()
	p.start()
	p.must("sub", "list")
}

// TestFilesAreClosedToOthers: whatever the umask, nothing that hookd makes can be read by others (DB-12).
func TestFilesAreClosedToOthers(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "--dev")
	p.wrapper = []string{"sh", "-c", `umask 022 && exec "$0" "$@"`}
	p.start()
	err := filepath.WalkDir(p.path("data"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %s", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(p.socket)
	if err != nil || info.Mode().Perm()&0o007 != 0 {
		t.Errorf("the control socket has mode %v, %v", info.Mode(), err)
	}
}

// TestDataDirectoryNames: the database lies in exactly the directory that was named (DB-13).
func TestDataDirectoryNames(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "--dev")
	for _, name := range []string{"a#b", "a?b", "a%20b", "a b", "ü"} {
		d := p.start("--data-dir", p.path(name))
		if _, err := os.Stat(filepath.Join(p.path(name), "hookd.db")); err != nil {
			t.Errorf("%q: %v", name, err)
		}
		d.cmd.Process.Signal(syscall.SIGTERM)
		<-d.exited
	}
	entries, err := os.ReadDir(p.dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 5 {
		t.Errorf("%d entries beside the data directories: %v", len(entries)-5, entries)
	}
}
