package cli

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"hookd/internal/control"
)

// The formats of -o.
const (
	formatTable = "table"
	formatTSV   = "tsv"
	formatJSON  = "json"
	formatJSONL = "jsonl"
	formatYAML  = "yaml"
)

var allFormats = []string{formatTable, formatTSV, formatJSON, formatJSONL, formatYAML}

// printList prints a page. What it is about is said on stderr: that there is nothing, or how to get the next page.
func printList[T any](ctx context.Context, c *ctl, page *control.Page[T], columns []column[T], nothing string) error {
	var buf bytes.Buffer
	switch c.format {
	case formatTable:
		if len(page.Items) > 0 {
			c.writeGrid(&buf, "", gridOf(c, page.Items, columns))
		}
	case formatTSV:
		writeTSV(&buf, page.Items, columns)
	case formatJSONL:
		for _, item := range page.Items {
			if err := c.writeData(ctx, &buf, item); err != nil {
				return err
			}
		}
	default:
		if err := c.writeData(ctx, &buf, page.Items); err != nil {
			return err
		}
	}
	if err := c.flush(&buf); err != nil {
		return err
	}
	if len(page.Items) == 0 && !c.isData() {
		c.say("%s", nothing)
	}
	if page.Next != "" {
		c.say("there is more: --after %s", page.Next)
	}
	return nil
}

// printRow prints one thing as the row of a list, in the data formats as an object.
func printRow[T any](ctx context.Context, c *ctl, v T, columns []column[T]) error {
	var buf bytes.Buffer
	switch c.format {
	case formatTable:
		c.writeGrid(&buf, "", gridOf(c, []T{v}, columns))
	case formatTSV:
		writeTSV(&buf, []T{v}, columns)
	default:
		if err := c.writeData(ctx, &buf, v); err != nil {
			return err
		}
	}
	return c.flush(&buf)
}

// printRecord prints one thing with all its members, a line each.
func (c *ctl) printRecord(ctx context.Context, v any) error {
	var buf bytes.Buffer
	if c.isData() {
		if err := c.writeData(ctx, &buf, v); err != nil {
			return err
		}
		return c.flush(&buf)
	}
	t, err := treeOf(v)
	if err != nil {
		return err
	}
	if err := c.writeRecord(&buf, t); err != nil {
		return err
	}
	return c.flush(&buf)
}

// isData says that the format is for programs and keeps everything.
func (c *ctl) isData() bool { return c.format != formatTable && c.format != formatTSV }

// writeData writes a value as JSON, YAML, or what --jq makes of it.
func (c *ctl) writeData(ctx context.Context, buf *bytes.Buffer, v any) error {
	t, err := treeOf(v)
	if err != nil {
		return err
	}
	switch {
	case c.jq != nil:
		return c.filter(ctx, buf, t)
	case c.format == formatYAML:
		document, err := t.yaml()
		if err != nil {
			return err
		}
		buf.Write(document)
		return nil
	case c.format == formatJSONL:
		buf.WriteString(c.painter.paintJSON(string(t.raw)))
	default:
		buf.WriteString(c.painter.paintJSON(string(t.indented())))
	}
	buf.WriteByte('\n')
	return nil
}

func gridOf[T any](c *ctl, items []T, columns []column[T]) grid {
	columns = columnsIn(columns, onlyTSV)
	g := grid{}
	for _, col := range columns {
		g.header = append(g.header, col.name)
		g.right = append(g.right, col.right)
	}
	now := c.Now()
	for _, item := range items {
		row := make([]cell, len(columns))
		for i, col := range columns {
			text := ""
			if c.OutTTY && col.human != nil {
				text = col.human(item, now)
			} else {
				text = col.text(item)
			}
			row[i].text = safe(text)
			if col.tone != nil {
				row[i].tone = col.tone(item)
			}
		}
		g.rows = append(g.rows, row)
	}
	return g
}

func writeTSV[T any](buf *bytes.Buffer, items []T, columns []column[T]) {
	columns = columnsIn(columns, onlyTable)
	for _, item := range items {
		fields := make([]string, len(columns))
		for i, col := range columns {
			fields[i] = tsvField(col.text(item))
		}
		buf.WriteString(strings.Join(fields, "\t"))
		buf.WriteByte('\n')
	}
}

// flush writes a whole result to stdout.
func (c *ctl) flush(buf *bytes.Buffer) error {
	if _, err := c.Out.Write(buf.Bytes()); err != nil {
		return fmt.Errorf("write result: %w", err)
	}
	return nil
}

// say tells the user something that is no result. Nobody can be told where stderr is gone.
func (c *ctl) say(format string, args ...any) {
	fmt.Fprintf(c.Err, "hookctl: %s\n", safe(fmt.Sprintf(format, args...)))
}
