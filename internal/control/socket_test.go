package control

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSocketRule(t *testing.T) {
	const xdg = "/run/user/1000"
	own := filepath.Join(xdg, "hookd", "hookd.sock")
	tests := []struct {
		name             string
		flag, configured string
		env              map[string]string
		uid              int
		exists           []string
		want             string
	}{
		{"flag wins", "/f", "/c", map[string]string{"HOOKD_SOCKET": "/e"}, 1000, nil, "/f"},
		{"then the environment", "", "/c", map[string]string{"HOOKD_SOCKET": "/e"}, 1000, nil, "/e"},
		{"then the configuration", "", "/c", map[string]string{"XDG_RUNTIME_DIR": xdg}, 1000, nil, "/c"},
		{"empty environment is unset", "", "", map[string]string{"HOOKD_SOCKET": "", "XDG_RUNTIME_DIR": xdg}, 1000, nil, own},
		{"root", "", "", map[string]string{"XDG_RUNTIME_DIR": xdg}, 0, nil, SystemSocket},
		{"user without a runtime directory", "", "", nil, 1000, nil, SystemSocket},
		{"relative runtime directory is ignored", "", "", map[string]string{"XDG_RUNTIME_DIR": "run"}, 1000, nil, SystemSocket},
		{"only the system's exists", "", "", map[string]string{"XDG_RUNTIME_DIR": xdg}, 1000, []string{SystemSocket}, SystemSocket},
		{"both exist", "", "", map[string]string{"XDG_RUNTIME_DIR": xdg}, 1000, []string{SystemSocket, own}, own},
		{"relative path", "a b/s.sock", "", nil, 1000, nil, "a b/s.sock"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := socketLookup{
				getenv: func(name string) string { return tt.env[name] }, uid: tt.uid,
				exists: func(path string) bool {
					for _, e := range tt.exists {
						if e == path {
							return true
						}
					}
					return false
				},
			}
			got, err := l.find(tt.flag, tt.configured)
			if err != nil || got != tt.want {
				t.Errorf("got %q, %v, want %q", got, err, tt.want)
			}
		})
	}
}

func TestSocketPathLength(t *testing.T) {
	for _, n := range []int{MaxSocketPath - 1, MaxSocketPath, MaxSocketPath + 1, 200} {
		path := "/" + strings.Repeat("x", n-1)
		for name, find := range map[string]func() (string, error){
			"hookd":   func() (string, error) { return ListenSocket(path, "") },
			"hookctl": func() (string, error) { return DialSocket(path) },
		} {
			_, err := find()
			if n <= MaxSocketPath {
				if err != nil {
					t.Errorf("%s, %d bytes: %v", name, n, err)
				}
				continue
			}
			var bad *SocketPathError
			if !errors.As(err, &bad) {
				t.Fatalf("%s, %d bytes: got %v", name, n, err)
			}
			for _, part := range []string{path, "--socket"} {
				if !strings.Contains(bad.Error(), part) {
					t.Errorf("%s: %q does not name %s", name, bad.Error(), part)
				}
			}
		}
	}
}

// The bound is the kernel's: the longest path that is taken here can be bound.
func TestLongestPathBinds(t *testing.T) {
	dir, err := os.MkdirTemp("", "h")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, strings.Repeat("s", MaxSocketPath-len(dir)-1))
	if _, err := ListenSocket(path, ""); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
}

func TestSocketPathRules(t *testing.T) {
	t.Setenv("HOOKD_SOCKET", "@abstract")
	for _, flag := range []string{"", "/a\x00b", "/run/hookd/"} {
		if _, err := DialSocket(flag); err == nil {
			t.Errorf("%q was taken", flag)
		}
	}
}
