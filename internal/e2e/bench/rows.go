package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// row measures one or more lines of 8.3 that need the same set-up.
type row struct {
	name    string
	what    string
	measure func(context.Context, *bench) ([]figure, error)
}

// allRows are the lines of 8.3 that can be measured so far.
var allRows = []row{
	{"one", "one strict subscription against one goroutine", measureDrain(1, 1, 0.75)},
	{"64", "64 strict subscriptions, each all events, against 64 goroutines", measureDrain(64, 5, 0.70)},
	{"live", "file to receiver at full speed against one goroutine", measureLive},
	{"ingest-rising", "file ingestion without subscriptions, ids that rise, against a bare insertion", measureIngest(false)},
	{"ingest-random", "the same with random ids", measureIngest(true)},
	{"latency", "from the append of a line to the request's arrival at 200/s against a bare POST", measureLatency},
	{"footprint", "memory when idle, size of the program, start until ready", measureFootprint},
}

// bench is what the rows share.
type bench struct {
	settings
	dir      string // temporary
	receiver *child
	url      string // of the receiver
	sender   *child
	say      func(format string, args ...any)
}

// measureAll measures the rows that -run names. The report has what was measured also where there is an error.
func measureAll(ctx context.Context, s settings, progress io.Writer) (r *report, err error) {
	began := time.Now()
	b := &bench{settings: s, say: func(format string, args ...any) {
		fmt.Fprintf(progress, "%5.0fs  %s\n", time.Since(began).Seconds(), fmt.Sprintf(format, args...))
	}}
	// A short path: the control socket lies in it.
	if b.dir, err = os.MkdirTemp(s.parent, "bench"); err != nil {
		return nil, fmt.Errorf("make directory: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.dir)) }()
	if b.program == "" {
		b.say("building hookd")
		if b.program, err = buildHookd(ctx, b.dir); err != nil {
			return nil, err
		}
	}
	if err := b.startPeers(ctx); err != nil {
		return nil, errors.Join(err, b.stopPeers())
	}
	defer func() { err = errors.Join(err, b.stopPeers()) }()

	r = newReport(s)
	for _, row := range allRows {
		if !s.rows.MatchString(row.name) {
			continue
		}
		b.say("%s: %s", row.name, row.what)
		figures, err := row.measure(ctx, b)
		if err != nil {
			return r, fmt.Errorf("measure %s: %w", row.name, err)
		}
		for _, f := range figures {
			f.Row = row.name
			r.Figures = append(r.Figures, f)
		}
	}
	return r, nil
}

func (b *bench) startPeers(ctx context.Context) (err error) {
	if b.receiver, err = startChild(ctx, roleReceiver); err != nil {
		return err
	}
	if b.sender, err = startChild(ctx, roleSender); err != nil {
		return err
	}
	a, err := ask[arrivals](ctx, b.receiver, receiverJob{Expect: &expectation{}})
	b.url = a.URL
	return err
}

func (b *bench) stopPeers() error {
	var errs []error
	for _, c := range []*child{b.sender, b.receiver} {
		if c != nil {
			errs = append(errs, c.stop())
		}
	}
	return errors.Join(errs...)
}

// expect tells the receiver what comes next.
func (b *bench) expect(ctx context.Context, e expectation) error {
	_, err := ask[arrivals](ctx, b.receiver, receiverJob{Expect: &e})
	return err
}

// arrived waits for the rest of it.
func (b *bench) arrived(ctx context.Context, within time.Duration) (arrivals, error) {
	a, err := ask[arrivals](ctx, b.receiver, receiverJob{Within: within})
	if err == nil && a.Repeats > 0 {
		err = fmt.Errorf("%d events came again or out of order", a.Repeats)
	}
	return a, err
}

// roundLimit bounds one round of either side.
const roundLimit = 3 * time.Minute

// rounds has hookd and the limit take turns, the one that begins changing every round, so that neither always gets the
// warmer machine.
func (b *bench) rounds(hookd, limit func(round int) error) error {
	for round := range b.count {
		order := []func(int) error{hookd, limit}
		if round%2 == 1 {
			order[0], order[1] = order[1], order[0]
		}
		for _, side := range order {
			if err := side(round); err != nil {
				return fmt.Errorf("round %d: %w", round+1, err)
			}
		}
	}
	return nil
}
