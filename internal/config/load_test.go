package config

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// user is an environment in which nothing is found by accident.
func user(t *testing.T, more ...string) []string {
	t.Helper()
	return append([]string{"HOME=" + t.TempDir()}, more...)
}

// loadText loads a file with the given text as a user.
func loadText(t *testing.T, text string, o Options) (Config, string, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "hookd.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	o.File = path
	if o.Env == nil {
		o.Env = user(t)
	}
	o.UID = 1000
	c, err := load(o, filepath.Join(t.TempDir(), "none.toml"))
	return c, path, err
}

func TestDefaults(t *testing.T) {
	got, err := load(Options{Env: []string{"HOME=/home/u"}, UID: 1000}, "/does/not/exist")
	if err != nil {
		t.Fatal(err)
	}
	want := Config{
		DataDir: "/home/u/.local/state/hookd",
		Control: Control{SocketMode: 0o660},
		Sources: []Source{},
		Delivery: Delivery{
			Retry: "tiers:0s,1s,5s,30s,5m,30m,2h", Jitter: 0.1, Timeout: 15 * time.Second,
			RetryAfterCap: 24 * time.Hour, MaxInFlight: 1024, MaxInFlightPerHost: 64,
			MaxConsecutiveFailures: 50, ShutdownTimeout: 10 * time.Second,
		},
		Egress:    Egress{AllowedHosts: []string{"*"}, AllowPrivate: []string{}},
		Signing:   Signing{Overlap: 24 * time.Hour, MasterKeyFile: "/home/u/.local/state/hookd/master.key"},
		Limits:    Limits{EventBytes: 65536},
		Log:       Log{Level: slog.LevelInfo, Format: "text"},
		keyPlaces: keyPlaces{},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestFileSetsEveryKey(t *testing.T) {
	text := `
data_dir = "/d"
[control]
socket = "/s"
socket_mode = "0600"
socket_group = "ops"
[[source]]
kind = "file"
path = "a.log"
[[source]]
name = "b"
kind = "file"
path = "b.log"
start = "end"
[delivery]
retry = "tiers:1s"
jitter = 0
timeout = "1ms"
retry_after_cap = "1h"
max_in_flight = 1
max_in_flight_per_host = 2
max_consecutive_failures = 0
shutdown_timeout = "0s"
[egress]
allow_http = true
allowed_hosts = []
allow_private = ["10.0.0.0/8", "localhost:1"]
ca_file = "ca.pem"
[signing]
overlap = "0s"
master_key_file = "/k"
[limits]
event_bytes = "1MiB"
[log]
level = "debug"
format = "json"
`
	got, path, err := loadText(t, text, Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := Config{
		DataDir: "/d",
		Control: Control{Socket: "/s", SocketMode: fs.FileMode(0o600), SocketGroup: "ops"},
		Sources: []Source{
			{Name: "a.log", Kind: "file", Path: "a.log", Start: "beginning"},
			{Name: "b", Kind: "file", Path: "b.log", Start: "end"},
		},
		Delivery: Delivery{
			Retry: "tiers:1s", Timeout: time.Millisecond, RetryAfterCap: time.Hour,
			MaxInFlight: 1, MaxInFlightPerHost: 2,
		},
		Egress: Egress{
			AllowHTTP: true, AllowedHosts: []string{},
			AllowPrivate: []string{"10.0.0.0/8", "localhost:1"}, CAFile: "ca.pem",
		},
		Signing: Signing{MasterKeyFile: "/k"},
		Limits:  Limits{EventBytes: 1 << 20},
		Log:     Log{Level: slog.LevelDebug, Format: "json"},
		File:    path,
	}
	for _, k := range keys {
		if place := got.Place(k.name); !strings.HasPrefix(place, path+":") {
			t.Errorf("place of %s: %s", k.name, place)
		}
	}
	if place := got.Place("delivery.timeout"); place != path+":18" {
		t.Errorf("place of delivery.timeout: %s, want line 18", place)
	}
	got.keyPlaces = nil
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}

	crlf, _, err := loadText(t, "\xef\xbb\xbf"+strings.ReplaceAll(text, "\n", "\r\n"), Options{})
	if err != nil {
		t.Fatalf("with CRLF and a byte order mark: %v", err)
	}
	if place := crlf.Place("delivery.timeout"); !strings.HasSuffix(place, ":18") {
		t.Errorf("with CRLF, place of delivery.timeout: %s, want line 18", place)
	}
	crlf.keyPlaces, crlf.File = nil, path
	if !reflect.DeepEqual(crlf, want) {
		t.Errorf("with CRLF: got  %+v\nwant %+v", crlf, want)
	}
}

func TestMasterKeyFile(t *testing.T) {
	credentials := t.TempDir()
	if err := os.WriteFile(filepath.Join(credentials, "hookd-master-key"), nil, 0o440); err != nil {
		t.Fatal(err)
	}
	empty := t.TempDir()
	for _, c := range []struct {
		name, text, directory, want string
		fromCredentials             bool
	}{
		{"in the data directory", `data_dir = "/d"`, "", "/d/master.key", false},
		{"from credentials", `data_dir = "/d"`, credentials, filepath.Join(credentials, "hookd-master-key"), true},
		{"other credentials", `data_dir = "/d"`, empty, "/d/master.key", false},
		{"set", `signing.master_key_file = "/k"`, credentials, "/k", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, _, err := loadText(t, c.text, Options{Env: user(t, "CREDENTIALS_DIRECTORY="+c.directory)})
			if err != nil {
				t.Fatal(err)
			}
			if got.Signing.MasterKeyFile != c.want || got.Signing.MasterKeyFromCredentials != c.fromCredentials {
				t.Errorf("got %q, %t", got.Signing.MasterKeyFile, got.Signing.MasterKeyFromCredentials)
			}
		})
	}
}

func TestChecksSeeEveryGivenValue(t *testing.T) {
	rule := errors.New("breaks a rule of another room")
	seen := map[string][]string{}
	check := func(key string, bad ...string) func(string) error {
		return func(text string) error {
			seen[key] = append(seen[key], text)
			for _, b := range bad {
				if text == b {
					return rule
				}
			}
			return nil
		}
	}
	o := Options{
		Env: user(t, "HOOKD_EGRESS_ALLOW_PRIVATE=good,bad"),
		Checks: map[string]func(string) error{
			"delivery.retry":       check("delivery.retry", "tiers:"),
			"egress.allow_private": check("egress.allow_private", "bad"),
		},
		Flags: map[string]string{"delivery.retry": "tiers:1s"},
	}
	_, path, err := loadText(t, `delivery.retry = "tiers:"`, o)
	want := path + ":1: delivery.retry: breaks a rule of another room\n" +
		"HOOKD_EGRESS_ALLOW_PRIVATE: egress.allow_private: breaks a rule of another room"
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	if got := seen["delivery.retry"]; !reflect.DeepEqual(got, []string{"tiers:", "tiers:1s"}) {
		t.Errorf("delivery.retry was checked with %q", got)
	}
}

func TestRefuseNamesThePlace(t *testing.T) {
	c, path, err := loadText(t, "\negress.ca_file = \"x.pem\"", Options{})
	if err != nil {
		t.Fatal(err)
	}
	got := c.Refuse("egress.ca_file", fs.ErrNotExist)
	if want := path + ":2: egress.ca_file: file does not exist"; got.Error() != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if !errors.Is(got, fs.ErrNotExist) {
		t.Error("the cause is lost")
	}
	if got := c.Refuse("data_dir", fs.ErrPermission).Error(); got != "default: data_dir: permission denied" {
		t.Errorf("got %q", got)
	}
}
