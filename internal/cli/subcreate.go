package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"hookd/internal/control"
)

type subCreateOptions struct {
	*ctl
	request     control.CreateSubscription
	timeout     time.Duration
	maxFailures int
}

func newSubCreate(c *ctl) *cobra.Command {
	o := &subCreateOptions{ctl: c}
	cmd := &cobra.Command{
		Use:   "create URL [flags]",
		Short: "Make a subscription and show its secret",
		Long: `Makes a subscription: events whose type fits are sent to URL as signed POST requests, one after another.

The answer shows the secret, once: give it to the receiver. A URL must be https and lead to a public address; hookd's
egress settings, or hookd --dev on a laptop, allow others by name.

A type pattern is matched against the event's type; * stands for any characters, dots too, and a pattern that begins
with ! takes away. What is not given follows hookd's configuration, also later.`,
		Example: `  hookctl sub create https://example.com/hooks
  hookctl sub create https://example.com/hooks --name orders --type 'order.*' --type '!order.draft'
  hookctl sub create https://example.com/hooks --name orders --if-not-exists -o json --jq .id`,
		Args: takes("URL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.request.URL = args[0]
			o.request.TimeoutS = secondsFlag(cmd, "timeout", o.timeout)
			if cmd.Flags().Changed("max-failures") {
				o.request.MaxConsecutiveFailures = &o.maxFailures
			}
			return o.run(cmd.Context())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.request.Name, "name", "", "its name: 1 to 64 letters, digits, ., _ and -, beginning with a letter or digit\n(default made from the host)")
	flags.StringArrayVar(&o.request.Types, "type", nil, "pattern of types that it gets, repeatable (default *)")
	flags.StringVar(&o.request.App, "app", "", "the app that owns it (default \"default\")")
	flags.StringVar(&o.request.Retry, "retry", "", "when a failed delivery is tried again, such as tiers:0s,1s,5s,30s,5m,30m,2h\n(default from the configuration)")
	flags.DurationVar(&o.timeout, "timeout", 0, "how long an attempt may take, above 0s (default from the configuration, 15s)")
	flags.IntVar(&o.maxFailures, "max-failures", 0, "failures in a row that switch it off, 0 for never (default from the configuration, 50)")
	flags.StringVar(&o.request.From, "from", "", "where in the log it starts: beginning, end, a seq, or an RFC 3339 time (default end)")
	flags.BoolVar(&o.request.IfNotExists, "if-not-exists", false, "where one of this name exists, show that one, without its secret")
	for _, name := range []string{"name", "type", "app", "retry", "timeout", "max-failures"} {
		mustComplete(cmd, name, cobra.NoFileCompletions)
	}
	mustComplete(cmd, "from", cobra.FixedCompletions([]string{"beginning", "end"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (o *subCreateOptions) run(ctx context.Context) error {
	if o.request.TimeoutS != nil && *o.request.TimeoutS <= 0 {
		return usage("--timeout %s: it must be above 0s", o.timeout)
	}
	if o.maxFailures < 0 {
		return usage("--max-failures %d: it must not be negative", o.maxFailures)
	}
	daemon, err := o.daemon()
	if err != nil {
		return err
	}
	s, err := daemon.CreateSubscription(ctx, o.request)
	if err != nil {
		return fmt.Errorf("create subscription: %w", err)
	}
	if err := o.printRecord(ctx, s); err != nil {
		return err
	}
	for _, warning := range s.Warnings {
		o.say("warning: %s", warning)
	}
	if s.Secret == "" {
		o.say("subscription %s exists already; its secret is not shown again", s.Name)
	} else if o.ErrTTY {
		o.say("the secret is shown only this once")
	}
	return nil
}
