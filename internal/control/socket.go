package control

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// SystemSocket is the control socket of a daemon that runs for the whole system.
const SystemSocket = "/run/hookd/hookd.sock"

// MaxSocketPath is the longest path, in bytes, that the kernel takes for a unix socket: its field less the byte that
// ends it.
const MaxSocketPath = len(syscall.RawSockaddrUnix{}.Path) - 1

// SocketPathError says that a path cannot be a control socket.
type SocketPathError struct {
	Path string
	// Origin names the setting that the path came from.
	Origin string
	// Rule is what the path breaks.
	Rule string
}

// Error gives the path, where it came from and the rule.
func (e *SocketPathError) Error() string {
	return fmt.Sprintf("control socket %q (from %s): %s", e.Path, e.Origin, e.Rule)
}

// Hint names the settings that move the socket.
func (e *SocketPathError) Hint() string {
	return "set a shorter path with --socket, HOOKD_SOCKET or control.socket"
}

// ListenSocket finds the socket that hookd listens on: flag (--socket), $HOOKD_SOCKET, configured (control.socket),
// then the default of the user. The path is checked before anything is bound: a [SocketPathError] says what is wrong.
func ListenSocket(flag, configured string) (string, error) {
	l := socketLookup{getenv: os.Getenv, uid: os.Geteuid(), exists: func(string) bool { return false }}
	return l.find(flag, configured)
}

// DialSocket finds the socket that hookctl connects to, by the rule of [ListenSocket]; where a user's own socket does
// not exist and the system's does, it is the system's.
func DialSocket(flag string) (string, error) {
	exists := func(path string) bool {
		_, err := os.Lstat(path)
		return err == nil
	}
	l := socketLookup{getenv: os.Getenv, uid: os.Geteuid(), exists: exists}
	return l.find(flag, "")
}

// socketLookup is what the rule looks at. A daemon is not to bind another daemon's socket because that exists, so for
// it nothing does.
type socketLookup struct {
	getenv func(string) string
	uid    int
	exists func(string) bool
}

func (l socketLookup) find(flag, configured string) (string, error) {
	path, origin := l.choose(flag, configured)
	if rule := socketPathRule(path); rule != "" {
		return "", &SocketPathError{Path: path, Origin: origin, Rule: rule}
	}
	return path, nil
}

func (l socketLookup) choose(flag, configured string) (path, origin string) {
	switch env := l.getenv("HOOKD_SOCKET"); {
	case flag != "":
		return flag, "--socket"
	case env != "":
		return env, "HOOKD_SOCKET"
	case configured != "":
		return configured, "control.socket"
	}
	runtimeDir := l.getenv("XDG_RUNTIME_DIR")
	// The XDG rules have a relative path ignored.
	if l.uid == 0 || !filepath.IsAbs(runtimeDir) {
		return SystemSocket, "the default"
	}
	own := filepath.Join(runtimeDir, "hookd", "hookd.sock")
	if !l.exists(own) && l.exists(SystemSocket) {
		return SystemSocket, "the default"
	}
	return own, "XDG_RUNTIME_DIR"
}

// socketPathRule returns the rule that a path breaks, or nothing. The kernel answers only "invalid argument".
func socketPathRule(path string) string {
	switch {
	case len(path) > MaxSocketPath:
		return fmt.Sprintf("it has %d bytes, at most %d are possible", len(path), MaxSocketPath)
	case strings.HasPrefix(path, "@"):
		// On Linux it would be an abstract socket, which has no owner and no mode.
		return "it must be a file and cannot begin with @"
	case strings.ContainsRune(path, 0):
		return "it has a NUL byte in it"
	case strings.HasSuffix(path, "/"):
		return "it names a directory"
	}
	return ""
}
