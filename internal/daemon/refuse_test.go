package daemon

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hookd/internal/config"
	"hookd/internal/control"
	"hookd/internal/store"
)

func runOnce(t *testing.T, f Flags) error {
	t.Helper()
	o, err := Configure(f, &syncBuffer{})
	if err != nil {
		return err
	}
	return Run(t.Context(), o)
}

func TestSecondDaemonIsRefused(t *testing.T) {
	p := newPlace(t)
	r := startRun(t, p.flags())
	other := p.flags()
	other.Keys["control.socket"] = filepath.Join(p.dir, "s2")
	other.ReadyFile = filepath.Join(p.dir, "ready2")
	var locked *store.LockedError
	if err := runOnce(t, other); !errors.As(err, &locked) || locked.PID != os.Getpid() {
		t.Errorf("same data directory: %v", err)
	}
	other = p.flags()
	other.Keys["data_dir"] = filepath.Join(p.dir, "data2")
	var socket *SocketError
	if err := runOnce(t, other); !errors.As(err, &socket) || socket.Path != p.socket {
		t.Errorf("same socket: %v", err)
	}
	client := control.NewClient(p.socket)
	defer client.Close()
	if _, err := client.Status(t.Context()); err != nil {
		t.Errorf("the first one: %v", err)
	}
	client.Close()
	if _, err := os.Stat(p.ready); err != nil {
		t.Errorf("the first one's ready file: %v", err)
	}
	if err := r.stop(); err != nil {
		t.Error(err)
	}
}

func TestMasterKeyIsChecked(t *testing.T) {
	p := newPlace(t)
	if err := startRun(t, p.flags()).stop(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(p.data, "master.key")
	own, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	refusedWith := func(rule string) {
		t.Helper()
		var key *KeyError
		err := runOnce(t, p.flags())
		if !errors.As(err, &key) || !strings.Contains(err.Error(), rule) || !strings.Contains(err.Error(), path) {
			t.Errorf("error %v, want %q in it", err, rule)
		}
		if err != nil && strings.Contains(err.Error(), string(own[:16])) {
			t.Error("the error shows the key")
		}
		if _, err := os.Lstat(p.socket); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a socket was left behind: %v", err)
		}
	}
	for name, change := range map[string]func() error{
		"is not the key that the database was made with": func() error { return os.WriteFile(path, []byte(testKey+"\n"), 0o600) },
		"not a hex digit": func() error { return os.WriteFile(path, []byte(strings.Repeat("q", 64)), 0o600) },
		"chmod 600":       func() error { return os.Chmod(path, 0o644) },
		"is not there":    func() error { return os.Remove(path) },
	} {
		if err := os.WriteFile(path, own, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(os.Chmod(path, 0o600), change()); err != nil {
			t.Fatal(err)
		}
		refusedWith(name)
	}
	if _, err := os.Lstat(path); err == nil {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(path, own, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := startRun(t, p.flags()).stop(); err != nil {
		t.Errorf("with its own key again: %v", err)
	}
}

func TestRunRefusesConfiguration(t *testing.T) {
	for name, tt := range map[string]struct{ file, want string }{
		"retry":        {"[delivery]\nretry = \"tiers:\"\n", "delivery.retry: tiers: at least one delay"},
		"host entry":   {"[egress]\nallowed_hosts = [\"a b\"]\n", `egress.allowed_hosts: entry "a b"`},
		"private":      {"[egress]\nallow_private = [\"10.0.0.0/99\"]\n", `egress.allow_private: entry "10.0.0.0/99"`},
		"CA file":      {"[egress]\nca_file = \"/no/such/file\"\n", "egress.ca_file"},
		"group":        {"[control]\nsocket_group = \"no-such-group\"\n", "control.socket_group: there is no group"},
		"unknown":      {"[delivery]\nspeed = 3\n", "speed"},
		"empty egress": {"[egress]\nallowed_hosts = []\n", "egress.allowed_hosts: an empty list"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			f := p.flags()
			f.Config = filepath.Join(p.dir, "hookd.toml")
			if err := os.WriteFile(f.Config, []byte(tt.file), 0o600); err != nil {
				t.Fatal(err)
			}
			err := runOnce(t, f)
			var mistakes *config.Error
			if !errors.As(err, &mistakes) || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), f.Config+":2") {
				t.Errorf("error %v, want %q at line 2", err, tt.want)
			}
			if _, err := os.Stat(p.data); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("a data directory was made: %v", err)
			}
		})
	}
}

func TestReadyFileThatCannotBeWritten(t *testing.T) {
	p := newPlace(t)
	f := p.flags()
	f.ReadyFile = filepath.Join(p.dir, "absent", "ready")
	if err := runOnce(t, f); err == nil || !strings.Contains(err.Error(), "write ready file") {
		t.Errorf("error %v", err)
	}
	if _, err := os.Lstat(p.socket); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a socket was left behind: %v", err)
	}
}

// Being told to stop during the start is a stop like any other.
func TestStopBeforeReady(t *testing.T) {
	p := newPlace(t)
	o, err := Configure(p.flags(), &syncBuffer{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Run(ctx, o); err != nil {
		t.Errorf("error %v", err)
	}
	if _, err := os.Lstat(p.socket); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a socket was left behind: %v", err)
	}
}
