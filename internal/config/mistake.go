package config

import (
	"cmp"
	"slices"
	"strings"
)

// Mistake is one thing wrong with the configuration.
type Mistake struct {
	// Place is "FILE:LINE", the name of an environment variable or a flag.
	Place string
	// Key is the setting at fault; empty where no setting is (a file that cannot be read).
	Key string
	// Problem is the rule that is broken.
	Problem string

	line  int   // orders the mistakes of the file
	cause error // what Problem was made from, if it was an error
}

// String is one line: place, key and problem, separated by ": ".
func (m Mistake) String() string {
	if m.Key == "" {
		return m.Place + ": " + m.Problem
	}
	return m.Place + ": " + m.Key + ": " + m.Problem
}

// Error is a configuration that hookd does not start with. It has at least one
// mistake; those of the file come first, in the order of its lines, then those
// of the environment, then those of flags.
type Error struct {
	Mistakes []Mistake
}

// Error has one mistake a line.
func (e *Error) Error() string {
	lines := make([]string, len(e.Mistakes))
	for i, m := range e.Mistakes {
		lines[i] = m.String()
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives the errors behind the mistakes, where there are any.
func (e *Error) Unwrap() []error {
	var causes []error
	for _, m := range e.Mistakes {
		if m.cause != nil {
			causes = append(causes, m.cause)
		}
	}
	return causes
}

// byLine sorts the mistakes of one file as a reader meets them.
func byLine(mistakes []Mistake) {
	slices.SortStableFunc(mistakes, func(a, b Mistake) int { return cmp.Compare(a.line, b.line) })
}
