package keyring

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// writeKey writes content to a file of that mode in a new directory.
func writeKey(t *testing.T, content string, mode fs.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "master.key")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestCreateThenLoad(t *testing.T) {
	// The umask belongs to the whole process: no test here runs in parallel.
	for _, umask := range []int{0o000, 0o022, 0o077, 0o777} {
		path := filepath.Join(t.TempDir(), "master.key")
		before := syscall.Umask(umask)
		made, err := Create(path)
		syscall.Umask(before)
		if err != nil {
			t.Fatalf("umask %03o: %v", umask, err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode() != 0o600 {
			t.Errorf("umask %03o: mode is %v", umask, info.Mode())
		}
		loaded, err := Load(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(loaded.CheckValue(), made.CheckValue()) {
			t.Error("another key came back")
		}
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if len(content) != 65 || content[64] != '\n' {
			t.Errorf("the file has %d bytes", len(content))
		}
	}
}

func TestCreateMakesNewKeys(t *testing.T) {
	dir := t.TempDir()
	one, err := Create(filepath.Join(dir, "one"))
	if err != nil {
		t.Fatal(err)
	}
	two, err := Create(filepath.Join(dir, "two"))
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(one.CheckValue(), two.CheckValue()) {
		t.Error("two keys are the same")
	}
}

func TestCreateNeverOverwrites(t *testing.T) {
	path := writeKey(t, testHex+"\n", 0o600)
	dangling := filepath.Join(filepath.Dir(path), "dangling")
	target := filepath.Join(filepath.Dir(path), "absent")
	if err := os.Symlink(target, dangling); err != nil {
		t.Fatal(err)
	}
	for _, there := range []string{path, dangling} {
		if m, err := Create(there); !errors.Is(err, fs.ErrExist) || m != nil {
			t.Errorf("%s: error %v", filepath.Base(there), err)
		}
	}
	if content, err := os.ReadFile(path); err != nil || string(content) != testHex+"\n" {
		t.Errorf("the file was changed (error %v)", err)
	}
	if _, err := os.Lstat(target); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the link was followed: %v", err)
	}
}

func TestCreateWithoutDirectory(t *testing.T) {
	if _, err := Create(filepath.Join(t.TempDir(), "absent", "master.key")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

func TestLoadContent(t *testing.T) {
	tests := []struct {
		name, content string
		rule          string // empty: it is taken
	}{
		{"LF", testHex + "\n", ""},
		{"no line end", testHex, ""},
		{"CR LF", testHex + "\r\n", ""},
		{"capitals", strings.ToUpper(testHex) + "\n", ""},
		{"empty", "", "0 characters, not 64"},
		{"cut", testHex[:40] + "\n", "40 characters, not 64"},
		{"two line ends", testHex + "\n\n", "more than 64 hex digits"},
		{"a second line", testHex + "\n" + testHex + "\n", "more than 64 hex digits"},
		{"space before", " " + testHex, "more than 64 hex digits"},
		{"very long", strings.Repeat("a", 1<<20), "more than 64 hex digits"},
		{"no hex", strings.Repeat("q", 64) + "\n", "not a hex digit"},
		{"raw bytes", strings.Repeat("\xfe", 32), "32 characters, not 64"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := writeKey(t, tt.content, 0o600)
			m, err := Load(path)
			if tt.rule == "" {
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(m.CheckValue(), testMaster(t, testHex).CheckValue()) {
					t.Error("another key came out")
				}
				return
			}
			if err == nil || m != nil {
				t.Fatal("it was taken")
			}
			if !strings.Contains(err.Error(), tt.rule) || !strings.Contains(err.Error(), path) {
				t.Errorf("error %q does not name the rule %q and the file", err, tt.rule)
			}
			if strings.Contains(err.Error(), testHex[:8]) || strings.Contains(err.Error(), "qqq") {
				t.Errorf("error %q shows the content", err)
			}
		})
	}
}

func TestLoadMode(t *testing.T) {
	for _, mode := range []fs.FileMode{0o600, 0o400, 0o700} {
		if _, err := Load(writeKey(t, testHex+"\n", mode)); err != nil {
			t.Errorf("mode %v: %v", mode, err)
		}
	}
	for _, mode := range []fs.FileMode{0o640, 0o604, 0o644, 0o660, 0o620, 0o601, 0o666} {
		path := writeKey(t, testHex+"\n", mode)
		_, err := Load(path)
		if err == nil {
			t.Errorf("mode %v was taken", mode)
			continue
		}
		if advice := "run `chmod 600 " + path + "`"; !strings.Contains(err.Error(), advice) {
			t.Errorf("mode %v: error %q lacks %q", mode, err, advice)
		}
		if err := os.Chmod(path, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(path); err != nil {
			t.Errorf("after the chmod: %v", err)
		}
	}
}

func TestLoadThroughLinks(t *testing.T) {
	path := writeKey(t, testHex+"\n", 0o600)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(link); err != nil {
		t.Fatal(err)
	}
	// A link's own mode says nothing; that of the file counts.
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(link); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("error %v", err)
	}
}

func TestLoadOnlyRegularFiles(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, pipe} {
		if _, err := Load(path); err == nil || !strings.Contains(err.Error(), "not a regular file") {
			t.Errorf("%s: error %v", filepath.Base(path), err)
		}
	}
	if _, err := Load(filepath.Join(dir, "absent")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("absent: error %v", err)
	}
}

func TestLoadCredentialWithAnyMode(t *testing.T) {
	path := writeKey(t, testHex+"\n", 0o644)
	dir := filepath.Dir(path)
	inner := filepath.Join(dir, "inner")
	if err := os.Mkdir(inner, 0o700); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, credentials, path string
		taken                   bool
	}{
		{"below it", dir, path, true},
		{"below it, by a detour", dir, filepath.Join(dir, "inner") + "/../master.key", true},
		{"with a slash at the end", dir + "/", path, true},
		{"elsewhere", inner, path, false},
		{"out of it again", inner, inner + "/../master.key", false},
		{"a name that only begins so", dir[:len(dir)-1], path, false},
		{"not absolute", ".", path, false},
		{"not set", "", path, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("CREDENTIALS_DIRECTORY", tt.credentials)
			if _, err := Load(tt.path); (err == nil) != tt.taken {
				t.Errorf("error %v, want it taken: %t", err, tt.taken)
			}
		})
	}
}

func TestShellQuote(t *testing.T) {
	for path, want := range map[string]string{
		"/var/lib/hookd/master.key": "/var/lib/hookd/master.key",
		"/my data/master.key":       "'/my data/master.key'",
		"/it's/master.key":          `'/it'\''s/master.key'`,
		"/a$(b)c/key":               "'/a$(b)c/key'",
		"-x":                        "./-x",
		"":                          "''",
	} {
		if got := shellQuote(path); got != want {
			t.Errorf("%q: got %s, want %s", path, got, want)
		}
	}
}
