package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
)

// The roles that this program plays when it starts itself again.
const (
	roleReceiver = "receiver"
	roleSender   = "bare-sender"
	roleInserter = "bare-inserter"
)

// roles do one job after another: a line of JSON on stdin each, answered with one on stdout. They end at the end of
// stdin, and so with the process that started them.
var roles = map[string]func(in io.Reader, out io.Writer) error{
	roleReceiver: serveReceiver,
	roleSender:   serveSender,
	roleInserter: serveInserter,
}

// answered is the line that a role answers with.
type answered[A any] struct {
	Error  string `json:"error,omitempty"`
	Answer A      `json:"answer"`
}

// serveJobs reads jobs until the end of in.
func serveJobs[J, A any](in io.Reader, out io.Writer, do func(J) (A, error)) error {
	jobs, answers := json.NewDecoder(in), json.NewEncoder(out)
	for {
		var job J
		if err := jobs.Decode(&job); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("read job: %w", err)
		}
		var a answered[A]
		var err error
		if a.Answer, err = do(job); err != nil {
			a.Error = err.Error()
		}
		if err := answers.Encode(a); err != nil {
			return fmt.Errorf("write answer: %w", err)
		}
	}
}

// child is this program in a role. One goroutine at a time may use it.
type child struct {
	role    string
	cmd     *exec.Cmd
	stdin   io.Closer
	jobs    *json.Encoder
	answers *json.Decoder
}

// startChild starts a role. It is killed when ctx ends.
func startChild(ctx context.Context, role string) (*child, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", role, err)
	}
	cmd := exec.CommandContext(ctx, self, role)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", role, err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", role, err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", role, err)
	}
	return &child{role: role, cmd: cmd, stdin: stdin, jobs: json.NewEncoder(stdin), answers: json.NewDecoder(stdout)}, nil
}

// ask has a job done.
func ask[A any](ctx context.Context, c *child, job any) (A, error) {
	var a answered[A]
	err := c.jobs.Encode(job)
	if err == nil {
		err = c.answers.Decode(&a)
	}
	switch {
	case ctx.Err() != nil:
		return a.Answer, context.Cause(ctx)
	case err != nil:
		return a.Answer, fmt.Errorf("ask %s: %w", c.role, err)
	case a.Error != "":
		return a.Answer, fmt.Errorf("%s: %s", c.role, a.Error)
	}
	return a.Answer, nil
}

func (c *child) pid() int { return c.cmd.Process.Pid }

// stop ends the role and waits for it.
func (c *child) stop() error {
	if err := errors.Join(c.stdin.Close(), c.cmd.Wait()); err != nil {
		return fmt.Errorf("stop %s: %w", c.role, err)
	}
	return nil
}
