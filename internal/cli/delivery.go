package cli

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"hookd/internal/control"
)

func newDelivery(c *ctl) *cobra.Command {
	return group("delivery", "Deliveries: what became of an event for a subscription",
		`  hookctl delivery list --sub orders --status dead
  hookctl delivery show orders/42`,
		newDeliveryList(c), newDeliveryShow(c),
	)
}

var deliveryColumns = []column[control.Delivery]{
	textColumn("id", func(d control.Delivery) string { return d.ID }),
	stateColumn("status", func(d control.Delivery) string { return d.Status }),
	numberColumn("attempts", func(d control.Delivery) int64 { return int64(d.Attempts) }),
	codeColumn("response_code", func(d control.Delivery) *int { return d.ResponseCode }),
	textColumn("last_error", func(d control.Delivery) string { return d.LastError }),
	textColumn("type", func(d control.Delivery) string { return d.Type }),
	textColumn("event_id", func(d control.Delivery) string { return d.EventID }).only(onlyTSV),
	timeColumn("first_attempt_at", func(d control.Delivery) *time.Time { return d.FirstAttemptAt }).only(onlyTSV),
	timeColumn("finished_at", func(d control.Delivery) *time.Time { return d.FinishedAt }),
	timeColumn("next_attempt_at", func(d control.Delivery) *time.Time { return d.NextAttemptAt }),
	{name: "duration_ms", where: onlyTSV, text: func(d control.Delivery) string {
		if d.DurationMS == nil {
			return ""
		}
		return strconv.FormatInt(*d.DurationMS, 10)
	}},
}

type deliveryListOptions struct {
	*ctl
	filter control.Filter
}

func newDeliveryList(c *ctl) *cobra.Command {
	o := &deliveryListOptions{ctl: c}
	cmd := &cobra.Command{
		Use:   "list [flags]",
		Short: "List deliveries",
		Long:  "Lists deliveries, newest first.\n" + tsvColumnsHelp(deliveryColumns),
		Example: `  hookctl delivery list --sub orders --status dead
  hookctl delivery list --event evt-7`,
		Args: takes(),
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	c.listFlags(cmd, &o.filter, control.DeliveryParams)
	return cmd
}

func (o *deliveryListOptions) run(ctx context.Context) error {
	if err := checkLimit(o.filter); err != nil {
		return err
	}
	daemon, err := o.daemon()
	if err != nil {
		return err
	}
	page, err := daemon.Deliveries(ctx, o.filter)
	if err != nil {
		return fmt.Errorf("list deliveries: %w", err)
	}
	return printList(ctx, o.ctl, page, deliveryColumns, "no deliveries")
}

func newDeliveryShow(c *ctl) *cobra.Command {
	return &cobra.Command{
		Use:   "show SUB/SEQ",
		Short: "Show a delivery with its last attempts",
		Long:  "Shows the delivery of the event SEQ to a subscription, with its last 20 attempts. " + subRefHelp,
		Example: `  hookctl delivery show orders/42
  hookctl delivery show orders/42 -o json --jq '.history[-1]'`,
		Args: takes("SUB/SEQ"),
		RunE: func(cmd *cobra.Command, args []string) error {
			sub, seq, err := parseDelivery(args[0])
			if err != nil {
				return err
			}
			daemon, err := c.daemon()
			if err != nil {
				return err
			}
			d, err := daemon.Delivery(cmd.Context(), sub, seq)
			if err != nil {
				return fmt.Errorf("show delivery: %w", err)
			}
			return c.printRecord(cmd.Context(), d)
		},
	}
}
