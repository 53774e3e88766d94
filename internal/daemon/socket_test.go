package daemon

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestBindMode(t *testing.T) {
	for _, mode := range []fs.FileMode{0o660, 0o600, 0o666} {
		path := filepath.Join(shortDir(t), "made", "s")
		before := syscall.Umask(0o022)
		s, err := bind(t.Context(), path, mode, os.Getgid())
		if after := syscall.Umask(before); after != 0o022 {
			t.Errorf("the umask is %03o after it", after)
		}
		if err != nil {
			t.Fatal(err)
		}
		info, err := os.Lstat(path)
		if err != nil || info.Mode().Perm() != mode || info.Mode().Type() != fs.ModeSocket {
			t.Errorf("mode %v, %v; want %v", info.Mode(), err, mode)
		}
		if err := errors.Join(s.Close(), s.Close()); err != nil {
			t.Error(err)
		}
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the file stays: %v", err)
		}
	}
}

func TestBindReplacesStaleSocket(t *testing.T) {
	path := filepath.Join(shortDir(t), "s")
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	dead.SetUnlinkOnClose(false) // as after kill -9
	if err := dead.Close(); err != nil {
		t.Fatal(err)
	}
	s, err := bind(t.Context(), path, 0o600, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	conn, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
}

func TestBindLeavesLiveSocket(t *testing.T) {
	path := filepath.Join(shortDir(t), "s")
	first, err := bind(t.Context(), path, 0o600, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	_, err = bind(t.Context(), path, 0o600, -1)
	var refused *SocketError
	if !errors.As(err, &refused) || refused.Path != path || !strings.Contains(err.Error(), path) || !strings.Contains(refused.Hint(), "--socket") {
		t.Errorf("error %v", err)
	}
	conn, err := net.Dial("unix", path)
	if err != nil {
		t.Fatalf("the first one is gone: %v", err)
	}
	conn.Close()
}

func TestBindLeavesOtherFiles(t *testing.T) {
	dir := shortDir(t)
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(dir, "absent"), link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{file, link, dir} {
		var refused *SocketError
		if _, err := bind(t.Context(), path, 0o600, -1); !errors.As(err, &refused) {
			t.Errorf("%s: error %v", path, err)
		}
		if _, err := os.Lstat(path); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// A socket that took the place of ours is another one's.
func TestCloseLeavesOtherSocket(t *testing.T) {
	path := filepath.Join(shortDir(t), "s")
	ours, err := bind(t.Context(), path, 0o600, -1)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path, path+".ours"); err != nil {
		t.Fatal(err)
	}
	other, err := bind(t.Context(), path, 0o600, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if err := ours.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(path); err != nil {
		t.Errorf("the other one's file: %v", err)
	}
}

func TestBindWaitsForOtherStart(t *testing.T) {
	dir := shortDir(t)
	unlock, err := lockDirectory(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := bind(ctx, filepath.Join(dir, "s"), 0o600, -1); err == nil || !strings.Contains(err.Error(), "another process holds it") {
		t.Errorf("error %v", err)
	}
	unlock()
	s, err := bind(t.Context(), filepath.Join(dir, "s"), 0o600, -1)
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
}

func TestGroupID(t *testing.T) {
	for group, want := range map[string]int{"": -1, "0": 0, "1234": 1234, "root": 0} {
		if id, err := groupID(group); err != nil || id != want {
			t.Errorf("%q: %d, %v", group, id, err)
		}
	}
	if _, err := groupID("no-such-group"); err == nil || !strings.Contains(err.Error(), `"no-such-group"`) {
		t.Errorf("error %v", err)
	}
}
