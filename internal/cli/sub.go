package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hookd/internal/control"
)

func newSub(c *ctl) *cobra.Command {
	return group("sub", "Subscriptions: make, look at, pause, switch off, delete",
		`  hookctl sub create https://example.com/hooks --type 'order.*'
  hookctl sub list`,
		newSubCreate(c), newSubList(c), newSubShow(c), newSubDelete(c),
		newSubChange(c, control.ActionPause, "Hold the deliveries of a subscription",
			"Holds the deliveries. Events go on being kept; resume sends them. An attempt in flight ends and counts."),
		newSubChange(c, control.ActionResume, "Send again after a pause",
			"Goes on where the subscription stood; its first event is due now. A disabled subscription needs enable."),
		newSubChange(c, control.ActionEnable, "Switch a disabled subscription on again",
			"Goes on where the subscription stood, with the events that came while it was off and with a fresh schedule."),
		newSubChange(c, control.ActionDisable, "Switch a subscription off",
			"Switches the subscription off until enable. Events go on being kept."),
	)
}

// subColumns are the columns of a list of subscriptions.
var subColumns = []column[control.Subscription]{
	textColumn("name", func(s control.Subscription) string { return s.Name }),
	{
		name: "state",
		text: func(s control.Subscription) string { return s.State },
		human: func(s control.Subscription, _ time.Time) string {
			if s.Cause != "" {
				return s.State + " (" + s.Cause + ")"
			}
			return s.State
		},
		tone: func(s control.Subscription) tone { return toneOf(s.State) },
	},
	textColumn("cause", func(s control.Subscription) string { return s.Cause }).only(onlyTSV),
	{
		name: "pending", right: true,
		text: func(s control.Subscription) string { return strconv.FormatInt(s.Pending, 10) },
		human: func(s control.Subscription, _ time.Time) string {
			if !s.PendingExact {
				return "<=" + strconv.FormatInt(s.Pending, 10)
			}
			return strconv.FormatInt(s.Pending, 10)
		},
	},
	textColumn("host", func(s control.Subscription) string { return s.Host }),
	textColumn("types", func(s control.Subscription) string { return strings.Join(s.Types, ",") }),
	{
		name: "blocked", where: onlyTable,
		text: func(s control.Subscription) string {
			if s.Head == nil || s.Head.BlockedSince == nil {
				return ""
			}
			return fmt.Sprintf("seq %d, attempt %d, %s", s.Head.Seq, s.Head.Attempt, s.Head.LastError)
		},
		human: func(s control.Subscription, now time.Time) string { return headText(s.Head, now) },
		tone:  func(control.Subscription) tone { return uneasy },
	},
	headColumn("head_seq", func(h *control.Head) string { return strconv.FormatInt(h.Seq, 10) }),
	headColumn("head_attempt", func(h *control.Head) string { return strconv.Itoa(h.Attempt) }),
	headColumn("head_last_error", func(h *control.Head) string { return h.LastError }),
	headColumn("head_blocked_since", func(h *control.Head) string { return optionalTime(h.BlockedSince) }),
	headColumn("head_next_attempt_at", func(h *control.Head) string { return optionalTime(h.NextAttemptAt) }),
	textColumn("app", func(s control.Subscription) string { return s.App }).only(onlyTSV),
	textColumn("id", func(s control.Subscription) string { return s.ID }).only(onlyTSV),
}

func headColumn(name string, text func(*control.Head) string) column[control.Subscription] {
	return textColumn(name, func(s control.Subscription) string {
		if s.Head == nil {
			return ""
		}
		return text(s.Head)
	}).only(onlyTSV)
}

func optionalTime(t *time.Time) string {
	if t == nil {
		return ""
	}
	return timestamp(*t)
}

type subListOptions struct {
	*ctl
	filter control.Filter
}

