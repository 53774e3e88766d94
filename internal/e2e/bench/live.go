package main

import (
	"context"
	"errors"
	"time"
)

// measureLive measures the whole way while a producer writes as fast as it can on the same cores: hookd reads, appends
// and delivers at once. The time runs from the producer's first byte to the last arrival.
func measureLive(ctx context.Context, b *bench) (_ []figure, err error) {
	d, err := startHookd(ctx, b.program, b.dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.remove()) }()
	if err := d.subscribe(ctx, b.url, 1); err != nil {
		return nil, err
	}
	f := figure{What: "events from file to receiver, v1", Unit: "/s", Rule: ratioAtLeast, Wanted: 0.60}
	lines := newLineMaker(false, lineBytes)
	flow := func(events int) (float64, error) {
		if err := b.expect(ctx, expectation{Streams: 1, Total: events, Ordered: true}); err != nil {
			return 0, err
		}
		began := time.Now()
		if err := d.write(lines, events); err != nil {
			return 0, err
		}
		a, err := b.arrived(ctx, roundLimit)
		return float64(events) / time.Unix(0, a.Last).Sub(began).Seconds(), err
	}
	hookd := func(round int) error {
		// Warm up: the connection is closed when it was idle.
		if _, err := flow(b.events / 10); err != nil {
			return err
		}
		rate, err := flow(b.events)
		if err != nil {
			return err
		}
		f.Hookd = append(f.Hookd, rate)
		b.say("round %d: hookd %.0f/s", round+1, rate)
		return nil
	}
	limit := func(round int) error {
		a, err := b.bareSend(ctx, 1, b.events)
		if err != nil {
			return err
		}
		f.Limit = append(f.Limit, a.rate())
		b.say("round %d: limit %.0f/s", round+1, a.rate())
		return nil
	}
	err = b.rounds(hookd, limit)
	return []figure{f}, err
}
