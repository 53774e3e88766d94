package main

import (
	"context"
	"errors"
	"time"

	"hookd/internal/control"
)

// measureDrain measures n strict subscriptions that all have the same backlog: the log is filled while they are paused,
// so that nothing but delivery runs while arrivals are counted. A round has factor times -events deliveries.
func measureDrain(n, factor int, wanted float64) func(context.Context, *bench) ([]figure, error) {
	return func(ctx context.Context, b *bench) (_ []figure, err error) {
		d, err := startHookd(ctx, b.program, b.dir)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, d.remove()) }()
		if err := d.subscribe(ctx, b.url, n); err != nil {
			return nil, err
		}
		f := figure{What: "deliveries, v1", Unit: "/s", Rule: ratioAtLeast, Wanted: wanted}
		lines := newLineMaker(false, lineBytes)
		events := b.events * factor / n
		hookd := func(round int) error {
			a, err := b.drain(ctx, d, lines, n, events)
			if err != nil {
				return err
			}
			f.Hookd = append(f.Hookd, a.rate())
			f.noteArrivals("hookd", a)
			b.say("round %d: hookd %.0f/s, %.0f us of processor each", round+1, a.rate(), a.cpuMicros())
			return nil
		}
		limit := func(round int) error {
			a, err := b.bareSend(ctx, n, events*n)
			if err != nil {
				return err
			}
			f.Limit = append(f.Limit, a.rate())
			f.noteArrivals("limit", a)
			b.say("round %d: limit %.0f/s, %.0f us of processor each", round+1, a.rate(), a.cpuMicros())
			return nil
		}
		err = b.rounds(hookd, limit)
		return []figure{f}, err
	}
}

// drain fills the log and lets the subscriptions go.
func (b *bench) drain(ctx context.Context, d *daemon, lines *lineMaker, n, events int) (arrivals, error) {
	if err := d.change(ctx, control.ActionPause, n); err != nil {
		return arrivals{}, err
	}
	if err := d.write(lines, events); err != nil {
		return arrivals{}, err
	}
	if err := d.taken(ctx, roundLimit); err != nil {
		return arrivals{}, err
	}
	if err := b.expect(ctx, expectation{Streams: n, Total: events * n, Ordered: true}); err != nil {
		return arrivals{}, err
	}
	return costed(d.cmd.Process.Pid, func() (arrivals, error) {
		if err := d.change(ctx, control.ActionResume, n); err != nil {
			return arrivals{}, err
		}
		return b.arrived(ctx, roundLimit)
	})
}

// bareSend lets the limit send as much from n goroutines.
func (b *bench) bareSend(ctx context.Context, n, total int) (arrivals, error) {
	if err := b.expect(ctx, expectation{Streams: n, Total: total}); err != nil {
		return arrivals{}, err
	}
	return costed(b.sender.pid(), func() (arrivals, error) {
		if _, err := ask[sent](ctx, b.sender, senderJob{URL: b.url, N: n, Total: total}); err != nil {
			return arrivals{}, err
		}
		return b.arrived(ctx, time.Second)
	})
}

// costed adds to arrivals what the sender's process used for them.
func costed(pid int, send func() (arrivals, error)) (arrivals, error) {
	before, err := cpuTime(pid)
	if err != nil {
		return arrivals{}, err
	}
	a, err := send()
	if err != nil {
		return a, err
	}
	after, err := cpuTime(pid)
	a.cpu = after - before
	return a, err
}
