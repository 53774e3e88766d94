package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

func TestTablesFitTheTerminal(t *testing.T) {
	f := serve(t, routes())
	for _, tt := range everyCommand {
		if !strings.HasSuffix(tt.name, "-list") {
			continue
		}
		for _, width := range []int{1, 5, 20, 40, 80, 120, 500} {
			s := terminal
			s.width = width
			r := f.run(s, tt.args...)
			if r.code != 0 {
				t.Fatalf("%s: exit %d, %s", tt.name, r.code, r.stderr)
			}
			for line := range strings.Lines(r.stdout) {
				if got := ansi.StringWidth(strings.TrimSuffix(line, "\n")); got > width {
					t.Errorf("%s at %d columns: a line of %d: %q", tt.name, width, got, line)
				}
			}
		}
	}
}

func TestUnknownWidthIsEighty(t *testing.T) {
	f := serve(t, routes())
	s := terminal
	s.width = 0
	for line := range strings.Lines(f.run(s, "sub", "list").stdout) {
		if got := ansi.StringWidth(strings.TrimSuffix(line, "\n")); got > 80 {
			t.Errorf("a line of %d columns", got)
		}
	}
}

func TestColumnsLineUp(t *testing.T) {
	c := &ctl{}
	c.Streams.Getenv = func(string) string { return "" }
	var buf bytes.Buffer
	rows := [][]cell{}
	for _, name := range []string{"plain", "日本語のフック", "👩‍👩‍👧", "e\u0301"} {
		rows = append(rows, []cell{{text: name}, {text: "x"}})
	}
	c.writeGrid(&buf, "", grid{header: []string{"name", "mark"}, rows: rows})
	for i, line := range strings.Split(strings.TrimSpace(buf.String()), "\n") {
		at := strings.LastIndexAny(line, "xM")
		if got := ansi.StringWidth(line[:at]); got != 16 {
			t.Errorf("line %d: the second column begins at %d: %q", i, got, line)
		}
	}
}

// Where the locale is not UTF-8, what was cut is marked in ASCII.
func TestEllipsis(t *testing.T) {
	for env, want := range map[string]string{
		"LANG=C.UTF-8":                  "…",
		"LANG=en_US.utf8":               "…",
		"LC_ALL=C LANG=en_US.UTF-8":     "~",
		"LC_CTYPE=de_DE.ISO-8859-15":    "~",
		"":                              "~",
		"LC_ALL=en_GB.UTF-8 LC_CTYPE=C": "…",
	} {
		vars := map[string]string{}
		for _, pair := range strings.Fields(env) {
			name, value, _ := strings.Cut(pair, "=")
			vars[name] = value
		}
		s := Streams{Getenv: func(name string) string { return vars[name] }}
		if got := s.ellipsis(); got != want {
			t.Errorf("%s: %q, want %q", env, got, want)
		}
	}
}

func TestColor(t *testing.T) {
	f := serve(t, routes())
	colored := terminal
	colored.env = map[string]string{"LANG": "C.UTF-8"}
	dumb := terminal
	dumb.env = map[string]string{"TERM": "dumb"}
	// Only stdout decides.
	for _, tt := range []struct {
		name string
		s    setting
		args []string
		want bool
	}{
		{"terminal", colored, nil, true},
		{"NO_COLOR", terminal, nil, false},
		{"dumb terminal", dumb, nil, false},
		{"pipe", pipe, nil, false},
		{"table in a pipe", pipe, []string{"-o", "table"}, false},
		{"never", colored, []string{"--color", "never"}, false},
		{"always, over NO_COLOR", terminal, []string{"--color=always"}, true},
		{"always in a pipe", pipe, []string{"-o", "table", "--color=always"}, true},
		{"tsv has none", pipe, []string{"--color=always"}, false},
		{"JSON on a terminal", colored, []string{"-o", "json"}, true},
		{"JSON in a pipe", pipe, []string{"-o", "json"}, false},
	} {
		for _, command := range []string{"list", "show x"} {
			args := append([]string{"sub"}, strings.Fields(command)...)
			r := f.run(tt.s, append(args, tt.args...)...)
			if got := strings.Contains(r.stdout, "\x1b["); got != tt.want || r.code != 0 {
				t.Errorf("%s, sub %s: colour %v, want %v (exit %d %s)", tt.name, command, got, tt.want, r.code, r.stderr)
			}
		}
	}
}

// Colour adds nothing but colour.
func TestColorKeepsTheText(t *testing.T) {
	f := serve(t, routes())
	for _, tt := range everyCommand {
		for _, format := range []string{"table", "json", "jsonl"} {
			without := f.run(terminal, append(tt.args, "-o", format)...).stdout
			with := f.run(terminal, append(tt.args, "-o", format, "--color=always")...).stdout
			if got := ansi.Strip(with); got != without {
				t.Errorf("%s as %s:\n%s\nwith colour:\n%s", tt.name, format, without, got)
			}
		}
	}
}

func FuzzTable(f *testing.F) {
	f.Add("a", "日本語", 10)
	f.Add("", "\u200d\u0301", 1)
	f.Add("👩‍👩‍👧👩‍👩‍👧", "x", 7)
	f.Fuzz(func(t *testing.T, a, b string, width int) {
		if width < 1 || width > 1000 {
			return
		}
		c := &ctl{Streams: Streams{OutTTY: true, Width: width, Getenv: func(string) string { return "" }}}
		var buf bytes.Buffer
		c.writeGrid(&buf, "", grid{
			header: []string{"a", "b"}, right: []bool{false, true},
			rows: [][]cell{{{text: safe(a)}, {text: safe(b)}}},
		})
		if n := bytes.Count(buf.Bytes(), []byte("\n")); n != 2 {
			t.Errorf("%d lines", n)
		}
		for line := range strings.Lines(buf.String()) {
			if got := ansi.StringWidth(strings.TrimSuffix(line, "\n")); got > width {
				t.Errorf("%d columns of %d: %q", got, width, line)
			}
		}
	})
}
