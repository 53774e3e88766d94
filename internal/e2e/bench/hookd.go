package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"hookd/internal/control"
)

// buildHookd builds the program as a release is built and returns its path.
func buildHookd(ctx context.Context, dir string) (string, error) {
	program := filepath.Join(dir, "hookd")
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", program, "hookd/cmd/hookd")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build hookd: %w\n%s", err, out)
	}
	return program, nil
}

// daemon is a running hookd with one file source and the subscriptions s0, s1, ...
type daemon struct {
	dir     string // with everything that it keeps
	events  string // the file that it tails
	program string
	client  *control.Client
	cmd     *exec.Cmd
	lines   int64 // written to events
	startup time.Duration
}

// startLimit bounds how long hookd may take until it is ready.
const startLimit = time.Minute

// startHookd starts hookd in a new directory under parent and returns when it is ready.
func startHookd(ctx context.Context, program, parent string) (*daemon, error) {
	dir, err := os.MkdirTemp(parent, "hookd")
	if err != nil {
		return nil, fmt.Errorf("start hookd: %w", err)
	}
	d := &daemon{dir: dir, events: filepath.Join(dir, "events.ndjson"), program: program}
	if err := d.start(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("start hookd: %w", err), os.RemoveAll(dir))
	}
	return d, nil
}

func (d *daemon) start(ctx context.Context) error {
	// A configuration of whoever runs this must not change what is measured.
	config := filepath.Join(d.dir, "hookd.toml")
	for _, file := range []string{config, d.events} {
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			return err
		}
	}
	log, err := os.Create(filepath.Join(d.dir, "stderr"))
	if err != nil {
		return err
	}
	defer log.Close()
	socket, ready := filepath.Join(d.dir, "s"), filepath.Join(d.dir, "ready")
	cmd := exec.CommandContext(ctx, d.program, "run", "--dev", "--config", config, "--data-dir", filepath.Join(d.dir, "data"),
		"--socket", socket, "--source", "file:"+d.events, "--ready-file", ready)
	cmd.Env = []string{"HOME=" + d.dir, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.Getenv("TMPDIR")}
	cmd.Stderr = log
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return err
	}
	d.cmd, d.client = cmd, control.NewClient(socket)
	if err := poll(ctx, time.Millisecond, startLimit, "hookd to be ready", func() (bool, error) {
		_, err := os.Stat(ready)
		return err == nil, nil
	}); err != nil {
		said, readErr := os.ReadFile(log.Name())
		return errors.Join(err, fmt.Errorf("it said:\n%s", said), readErr, d.stop())
	}
	d.startup = time.Since(began)
	return nil
}

// remove ends hookd and deletes what it kept.
func (d *daemon) remove() error { return errors.Join(d.stop(), os.RemoveAll(d.dir)) }

// stopLimit is longer than hookd's own limit for its end.
const stopLimit = 30 * time.Second

func (d *daemon) stop() error {
	d.client.Close()
	if err := d.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stop hookd: %w", err)
	}
	kill := time.AfterFunc(stopLimit, func() { _ = d.cmd.Process.Kill() })
	defer kill.Stop()
	if err := d.cmd.Wait(); err != nil {
		return fmt.Errorf("stop hookd: %w", err)
	}
	return nil
}

// freeze holds hookd still while a file is written that it would follow at once; thaw lets it go on.
func (d *daemon) freeze() error { return d.signal(syscall.SIGSTOP) }
func (d *daemon) thaw() error   { return d.signal(syscall.SIGCONT) }

func (d *daemon) signal(s syscall.Signal) error {
	if err := d.cmd.Process.Signal(s); err != nil {
		return fmt.Errorf("signal hookd: %w", err)
	}
	return nil
}

// subscribe makes n subscriptions to all events, whose requests go to url/0, url/1, ...
func (d *daemon) subscribe(ctx context.Context, url string, n int) error {
	for i := range n {
		number := strconv.Itoa(i)
		if _, err := d.client.CreateSubscription(ctx, control.CreateSubscription{URL: url + "/" + number, Name: "s" + number}); err != nil {
			return fmt.Errorf("subscribe: %w", err)
		}
	}
	return nil
}

// change pauses or resumes the first n subscriptions.
func (d *daemon) change(ctx context.Context, action string, n int) error {
	for i := range n {
		if _, err := d.client.ChangeSubscription(ctx, "s"+strconv.Itoa(i), action); err != nil {
			return fmt.Errorf("%s subscription: %w", action, err)
		}
	}
	return nil
}

// write appends lines to the file.
func (d *daemon) write(lines *lineMaker, n int) error {
	d.lines += int64(n)
	return lines.appendTo(d.events, n)
}

// taken waits until every line written so far is in the log.
func (d *daemon) taken(ctx context.Context, within time.Duration) error {
	return poll(ctx, 20*time.Millisecond, within, "hookd to take its lines", func() (bool, error) {
		page, err := d.client.Sources(ctx)
		if err != nil {
			return false, fmt.Errorf("ask for sources: %w", err)
		}
		for _, s := range page.Items {
			if s.Rejected > 0 || s.Duplicates > 0 {
				return false, fmt.Errorf("source %s refused %d lines and took %d for duplicates", s.Name, s.Rejected, s.Duplicates)
			}
			if s.Accepted >= d.lines {
				return true, nil
			}
		}
		return false, nil
	})
}

// poll asks again and again, for what has no event to wait for.
func poll(ctx context.Context, every, within time.Duration, what string, done func() (bool, error)) error {
	ctx, cancel := context.WithTimeoutCause(ctx, within, fmt.Errorf("waited %s for %s", within, what))
	defer cancel()
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		ok, err := done()
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
	}
}
