package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSearch(t *testing.T) {
	dir := t.TempDir()
	write := func(name, level string) string {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("[log]\nformat = \"json\"\ndata = \""+level+"\""), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	// Each file has a mistake of its own, so that reading a second one would show.
	flag := write("flag.toml", "flag")
	variable := write("variable.toml", "variable")
	xdg := write("xdg/hookd/hookd.toml", "xdg")
	home := write("home/.config/hookd/hookd.toml", "home")
	system := write("etc/hookd.toml", "system")
	none := filepath.Join(dir, "none")

	for _, c := range []struct {
		name, file string
		env        []string
		system     string
		want       string
	}{
		{"flag first", flag, []string{"HOOKD_CONFIG=" + variable, "XDG_CONFIG_HOME=" + dir + "/xdg"}, system, flag + ":3: "},
		{"then the variable", "", []string{"HOOKD_CONFIG=" + variable, "XDG_CONFIG_HOME=" + dir + "/xdg"}, system, variable + ":3: "},
		{"then the user's", "", []string{"XDG_CONFIG_HOME=" + dir + "/xdg", "HOME=" + dir + "/home"}, system, xdg + ":3: "},
		{"also without XDG", "", []string{"HOOKD_CONFIG=", "HOME=" + dir + "/home"}, system, home + ":3: "},
		{"a relative XDG is ignored", "", []string{"XDG_CONFIG_HOME=xdg", "HOME=" + dir + "/home"}, system, home + ":3: "},
		{"then the system's", "", []string{"XDG_CONFIG_HOME=" + none, "HOME=" + dir}, system, system + ":3: "},
		{"or none", "", []string{"HOME=" + none}, none, ""},
		{"a missing one by flag", none, []string{"HOME=" + none}, none, "--config: open " + none + ": no such file or directory"},
		{"a missing one by variable", "", []string{"HOME=" + none, "HOOKD_CONFIG=" + none}, system, "HOOKD_CONFIG: open " + none + ": no such file or directory"},
		{"a folder", dir, []string{"HOME=" + none}, none, "--config: read " + dir + ": is a directory"},
		{"a folder where one is looked for", "", []string{"HOME=" + none}, dir, dir + ": read " + dir + ": is a directory"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := load(Options{File: c.file, Env: c.env, UID: 1000}, c.system)
			switch {
			case c.want == "" && (err != nil || got.File != ""):
				t.Errorf("got %q, %v", got.File, err)
			case c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), c.want)):
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

func TestFileTooLarge(t *testing.T) {
	_, path, err := loadText(t, strings.Repeat("#", maxFileBytes+1), Options{})
	if want := "--config: read " + path + ": larger than 1MiB"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if _, _, err := loadText(t, strings.Repeat("#", maxFileBytes), Options{}); err != nil {
		t.Error(err)
	}
}

func TestDataDir(t *testing.T) {
	for _, c := range []struct {
		name string
		uid  int
		env  []string
		want string
	}{
		{"root", 0, []string{"HOME=/root", "XDG_STATE_HOME=/s"}, "/var/lib/hookd"},
		{"a user", 1000, []string{"HOME=/home/u"}, "/home/u/.local/state/hookd"},
		{"with XDG", 1000, []string{"HOME=/home/u", "XDG_STATE_HOME=/s"}, "/s/hookd"},
		{"with a relative XDG", 1000, []string{"HOME=/home/u", "XDG_STATE_HOME=s"}, "/home/u/.local/state/hookd"},
		{"without any", 1000, nil, "default: data_dir: must be given where neither XDG_STATE_HOME nor HOME is an absolute path"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := load(Options{Env: c.env, UID: c.uid}, "/does/not/exist")
			text := got.DataDir
			if err != nil {
				text = err.Error()
			}
			if text != c.want {
				t.Errorf("got %q, want %q", text, c.want)
			}
		})
	}
}

func TestInitPath(t *testing.T) {
	for _, c := range []struct {
		name string
		o    Options
		want string
	}{
		{"by flag", Options{File: "/f", Env: []string{"HOOKD_CONFIG=/e"}}, "/f"},
		{"by variable", Options{Env: []string{"HOOKD_CONFIG=/e"}}, "/e"},
		{"root", Options{Env: []string{"XDG_CONFIG_HOME=/x"}}, "/etc/hookd/hookd.toml"},
		{"a user", Options{UID: 1, Env: []string{"HOME=/home/u"}}, "/home/u/.config/hookd/hookd.toml"},
		{"a user with XDG", Options{UID: 1, Env: []string{"HOME=/home/u", "XDG_CONFIG_HOME=/x"}}, "/x/hookd/hookd.toml"},
		{"a user without a home", Options{UID: 1}, "--config: must be given where neither XDG_CONFIG_HOME nor HOME is an absolute path"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := InitPath(c.o)
			if err != nil {
				got = err.Error()
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
