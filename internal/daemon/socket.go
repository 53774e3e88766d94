package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// SocketError says that the control socket cannot be had.
type SocketError struct {
	Path string
	Rule string
}

// Error names the path and the rule.
func (e *SocketError) Error() string { return fmt.Sprintf("control socket %s: %s", e.Path, e.Rule) }

// Hint names the settings that move the socket.
func (e *SocketError) Hint() string {
	return "stop the other one, or set another path with --socket, HOOKD_SOCKET or control.socket"
}

// controlSocket is the bound control socket. Closing it removes its file, unless another one has taken its place.
type controlSocket struct {
	*net.UnixListener
	path string
	file os.FileInfo

	once sync.Once
	err  error
}

// bindTimeout bounds how long a start waits for another one that binds in the same directory.
const bindTimeout = 2 * time.Second

// bind makes the control socket. A file that nobody answers on is replaced, a live socket and a file that is no socket
// are a *SocketError. The file never has more rights than mode. No other goroutine may make files meanwhile: the umask
// is the whole process's.
// A gid of -1 leaves the group alone.
func bind(ctx context.Context, path string, mode fs.FileMode, gid int) (*controlSocket, error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make directory of control socket: %w", err)
	}
	// Two starts that both find a stale file must not remove each other's new one.
	unlock, err := lockDirectory(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := clearStale(ctx, path); err != nil {
		return nil, err
	}
	before := syscall.Umask(0o777)
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	syscall.Umask(before)
	if err != nil {
		return nil, fmt.Errorf("bind control socket: %w", err)
	}
	listener.SetUnlinkOnClose(false)
	s := &controlSocket{UnixListener: listener, path: path}
	if s.file, err = os.Lstat(path); err == nil && gid >= 0 {
		err = os.Chown(path, -1, gid)
	}
	if err == nil {
		err = os.Chmod(path, mode)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("set rights of control socket: %w", err), s.Close())
	}
	return s, nil
}

// clearStale removes the file of a socket on which nobody answers.
func clearStale(ctx context.Context, path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("look at control socket: %w", err)
	case info.Mode().Type() != fs.ModeSocket:
		return &SocketError{Path: path, Rule: "a file that is no socket is there"}
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "unix", path)
	switch {
	case err == nil:
		// Only read from: there is nothing that closing could lose.
		_ = conn.Close()
		return &SocketError{Path: path, Rule: "another process answers on it"}
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case !errors.Is(err, syscall.ECONNREFUSED):
		return &SocketError{Path: path, Rule: "it cannot be told whether another process uses it: " + reason(err)}
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove stale control socket: %w", err)
	}
	return nil
}

// reason is the system's part of an error of package net.
func reason(err error) string {
	var number syscall.Errno
	if errors.As(err, &number) {
		return number.Error()
	}
	return "it does not answer"
}

// lockDirectory holds a lock on a directory that ends with the process. It leaves no file behind.
func lockDirectory(ctx context.Context, dir string) (unlock func(), err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("lock directory of control socket: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, bindTimeout)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { _ = f.Close() }, nil // which releases the lock
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			return nil, errors.Join(fmt.Errorf("lock directory of control socket: %w", err), f.Close())
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, errors.Join(fmt.Errorf("lock directory %s of control socket: another process holds it", dir), f.Close())
		}
	}
}

// groupID finds a group by name or number; -1 where none is named.
func groupID(group string) (int, error) {
	if group == "" {
		return -1, nil
	}
	if id, err := strconv.Atoi(group); err == nil && id >= 0 {
		return id, nil
	}
	found, err := user.LookupGroup(group)
	if err != nil {
		return -1, fmt.Errorf("there is no group %q", group)
	}
	return strconv.Atoi(found.Gid)
}

// Close stops listening and removes the file, where it is still this socket's. It may be called more than once.
func (s *controlSocket) Close() error {
	s.once.Do(func() {
		now, err := os.Lstat(s.path)
		if err == nil && s.file != nil && os.SameFile(now, s.file) {
			s.err = os.Remove(s.path)
		}
		s.err = errors.Join(s.err, s.UnixListener.Close())
	})
	return s.err
}
