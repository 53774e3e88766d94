package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hookd/internal/config"
	"hookd/internal/control"
	"hookd/internal/daemon"
)

func hookd(args ...string) (code int, out, errs string) {
	var stdout, stderr bytes.Buffer
	code = run(context.Background(), args, &stdout, &stderr)
	return code, stdout.String(), stderr.String()
}

func TestUsage(t *testing.T) {
	for name, args := range map[string][]string{
		"command":      {"fly"},
		"argument":     {"run", "fly"},
		"flag":         {"run", "--fly"},
		"plain flag":   {"--fly"},
		"init":         {"init", "there"},
		"format":       {"version", "-o", "xml"},
		"missing file": {"run", "--config", "/no/such/file"},
		"level":        {"--log-level", "loud", "--data-dir", "/tmp/never-made"},
		"source":       {"run", "--source", "tape:1", "--data-dir", "/tmp/never-made"},
		"empty value":  {"run", "--data-dir", ""},
	} {
		t.Run(name, func(t *testing.T) {
			code, out, errs := hookd(args...)
			if code != control.ExitUsage || out != "" || !strings.HasPrefix(errs, "hookd: error: ") {
				t.Errorf("exit %d, stdout %q, stderr %q", code, out, errs)
			}
		})
	}
	if _, _, errs := hookd("versoin"); !strings.Contains(errs, "version") {
		t.Errorf("no suggestion: %s", errs)
	}
}

func TestHelp(t *testing.T) {
	for _, args := range [][]string{{"--help"}, {"run", "--help"}, {"init", "-h"}, {"help", "version"}} {
		code, out, errs := hookd(args...)
		if code != 0 || errs != "" || !strings.Contains(out, "Examples:") {
			t.Errorf("%v: exit %d, stdout %q, stderr %q", args, code, out, errs)
		}
	}
}

func TestVersion(t *testing.T) {
	code, out, _ := hookd("version")
	if code != 0 || !strings.HasPrefix(out, "hookd "+control.Version) || !strings.Contains(out, "\nSQLite 3.") || !strings.Contains(out, "\ngo1.") {
		t.Errorf("exit %d: %s", code, out)
	}
	code, out, _ = hookd("version", "-o", "json")
	var b control.BuildInfo
	if err := json.Unmarshal([]byte(out), &b); err != nil || code != 0 || b.Version != control.Version || b.SQLite == "" {
		t.Errorf("exit %d: %s (%v)", code, out, err)
	}
}

func TestInit(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("CREDENTIALS_DIRECTORY", "")
	file, data := filepath.Join(dir, "hookd.toml"), filepath.Join(dir, "data")
	for _, verb := range []string{"made", "kept"} {
		code, out, errs := hookd("init", "--config", file, "--data-dir", data)
		want := fmt.Sprintf("%[1]s configuration %[2]s\n%[1]s data directory %[3]s\n%[1]s master key %[4]s\n", verb, file, data, filepath.Join(data, "master.key"))
		if code != 0 || out != want || errs != "" {
			t.Errorf("exit %d, stderr %q, stdout\n%s, want\n%s", code, errs, out, want)
		}
	}
}

// The command line reaches the daemon, and its end is exit 0.
func TestRunStops(t *testing.T) {
	for _, name := range []string{"NOTIFY_SOCKET", "SYSTEMD_EXEC_PID", "HOOKD_SOCKET", "HOOKD_CONFIG", "CREDENTIALS_DIRECTORY"} {
		t.Setenv(name, "")
	}
	dir, err := os.MkdirTemp("", "hd")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	t.Setenv("XDG_CONFIG_HOME", dir)
	data, socket := filepath.Join(dir, "data"), filepath.Join(dir, "s")
	// A start that was told to stop before it began still ends in order.
	ctx, cancel := context.WithCancel(t.Context())
	started := &notifier{wants: "msg=ready", then: cancel}
	var out bytes.Buffer
	if code := run(ctx, []string{"--data-dir", data, "--socket", socket}, &out, started); code != 0 || out.Len() != 0 {
		t.Errorf("exit %d, stdout %q, stderr %s", code, out.String(), started.text.String())
	}
	if err := os.WriteFile(filepath.Join(data, "master.key"), bytes.Repeat([]byte("0"), 64), 0o600); err != nil {
		t.Fatal(err)
	}
	code, _, errs := hookd("run", "--data-dir", data, "--socket", socket)
	if code != control.ExitRefused || !strings.Contains(errs, "hookd: error: master key ") || !strings.Contains(errs, "hookd: hint: ") {
		t.Errorf("exit %d, stderr %q", code, errs)
	}
}

// notifier is a log that calls a function when something is in it.
type notifier struct {
	text  bytes.Buffer
	wants string
	then  func()
}

func (n *notifier) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte(n.wants)) {
		n.then()
	}
	return n.text.Write(p)
}

func TestExitCodes(t *testing.T) {
	for _, tt := range []struct {
		err  error
		code int
	}{
		{nil, 0},
		{errors.New("anything"), 1},
		{&usageError{errors.New("x")}, 2},
		{fmt.Errorf("x: %w", &config.Error{Mistakes: []config.Mistake{{Place: "p", Problem: "q"}}}), 2},
		{&control.SocketPathError{}, 2},
		{&daemon.LockedError{Dir: "/d", PID: 7}, 5},
		{&daemon.KeyError{Path: "/k", Rule: "r"}, 5},
		{errors.Join(&daemon.SocketError{Path: "/s", Rule: "r"}), 5},
	} {
		var out bytes.Buffer
		if code := report(&out, tt.err); code != tt.code {
			t.Errorf("%v: exit %d, want %d", tt.err, code, tt.code)
		}
	}
}

func TestReport(t *testing.T) {
	var out bytes.Buffer
	report(&out, &config.Error{Mistakes: []config.Mistake{
		{Place: "hookd.toml:3", Key: "log.level", Problem: "must be so"}, {Place: "--socket\x1b[31m\u202e", Problem: "is long"},
	}})
	const want = "hookd: error: hookd.toml:3: log.level: must be so\nhookd: error: --socket\\x1b[31m\\u202e: is long\n"
	if out.String() != want {
		t.Errorf("got\n%s, want\n%s", out.String(), want)
	}
}
