package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// LockedError says that another process holds the data directory.
type LockedError struct {
	Dir string
	PID int // of the holder; 0 where it has not said
}

func (e *LockedError) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf("data directory %s is held by another hookd", e.Dir)
	}
	return fmt.Sprintf("data directory %s is held by another hookd (pid %d)", e.Dir, e.PID)
}

// takeLock holds the data directory for this process. The lock is the kernel's, so it ends with the process however
// that ends; the pid in the file is only for people.
func takeLock(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock data directory: %w", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		defer f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			text, _ := io.ReadAll(io.LimitReader(f, 32))
			pid, _ := strconv.Atoi(string(bytes.TrimSpace(text)))
			return nil, &LockedError{Dir: dir, PID: pid}
		}
		return nil, fmt.Errorf("lock data directory: %w", err)
	}
	pid := []byte(strconv.Itoa(os.Getpid()) + "\n")
	if err := errors.Join(f.Truncate(0), writeAt(f, pid)); err != nil {
		// Naming the holder is a courtesy: a full disk must not keep hookd from starting.
		return f, nil //nolint:nilerr // see above
	}
	return f, nil
}

func writeAt(f *os.File, b []byte) error {
	_, err := f.WriteAt(b, 0)
	return err
}
