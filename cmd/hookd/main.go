// Command hookd delivers the events of logs as signed webhooks.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	// The HTTP library writes bytes of misbehaving receivers to the standard logger.
	log.SetOutput(io.Discard)
	// A log reader that went away is no reason to stop delivering.
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := untilSignal()
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// sameSignal is how soon after the first a second signal is the same one: timeout(1) and shells send one to a process
// and to its group.
const sameSignal = 250 * time.Millisecond

// untilSignal is a context that the first SIGINT or SIGTERM ends. The second one ends the process at once: what is in
// flight then counts for nothing and is sent again after the next start.
func untilSignal() (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	ended := make(chan struct{})
	go func() {
		var told os.Signal
		select {
		case told = <-signals:
			cancel(errors.New("signal: " + told.String()))
		case <-ended:
			return
		}
		// Not left to the system: a shell starts what runs in the background with SIGINT ignored.
		for first := time.Now(); ; {
			select {
			case s := <-signals:
				if s == told && time.Since(first) < sameSignal {
					continue
				}
				os.Exit(report(os.Stderr, fmt.Errorf("stop: cut short by a second signal (%s)", s)))
			case <-ended:
				return
			}
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(ended)
	}
}
