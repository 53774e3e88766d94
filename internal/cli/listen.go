package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"hookd/internal/control"
	"hookd/internal/receiver"
	"hookd/internal/signing"
)

type listenOptions struct {
	*ctl
	addr       string
	types      []string
	sub        string
	fail       int
	status     int
	retryAfter string
	count      int
	within     time.Duration
	given      func(flag string) bool
}

func newListen(c *ctl) *cobra.Command {
	o := &listenOptions{ctl: c}
	cmd := &cobra.Command{
		Use:   "listen [flags]",
		Short: "Receive webhooks here and show them, verified",
		Long: `Makes a temporary subscription to a receiver in this process, prints each delivery with whether its signature
verifies, and answers as told. The subscription is removed at the end; if this process dies, hookd removes it ten
seconds later. hookd must run with --dev, or allow the address in egress.allow_http and egress.allow_private.

Requests that verify are answered with 204, those that do not with 401. With --fail the first N that verify are
answered with --status (500); with --status alone all are. In a pipe each delivery is a JSON object on a line.

With --count it exits 0 after so many verified deliveries, and 7 as soon as one does not verify. With --within it exits 6
when the time is up.`,
		Example: `  hookctl listen
  hookctl listen --type 'order.*' --count 3 --within 30s
  hookctl listen --fail 2 --status 503 --retry-after 5`,
		Args:        takes(),
		Annotations: map[string]string{pipeFormat: formatJSONL},
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.given = cmd.Flags().Changed
			if cmd.Flags().Changed("status") && !cmd.Flags().Changed("fail") {
				o.fail = receiver.FailAlways
			} else if o.fail < 0 {
				return usage("--fail %d: it must not be negative", o.fail)
			}
			return o.run(cmd.Context())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.addr, "addr", "127.0.0.1:0", "loopback address and port to listen on, port 0 for any free one")
	flags.StringArrayVar(&o.types, "type", nil, "pattern of types to get, repeatable (default *)")
	flags.StringVar(&o.sub, "sub", "", "name of the temporary subscription (default listen-PORT)")
	flags.IntVar(&o.fail, "fail", 0, "answer the first N with --status")
	flags.IntVar(&o.status, "status", http.StatusInternalServerError, "status of a failing answer, 200 to 599")
	flags.StringVar(&o.retryAfter, "retry-after", "", "Retry-After of a failing answer, in seconds or as an HTTP date")
	flags.IntVar(&o.count, "count", 0, "end after so many verified deliveries (default without end)")
	flags.DurationVar(&o.within, "within", 0, "end when this time is up (default without end)")
	forFlags := []string{"addr", "type", "sub", "fail", "status", "retry-after", "count", "within"}
	for _, name := range forFlags {
		mustComplete(cmd, name, cobra.NoFileCompletions)
	}
	return cmd
}

func (o *listenOptions) check() error {
	switch {
	case o.format == formatYAML || o.format == formatTSV:
		return usage("listen prints table, json or jsonl, not %s", o.format)
	case o.status < 200 || o.status > 599:
		return usage("--status %d: it must be from 200 to 599", o.status)
	case o.count < 1 && o.given("count"):
		return usage("--count %d: it must be at least 1", o.count)
	case o.within <= 0 && o.given("within"):
		return usage("--within %s: it must be above 0", o.within)
	case strings.ContainsFunc(o.retryAfter, func(r rune) bool { return r < ' ' || r > '~' }):
		return usage("--retry-after: it must be visible ASCII")
	}
	// A stream has no end to close a list at: json is a line each too.
	if o.format == formatJSON {
		o.format = formatJSONL
	}
	return checkDuration("within", o.within)
}

// errEnough is the cause of a listen that got all that it was to get.
var errEnough = errors.New("enough")

func (o *listenOptions) run(ctx context.Context) error {
	if err := o.check(); err != nil {
		return err
	}
	daemon, err := o.daemon()
	if err != nil {
		return err
	}
	l, err := listenLoopback(ctx, o.addr)
	if err != nil {
		return err
	}
	defer l.Close()
	sub, err := o.subscribe(ctx, daemon, l.Addr())
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	err = o.receive(ctx, daemon, l, sub)
	o.unsubscribe(ctx, daemon, sub)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	return nil
}

