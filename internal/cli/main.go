package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/itchyny/gojq"

	"hookd/internal/control"
)

// Main runs hookctl with the arguments after the program's name and returns its exit code. An interrupt or SIGTERM
// ends the command with what it has to put in order; a second one ends the process.
func Main(args []string, s Streams) int {
	// A reader that goes away is then an error of the write, which ends the program quietly, after its cleaning up.
	signal.Ignore(syscall.SIGPIPE)
	defer signal.Reset(syscall.SIGPIPE)

	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		select {
		case <-signals:
			signal.Stop(signals)
			cancel(errInterrupted)
		case <-ctx.Done():
			signal.Stop(signals)
		}
	}()
	code := run(ctx, args, s)
	cancel(nil)
	<-ended
	return code
}

// run is Main without the process around it.
func run(ctx context.Context, args []string, s Streams) int {
	c := &ctl{Streams: s}
	defer c.close()
	root := newRoot(c)
	root.SetIn(s.In)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	// cobra takes a nil list for "the process's own arguments".
	root.SetArgs(append([]string{}, args...))
	return c.report(root.ExecuteContext(ctx), args)
}

// ctl is what every command has: the streams, the flags that every command takes, and the way to the daemon.
type ctl struct {
	Streams

	socket string
	output string // as given, empty for the default
	jqText string
	color  string
	yes    bool

	format  string // as resolved, empty until a command starts
	jq      *gojq.Code
	painter painter

	client *control.Client
}

// prepare settles how to print. It runs before any command works, so that a wrong flag does nothing.
func (c *ctl) prepare(pipeDefault string) error {
	c.painter = newPainter(c.wantsColor(c.color))
	c.format = c.output
	if c.jqText != "" {
		switch c.output {
		case "":
			c.format = formatJSON
		case formatJSON, formatJSONL:
		default:
			return control.NewProblem(control.CodeUsage, "--jq filters JSON and does not go with -o %s", c.output)
		}
		code, err := parseJQ(c.jqText)
		if err != nil {
			return err
		}
		c.jq = code
	}
	switch {
	case c.format != "":
	case c.OutTTY:
		c.format = formatTable
	default:
		c.format = pipeDefault
	}
	return nil
}

// daemon is the client for the socket that the flags and the environment name.
func (c *ctl) daemon() (*control.Client, error) {
	if c.client == nil {
		socket, err := control.DialSocket(c.socket)
		if err != nil {
			return nil, err
		}
		c.client = control.NewClient(socket)
	}
	return c.client, nil
}

func (c *ctl) close() {
	if c.client != nil {
		c.client.Close()
	}
}
