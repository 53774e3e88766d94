package cli

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func TestEveryCommandHasHelp(t *testing.T) {
	root := newRoot(&ctl{})
	check := func(cmd *cobra.Command) {
		path := cmd.CommandPath()
		if cmd.Example == "" {
			t.Errorf("%s has no example", path)
		}
		if cmd.Short == "" || strings.HasSuffix(cmd.Short, ".") {
			t.Errorf("%s: short help %q", path, cmd.Short)
		}
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Usage == "" || strings.HasSuffix(f.Usage, ".") {
				t.Errorf("%s --%s: help %q", path, f.Name, f.Usage)
			}
		})
		for text := range strings.Lines(cmd.Long) {
			if len(text) > 200 {
				t.Errorf("%s: a line of %d characters in its help", path, len(text))
			}
		}
	}
	check(root)
	forSubcommands(root, check)
}

func TestHelpGoesToStdout(t *testing.T) {
	for _, args := range []string{"", "--help", "help", "sub", "sub --help", "help sub create", "sub create --help", "help exit-codes", "exit-codes"} {
		r := runIn(t.Context(), pipe, strings.Fields(args)...)
		if r.code != 0 || r.stdout == "" || r.stderr != "" {
			t.Errorf("%q: exit %d, %d bytes, %q", args, r.code, len(r.stdout), r.stderr)
		}
	}
	r := runIn(t.Context(), pipe, "help", "exit-codes")
	for _, part := range []string{"  3  hookd is not reachable", "  9  degraded", "130  interrupted"} {
		if !strings.Contains(r.stdout, part) {
			t.Errorf("%q is not in %q", part, r.stdout)
		}
	}
}

// The examples in the help must at least be command lines that exist.
func TestExamplesParse(t *testing.T) {
	root := newRoot(&ctl{})
	forSubcommands(root, func(cmd *cobra.Command) {
		for line := range strings.Lines(cmd.Example) {
			line = strings.TrimSpace(line)
			if !strings.HasPrefix(line, "hookctl ") {
				continue
			}
			var words []string
			for _, w := range strings.Fields(strings.NewReplacer("'", "", ";", " ; ").Replace(line))[1:] {
				if w == ">" || w == "|" || w == ";" {
					break
				}
				words = append(words, w)
			}
			found, _, err := newRoot(&ctl{}).Find(words)
			if err != nil || found.HasSubCommands() {
				t.Errorf("%s: example %q: %v", cmd.CommandPath(), line, err)
				continue
			}
			for _, w := range words {
				if name, ok := strings.CutPrefix(w, "--"); ok && found.Flag(name) == nil {
					t.Errorf("%s: example %q: no flag --%s", cmd.CommandPath(), line, name)
				}
			}
		}
	})
}

func TestCompletionScripts(t *testing.T) {
	t.Setenv("HOME", "")
	t.Setenv("HOOKD_SOCKET", "/nobody/listens/here")
	for _, shell := range shells {
		r := runIn(t.Context(), pipe, "completion", shell)
		if r.code != 0 || !strings.Contains(r.stdout, "hookctl") || r.stderr != "" {
			t.Errorf("%s: exit %d, %d bytes, %q", shell, r.code, len(r.stdout), r.stderr)
		}
	}
}

func TestCompleteNames(t *testing.T) {
	f := serve(t, routes())
	tests := []struct {
		args []string
		want string
	}{
		{[]string{"sub", "show", ""}, "日本語のフック\tdisabled, 127.0.0.1:9000\norders\tactive, hooks.example.com\n:4\n"},
		{[]string{"sub", "show", "ord"}, "orders\tactive, hooks.example.com\n:4\n"},
		{[]string{"sub", "show", "orders", ""}, ":4\n"},
		{[]string{"delivery", "list", "--sub", "ord"}, "orders\tactive, hooks.example.com\n:4\n"},
		{[]string{"event", "list", "-o", "js"}, "table\ntsv\njson\njsonl\nyaml\n:4\n"},
		{[]string{"sub", "list", "--state", "p"}, "active\npaused\ndisabled\n:4\n"},
		{[]string{"completion", "z"}, "zsh\n:4\n"},
		{[]string{"sub", "create", ""}, ":4\n"},
	}
	for _, tt := range tests {
		args := append([]string{"__complete", "--socket", f.socket}, tt.args...)
		r := runIn(t.Context(), pipe, args...)
		if r.code != 0 || r.stdout != tt.want {
			t.Errorf("%q: exit %d, %q, want %q", tt.args, r.code, r.stdout, tt.want)
		}
	}
}

func TestCompletionIsQuietWithoutADaemon(t *testing.T) {
	hangs := serve(t, map[string]http.HandlerFunc{"/": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }})
	for name, socket := range map[string]string{
		"down": filepath.Join(t.TempDir(), "s"), "hanging": hangs.socket, "impossible": strings.Repeat("x", 200),
	} {
		r := runIn(t.Context(), pipe, "__complete", "--socket", socket, "sub", "show", "")
		if r.code != 0 || r.stdout != ":4\n" || strings.Contains(r.stderr, "rror") {
			t.Errorf("%s: exit %d, %q, %q", name, r.code, r.stdout, r.stderr)
		}
	}
}

func TestVersion(t *testing.T) {
	f := serve(t, routes())
	if r := f.run(pipe, "version", "--jq", ".version, .daemon.version, .daemon.sqlite"); r.stdout != "dev\n1.2.3\n3.51\n" {
		t.Errorf("exit %d, %q, %s", r.code, r.stdout, r.stderr)
	}
	r := runIn(t.Context(), pipe, "version", "--socket", filepath.Join(t.TempDir(), "s"))
	if r.code != 0 || !strings.HasPrefix(r.stdout, "version\tdev\n") || strings.Contains(r.stdout, "daemon") {
		t.Errorf("exit %d, %q, %s", r.code, r.stdout, r.stderr)
	}
}

func TestSayings(t *testing.T) {
	f := serve(t, routes())
	r := f.run(pipe, "sub", "create", "https://hooks.example.com/in")
	if !strings.Contains(r.stderr, "hookctl: warning: retry is not shorter than retention.events\n") {
		t.Errorf("stderr %q", r.stderr)
	}
	existing := healthySub
	existing.URL = "https://hooks.example.com/in"
	f = serve(t, map[string]http.HandlerFunc{"POST /v1/subscriptions": answer(existing)})
	r = f.run(pipe, "sub", "create", "https://hooks.example.com/in", "--if-not-exists")
	if r.code != 0 || !strings.Contains(r.stderr, "exists already") || strings.Contains(r.stdout, "secret") {
		t.Errorf("exit %d, %q, %q", r.code, r.stdout, r.stderr)
	}
}
