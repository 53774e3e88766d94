package cli

import (
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"
)

// unknownWidth is taken for a terminal that does not tell its width.
const unknownWidth = 80

// Streams is the terminal, or what stands in for it. Each stream is a terminal or not by itself.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
	// InTTY, OutTTY and ErrTTY say which of them is a terminal.
	InTTY, OutTTY, ErrTTY bool
	// Width is the number of columns of the terminal on Out.
	Width int
	// Getenv looks a variable of the environment up: NO_COLOR, TERM and the locale's.
	Getenv func(string) string
	// Now is the clock that relative times are counted from.
	Now func() time.Time
}

// SystemStreams are the process's own.
func SystemStreams() Streams {
	s := Streams{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		InTTY:  isTerminal(os.Stdin),
		OutTTY: isTerminal(os.Stdout),
		ErrTTY: isTerminal(os.Stderr),
		Getenv: os.Getenv,
		Now:    time.Now,
	}
	if s.OutTTY {
		// A size of 0 is what a terminal says that does not know.
		if width, _, err := term.GetSize(int(os.Stdout.Fd())); err == nil {
			s.Width = width
		}
	}
	return s
}

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// wantsColor says whether Out gets colour. An explicit choice wins over the environment.
func (s Streams) wantsColor(choice string) bool {
	switch choice {
	case "always":
		return true
	case "never":
		return false
	}
	return s.OutTTY && s.Getenv("NO_COLOR") == "" && s.Getenv("TERM") != "dumb"
}

// tableWidth is how wide a table may be; 0 is without bound.
func (s Streams) tableWidth() int {
	switch {
	case !s.OutTTY:
		return 0
	case s.Width <= 0:
		return unknownWidth
	}
	return s.Width
}

// ellipsis marks what was cut, in a character that the terminal's locale has.
func (s Streams) ellipsis() string {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if locale := strings.ToLower(s.Getenv(name)); locale != "" {
			if strings.Contains(locale, "utf-8") || strings.Contains(locale, "utf8") {
				return "…"
			}
			return "~"
		}
	}
	return "~"
}
