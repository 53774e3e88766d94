package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// preloadLimit bounds the filling of a log before lines are counted.
const preloadLimit = 10 * time.Minute

// measureIngest measures how fast lines come into a log that has -preload events already. A round has four times -events
// lines. They are written and synced before the time runs, with hookd held still: what it costs to produce them is not
// asked here.
func measureIngest(random bool) func(context.Context, *bench) ([]figure, error) {
	return func(ctx context.Context, b *bench) (_ []figure, err error) {
		d, err := startHookd(ctx, b.program, b.dir)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, d.remove()) }()
		bare, err := startInserter(ctx, b.dir, newLineMaker(random, bodyBytes))
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, bare.remove()) }()

		lines := newLineMaker(random, bodyBytes)
		if b.preload > 0 {
			b.say("filling both logs with %d events", b.preload)
			if _, err := ingest(ctx, d, lines, b.preload, preloadLimit); err != nil {
				return nil, err
			}
			if _, err := bare.insert(ctx, b.preload); err != nil {
				return nil, err
			}
		}
		f := figure{What: fmt.Sprintf("lines, log of %d", b.preload), Unit: "/s", Rule: ratioAtLeast, Wanted: 0.80}
		hookd := func(round int) error {
			rate, err := ingest(ctx, d, lines, b.events*4, roundLimit)
			f.Hookd = append(f.Hookd, rate)
			b.say("round %d: hookd %.0f/s", round+1, rate)
			return err
		}
		limit := func(round int) error {
			rate, err := bare.insert(ctx, b.events*4)
			f.Limit = append(f.Limit, rate)
			b.say("round %d: limit %.0f/s", round+1, rate)
			return err
		}
		err = b.rounds(hookd, limit)
		return []figure{f}, err
	}
}

// ingest has hookd take n new lines and returns how many it took in a second.
func ingest(ctx context.Context, d *daemon, lines *lineMaker, n int, within time.Duration) (float64, error) {
	if err := d.freeze(); err != nil {
		return 0, err
	}
	err := d.write(lines, n)
	if err == nil {
		err = syncFile(d.events)
	}
	began := time.Now()
	if err = errors.Join(err, d.thaw()); err != nil {
		return 0, err
	}
	err = d.taken(ctx, within)
	return float64(n) / time.Since(began).Seconds(), err
}

// syncFile waits until a file is on disk, so that no writing back goes on while others are measured.
func syncFile(path string) error {
	f, err := os.Open(path)
	if err == nil {
		err = errors.Join(f.Sync(), f.Close())
	}
	if err != nil {
		return fmt.Errorf("sync lines: %w", err)
	}
	return nil
}

// bareInserter is the limit with its own files.
type bareInserter struct {
	*child
	dir   string
	lines *lineMaker
}

func startInserter(ctx context.Context, parent string, lines *lineMaker) (*bareInserter, error) {
	dir, err := os.MkdirTemp(parent, "bare")
	if err != nil {
		return nil, fmt.Errorf("start inserter: %w", err)
	}
	c, err := startChild(ctx, roleInserter)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	b := &bareInserter{child: c, dir: dir, lines: lines}
	if _, err := ask[inserted](ctx, c, inserterJob{Open: filepath.Join(dir, "events.db")}); err != nil {
		return nil, errors.Join(err, b.remove())
	}
	return b, nil
}

func (b *bareInserter) remove() error { return errors.Join(b.stop(), os.RemoveAll(b.dir)) }

// insert inserts n new lines and returns how many in a second.
func (b *bareInserter) insert(ctx context.Context, n int) (float64, error) {
	file := filepath.Join(b.dir, "events.ndjson")
	if err := b.lines.appendTo(file, n); err != nil {
		return 0, err
	}
	if err := syncFile(file); err != nil {
		return 0, err
	}
	a, err := ask[inserted](ctx, b.child, inserterJob{Lines: file})
	if err == nil && a.Lines != n {
		err = fmt.Errorf("%d lines were inserted, not %d", a.Lines, n)
	}
	if err = errors.Join(err, os.Remove(file)); err != nil {
		return 0, err
	}
	return float64(n) / a.Took.Seconds(), nil
}
