package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"hookd/internal/control"
)

func newDLQ(c *ctl) *cobra.Command {
	return group("dlq", "Dead letters: deliveries that were given up",
		`  hookctl dlq list --sub orders
  hookctl dlq replay 7`,
		newDLQList(c), newDLQShow(c), newDLQReplay(c),
	)
}

var deadLetterColumns = []column[control.DeadLetter]{
	numberColumn("id", func(d control.DeadLetter) int64 { return d.ID }),
	textColumn("subscription", func(d control.DeadLetter) string { return d.Subscription }),
	numberColumn("seq", func(d control.DeadLetter) int64 { return d.Seq }),
	textColumn("type", func(d control.DeadLetter) string { return d.Type }),
	textColumn("event_id", func(d control.DeadLetter) string { return d.EventID }).only(onlyTSV),
	numberColumn("attempts", func(d control.DeadLetter) int64 { return int64(d.Attempts) }),
	codeColumn("last_status", func(d control.DeadLetter) *int { return d.LastStatus }),
	textColumn("last_error", func(d control.DeadLetter) string { return d.LastError }),
	timeColumn("dead_at", func(d control.DeadLetter) *time.Time { return &d.DeadAt }),
	timeColumn("replayed_at", func(d control.DeadLetter) *time.Time { return d.ReplayedAt }).only(onlyTSV),
	{
		name: "replay_status",
		text: func(d control.DeadLetter) string { return d.ReplayStatus },
		tone: func(d control.DeadLetter) tone { return toneOf(d.ReplayStatus) },
	},
	textColumn("app", func(d control.DeadLetter) string { return d.App }).only(onlyTSV),
}

type dlqListOptions struct {
	*ctl
	filter control.Filter
}

func newDLQList(c *ctl) *cobra.Command {
	o := &dlqListOptions{ctl: c}
	cmd := &cobra.Command{
		Use:   "list [flags]",
		Short: "List dead letters",
		Long:  "Lists dead letters, newest first.\n" + tsvColumnsHelp(deadLetterColumns),
		Example: `  hookctl dlq list --sub orders --since 24h
  hookctl dlq list -o json --jq '.[] | select(.replay_status != "succeeded") | .id'`,
		Args: takes(),
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	c.listFlags(cmd, &o.filter, control.DeadLetterParams)
	return cmd
}

func (o *dlqListOptions) run(ctx context.Context) error {
	if err := checkLimit(o.filter); err != nil {
		return err
	}
	daemon, err := o.daemon()
	if err != nil {
		return err
	}
	page, err := daemon.DeadLetters(ctx, o.filter)
	if err != nil {
		return fmt.Errorf("list dead letters: %w", err)
	}
	return printList(ctx, o.ctl, page, deadLetterColumns, "no dead letters")
}

func newDLQShow(c *ctl) *cobra.Command {
	return &cobra.Command{
		Use:   "show ID",
		Short: "Show a dead letter with its payload",
		Long:  "Shows a dead letter with the line as it came.",
		Example: `  hookctl dlq show 7
  hookctl dlq show 7 -o json --jq .payload`,
		Args: takes("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := parseID(args[0])
			if err != nil {
				return err
			}
			daemon, err := c.daemon()
			if err != nil {
				return err
			}
			d, err := daemon.DeadLetter(cmd.Context(), id)
			if err != nil {
				return fmt.Errorf("show dead letter: %w", err)
			}
			return c.printRecord(cmd.Context(), d)
		},
	}
}
