package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"
)

const (
	pace       = 5 * time.Millisecond // 200/s
	paceEvents = 2000                 // of a round: ten seconds
)

// measureLatency measures the time from just before the append of a line to the arrival of its request, one line every
// 5 ms, and holds it against a whole bare POST, signature to answer, at the same pace.
func measureLatency(ctx context.Context, b *bench) (_ []figure, err error) {
	d, err := startHookd(ctx, b.program, b.dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.remove()) }()
	if err := d.subscribe(ctx, b.url, 1); err != nil {
		return nil, err
	}
	p50 := figure{What: "append to arrival at 200/s, p50 against p50 of a bare POST", Unit: "ms", Rule: ratioAtMost, Wanted: 10}
	p99 := figure{What: "append to arrival at 200/s, p99 against p50 of a bare POST", Unit: "ms", Rule: ratioAtMost, Wanted: 50}
	lines := newLineMaker(false, lineBytes)
	hookd := func(round int) error {
		took, err := b.paced(ctx, d, lines)
		if err != nil {
			return err
		}
		p50.Hookd, p99.Hookd = append(p50.Hookd, percentile(took, 50)), append(p99.Hookd, percentile(took, 99))
		b.say("round %d: hookd p50 %.2f ms, p99 %.2f ms", round+1, percentile(took, 50), percentile(took, 99))
		return nil
	}
	limit := func(round int) error {
		if err := b.expect(ctx, expectation{Streams: 1, Total: paceEvents}); err != nil {
			return err
		}
		a, err := ask[sent](ctx, b.sender, senderJob{URL: b.url, N: 1, Total: paceEvents, Every: pace})
		if err != nil {
			return err
		}
		half := percentile(a.Took, 50)
		p50.Limit, p99.Limit = append(p50.Limit, half), append(p99.Limit, half)
		b.say("round %d: limit p50 %.2f ms", round+1, half)
		return nil
	}
	err = b.rounds(hookd, limit)
	return []figure{p50, p99}, err
}

// paced appends one line at a time and returns how long each took to arrive.
func (b *bench) paced(ctx context.Context, d *daemon, lines *lineMaker) ([]time.Duration, error) {
	if err := b.expect(ctx, expectation{Streams: 1, Total: paceEvents, Ordered: true, Times: true}); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(d.events, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return nil, fmt.Errorf("append lines: %w", err)
	}
	defer file.Close()
	appended := make(map[string]int64, paceEvents)
	ticker := time.NewTicker(pace)
	defer ticker.Stop()
	for range paceEvents {
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-ticker.C:
		}
		line := lines.next()
		appended[lines.last] = time.Now().UnixNano()
		if _, err := file.Write(line); err != nil {
			return nil, fmt.Errorf("append line: %w", err)
		}
	}
	d.lines += paceEvents
	a, err := b.arrived(ctx, roundLimit)
	if err != nil {
		return nil, err
	}
	took := make([]time.Duration, 0, paceEvents)
	for id, at := range a.Times {
		from, known := appended[id]
		if !known {
			return nil, errors.New("an event arrived that was not appended")
		}
		took = append(took, time.Duration(at-from))
	}
	return took, nil
}

// percentile is the value that p of a hundred are not above, in milliseconds.
func percentile(took []time.Duration, p int) float64 {
	sorted := slices.Sorted(slices.Values(took))
	if len(sorted) == 0 {
		return 0
	}
	return float64(sorted[(len(sorted)*p+99)/100-1]) / float64(time.Millisecond)
}
