package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"hookd/internal/control"
)

func newSecret(c *ctl) *cobra.Command {
	return group("secret", "Secrets: give a subscription a new one",
		`  hookctl secret rotate orders --overlap 48h`,
		newSecretRotate(c),
	)
}

type secretRotateOptions struct {
	*ctl
	overlap, ifOlder time.Duration
	request          control.RotateSecret
}

func newSecretRotate(c *ctl) *cobra.Command {
	o := &secretRotateOptions{ctl: c}
	cmd := &cobra.Command{
		Use:   "rotate SUB [flags]",
		Short: "Make a new secret and show it",
		Long: `Makes a new secret and shows it, once. Until the overlap ends, both secrets sign; then only the new one does.
There are never more than two: a rotation within an overlap ends the oldest at once and says so.

--overlap 0s cuts the old secret off at once, for one that leaked; it asks first.
` + subRefHelp,
		Example: `  hookctl secret rotate orders
  hookctl secret rotate orders --overlap 0s --yes
  hookctl secret rotate orders --if-older-than 720h -o json --jq .rotated`,
		Args:              takes("SUB"),
		ValidArgsFunction: c.completeOneSub,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.request.OverlapS = secondsFlag(cmd, "overlap", o.overlap)
			o.request.IfOlderThanS = secondsFlag(cmd, "if-older-than", o.ifOlder)
			return o.run(cmd.Context(), args[0])
		},
	}
	flags := cmd.Flags()
	flags.DurationVar(&o.overlap, "overlap", 0, "how long the old secret signs beside the new one, 0s for not at all\n(default from the configuration, 24h)")
	flags.DurationVar(&o.ifOlder, "if-older-than", 0, "do nothing where the newest secret is younger")
	for _, name := range []string{"overlap", "if-older-than"} {
		mustComplete(cmd, name, cobra.NoFileCompletions)
	}
	return cmd
}

func (o *secretRotateOptions) run(ctx context.Context, ref string) error {
	if err := checkDuration("overlap", o.overlap); err != nil {
		return err
	}
	if err := checkDuration("if-older-than", o.ifOlder); err != nil {
		return err
	}
	if o.request.OverlapS != nil && *o.request.OverlapS == 0 {
		if err := o.confirm(ctx, fmt.Sprintf("cut off the present secret of %s at once", ref)); err != nil {
			return err
		}
	}
	daemon, err := o.daemon()
	if err != nil {
		return err
	}
	r, err := daemon.RotateSecret(ctx, ref, o.request)
	if err != nil {
		return fmt.Errorf("rotate secret: %w", err)
	}
	if err := o.printRecord(ctx, r); err != nil {
		return err
	}
	switch {
	case !r.Rotated:
		o.say("the secret of %s is younger than %s and was not rotated", r.Subscription, o.ifOlder)
	case r.EndedEarly:
		o.say("an overlap was running: its oldest secret was cut off at once")
	}
	return nil
}
