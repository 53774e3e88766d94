package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"hookd/internal/control"
)

type dlqReplayOptions struct {
	*ctl
	ids   []int64
	sub   string
	since time.Time
	all   bool
}

func newDLQReplay(c *ctl) *cobra.Command {
	o := &dlqReplayOptions{ctl: c}
	cmd := &cobra.Command{
		Use:   "replay ID... | --sub SUB | --since TIME | --all",
		Short: "Send dead letters again",
		Long: `Sends dead letters again, with the same webhook-id and today's URL, headers and secrets, beside the live events.
The command does not wait for the outcome: hookctl dlq list and hookctl wait --idle tell it.

--sub, --since and --all take only those that were not replayed with success since; --sub and --since may be given
together. A dead letter whose replay is pending is left alone. More than one asks first; --yes does not.`,
		Example: `  hookctl dlq replay 7
  hookctl dlq replay --sub orders --since 24h --yes`,
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, arg := range args {
				id, err := parseID(arg)
				if err != nil {
					return err
				}
				o.ids = append(o.ids, id)
			}
			return o.run(cmd.Context())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.sub, "sub", "", "those of this subscription")
	flags.Var(moment{&o.since, c.Now}, "since", "those that died at this time or later, RFC 3339 or a duration ago such as 2h")
	flags.BoolVar(&o.all, "all", false, "all of them")
	mustComplete(cmd, "sub", c.completeSubs)
	mustComplete(cmd, "since", cobra.NoFileCompletions)
	return cmd
}

func (o *dlqReplayOptions) run(ctx context.Context) error {
	selected := o.sub != "" || !o.since.IsZero()
	switch ways := count(len(o.ids) > 0, selected, o.all); {
	case ways == 0:
		return usage("dlq replay: say which: ids, --sub, --since or --all")
	case ways > 1:
		return usage("dlq replay: ids, --all, and --sub with --since cannot be combined")
	}
	daemon, err := o.daemon()
	if err != nil {
		return err
	}
	if err := o.ask(ctx, daemon); err != nil {
		return err
	}
	request := control.ReplayDeadLetters{IDs: o.ids, Sub: o.sub, All: o.all}
	if !o.since.IsZero() {
		request.Since = &o.since
	}
	answer, err := daemon.ReplayDeadLetters(ctx, request)
	if err != nil {
		return fmt.Errorf("replay dead letters: %w", err)
	}
	if err := o.printRecord(ctx, answer); err != nil {
		return err
	}
	if o.format == formatTable {
		return nil // the table has them
	}
	for _, s := range answer.Skipped {
		o.say("dead letter %d is not replayed: %s", s.ID, s.Reason)
	}
	return nil
}

// ask asks for a confirmation where more than one would be replayed.
func (o *dlqReplayOptions) ask(ctx context.Context, daemon *control.Client) error {
	if o.yes {
		return nil
	}
	if len(o.ids) > 0 {
		if len(o.ids) == 1 {
			return nil
		}
		return o.confirm(ctx, fmt.Sprintf("replay %d dead letters", len(o.ids)))
	}
	n, more, err := o.countOpen(ctx, daemon)
	switch {
	case err != nil:
		return fmt.Errorf("replay dead letters: %w", err)
	case n <= 1:
		return nil
	case more:
		return o.confirm(ctx, fmt.Sprintf("replay more than %d dead letters", n))
	}
	return o.confirm(ctx, fmt.Sprintf("replay %d dead letters", n))
}

// mostCounted is where counting for a question ends.
const mostCounted = 10 * control.MaxLimit

// countOpen counts the dead letters that the selection would take, up to a bound.
func (o *dlqReplayOptions) countOpen(ctx context.Context, daemon *control.Client) (n int, more bool, err error) {
	f := control.Filter{Sub: o.sub, Since: o.since, Limit: control.MaxLimit}
	for looked := 0; ; {
		page, err := daemon.DeadLetters(ctx, f)
		if err != nil {
			return 0, false, err
		}
		for _, d := range page.Items {
			if d.ReplayStatus != control.StatusSucceeded && d.ReplayStatus != control.StatusPending {
				n++
			}
		}
		looked += len(page.Items)
		if page.Next == "" || looked >= mostCounted {
			return n, page.Next != "", nil
		}
		f.After = page.Next
	}
}

func count(conditions ...bool) int {
	n := 0
	for _, c := range conditions {
		if c {
			n++
		}
	}
	return n
}