func (o *listenOptions) subscribe(ctx context.Context, daemon *control.Client, addr net.Addr) (*control.Subscription, error) {
	name := o.sub
	if name == "" {
		_, port, err := net.SplitHostPort(addr.String())
		if err != nil {
			return nil, fmt.Errorf("read address: %w", err)
		}
		name = "listen-" + port
	}
	return daemon.CreateSubscription(ctx, control.CreateSubscription{
		URL: "http://" + addr.String() + "/", Name: name, Types: o.types, Lease: true,
	})
}

// unsubscribe removes the subscription, also after an interrupt. Where that fails, the lease does it.
func (o *listenOptions) unsubscribe(ctx context.Context, daemon *control.Client, sub *control.Subscription) {
	const patience = 5 * time.Second
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	if err := daemon.DeleteSubscription(ctx, sub.ID); err != nil && !isNotFound(err) {
		o.say("remove subscription %s: %v; hookd removes it in %s", sub.Name, err, control.LeaseGrace)
	}
}

// receive answers and prints deliveries until something ends it; nil is that there were enough.
func (o *listenOptions) receive(ctx context.Context, daemon *control.Client, l net.Listener, sub *control.Subscription) error {
	secret, err := signing.ParseSecret(sub.Secret)
	if err != nil {
		return fmt.Errorf("secret of the subscription: %w", err)
	}
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	if o.within > 0 {
		timeUp := control.NewProblem(control.CodeTimedOut, "time is up after %s", o.within)
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, o.within, timeUp)
		defer stop()
	}
	var lease sync.WaitGroup
	lease.Go(func() { end(o.holdLease(ctx, daemon, sub)) })
	defer lease.Wait()

	o.say("listening on %s as subscription %s (%s)", sub.URL, sub.Name, strings.Join(sub.Types, ", "))
	verified := 0
	r := receiver.New(receiver.Options{
		Secrets: []signing.Secret{secret}, Fail: o.fail, Status: o.status, RetryAfter: o.retryAfter, Now: o.Now,
		Deliver: func(d receiver.Delivery) bool {
			if err := o.printDelivery(ctx, d); err != nil {
				end(err)
				return false
			}
			switch {
			case d.Verified:
				verified++
				if verified == o.count {
					end(errEnough)
					return false
				}
			case o.count > 0:
				end(control.NewProblem(control.CodeNotVerified, "delivery of %q does not verify: %s", d.WebhookID, d.Problem))
				return false
			}
			return true
		},
	})
	err = r.Serve(ctx, l)
	end(err)
	if cause := context.Cause(ctx); !errors.Is(cause, errEnough) {
		return cause
	}
	return nil
}

// holdLease keeps the subscription alive and takes a lost stream up again while there is time. It returns why it
// cannot be kept.
func (o *listenOptions) holdLease(ctx context.Context, daemon *control.Client, sub *control.Subscription) error {
	const again = 250 * time.Millisecond
	for lost := (time.Time{}); ; {
		held := time.Now()
		err := daemon.HoldLease(ctx, sub.ID)
		var unreachable *control.UnreachableError
		if !errors.As(err, &unreachable) {
			return err
		}
		now := time.Now()
		if lost.IsZero() || now.Sub(held) > again {
			lost = now
		}
		if now.Sub(lost) >= control.LeaseGrace {
			return err
		}
		timer := time.NewTimer(again)
		select {
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		case <-timer.C:
		}
	}
}

// listenLoopback listens where only this machine can connect.
func listenLoopback(ctx context.Context, addr string) (net.Listener, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, usage("--addr %q is not ADDRESS:PORT", addr)
	}
	if host == "localhost" {
		host = "127.0.0.1"
	}
	ip, err := netip.ParseAddr(host)
	if err != nil || !ip.IsLoopback() {
		return nil, usage("--addr %q: it must be a loopback address, such as 127.0.0.1", addr)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil {
		return nil, usage("--addr %q: the port must be a number from 0 to 65535", addr)
	} else {
		port = strconv.FormatUint(n, 10)
	}
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	return l, nil
}
