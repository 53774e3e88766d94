package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"hookd/internal/control"
)

type waitOptions struct {
	*ctl
	request control.WaitRequest
	timeout time.Duration
}

// forever as a timeout of wait.
const forever time.Duration = -1

func newWait(c *ctl) *cobra.Command {
	o := &waitOptions{ctl: c}
	cmd := &cobra.Command{
		Use:   "wait --idle | --delivered SEQ|ID | --state STATE",
		Short: "Wait until something is done",
		Long: `Waits until something is done, so that no script needs sleep. Exits 0 then, and 6 when the time is up before.

--idle waits until every file source is read to the end that it has now, and then nothing is pending. It says nothing of
success: what was given up is not pending; see hookctl dlq list.
--delivered waits until an event is delivered; one that is not known yet is waited for, and so is a replay of one that
was given up. Give a --timeout where that may never come.
--state waits until a subscription has that state.

With --sub it is about one subscription, without it about all.`,
		Example: `  hookctl wait --idle --timeout 30s
  hookctl wait --sub orders --delivered evt-7 --timeout 1m
  hookctl wait --sub orders --state disabled`,
		Args: takes(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !cmd.Flags().Changed("timeout") {
				o.timeout = forever
			} else if err := checkDuration("timeout", o.timeout); err != nil {
				return err
			}
			return o.run(cmd.Context())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.request.Sub, "sub", "", "only of this subscription (default all)")
	flags.BoolVar(&o.request.Idle, "idle", false, "until everything is read and nothing is pending")
	flags.StringVar(&o.request.Delivered, "delivered", "", "until this event is delivered, by its seq or id")
	choiceFlag(cmd, &o.request.State, "state", "", subscriptionStates, "until the subscription is active, paused or disabled")
	flags.DurationVar(&o.timeout, "timeout", 0, "how long to wait, 0s to look once (default without end)")
	mustComplete(cmd, "sub", c.completeSubs)
	for _, name := range []string{"delivered", "timeout"} {
		mustComplete(cmd, name, cobra.NoFileCompletions)
	}
	return cmd
}

func (o *waitOptions) run(ctx context.Context) error {
	if count(o.request.Idle, o.request.Delivered != "", o.request.State != "") != 1 {
		return usage("wait: give one of --idle, --delivered and --state")
	}
	daemon, err := o.daemon()
	if err != nil {
		return err
	}
	answer, err := daemon.Wait(ctx, o.request, o.timeout)
	if err != nil {
		return fmt.Errorf("wait: %w", err)
	}
	if !answer.Done {
		return control.NewProblem(control.CodeTimedOut, "wait: time is up after %s: %s", o.timeout, answer.Detail)
	}
	if o.isData() {
		return o.printRecord(ctx, answer)
	}
	// For a person and in a pipe the exit code is the result.
	if o.ErrTTY && answer.Detail != "" {
		o.say("%s", answer.Detail)
	}
	return nil
}
