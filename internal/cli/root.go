package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"hookd/internal/control"
)

const programName = "hookctl"

// pipeFormat is the annotation of a command whose default without a terminal is not tsv.
const pipeFormat = "pipe_format"

func newRoot(c *ctl) *cobra.Command {
	root := &cobra.Command{
		Use:   programName,
		Short: "Manage hookd: subscriptions, secrets, deliveries and dead letters",
		Long: `hookctl manages hookd, which turns an event log into signed webhooks.

It talks to hookd over a unix socket: --socket, else $HOOKD_SOCKET, else $XDG_RUNTIME_DIR/hookd/hookd.sock for a user
and /run/hookd/hookd.sock for root or where only that exists.`,
		Example: `  hookctl sub create https://example.com/hooks --type 'order.*'
  hookctl status
  hookctl sub list -o json --jq '.[].name'`,
		Args:          cobra.ArbitraryArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if format, ok := cmd.Annotations[pipeFormat]; ok {
				return c.prepare(format)
			}
			return c.prepare(formatTSV)
		},
		RunE:              helpOrUnknown,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	root.SetFlagErrorFunc(flagError)
	root.SuggestionsMinimumDistance = 2
	flags := root.PersistentFlags()
	flags.StringVar(&c.socket, "socket", "", "the control socket of hookd")
	choiceFlag(root, &c.output, "output", "o", allFormats,
		"format: "+strings.Join(allFormats, ", ")+" (default table on a terminal, tsv elsewhere)")
	flags.StringVar(&c.jqText, "jq", "", "print what this jq expression makes of the JSON")
	c.color = "auto"
	choiceFlag(root, &c.color, "color", "", []string{"auto", "always", "never"},
		"colour: auto, always, never; auto is colour on a terminal, without NO_COLOR and TERM=dumb")
	flags.BoolVarP(&c.yes, "yes", "y", false, "do not ask before what cannot be taken back")
	mustComplete(root, "jq", cobra.NoFileCompletions)

	root.AddCommand(
		newSub(c), newSecret(c), newEvent(c), newDelivery(c), newDLQ(c), newSource(c), newQuarantine(c),
		newStatus(c), newWait(c), newListen(c), newVersion(c), newCompletion(c), newExitCodes(),
	)
	root.SetHelpCommand(newHelp())
	group := cobra.Group{ID: "things", Title: "Things:"}
	root.AddGroup(&group)
	for _, cmd := range root.Commands() {
		if cmd.HasSubCommands() {
			cmd.GroupID = group.ID
		}
	}
	forSubcommands(root, func(cmd *cobra.Command) {
		if cmd.ValidArgsFunction == nil && len(cmd.ValidArgs) == 0 {
			cmd.ValidArgsFunction = cobra.NoFileCompletions
		}
		cmd.DisableFlagsInUseLine = true
	})
	return root
}

func forSubcommands(cmd *cobra.Command, do func(*cobra.Command)) {
	for _, sub := range cmd.Commands() {
		do(sub)
		forSubcommands(sub, do)
	}
}

// newHelp is cobra's help command with an exit code for a topic that does not exist.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Help about a command or a topic",
		Example: `  hookctl help sub create
  hookctl help exit-codes`,
		// Help is there also for who gave a wrong format.
		PersistentPreRunE: func(*cobra.Command, []string) error { return nil },
		ValidArgsFunction: func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
			found, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var names []string
			for _, sub := range found.Commands() {
				if (sub.IsAvailableCommand() || sub.IsAdditionalHelpTopicCommand()) && strings.HasPrefix(sub.Name(), prefix) {
					names = append(names, sub.Name()+"\t"+sub.Short)
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			found, rest, err := cmd.Root().Find(args)
			switch {
			case err != nil:
				return usage("help: %v", err)
			case len(rest) > 0 && (found.HasSubCommands() || found == cmd.Root()):
				return unknownCommand(found, rest[0])
			}
			found.InitDefaultHelpFlag()
			return found.Help()
		},
	}
}

func newExitCodes() *cobra.Command {
	return &cobra.Command{
		Use:   "exit-codes",
		Short: "What the exit codes mean",
		Long: `What hookctl exits with:

    0  done
    1  failed, for a reason without a code of its own
    2  usage: the command line or a value in it is wrong
    3  hookd is not reachable
    4  not found
    5  a conflict, or refused by a rule; also where a confirmation is missing
    6  timed out
    7  a signature is not valid
    8  there are differences
    9  degraded: hookd runs and something is wrong
  130  interrupted

With -o json an error is also one JSON object on the last line of stderr, with code, message, hint and exit_code.`,
		Example: `  hookctl status > /dev/null; test $? -ne 9 || echo 'look at hookctl status'`,
	}
}

func newVersion(c *ctl) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "The version of hookctl, and of hookd where it runs",
		Long:    "Prints the version of hookctl. Where hookd answers within a second, its version is there too.",
		Example: `  hookctl version -o json --jq .version`,
		Args:    takes(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			answer := struct {
				control.BuildInfo
				Daemon *control.BuildInfo `json:"daemon,omitempty"`
			}{BuildInfo: control.ThisBuild()}
			ctx, cancel := impatient(cmd.Context())
			defer cancel()
			if daemon, err := c.daemon(); err == nil {
				// Without a daemon there is still the version of hookctl.
				answer.Daemon, _ = daemon.Version(ctx)
			}
			return c.printRecord(cmd.Context(), answer)
		},
	}
}
