package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hookd/internal/control"
)

// choice is a flag with a closed list of values.
type choice struct {
	value   *string
	allowed []string
}

// String, Set and Type make a choice a flag's value.
func (f choice) String() string { return *f.value }

// Set takes a value of the list.
func (f choice) Set(text string) error {
	if !slices.Contains(f.allowed, text) {
		return fmt.Errorf("it must be one of %s", strings.Join(f.allowed, ", "))
	}
	*f.value = text
	return nil
}

// Type is the word in the help.
func (f choice) Type() string { return "WORD" }

// moment is a flag for a time: RFC 3339, or a duration before now.
type moment struct {
	value *time.Time
	now   func() time.Time
}

// String, Set and Type make a moment a flag's value.
func (f moment) String() string {
	if f.value.IsZero() {
		return ""
	}
	return timestamp(*f.value)
}

// Set reads the time.
func (f moment) Set(text string) error {
	if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
		*f.value = t.UTC()
		return nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return fmt.Errorf("it must be an RFC 3339 time or a duration such as 90m")
	}
	*f.value = f.now().Add(-d).UTC()
	return nil
}

// Type is the word in the help.
func (f moment) Type() string { return "TIME" }

// choiceFlag declares a flag with a closed list of values, with completion.
func choiceFlag(cmd *cobra.Command, value *string, name, short string, allowed []string, help string) {
	flags := cmd.Flags()
	if !cmd.HasParent() && cmd.Name() == programName {
		flags = cmd.PersistentFlags()
	}
	flags.VarP(choice{value, allowed}, name, short, help)
	mustComplete(cmd, name, cobra.FixedCompletions(allowed, cobra.ShellCompDirectiveNoFileComp))
}

// mustComplete registers a flag's completion. It fails only for a flag that was not declared.
func mustComplete(cmd *cobra.Command, name string, f cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(name, f); err != nil {
		panic(err)
	}
}

// listFlags declares the flags of a list, those in params.
func (c *ctl) listFlags(cmd *cobra.Command, f *control.Filter, params []string) {
	flags := cmd.Flags()
	for _, name := range params {
		switch name {
		case "sub":
			flags.StringVar(&f.Sub, name, "", "only of this subscription")
			mustComplete(cmd, name, c.completeSubs)
		case "app":
			flags.StringVar(&f.App, name, "", "only of this app")
		case "type":
			flags.StringVar(&f.Type, name, "", "only types that fit this pattern, such as order.*")
		case "event":
			flags.StringVar(&f.Event, name, "", "only of this event, by its seq or id")
		case "source":
			flags.StringVar(&f.Source, name, "", "only from this source")
		case "since":
			flags.Var(moment{&f.Since, c.Now}, name, "only from this time on, RFC 3339 or a duration ago such as 2h")
		case "until":
			flags.Var(moment{&f.Until, c.Now}, name, "only before this time, RFC 3339 or a duration ago such as 2h")
		case "limit":
			flags.IntVar(&f.Limit, name, control.DefaultLimit, fmt.Sprintf("at most so many, newest first (1 to %d)", control.MaxLimit))
		case "after":
			flags.StringVar(&f.After, name, "", "go on after this cursor, which the page before named")
		case "status":
			choiceFlag(cmd, &f.Status, name, "", deliveryStatuses, "only with this status: "+strings.Join(deliveryStatuses, ", "))
		case "state":
			choiceFlag(cmd, &f.State, name, "", subscriptionStates, "only in this state: "+strings.Join(subscriptionStates, ", "))
		}
	}
}

var (
	deliveryStatuses   = []string{control.StatusPending, control.StatusSucceeded, control.StatusFailed, control.StatusDead}
	subscriptionStates = []string{control.StateActive, control.StatePaused, control.StateDisabled}
)

// checkLimit keeps a limit that nobody would take from being sent.
func checkLimit(f control.Filter) error {
	if f.Limit < 1 || f.Limit > control.MaxLimit {
		return usage("--limit %d: it must be from 1 to %d", f.Limit, control.MaxLimit)
	}
	return nil
}

// checkDuration refuses a duration below zero.
func checkDuration(flag string, d time.Duration) error {
	if d < 0 {
		return usage("--%s %s: it must not be negative", flag, d)
	}
	return nil
}

// secondsFlag is the value of a duration flag where it was given, else nil: then the daemon's configuration holds.
func secondsFlag(cmd *cobra.Command, name string, d time.Duration) *control.Seconds {
	if !cmd.Flags().Changed(name) {
		return nil
	}
	s := control.SecondsOf(d)
	return &s
}
