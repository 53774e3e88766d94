package store

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"testing"
)

// startChild runs this test binary again, with child(job) as its program. It returns the lines that it prints.
func startChild(t *testing.T, job, dir string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), "STORE_TEST_CHILD="+job, "STORE_TEST_DIR="+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	check(t, err)
	check(t, cmd.Start())
	return cmd, bufio.NewScanner(out)
}

// child is what the test binary does in the processes that the tests start.
func child(job string) int {
	s, err := Open(context.Background(), Options{Dir: os.Getenv("STORE_TEST_DIR"), Logger: quiet()})
	if err != nil {
		println(err.Error())
		return 1
	}
	if job == "hold" {
		_, _ = os.Stdout.WriteString("open\n")
		select {}
	}
	return work1(s)
}

// DB-08: the second one is refused and told who holds the directory; the first is unharmed; the lock ends with its
// process, however that ends.
func TestOneStoreADirectory(t *testing.T) {
	dir := t.TempDir()
	s := openTest(t, dir)
	refused(t, dir, os.Getpid())
	fill(t, s, 10)
	check(t, s.Close())

	cmd, out := startChild(t, "hold", dir)
	if !out.Scan() || out.Text() != "open" {
		t.Fatal("the child did not open the store")
	}
	refused(t, dir, cmd.Process.Pid)
	check(t, cmd.Process.Kill())
	_ = cmd.Wait()
	s = openTest(t, dir)
	if _, last := s.Bounds(); last != 10 {
		t.Errorf("last is %d, want 10", last)
	}
}

func refused(t *testing.T, dir string, pid int) {
	t.Helper()
	_, err := Open(t.Context(), Options{Dir: dir, Logger: quiet()})
	var locked *LockedError
	if !errors.As(err, &locked) {
		t.Fatalf("second open: %v, want a LockedError", err)
	}
	if locked.PID != pid || locked.Dir != dir {
		t.Errorf("it names %s and pid %d, want %s and %d", locked.Dir, locked.PID, dir, pid)
	}
}
