package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/itchyny/gojq"

	"hookd/internal/control"
)

// parseJQ compiles the expression of --jq. It sees nothing of the environment.
func parseJQ(expr string) (*gojq.Code, error) {
	query, err := gojq.Parse(expr)
	if err != nil {
		return nil, control.NewProblem(control.CodeUsage, "--jq %q: %v", expr, err)
	}
	code, err := gojq.Compile(query)
	if err != nil {
		return nil, control.NewProblem(control.CodeUsage, "--jq %q: %v", expr, err)
	}
	return code, nil
}

// filter runs the expression over a value and writes each result on a line: strings as they are, anything else as
// JSON. Numbers that the expression does not compute with keep their digits.
func (c *ctl) filter(ctx context.Context, buf *bytes.Buffer, t tree) error {
	dec := json.NewDecoder(bytes.NewReader(t.raw))
	dec.UseNumber()
	var input any
	if err := dec.Decode(&input); err != nil {
		return fmt.Errorf("read result: %w", err)
	}
	for results := c.jq.RunWithContext(ctx, input); ; {
		result, ok := results.Next()
		if !ok {
			return nil
		}
		if err, failed := result.(error); failed {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return control.NewProblem(control.CodeFailed, "--jq: %v", err)
		}
		if s, ok := result.(string); ok {
			if c.OutTTY {
				s = safeLines(s)
			}
			buf.WriteString(s)
			buf.WriteByte('\n')
			continue
		}
		raw, err := gojq.Marshal(result)
		if err != nil {
			return fmt.Errorf("encode result: %w", err)
		}
		text := string(raw)
		if c.OutTTY {
			text = c.painter.paintJSON(string(tree{raw: raw}.indented()))
		}
		buf.WriteString(text)
		buf.WriteByte('\n')
	}
}
