package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"hookd/internal/control"
)

func newEvent(c *ctl) *cobra.Command {
	return group("event", "Events: look at the log",
		`  hookctl event list --type 'order.*' --since 1h
  hookctl event show 42`,
		newEventList(c), newEventShow(c),
	)
}

var eventColumns = []column[control.Event]{
	numberColumn("seq", func(e control.Event) int64 { return e.Seq }),
	textColumn("type", func(e control.Event) string { return e.Type }),
	textColumn("id", func(e control.Event) string { return e.ID }),
	textColumn("app", func(e control.Event) string { return e.App }).only(onlyTSV),
	textColumn("key", func(e control.Event) string { return e.Key }).only(onlyTSV),
	textColumn("source", func(e control.Event) string { return e.Source }),
	timeColumn("timestamp", func(e control.Event) *time.Time { return &e.Timestamp }).only(onlyTSV),
	timeColumn("received_at", func(e control.Event) *time.Time { return &e.ReceivedAt }),
}

type eventListOptions struct {
	*ctl
	filter control.Filter
}

func newEventList(c *ctl) *cobra.Command {
	o := &eventListOptions{ctl: c}
	cmd := &cobra.Command{
		Use:   "list [flags]",
		Short: "List events",
		Long:  "Lists the events of the log, newest first.\n" + tsvColumnsHelp(eventColumns),
		Example: `  hookctl event list --limit 10
  hookctl event list --type 'order.*' --since 2h -o jsonl`,
		Args: takes(),
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	c.listFlags(cmd, &o.filter, control.EventParams)
	return cmd
}

func (o *eventListOptions) run(ctx context.Context) error {
	if err := checkLimit(o.filter); err != nil {
		return err
	}
	daemon, err := o.daemon()
	if err != nil {
		return err
	}
	page, err := daemon.Events(ctx, o.filter)
	if err != nil {
		return fmt.Errorf("list events: %w", err)
	}
	return printList(ctx, o.ctl, page, eventColumns, "no events")
}

func newEventShow(c *ctl) *cobra.Command {
	return &cobra.Command{
		Use:   "show SEQ|ID",
		Short: "Show an event with its body and its deliveries",
		Long: `Shows an event, the body that is delivered and how each subscription stands with it.
Digits are a seq, anything else is an id; id:X is the id X whatever it looks like.`,
		Example: `  hookctl event show 42
  hookctl event show id:42
  hookctl event show evt-7 -o json --jq .body.data`,
		Args: takes("SEQ|ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			daemon, err := c.daemon()
			if err != nil {
				return err
			}
			e, err := daemon.Event(cmd.Context(), args[0])
			if err != nil {
				return fmt.Errorf("show event: %w", err)
			}
			return c.printRecord(cmd.Context(), e)
		},
	}
}
