package cli

import (
	"errors"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hookd/internal/control"
)

// takes makes a check that a command has exactly the arguments of these names.
func takes(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < len(names) {
			return usage("%s: %s is missing", cmd.CommandPath(), names[len(args)]).WithHint("usage: %s", cmd.UseLine())
		}
		if len(args) > len(names) {
			return usage("%s: argument %q is too many", cmd.CommandPath(), args[len(names)]).WithHint("usage: %s", cmd.UseLine())
		}
		return nil
	}
}

// group makes a command that only holds others.
func group(name, short, example string, commands ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use:     name,
		Short:   short,
		Example: example,
		Args:    cobra.ArbitraryArgs,
		RunE:    helpOrUnknown,

		SuggestionsMinimumDistance: 2,
	}
	cmd.AddCommand(commands...)
	return cmd
}

// helpOrUnknown is what a command does that only holds others.
func helpOrUnknown(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cmd.Help()
	}
	return unknownCommand(cmd, args[0])
}

func unknownCommand(cmd *cobra.Command, name string) error {
	problem := usage("%s: unknown command %q", cmd.CommandPath(), name)
	if near := cmd.SuggestionsFor(name); len(near) > 0 {
		return problem.WithHint("did you mean %s?", strings.Join(near, " or "))
	}
	return problem.WithHint("%s --help lists the commands", cmd.CommandPath())
}

// flagError turns an error of the flag parser into a usage error, with a suggestion for a mistyped name.
func flagError(cmd *cobra.Command, err error) error {
	// "hookctl sub lst --limit 5": the mistake is the command, not the flag that the group does not know.
	if args := cmd.Flags().Args(); cmd.HasSubCommands() && len(args) > 0 {
		return unknownCommand(cmd, args[0])
	}
	problem := usage("%s: %v", cmd.CommandPath(), err)
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) {
		if near := nearestFlag(cmd, unknown.GetSpecifiedName()); near != "" {
			return problem.WithHint("did you mean --%s?", near)
		}
	}
	return problem.WithHint("%s --help lists the flags", cmd.CommandPath())
}

func nearestFlag(cmd *cobra.Command, name string) string {
	best, bestDistance := "", 3 // two typing mistakes at most
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		d := distance(name, f.Name)
		if len(name) > 2 && strings.HasPrefix(f.Name, name) {
			d = min(d, 1)
		}
		if !f.Hidden && d < bestDistance && d < len(f.Name) {
			best, bestDistance = f.Name, d
		}
	})
	return best
}

// distance is how many letters must be put in, taken out or changed to make b of a (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// parseID reads the number of a dead letter or of a quarantined line.
func parseID(text string) (int64, error) {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id < 1 {
		return 0, usage("id %q is not a number from 1 on", text)
	}
	return id, nil
}

// parseDelivery splits SUBSCRIPTION/SEQ.
func parseDelivery(text string) (sub string, seq int64, err error) {
	i := strings.LastIndexByte(text, '/')
	if i < 1 {
		return "", 0, usage("delivery %q is not SUBSCRIPTION/SEQ", text)
	}
	seq, convErr := strconv.ParseInt(text[i+1:], 10, 64)
	if convErr != nil || seq < 1 {
		return "", 0, usage("delivery %q: %q is not a seq", text, text[i+1:])
	}
	return text[:i], seq, nil
}

// isNotFound says whether the daemon does not know what was named.
func isNotFound(err error) bool {
	var p *control.Problem
	return errors.As(err, &p) && p.Code == control.CodeNotFound
}