func newSubList(c *ctl) *cobra.Command {
	o := &subListOptions{ctl: c}
	cmd := &cobra.Command{
		Use:   "list [flags]",
		Short: "List subscriptions",
		Long:  "Lists subscriptions, newest first, with the event that blocks one, if any.\n" + tsvColumnsHelp(subColumns),
		Example: `  hookctl sub list
  hookctl sub list --state disabled -o json --jq '.[] | [.name, .cause]'`,
		Args: takes(),
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	c.listFlags(cmd, &o.filter, control.SubscriptionParams)
	return cmd
}

func (o *subListOptions) run(ctx context.Context) error {
	if err := checkLimit(o.filter); err != nil {
		return err
	}
	daemon, err := o.daemon()
	if err != nil {
		return err
	}
	page, err := daemon.Subscriptions(ctx, o.filter)
	if err != nil {
		return fmt.Errorf("list subscriptions: %w", err)
	}
	return printList(ctx, o.ctl, page, subColumns, "no subscriptions; hookctl sub create URL makes one")
}

func newSubShow(c *ctl) *cobra.Command {
	return &cobra.Command{
		Use:   "show SUB",
		Short: "Show a subscription with its URL, head and gaps",
		Long:  "Shows everything about a subscription but its secret. " + subRefHelp,
		Example: `  hookctl sub show orders
  hookctl sub show orders -o json --jq .head.last_error`,
		Args:              takes("SUB"),
		ValidArgsFunction: c.completeOneSub,
		RunE: func(cmd *cobra.Command, args []string) error {
			daemon, err := c.daemon()
			if err != nil {
				return err
			}
			s, err := daemon.Subscription(cmd.Context(), args[0])
			if err != nil {
				return fmt.Errorf("show subscription: %w", err)
			}
			return c.printRecord(cmd.Context(), s)
		},
	}
}

// subRefHelp says what stands for a subscription.
const subRefHelp = "SUB is a name (it wins), an id, or 8 or more characters of the id's end."

func newSubChange(c *ctl, action, short, long string) *cobra.Command {
	return &cobra.Command{
		Use:               action + " SUB",
		Short:             short,
		Long:              long + "\n" + subRefHelp + "\n" + tsvColumnsHelp(subColumns),
		Example:           "  hookctl sub " + action + " orders",
		Args:              takes("SUB"),
		ValidArgsFunction: c.completeOneSub,
		RunE: func(cmd *cobra.Command, args []string) error {
			daemon, err := c.daemon()
			if err != nil {
				return err
			}
			s, err := daemon.ChangeSubscription(cmd.Context(), args[0], action)
			if err != nil {
				return fmt.Errorf("%s subscription: %w", action, err)
			}
			return printRow(cmd.Context(), c, *s, subColumns)
		},
	}
}

func newSubDelete(c *ctl) *cobra.Command {
	return &cobra.Command{
		Use:   "delete SUB",
		Short: "Delete a subscription",
		Long: `Deletes a subscription. What is pending for it is not sent any more; its dead letters stay until their time.
Asks first; --yes does not. ` + subRefHelp,
		Example: `  hookctl sub delete orders
  hookctl sub delete orders --yes`,
		Args:              takes("SUB"),
		ValidArgsFunction: c.completeOneSub,
		RunE:              func(cmd *cobra.Command, args []string) error { return c.deleteSub(cmd.Context(), args[0]) },
	}
}

// deletedSub is the answer of sub delete.
type deletedSub struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Deleted bool   `json:"deleted"`
}

func (c *ctl) deleteSub(ctx context.Context, ref string) error {
	daemon, err := c.daemon()
	if err != nil {
		return err
	}
	s, err := daemon.Subscription(ctx, ref)
	if err != nil {
		return fmt.Errorf("delete subscription: %w", err)
	}
	if err := c.confirm(ctx, fmt.Sprintf("delete subscription %s (%s) with %s", s.Name, s.Host, pendingText(s))); err != nil {
		return err
	}
	// By its id: the name may belong to another one by now.
	if err := daemon.DeleteSubscription(ctx, s.ID); err != nil {
		return fmt.Errorf("delete subscription: %w", err)
	}
	return c.printRecord(ctx, deletedSub{ID: s.ID, Name: s.Name, Deleted: true})
}

func pendingText(s *control.Subscription) string {
	text := plural(s.Pending, "pending event", "pending events")
	if !s.PendingExact {
		return "at most " + text
	}
	return text
}
