package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"hookd/internal/control"
)

// errInterrupted is the cause of a context that a signal ended.
var errInterrupted = errors.New("interrupted")

// failure is an error as the user gets it: on stderr as text, and with -o json as an object too.
type failure struct {
	Code     control.Code `json:"code"`
	Message  string       `json:"message"`
	Hint     string       `json:"hint,omitempty"`
	ExitCode int          `json:"exit_code"`
}

// usage makes the error of a wrong command line.
func usage(format string, args ...any) *control.Problem {
	return control.NewProblem(control.CodeUsage, format, args...)
}

// report tells the user what went wrong and returns the exit code. It is the only place that does either.
func (c *ctl) report(err error, args []string) int {
	// The reader of stdout had enough: nobody is there to be told.
	if err == nil || errors.Is(err, syscall.EPIPE) {
		return control.ExitDone
	}
	f := classify(err)
	fmt.Fprintf(c.Err, "hookctl: error: %s\n", safe(f.Message))
	if f.Hint != "" {
		fmt.Fprintf(c.Err, "hookctl: hint: %s\n", safe(f.Hint))
	}
	if c.wantsJSONErrors(args) {
		if raw, err := json.Marshal(f); err == nil {
			fmt.Fprintf(c.Err, "%s\n", raw)
		}
	}
	return f.ExitCode
}

// classify is the switch from errors to codes, hints and exit codes.
func classify(err error) failure {
	f := failure{Code: control.CodeFailed, Message: err.Error()}
	var (
		problem     *control.Problem
		unreachable *control.UnreachableError
		path        *control.SocketPathError
	)
	switch {
	case errors.As(err, &problem):
		f.Code, f.Hint, f.ExitCode = problem.Code, problem.Hint, problem.ExitCode
		return f
	case errors.As(err, &unreachable):
		f.Code = control.CodeUnreachable
		f.Hint = "start it with hookd run, or name its socket with --socket or HOOKD_SOCKET"
		if errors.Is(err, fs.ErrPermission) {
			f.Hint = "the socket is for its owner and its group: run hookctl as one of them"
		}
	case errors.As(err, &path):
		f.Code, f.Hint = control.CodeUsage, path.Hint()
	case errors.Is(err, errInterrupted), errors.Is(err, context.Canceled):
		f.Code = control.CodeInterrupted
	}
	f.ExitCode = f.Code.ExitCode()
	return f
}

// wantsJSONErrors says whether an error is also told as JSON. Where the command line could not be read, the format
// is not known yet: then the arguments are looked at.
func (c *ctl) wantsJSONErrors(args []string) bool {
	if c.format != "" {
		return c.format == formatJSON || c.format == formatJSONL
	}
	wanted := false
	for i, arg := range args {
		if arg == "--" {
			break
		}
		value, found := strings.CutPrefix(arg, "--output=")
		if !found && !strings.HasPrefix(arg, "--") {
			value, found = strings.CutPrefix(arg, "-o")
			value = strings.TrimPrefix(value, "=")
		}
		if (arg == "-o" || arg == "--output") && i+1 < len(args) {
			value, found = args[i+1], true
		}
		if found {
			wanted = value == formatJSON || value == formatJSONL
		}
	}
	return wanted
}
