package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"hookd/internal/control"
	"hookd/internal/daemon"
)

// program is what every command has: the streams, and whether a command has begun its work.
type program struct {
	out, err io.Writer
	began    bool
}

// run runs hookd with the arguments after the program's name and returns its exit code.
func run(ctx context.Context, args []string, out, errs io.Writer) int {
	p := &program{out: out, err: errs}
	root := p.root()
	root.SetOut(out)
	root.SetErr(errs)
	// cobra takes a nil list for "the process's own arguments".
	root.SetArgs(append([]string{}, args...))
	err := root.ExecuteContext(ctx)
	if err != nil && !p.began {
		err = &usageError{err}
	}
	return report(errs, err)
}

func (p *program) root() *cobra.Command {
	root := p.runCommand()
	root.Use = "hookd"
	root.Short = "Deliver the events of logs as signed webhooks"
	root.Long = `hookd follows log files of events and delivers every event, in order and signed, to the subscriptions it matches.
Without a command it is hookd run.`
	root.Example = `  hookd --dev --source file:events.ndjson
  hookd init && hookd run`
	root.SilenceErrors, root.SilenceUsage = true, true
	root.CompletionOptions.DisableDefaultCmd = true
	root.PersistentPreRun = func(*cobra.Command, []string) { p.began = true }
	root.Args = nil // cobra's own rule suggests commands
	root.AddCommand(p.runCommand(), p.initCommand(), p.versionCommand())
	return root
}

func (p *program) runCommand() *cobra.Command {
	var f daemon.Flags
	cmd := &cobra.Command{
		Use:   "run [flags]",
		Short: "Run the daemon in the foreground",
		Long: `Runs the daemon in the foreground until SIGINT or SIGTERM. The first one lets deliveries in flight end, the second
one ends hookd at once.

Exits 0 when it was stopped, 1 when it failed, 2 when the command line or the configuration is wrong, 5 when it was
refused: another hookd holds the data directory or the socket, or the master key is not the database's.`,
		Example: `  hookd run --config /etc/hookd/hookd.toml
  hookd run --dev --source file:events.ndjson --ready-file ready.json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.Keys = given(cmd)
			options, err := daemon.Configure(f, p.err)
			if err != nil {
				return err
			}
			return daemon.Run(cmd.Context(), options)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.Config, "config", "", "configuration file (default $HOOKD_CONFIG, the user's, /etc/hookd/hookd.toml)")
	flags.StringArrayVar(&f.Sources, "source", nil, "source KIND:WHERE, such as file:events.ndjson; repeatable, instead of the file's")
	flags.BoolVar(&f.Dev, "dev", false, "allow http and loopback targets; without --data-dir a temporary data directory")
	flags.StringVar(&f.ReadyFile, "ready-file", "", "file that is written when events and commands are taken, removed at the end")
	keyFlags(cmd, "data_dir", "control.socket", "log.level", "log.format")
	return cmd
}

func (p *program) initCommand() *cobra.Command {
	var f daemon.Flags
	cmd := &cobra.Command{
		Use:   "init [flags]",
		Short: "Make the configuration, the data directory and the master key",
		Long: `Makes a commented configuration file (at --config, else at the user's place or, for root, /etc/hookd/hookd.toml), the
data directory and the master key. What is there already is not touched.`,
		Example: `  hookd init
  hookd init --config ./hookd.toml --data-dir ./data`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.Keys = given(cmd)
			steps, err := daemon.Init(f)
			for _, s := range steps {
				verb := "kept"
				if s.Made {
					verb = "made"
				}
				fmt.Fprintf(p.out, "%s %s %s\n", verb, s.What, printable(s.Path))
			}
			return err
		},
	}
	cmd.Flags().StringVar(&f.Config, "config", "", "the file to make (default $HOOKD_CONFIG, the user's, or root's /etc/hookd/hookd.toml)")
	keyFlags(cmd, "data_dir", "control.socket")
	return cmd
}

func (p *program) versionCommand() *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:     "version [-o json]",
		Short:   "Show the version",
		Long:    "Shows the version of hookd, the commit it was built from, and the versions of Go and SQLite in it.",
		Example: "  hookd version",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			b := daemon.Build()
			switch format {
			case "json":
				encoder := json.NewEncoder(p.out)
				encoder.SetIndent("", "  ")
				return encoder.Encode(b)
			case "text":
				_, err := fmt.Fprint(p.out, versionText(b))
				return err
			}
			return &usageError{fmt.Errorf("-o %q: the formats are text and json", format)}
		},
	}
	cmd.Flags().StringVarP(&format, "output", "o", "text", "text or json")
	return cmd
}

func versionText(b control.BuildInfo) string {
	text := "hookd " + b.Version
	if b.Commit != "" {
		text += " (" + b.Commit + ")"
	}
	return text + "\n" + b.Go + "\nSQLite " + b.SQLite + "\n"
}
