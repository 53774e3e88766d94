package config

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// TestPrecedence goes through every combination of layers for a key of each
// kind of value, with the default's own value in the winning layer too.
func TestPrecedence(t *testing.T) {
	for _, k := range []struct {
		key, env          string
		file              string // TOML
		envText, flagText string
		get               func(Config) any
		fromFile, fromEnv any
		fromFlag, initial any
	}{
		{
			key: "log.level", env: "HOOKD_LOG_LEVEL", file: `log.level = "debug"`, envText: "warn", flagText: "info",
			get:      func(c Config) any { return c.Log.Level },
			fromFile: slog.LevelDebug, fromEnv: slog.LevelWarn, fromFlag: slog.LevelInfo, initial: slog.LevelInfo,
		},
		{
			key: "delivery.timeout", env: "HOOKD_DELIVERY_TIMEOUT", file: `delivery = { timeout = "1s" }`, envText: "15s", flagText: "3s",
			get:      func(c Config) any { return c.Delivery.Timeout },
			fromFile: time.Second, fromEnv: 15 * time.Second, fromFlag: 3 * time.Second, initial: 15 * time.Second,
		},
		{
			key: "delivery.max_consecutive_failures", env: "HOOKD_DELIVERY_MAX_CONSECUTIVE_FAILURES",
			file: "[delivery]\nmax_consecutive_failures = 7", envText: "0", flagText: "50",
			get:      func(c Config) any { return c.Delivery.MaxConsecutiveFailures },
			fromFile: 7, fromEnv: 0, fromFlag: 50, initial: 50,
		},
		{
			key: "egress.allow_http", env: "HOOKD_EGRESS_ALLOW_HTTP", file: "egress.allow_http = true", envText: "false", flagText: "true",
			get:      func(c Config) any { return c.Egress.AllowHTTP },
			fromFile: true, fromEnv: false, fromFlag: true, initial: false,
		},
		{
			key: "egress.allowed_hosts", env: "HOOKD_EGRESS_ALLOWED_HOSTS", file: `egress.allowed_hosts = ["a", "b"]`,
			envText: "c, d", flagText: "*",
			get:      func(c Config) any { return strings.Join(c.Egress.AllowedHosts, " ") },
			fromFile: "a b", fromEnv: "c d", fromFlag: "*", initial: "*",
		},
		{
			key: "data_dir", env: "HOOKD_DATA_DIR", file: `data_dir = "/file"`, envText: "/env", flagText: "/flag",
			get:      func(c Config) any { return c.DataDir },
			fromFile: "/file", fromEnv: "/env", fromFlag: "/flag", initial: "/state/hookd",
		},
		{
			key: "control.socket", env: "HOOKD_CONTROL_SOCKET", file: `control.socket = "/file"`, envText: "/env", flagText: "/flag",
			get:      func(c Config) any { return c.Control.Socket },
			fromFile: "/file", fromEnv: "/env", fromFlag: "/flag", initial: "",
		},
	} {
		for set := range 8 {
			inFile, inEnv, inFlag := set&1 != 0, set&2 != 0, set&4 != 0
			t.Run(fmt.Sprintf("%s/file=%t,env=%t,flag=%t", k.key, inFile, inEnv, inFlag), func(t *testing.T) {
				text, want, place := "", k.initial, "default"
				o := Options{Env: []string{"XDG_STATE_HOME=/state", k.env + "="}}
				if inFile {
					text, want, place = k.file, k.fromFile, ""
				}
				if inEnv {
					o.Env = append(o.Env, k.env+"="+k.envText)
					want, place = k.fromEnv, k.env
				}
				if inFlag {
					o.Flags = map[string]string{k.key: k.flagText}
					entry, _ := findKey(keys, k.key)
					want, place = k.fromFlag, entry.flagPlace()
				}
				c, path, err := loadText(t, text, o)
				if err != nil {
					t.Fatal(err)
				}
				if got := k.get(c); got != want {
					t.Errorf("got %v, want %v", got, want)
				}
				got := c.Place(k.key)
				if place == "" && !strings.HasPrefix(got, path+":") || place != "" && got != place {
					t.Errorf("place is %q, want %q", got, place)
				}
			})
		}
	}
}

// HOOKD_SOCKET is the variable of both programs; it beats the systematic one.
func TestSocketVariable(t *testing.T) {
	for _, order := range [][]string{
		{"HOOKD_SOCKET=/both", "HOOKD_CONTROL_SOCKET=/one"},
		{"HOOKD_CONTROL_SOCKET=/one", "HOOKD_SOCKET=/both"},
	} {
		c, _, err := loadText(t, `control.socket = "/file"`, Options{Env: user(t, order...)})
		if err != nil {
			t.Fatal(err)
		}
		if c.Control.Socket != "/both" || c.Place("control.socket") != "HOOKD_SOCKET" {
			t.Errorf("%v: got %q from %s", order, c.Control.Socket, c.Place("control.socket"))
		}
	}
	c, _, err := loadText(t, "", Options{
		Env: user(t, "HOOKD_SOCKET=/both"), Flags: map[string]string{"control.socket": "/flag"},
	})
	if err != nil || c.Control.Socket != "/flag" {
		t.Errorf("got %q, %v; want the flag's", c.Control.Socket, err)
	}
}
