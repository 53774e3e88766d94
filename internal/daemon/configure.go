package daemon

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strconv"

	"hookd/internal/config"
	"hookd/internal/control"
	"hookd/internal/delivery"
	"hookd/internal/egress"
)

// Flags is the command line of `hookd run`.
type Flags struct {
	Config    string            // --config
	Keys      map[string]string // flags that were given, by their key of the configuration
	Sources   []string          // --source
	Dev       bool              // --dev
	ReadyFile string            // --ready-file; empty for none
}

// Options is what a daemon runs with; Configure makes it.
type Options struct {
	Config config.Config
	// Socket is the path of the control socket, of a length that the kernel takes.
	Socket    string
	Dev       bool
	ReadyFile string
	// Temporary says that the data directory was made for this run alone: it is removed at the end.
	Temporary bool
	Log       *slog.Logger
}

// Configure reads the configuration in the environment of the process. It makes nothing but, with --dev and no data
// directory named by a flag or the environment, a temporary one, which [Run] removes. The log goes to w. Its errors are
// a *config.Error or a *control.SocketPathError, but where that directory cannot be made.
func Configure(f Flags, w io.Writer) (Options, error) {
	o := Options{Dev: f.Dev, ReadyFile: f.ReadyFile}
	keys := map[string]string{}
	for name, text := range f.Keys {
		keys[name] = text
	}
	if f.Dev {
		if err := devRefused(); err != nil {
			return o, err
		}
		// A data directory that stands in a file is the one of another, earnest daemon.
		if _, given := keys["data_dir"]; !given && os.Getenv("HOOKD_DATA_DIR") == "" {
			dir, err := os.MkdirTemp("", "hookd-dev-")
			if err != nil {
				return o, fmt.Errorf("make temporary data directory: %w", err)
			}
			keys["data_dir"], o.Temporary = dir, true
		}
		if _, given := keys["log.format"]; !given {
			keys["log.format"] = config.FormatText
		}
	}
	err := o.load(f, keys)
	if err != nil && o.Temporary {
		return o, errors.Join(err, os.Remove(keys["data_dir"]))
	}
	if err == nil {
		o.Log = NewLog(w, o.Config.Log.Level, o.Config.Log.Format)
	}
	return o, err
}

func (o *Options) load(f Flags, keys map[string]string) (err error) {
	o.Config, err = config.Load(config.Options{
		File: f.Config, Env: os.Environ(), UID: os.Geteuid(), Flags: keys, Sources: f.Sources, Checks: checks(),
	})
	if err != nil {
		return err
	}
	// What was set has been checked and beats the environment already; this fills in the default.
	o.Socket, err = control.ListenSocket(o.Config.Control.Socket, "")
	return err
}

// checks are the rules that other rooms have for texts of the configuration.
func checks() map[string]func(string) error {
	return map[string]func(string) error{
		"delivery.retry": func(text string) error {
			_, err := delivery.ParseSchedule(text)
			return err
		},
		"egress.allowed_hosts": func(text string) error {
			return ruleOf(egress.NewPolicy(egress.Rules{AllowedHosts: []string{text}}))
		},
		"egress.allow_private": func(text string) error {
			return ruleOf(egress.NewPolicy(egress.Rules{AllowPrivate: []string{text}}))
		},
	}
}

// ruleOf leaves the key out of an error of package egress: who reports it names the key.
func ruleOf(_ *egress.Policy, err error) error {
	var rule *egress.RuleError
	if !errors.As(err, &rule) {
		return err
	}
	if rule.Entry == "" {
		return errors.New(rule.Rule)
	}
	return fmt.Errorf("entry %q: %s", rule.Entry, rule.Rule)
}

// policy compiles the egress rules in force.
func (o Options) policy() (*egress.Policy, error) {
	e := o.Config.Egress
	p, err := egress.NewPolicy(egress.Rules{
		AllowHTTP: e.AllowHTTP, AllowedHosts: e.AllowedHosts, AllowPrivate: e.AllowPrivate, CAFile: e.CAFile, Dev: o.Dev,
	})
	var rule *egress.RuleError
	if errors.As(err, &rule) {
		return nil, o.Config.Refuse(rule.Key, ruleOf(nil, err))
	}
	return p, err
}

// devRefused refuses --dev where hookd is a service: one that is open to loopback targets is no development.
func devRefused() error {
	underSystemd := os.Getenv("NOTIFY_SOCKET") != "" || os.Getenv("SYSTEMD_EXEC_PID") == strconv.Itoa(os.Getpid())
	if !underSystemd {
		return nil
	}
	return &config.Error{Mistakes: []config.Mistake{{
		Place: "--dev", Problem: "is for a laptop and is refused under systemd: name what is allowed in egress.allow_private",
	}}}
}
