package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"hookd/internal/control"
)

func newSource(c *ctl) *cobra.Command {
	return group("source", "Sources: where events come from", `  hookctl source list`, newSourceList(c))
}

var sourceColumns = []column[control.Source]{
	textColumn("name", func(s control.Source) string { return s.Name }),
	textColumn("kind", func(s control.Source) string { return s.Kind }),
	stateColumn("state", func(s control.Source) string { return s.State }),
	textColumn("reason", func(s control.Source) string { return s.Reason }),
	{name: "where", where: onlyTable, text: where},
	textColumn("path", func(s control.Source) string { return s.Path }).only(onlyTSV),
	textColumn("listen", func(s control.Source) string { return s.Listen }).only(onlyTSV),
	numberColumn("offset", func(s control.Source) int64 { return s.Offset }).only(onlyTSV),
	{
		name: "lag_bytes", right: true,
		text:  func(s control.Source) string { return fmt.Sprint(s.LagBytes) },
		human: func(s control.Source, _ time.Time) string { return size(s.LagBytes) },
	},
	numberColumn("accepted", func(s control.Source) int64 { return s.Accepted }),
	numberColumn("duplicates", func(s control.Source) int64 { return s.Duplicates }),
	numberColumn("rejected", func(s control.Source) int64 { return s.Rejected }),
}

// where is a source's place, unless its name says it.
func where(s control.Source) string {
	for _, place := range []string{s.Path, s.Listen} {
		if place != "" && place != s.Name {
			return place
		}
	}
	return ""
}

func newSourceList(c *ctl) *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List sources",
		Long:    "Lists the sources, how far each is read and what came of its lines.\n" + tsvColumnsHelp(sourceColumns),
		Example: `  hookctl source list`,
		Args:    takes(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			daemon, err := c.daemon()
			if err != nil {
				return err
			}
			page, err := daemon.Sources(cmd.Context())
			if err != nil {
				return fmt.Errorf("list sources: %w", err)
			}
			return printList(cmd.Context(), c, page, sourceColumns, "no sources")
		},
	}
}

func newQuarantine(c *ctl) *cobra.Command {
	return group("quarantine", "Quarantine: input lines that could not become events",
		`  hookctl quarantine list
  hookctl quarantine show 3`,
		newQuarantineList(c), newQuarantineShow(c),
	)
}

var quarantineColumns = []column[control.QuarantineEntry]{
	numberColumn("id", func(q control.QuarantineEntry) int64 { return q.ID }),
	textColumn("source", func(q control.QuarantineEntry) string { return q.Source }),
	textColumn("reason", func(q control.QuarantineEntry) string { return q.Reason }),
	numberColumn("offset", func(q control.QuarantineEntry) int64 { return q.Offset }),
	numberColumn("length", func(q control.QuarantineEntry) int64 { return q.Length }),
	timeColumn("at", func(q control.QuarantineEntry) *time.Time { return &q.At }),
	textColumn("message", func(q control.QuarantineEntry) string { return q.Message }),
}

type quarantineListOptions struct {
	*ctl
	filter control.Filter
}

func newQuarantineList(c *ctl) *cobra.Command {
	o := &quarantineListOptions{ctl: c}
	cmd := &cobra.Command{
		Use:     "list [flags]",
		Short:   "List quarantined lines",
		Long:    "Lists quarantined lines, newest first, with where they stood and why.\n" + tsvColumnsHelp(quarantineColumns),
		Example: `  hookctl quarantine list --since 1h`,
		Args:    takes(),
		RunE:    func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	c.listFlags(cmd, &o.filter, control.QuarantineParams)
	return cmd
}

func (o *quarantineListOptions) run(ctx context.Context) error {
	if err := checkLimit(o.filter); err != nil {
		return err
	}
	daemon, err := o.daemon()
	if err != nil {
		return err
	}
	page, err := daemon.Quarantine(ctx, o.filter)
	if err != nil {
		return fmt.Errorf("list quarantine: %w", err)
	}
	return printList(ctx, o.ctl, page, quarantineColumns, "nothing is in quarantine")
}

func newQuarantineShow(c *ctl) *cobra.Command {
	return &cobra.Command{
		Use:     "show ID",
		Short:   "Show a quarantined line",
		Long:    "Shows a quarantined line, or its beginning where it was too long to keep.",
		Example: `  hookctl quarantine show 3 -o json --jq .line`,
		Args:    takes("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := parseID(args[0])
			if err != nil {
				return err
			}
			daemon, err := c.daemon()
			if err != nil {
				return err
			}
			q, err := daemon.QuarantineEntry(cmd.Context(), id)
			if err != nil {
				return fmt.Errorf("show quarantined line: %w", err)
			}
			return c.printRecord(cmd.Context(), q)
		},
	}
}
