package main

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"

	"hookd/internal/config"
	"hookd/internal/control"
	"hookd/internal/daemon"
)

// usageError is a command line that cannot be understood.
type usageError struct{ err error }

// Error is the first line: cobra puts its suggestion into the others.
func (e *usageError) Error() string {
	text, _, _ := strings.Cut(e.err.Error(), "\n")
	return text
}

// Hint names the command that may be meant, else where the rules stand.
func (e *usageError) Hint() string {
	if _, suggested, ok := strings.Cut(e.err.Error(), "\n\t"); ok {
		return "did you mean " + strings.TrimSpace(suggested) + "?"
	}
	return "see hookd --help"
}

// report writes an error, if there is one, and returns the exit code: the one place that turns one into the other.
func report(w io.Writer, err error) int {
	if err == nil {
		return control.ExitDone
	}
	// Configuration has a line for each mistake.
	for line := range strings.SplitSeq(err.Error(), "\n") {
		fmt.Fprintf(w, "hookd: error: %s\n", printable(line))
	}
	var advice interface{ Hint() string }
	if errors.As(err, &advice) && advice.Hint() != "" {
		fmt.Fprintf(w, "hookd: hint: %s\n", printable(advice.Hint()))
	}
	return exitCode(err)
}

func exitCode(err error) int {
	var (
		usage      *usageError
		mistakes   *config.Error
		socketPath *control.SocketPathError
		locked     *daemon.LockedError
		key        *daemon.KeyError
		socket     *daemon.SocketError
	)
	switch {
	case errors.As(err, &usage), errors.As(err, &mistakes), errors.As(err, &socketPath):
		return control.ExitUsage
	case errors.As(err, &locked), errors.As(err, &key), errors.As(err, &socket):
		return control.ExitRefused
	}
	return control.ExitFailed
}

// printable writes what a terminal could act on, bidirectional controls too, as escapes.
func printable(text string) string {
	var b strings.Builder
	for _, r := range text {
		if unicode.IsPrint(r) {
			b.WriteRune(r)
			continue
		}
		b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
	}
	return b.String()
}
