package cli

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hookd/internal/control"
)

var shells = []string{"bash", "zsh", "fish", "powershell"}

func newCompletion(c *ctl) *cobra.Command {
	return &cobra.Command{
		Use:   "completion SHELL",
		Short: "Print the completion script for a shell",
		Long: `Prints the completion script for bash, zsh, fish or powershell. It completes commands, flags and the names of
subscriptions, which it asks hookd for.

  bash        source <(hookctl completion bash)
  zsh         hookctl completion zsh > "${fpath[1]}/_hookctl"
  fish        hookctl completion fish | source
  powershell  hookctl completion powershell | Out-String | Invoke-Expression`,
		Example:   `  source <(hookctl completion bash)`,
		Args:      takes("SHELL"),
		ValidArgs: shells,
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(c.Out, true)
			case "zsh":
				return root.GenZshCompletion(c.Out)
			case "fish":
				return root.GenFishCompletion(c.Out, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(c.Out)
			}
			return usage("shell %q: it must be one of %s", args[0], strings.Join(shells, ", "))
		},
	}
}

// impatient bounds what must not keep a person waiting.
func impatient(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, time.Second)
}

// completeSubs offers the names of subscriptions. On any trouble it offers nothing: no error, and no file names.
func (c *ctl) completeSubs(cmd *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
	const directive = cobra.ShellCompDirectiveNoFileComp
	parent := cmd.Context()
	if parent == nil {
		parent = context.Background()
	}
	ctx, cancel := impatient(parent)
	defer cancel()
	daemon, err := c.daemon()
	if err != nil {
		return nil, directive
	}
	page, err := daemon.Subscriptions(ctx, control.Filter{Limit: control.MaxLimit})
	if err != nil {
		return nil, directive
	}
	var names []string
	for _, s := range page.Items {
		if strings.HasPrefix(s.Name, prefix) {
			names = append(names, safe(s.Name)+"\t"+safe(s.State+", "+s.Host))
		}
	}
	return names, directive
}

// completeOneSub is completeSubs for a command that takes one subscription.
func (c *ctl) completeOneSub(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return c.completeSubs(cmd, args, prefix)
}
