package daemon

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"hookd/internal/config"
	"hookd/internal/control"
)

func TestConfigureSocket(t *testing.T) {
	p := newPlace(t)
	t.Setenv("HOOKD_SOCKET", "/from/env")
	f := p.flags()
	if o, err := Configure(f, io.Discard); err != nil || o.Socket != p.socket {
		t.Errorf("a flag beats the environment: %q, %v", o.Socket, err)
	}
	delete(f.Keys, "control.socket")
	if o, err := Configure(f, io.Discard); err != nil || o.Socket != "/from/env" {
		t.Errorf("from the environment: %q, %v", o.Socket, err)
	}
	t.Setenv("HOOKD_SOCKET", "")
	t.Setenv("XDG_RUNTIME_DIR", p.dir)
	want := filepath.Join(p.dir, "hookd", "hookd.sock")
	if os.Geteuid() == 0 {
		want = control.SystemSocket
	}
	if o, err := Configure(f, io.Discard); err != nil || o.Socket != want {
		t.Errorf("the default: %q, %v; want %q", o.Socket, err, want)
	}
	for _, n := range []int{control.MaxSocketPath, control.MaxSocketPath + 1, 200} {
		f.Keys["control.socket"] = "/" + strings.Repeat("x", n-1)
		_, err := Configure(f, io.Discard)
		if n <= control.MaxSocketPath {
			if err != nil {
				t.Errorf("%d bytes: %v", n, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), strconv.Itoa(n)) || !strings.Contains(err.Error(), strconv.Itoa(control.MaxSocketPath)) ||
			!strings.Contains(err.Error(), "--socket") {
			t.Errorf("%d bytes: error %v", n, err)
		}
	}
	if _, err := os.Stat(p.data); err == nil {
		t.Error("Configure made a data directory")
	}
}

func TestConfigureDev(t *testing.T) {
	p := newPlace(t)
	t.Setenv("TMPDIR", p.dir)
	t.Setenv("HOOKD_LOG_FORMAT", "json")
	o, err := Configure(Flags{Dev: true, Keys: map[string]string{"data_dir": p.data}}, io.Discard)
	if err != nil || o.Temporary || o.Config.DataDir != p.data || o.Config.Log.Format != config.FormatText {
		t.Errorf("with a data directory: %+v, %v", o, err)
	}
	o, err = Configure(Flags{Dev: true, Keys: map[string]string{"data_dir": p.data, "log.format": "json"}}, io.Discard)
	if err != nil || o.Config.Log.Format != config.FormatJSON {
		t.Errorf("with a format: %+v, %v", o, err)
	}
	t.Setenv("HOOKD_DATA_DIR", p.data)
	if o, err := Configure(Flags{Dev: true}, io.Discard); err != nil || o.Temporary || o.Config.DataDir != p.data {
		t.Errorf("with a data directory in the environment: %+v, %v", o, err)
	}
	t.Setenv("HOOKD_DATA_DIR", "")

	// A mistake leaves no directory behind.
	if _, err := Configure(Flags{Dev: true, Keys: map[string]string{"log.level": "loud"}}, io.Discard); err == nil {
		t.Error("a wrong level was taken")
	}
	if left, _ := filepath.Glob(filepath.Join(p.dir, "hookd-dev-*")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
	for name, value := range map[string]string{"NOTIFY_SOCKET": "/run/x", "SYSTEMD_EXEC_PID": strconv.Itoa(os.Getpid())} {
		t.Setenv(name, value)
		var mistakes *config.Error
		if _, err := Configure(Flags{Dev: true}, io.Discard); !errors.As(err, &mistakes) || !strings.Contains(err.Error(), "--dev") {
			t.Errorf("%s: error %v", name, err)
		}
		t.Setenv(name, "")
	}
}

func TestInit(t *testing.T) {
	p := newPlace(t)
	file := filepath.Join(p.dir, "conf", "hookd.toml")
	f := Flags{Config: file, Keys: map[string]string{"data_dir": p.data}}
	steps, err := Init(f)
	if err != nil {
		t.Fatal(err)
	}
	key := filepath.Join(p.data, "master.key")
	want := []Step{{"configuration", file, true}, {"data directory", p.data, true}, {"master key", key, true}}
	for i := range want {
		if i >= len(steps) || steps[i] != want[i] {
			t.Fatalf("steps %+v, want %+v", steps, want)
		}
	}
	for path, mode := range map[string]os.FileMode{p.data: 0o700, key: 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	before, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(before), "\ndata_dir = "+strconv.Quote(p.data)+"\n") {
		t.Errorf("the file: %s, %v", before, err)
	}
	keyBefore, err := os.ReadFile(key)
	if err != nil {
		t.Fatal(err)
	}

	// Again, without the flag: the file that is there says where.
	if steps, err = Init(Flags{Config: file}); err != nil {
		t.Fatal(err)
	}
	for i := range want {
		if want[i].Made = false; steps[i] != want[i] {
			t.Errorf("again: %+v, want %+v", steps[i], want[i])
		}
	}
	after, err := os.ReadFile(file)
	if err != nil || string(after) != string(before) {
		t.Errorf("the file was changed (%v)", err)
	}
	if now, err := os.ReadFile(key); err != nil || string(now) != string(keyBefore) {
		t.Errorf("the key was changed (%v)", err)
	}

	// What it made starts.
	run := p.flags()
	run.Config = file
	delete(run.Keys, "data_dir")
	r := startRun(t, run)
	if err := r.stop(); err != nil {
		t.Error(err)
	}
	t.Setenv("NOTIFY_SOCKET", "")
	if err := os.Remove(key); err != nil {
		t.Fatal(err)
	}
	var refused *KeyError
	if _, err := Init(Flags{Config: file}); !errors.As(err, &refused) {
		t.Errorf("beside a database whose key is gone: %v", err)
	}
	if _, err := os.Stat(key); err == nil {
		t.Error("another key was made")
	}
}

func TestInitRefuses(t *testing.T) {
	p := newPlace(t)
	file := filepath.Join(p.dir, "hookd.toml")
	if err := os.WriteFile(file, []byte("colour = 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var mistakes *config.Error
	if _, err := Init(Flags{Config: file, Keys: map[string]string{"data_dir": p.data}}); !errors.As(err, &mistakes) {
		t.Errorf("a wrong file: %v", err)
	}
	if _, err := os.Stat(p.data); err == nil {
		t.Error("a data directory was made")
	}
	if _, err := Init(Flags{Config: filepath.Join(p.dir, "new.toml"), Keys: map[string]string{"data_dir": file}}); err == nil ||
		!strings.Contains(err.Error(), "is no directory") {
		t.Errorf("a file as data directory: %v", err)
	}
}

func TestLogEscapes(t *testing.T) {
	const hostile = "a\n\x1b[31mred\u202egnp\u0085\u009b31m"
	var text, lines syncBuffer
	NewLog(&text, 0, config.FormatText).Info("source", "reason", hostile, "list", []string{hostile}, "error", errors.New(hostile))
	NewLog(&lines, 0, config.FormatJSON).Info("source", "reason", hostile)
	for _, r := range text.String()[:len(text.String())-1] {
		if r != ' ' && !strconv.IsPrint(r) {
			t.Errorf("the text format writes %q: %s", r, text.String())
		}
	}
	if strings.Count(lines.String(), "\n") != 1 || strings.Contains(lines.String(), "\x1b") {
		t.Errorf("the JSON format writes %q", lines.String())
	}
	if !strings.Contains(text.String(), "Z level=INFO") {
		t.Errorf("times are not in UTC: %s", text.String())
	}
	var quiet syncBuffer
	NewLog(&quiet, 4, config.FormatText).Info("nothing")
	if quiet.String() != "" {
		t.Errorf("level warn writes %q", quiet.String())
	}
}
