package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"syscall"
	"time"
)

func main() {
	if len(os.Args) == 2 {
		if serve := roles[os.Args[1]]; serve != nil {
			if err := serve(os.Stdin, os.Stdout); err != nil {
				fmt.Fprintf(os.Stderr, "bench %s: %v\n", os.Args[1], err)
				os.Exit(1)
			}
			return
		}
	}
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// settings are what the flags say.
type settings struct {
	rows    *regexp.Regexp
	count   int    // rounds
	events  int    // deliveries or lines of a round
	preload int    // events in the log before lines are counted
	program string // hookd, if not to be built
	parent  string // of the temporary directory
	out     string
	strict  bool
	timeout time.Duration
}

// run returns the exit code: 0 measured, 1 failed (with -strict also: a figure was not reached), 2 wrong usage.
func run(args []string, stdout, stderr io.Writer) int {
	s, err := parseFlags(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeoutCause(ctx, s.timeout, fmt.Errorf("the run took longer than -timeout %s", s.timeout))
	defer cancel()

	r, err := measureAll(ctx, s, stderr)
	if ctx.Err() != nil {
		err = context.Cause(ctx) // and what followed from it is no news
	}
	if r != nil && len(r.Figures) > 0 {
		r.writeTable(stdout)
		if path, saveErr := r.save(s.out); saveErr != nil {
			err = errors.Join(err, saveErr)
		} else {
			fmt.Fprintf(stdout, "\nraw figures: %s\n", path)
		}
	}
	if err != nil {
		fmt.Fprintf(stderr, "bench: %v\n", err)
		return 1
	}
	if s.strict && !r.reached() {
		return 1
	}
	return 0
}

func parseFlags(args []string, stderr io.Writer) (settings, error) {
	var s settings
	var rows string
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprint(stderr, "usage: bench [flags]\n\nMeasures hookd against a bare loop on this machine.\n\nrows:\n")
		for _, row := range allRows {
			fmt.Fprintf(stderr, "  %-14s %s\n", row.name, row.what)
		}
		fmt.Fprint(stderr, "\nflags:\n")
		flags.PrintDefaults()
	}
	flags.StringVar(&rows, "run", "", "measure the rows whose name matches this `REGEXP`; all if empty")
	flags.IntVar(&s.count, "count", 3, "`rounds` of each row; their medians are compared")
	flags.IntVar(&s.events, "events", 50_000, "deliveries of a round with one subscription; rows that need another size take a multiple")
	flags.IntVar(&s.preload, "preload", 1_000_000, "`events` in the log before the rows about ingestion count")
	flags.StringVar(&s.program, "hookd", "", "measure this `program`, such as one of before a change, instead of building one")
	flags.StringVar(&s.parent, "dir", "", "put databases and event files under this `directory`, which must be on a real disk; the system's temporary one if empty")
	flags.StringVar(&s.out, "out", "bench", "write the raw figures into this `directory`")
	flags.BoolVar(&s.strict, "strict", false, "exit 1 where a figure is not reached")
	flags.DurationVar(&s.timeout, "timeout", 30*time.Minute, "give up after this time")
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	err := check(&s, rows, flags.NArg())
	if err != nil {
		fmt.Fprintf(stderr, "bench: %v\n", err)
	}
	return s, err
}

func check(s *settings, rows string, arguments int) error {
	switch {
	case arguments > 0:
		return errors.New("it takes flags only")
	case s.count < 1 || s.count > 100:
		return errors.New("-count: 1 to 100 rounds")
	case s.events < 1000 || s.events > 1_000_000:
		return errors.New("-events: 1000 to 1000000")
	case s.preload < 0 || s.preload > 10_000_000:
		return errors.New("-preload: 0 to 10000000 events")
	case s.timeout <= 0:
		return errors.New("-timeout: above 0")
	}
	var err error
	if s.rows, err = regexp.Compile(rows); err != nil {
		return fmt.Errorf("-run: %w", err)
	}
	for _, row := range allRows {
		if s.rows.MatchString(row.name) {
			return nil
		}
	}
	return fmt.Errorf("-run %s: no row has such a name", rows)
}
