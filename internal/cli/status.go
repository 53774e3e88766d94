package cli

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hookd/internal/control"
)

func newStatus(c *ctl) *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "One screen of health",
		Long: `Prints how hookd is: what is wrong, the sources with their lag, the log, what is pending, in flight and dead, and the
subscriptions that are disabled or blocked.

Exits 0 where it is healthy and 9 where it is degraded: a source failed or lost, the store refusing or over 90 % of its
bound, a sealed value that does not open, a subscription disabled by the system, a head blocked for over 5 minutes, a
doubtful clock, or --dev.`,
		Example: `  hookctl status
  hookctl status -o json --jq '.problems[].message'`,
		Args: takes(),
		RunE: func(cmd *cobra.Command, _ []string) error { return c.status(cmd.Context()) },
	}
}

func (c *ctl) status(ctx context.Context) error {
	daemon, err := c.daemon()
	if err != nil {
		return err
	}
	s, err := daemon.Status(ctx)
	if err != nil {
		return fmt.Errorf("status: %w", err)
	}
	if c.format == formatTable {
		var buf bytes.Buffer
		c.writeStatus(&buf, s)
		err = c.flush(&buf)
	} else {
		err = c.printRecord(ctx, s)
	}
	if err != nil {
		return err
	}
	if !s.Healthy {
		return control.NewProblem(control.CodeDegraded, "status: hookd is degraded: %s", plural(int64(len(s.Problems)), "problem", "problems"))
	}
	return nil
}

func (c *ctl) writeStatus(buf *bytes.Buffer, s *control.Status) {
	health := c.painter.paint(good, "healthy")
	if !s.Healthy {
		health = c.painter.paint(bad, "degraded")
	}
	fmt.Fprintf(buf, "hookd %s  %s  up %s  %s\n", safe(s.Version), health, span(s.UptimeS.Duration()), safe(s.Socket))
	for _, p := range s.Problems {
		about := ""
		if name := p.Subscription + p.Source; name != "" {
			about = " (" + name + ")"
		}
		fmt.Fprintf(buf, "  %s %s\n", c.painter.paint(bad, safe(p.Code)), safe(p.Message+about))
	}
	buf.WriteByte('\n')
	oldest := ""
	if s.Pending > 0 {
		oldest = ", oldest " + span(s.OldestPendingAgeS.Duration())
	}
	for _, field := range [][2]string{
		{"log", fmt.Sprintf("seq %d to %d", s.Log.FirstSeq, s.Log.LastSeq)},
		{"pending", fmt.Sprintf("%d%s", s.Pending, oldest)},
		{"in flight", fmt.Sprint(s.InFlight)},
		{"dead letters", fmt.Sprint(s.DeadLetters)},
		{"subscriptions", fmt.Sprintf("%d active, %d paused, %d disabled", s.Subscriptions.Active, s.Subscriptions.Paused, s.Subscriptions.Disabled)},
		{"store", size(s.StoreBytes) + ", write-ahead log " + size(s.WALBytes)},
	} {
		fmt.Fprintf(buf, "%s%s%s\n", c.painter.paint(faint, field[0]), strings.Repeat(" ", 15-len(field[0])), field[1])
	}
	writeStatusTable(c, buf, "sources", s.Sources, sourceColumns)
	writeStatusTable(c, buf, "disabled", s.Disabled, disabledColumns)
	writeStatusTable(c, buf, "blocked", s.Blocked, blockedColumns)
}

func writeStatusTable[T any](c *ctl, buf *bytes.Buffer, title string, items []T, columns []column[T]) {
	if len(items) == 0 {
		return
	}
	buf.WriteString("\n" + c.painter.paint(strong, title) + "\n")
	c.writeGrid(buf, "  ", gridOf(c, items, columns))
}

var disabledColumns = []column[control.DisabledSubscription]{
	textColumn("name", func(d control.DisabledSubscription) string { return d.Name }),
	textColumn("cause", func(d control.DisabledSubscription) string { return d.Cause }),
	timeColumn("disabled_at", func(d control.DisabledSubscription) *time.Time { return d.DisabledAt }),
}

var blockedColumns = []column[control.BlockedSubscription]{
	textColumn("name", func(b control.BlockedSubscription) string { return b.Name }),
	numberColumn("seq", func(b control.BlockedSubscription) int64 { return b.Head.Seq }),
	timeColumn("blocked_since", func(b control.BlockedSubscription) *time.Time { return b.Head.BlockedSince }),
	numberColumn("attempt", func(b control.BlockedSubscription) int64 { return int64(b.Head.Attempt) }),
	timeColumn("next_attempt_at", func(b control.BlockedSubscription) *time.Time { return b.Head.NextAttemptAt }),
	textColumn("last_error", func(b control.BlockedSubscription) string { return b.Head.LastError }),
	codeColumn("response_code", func(b control.BlockedSubscription) *int { return b.Head.ResponseCode }),
}
