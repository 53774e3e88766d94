package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// settle is how long hookd has been ready when its idle memory is looked at.
const settle = 2 * time.Second

// measureFootprint starts an empty hookd once a round. The first start of a program also reads it from disk; the median
// leaves that out.
func measureFootprint(ctx context.Context, b *bench) ([]figure, error) {
	memory := figure{What: "resident memory, idle", Unit: "MiB", Rule: valueAtMost, Wanted: 40}
	start := figure{What: "start of an empty daemon until ready", Unit: "ms", Rule: valueAtMost, Wanted: 300}
	program := figure{What: "the stripped program", Unit: "MiB", Rule: valueAtMost, Wanted: 40}
	info, err := os.Stat(b.program)
	if err != nil {
		return nil, fmt.Errorf("look at program: %w", err)
	}
	program.Hookd = append(program.Hookd, float64(info.Size())/(1<<20))
	for range b.count {
		resident, startup, err := b.idle(ctx)
		if err != nil {
			return nil, err
		}
		memory.Hookd = append(memory.Hookd, resident)
		start.Hookd = append(start.Hookd, float64(startup)/float64(time.Millisecond))
	}
	return []figure{memory, start, program}, nil
}

// idle starts an empty hookd and returns its memory in MiB and the time that its start took.
func (b *bench) idle(ctx context.Context) (resident float64, startup time.Duration, err error) {
	d, err := startHookd(ctx, b.program, b.dir)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, d.remove()) }()
	select {
	case <-ctx.Done():
		return 0, 0, context.Cause(ctx)
	case <-time.After(settle):
	}
	resident, err = residentMiB(d.cmd.Process.Pid)
	return resident, d.startup, err
}
