package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzLoad: whatever stands in the file, loading gives a configuration within
// its bounds or mistakes that each have a place in the file, and never panics.
func FuzzLoad(f *testing.F) {
	template, err := Template(nil)
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{
		"", "\r\n", "\xef\xbb\xbf", string(template), uncommented(string(template)),
		"[log]\r\nlevel = \"debug\"\r\n", "log = 1", "[log.level]", "[[log]]", "source = [{}, 1]", "source = [[{a=1}]]",
		"[[source]]\n[[source.x]]\n[[source.x]]\n[source.x.y]\nz = 1", "[source]\n", "[[source]]\nkind='file'\npath='x'\n[source.map]",
		`"" = 1`, `"a.b".'c d' = {e = [{f = 1}]}`, "delivery.jitter = nan", "delivery.jitter = inf", "a = 1979-05-27T07:32:00Z",
		"egress.allowed_hosts = ['a', 'b']", "limits.event_bytes = '1MiB'", "a = \"\"\"\nx\"\"\"\nb = '''\n'''", "a.b = 1\na.c = 2\n[a]",
		"delivery={timeout='1s',timeout='2s'}", "\x00", "a = \"\\ud800\"", "[control]\nsocket = '" + strings.Repeat("x", 200) + "'",
	} {
		f.Add([]byte(seed))
	}
	path := filepath.Join(f.TempDir(), "hookd.toml")
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := load(Options{File: path, Env: []string{"HOME=/h"}, UID: 1}, "")
		if err == nil {
			inBounds(t, c)
			return
		}
		mistaken, ok := errors.AsType[*Error](err)
		if !ok || len(mistaken.Mistakes) == 0 {
			t.Fatalf("not a list of mistakes: %v", err)
		}
		for _, m := range mistaken.Mistakes {
			if len(data) <= maxFileBytes && (!strings.HasPrefix(m.Place, path+":") || strings.HasSuffix(m.Place, ":0")) {
				t.Errorf("no line: %s", m)
			}
			if strings.ContainsFunc(m.String(), func(r rune) bool { return r < ' ' || r == 0x7f }) {
				t.Errorf("control character in %q", m)
			}
		}
	})
}

func inBounds(t *testing.T, c Config) {
	t.Helper()
	d := c.Delivery
	if d.Jitter < 0 || d.Jitter > 1 || d.Timeout <= 0 || d.MaxInFlight < 1 || d.MaxInFlightPerHost < 1 ||
		d.MaxConsecutiveFailures < 0 || d.RetryAfterCap < 0 || d.ShutdownTimeout < 0 ||
		c.Limits.EventBytes < 1024 || c.Limits.EventBytes > 1<<20 || len(c.Control.Socket) > MaxSocketPath ||
		c.DataDir == "" || c.Signing.MasterKeyFile == "" || c.Signing.Overlap < 0 {
		t.Errorf("out of bounds: %+v", c)
	}
	for _, s := range c.Sources {
		if s.Name == "" || s.Path == "" || s.Kind != KindFile || s.Start != StartBeginning && s.Start != StartEnd {
			t.Errorf("bad source: %+v", s)
		}
	}
}
