package cli

import (
	"bufio"
	"context"
	"fmt"
	"strings"

	"hookd/internal/control"
)

// confirm asks before something that cannot be taken back. Without a terminal nobody is asked: then only --yes will
// do. It returns nil to go on.
func (c *ctl) confirm(ctx context.Context, what string) error {
	if c.yes {
		return nil
	}
	if !c.InTTY || !c.ErrTTY {
		return control.NewProblem(control.CodeConfirmationNeeded, "%s needs a confirmation and there is no terminal to ask at", what).
			WithHint("add --yes if it is meant")
	}
	fmt.Fprintf(c.Err, "%s? [y/N] ", safe(what))
	answer := make(chan string, 1)
	// A read from a terminal cannot be cut short: after an interrupt this goroutine stays until the process ends, which
	// is at once.
	go func() {
		text, _ := bufio.NewReader(c.In).ReadString('\n')
		answer <- text
	}()
	select {
	case <-ctx.Done():
		fmt.Fprintln(c.Err)
		return context.Cause(ctx)
	case text := <-answer:
		switch strings.ToLower(strings.TrimSpace(text)) {
		case "y", "yes":
			return nil
		}
		return control.NewProblem(control.CodeConfirmationNeeded, "%s was not confirmed", what)
	}
}
