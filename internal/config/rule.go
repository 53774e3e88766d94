package config

import (
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"
)

// MaxSocketPath is the longest path in bytes that a unix socket can be bound to
// here: the kernel's field without its closing zero.
const MaxSocketPath = len(syscall.RawSockaddrUnix{}.Path) - 1

// rule says what a value must be and turns its text into a Go value.
type rule struct {
	want  string   // completes "must be ..."
	types []string // TOML types that are taken, see tomlType; the first one writes the default
	list  bool     // a list of such values
	// parse gives the value, or the rule that the text breaks.
	parse func(text string) (value any, problem string)
}

// must wraps a parser that only knows right from wrong.
func must(want string, types []string, parse func(text string) (any, bool)) rule {
	return rule{want: want, types: types, parse: func(text string) (any, string) {
		if value, ok := parse(text); ok {
			return value, ""
		}
		return nil, "must be " + want
	}}
}

func text(want string) rule {
	return must(want, []string{typeText}, func(text string) (any, bool) {
		return text, text != "" && utf8.ValidString(text) && !strings.ContainsRune(text, 0)
	})
}

// path is kept as written: a relative one is meant from the directory hookd was
// started in. It becomes a source's name and part of JSON answers, hence UTF-8.
func path() rule { return text("a path, in UTF-8 and without a zero byte") }

// socketPath refuses a path that no socket can have before anything is bound or
// locked; the kernel's own error would only say "invalid argument".
func socketPath() rule {
	r := path()
	plain := r.parse
	r.parse = func(text string) (any, string) {
		switch {
		case strings.HasPrefix(text, "@"):
			// On Linux that would be an abstract socket, which has no owner and no mode.
			return nil, "must be a file and cannot begin with @"
		case strings.HasSuffix(text, "/"):
			return nil, "must be a file, not a directory"
		case len(text) > MaxSocketPath:
			return nil, fmt.Sprintf("%s has %d bytes, a socket's path at most %d: set a shorter one with --socket, HOOKD_SOCKET or control.socket",
				strconv.Quote(text), len(text), MaxSocketPath)
		}
		return plain(text)
	}
	return r
}

func listOf(want string) rule {
	r := text("a list of " + want)
	r.list = true
	return r
}

func duration(least, most time.Duration) rule {
	want := fmt.Sprintf(`a duration from %s to %s, written like "1m30s"`, shortDuration(least), shortDuration(most))
	return must(want, []string{typeText}, func(text string) (any, bool) {
		d, err := time.ParseDuration(text)
		return d, err == nil && d >= least && d <= most
	})
}

// shortDuration leaves out the zero minutes and seconds of Go's form.
func shortDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

func integer(least, most int) rule {
	want := fmt.Sprintf("a whole number from %d to %d", least, most)
	return must(want, []string{typeInteger}, func(text string) (any, bool) {
		n, err := strconv.Atoi(text)
		return n, err == nil && n >= least && n <= most
	})
}

func fraction(least, most float64) rule {
	want := fmt.Sprintf("a number from %g to %g", least, most)
	return must(want, []string{typeNumber, typeInteger}, func(text string) (any, bool) {
		f, err := strconv.ParseFloat(text, 64)
		return f, err == nil && f >= least && f <= most // false for NaN
	})
}

func boolean() rule {
	return must("true or false", []string{typeBoolean}, func(text string) (any, bool) {
		return text == "true", text == "true" || text == "false"
	})
}

// size takes bytes, or a whole number with one of the units.
func size(least, most int) rule {
	want := fmt.Sprintf(`a size from %s to %s, in bytes or written like "64KiB"`, shortSize(least), shortSize(most))
	return must(want, []string{typeText, typeInteger}, func(text string) (any, bool) {
		unit := 1
		for _, u := range sizeUnits {
			if digits, ok := strings.CutSuffix(text, u.name); ok {
				text, unit = digits, u.bytes
				break
			}
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 || n > most/unit {
			return nil, false
		}
		return n * unit, n*unit >= least
	})
}

var sizeUnits = []struct {
	name  string
	bytes int
}{{"MiB", 1 << 20}, {"KiB", 1 << 10}}

func shortSize(n int) string {
	for _, u := range sizeUnits {
		if n >= u.bytes && n%u.bytes == 0 {
			return strconv.Itoa(n/u.bytes) + u.name
		}
	}
	return strconv.Itoa(n)
}

func oneOf(words ...string) rule {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = strconv.Quote(w)
	}
	last := len(quoted) - 1
	want := strings.Join(quoted[:last], ", ") + " or " + quoted[last]
	return must(want, []string{typeText}, func(text string) (any, bool) {
		return text, slices.Contains(words, text)
	})
}

func logLevel() rule {
	levels := map[string]slog.Level{
		"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError,
	}
	return must(oneOf("debug", "info", "warn", "error").want, []string{typeText}, func(text string) (any, bool) {
		level, ok := levels[text]
		return level, ok
	})
}

// fileMode takes text alone: the TOML integer 660 would be another mode than
// the one its writer meant.
func fileMode() rule {
	want := `an octal file mode in quotes, from "0600" to "0777", that lets the owner read and write`
	return must(want, []string{typeText}, func(text string) (any, bool) {
		mode, err := strconv.ParseUint(text, 8, 32)
		ok := err == nil && len(text) <= 4 && mode <= 0o777 && mode&0o600 == 0o600
		return fs.FileMode(mode), ok
	})
}
