package ingest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"hookd/internal/store"
)

const crashDir = "HOOKD_INGEST_CRASH_DIR"

// TestCrashChild is what TestCrash starts, and does nothing by itself: it follows a file until it is killed, and tells of each commit.
func TestCrashChild(t *testing.T) {
	dir := os.Getenv(crashDir)
	if dir == "" {
		return
	}
	st := openStore(t, filepath.Join(dir, "data"))
	st.OnAppend(func(list []store.Event) { fmt.Println("committed", len(list)) })
	c := FileConfig{Name: "app", Path: filepath.Join(dir, "events.ndjson")}
	tail := NewTail(st, c, slog.New(slog.DiscardHandler))
	tail.quiet = 0 // the writer has closed a file before it renames it
	go func() {
		_ = tail.Drain(context.Background())
		fmt.Println("read to its end")
	}()
	_ = tail.Run(context.Background())
}

// numbered is a line that tells its number. Every second one has an id.
func numbered(n int) string {
	if n%2 == 0 {
		return fmt.Sprintf(`{"id":"n%d","type":"t","data":%d}`+"\n", n, n)
	}
	return fmt.Sprintf(`{"type":"t","data":%d}`+"\n", n)
}

// writeNumbers appends numbered lines to a file, some in two pieces, and rotates it. It writes some for each permit, and returns how
// many there were in all.
func writeNumbers(path string, permits <-chan struct{}) (n int, err error) {
	for rotations := 1; ; rotations++ {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return n, err
		}
		for range 500 + rand.IntN(2000) {
			if n%100 == 0 {
				if _, ok := <-permits; !ok {
					return n, f.Close()
				}
			}
			n++
			text := numbered(n)
			cut := rand.IntN(len(text))
			_, err1 := f.WriteString(text[:cut])
			_, err2 := f.WriteString(text[cut:])
			if err1 != nil || err2 != nil {
				return n, fmt.Errorf("write line: %w %w", err1, err2)
			}
		}
		if err := f.Close(); err != nil {
			return n, err
		}
		if err := os.Rename(path, fmt.Sprintf("%s.%d", path, rotations)); err != nil {
			return n, err
		}
	}
}

// Q-13 and TAIL-06: killed at any moment while lines are written and files rotated, each line is in the log once, in order.
func TestCrash(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "events.ndjson")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	child := func() (*exec.Cmd, io.Reader) {
		cmd := exec.Command(os.Args[0], "-test.run=^TestCrashChild$")
		cmd.Env = append(os.Environ(), crashDir+"="+dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return cmd, out
	}
	cmd, out := child()
	lines := bufio.NewScanner(out)
	if !lines.Scan() { // it has met the file: what was rotated away before is not its own
		t.Fatal(cmd.Wait())
	}
	permits, written := make(chan struct{}, 1000), make(chan int, 1)
	go func() {
		n, err := writeNumbers(path, permits)
		if err != nil {
			t.Error(err)
		}
		written <- n
	}()
	for range 8 {
		for range 30 { // also while the child is down
			permits <- struct{}{}
		}
		for range 1 + rand.IntN(20) {
			if !lines.Scan() {
				t.Fatalf("the child ended by itself: %v", cmd.Wait())
			}
			permits <- struct{}{} // so there is always something to commit
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // killed
		cmd, out = child()
		lines = bufio.NewScanner(out)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	close(permits)
	n := <-written
	st := openStore(t, filepath.Join(dir, "data"))
	w := worldOf(t, dir, st)
	w.after = 0
	w.start().drain()
	expectNumbers(t, st, n)
	w.stop()
	if err := st.Close(); err != nil {
		t.Error(err)
	}
	t.Logf("%d lines", n)
}

// expectNumbers compares the log with the numbers from 1 to n.
func expectNumbers(t *testing.T, st *store.Store, n int) {
	t.Helper()
	count, turns := make([]int, n+1), []string{}
	for after, last := int64(0), 0; ; {
		list, err := st.EventsAfter(context.Background(), after, 1000, 64<<20)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range list {
			var line struct{ Data int }
			if err := json.Unmarshal(e.Line, &line); err != nil {
				t.Fatal(err)
			}
			count[line.Data]++
			if line.Data != last+1 {
				turns = append(turns, fmt.Sprintf("%d after %d", line.Data, last))
			}
			last, after = line.Data, e.Seq
		}
		if len(list) == 0 {
			break
		}
	}
	missing, twice := 0, 0
	for _, k := range count[1:] {
		if k == 0 {
			missing++
		} else if k > 1 {
			twice++
		}
	}
	if missing+twice+len(turns) > 0 {
		t.Errorf("of %d lines %d are missing and %d came again; out of order: %q", n, missing, twice, turns)
	}
}
