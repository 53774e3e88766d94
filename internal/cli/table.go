package cli

import (
	"bytes"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// cell is one text of a table, not yet padded or coloured.
type cell struct {
	text string
	tone tone
}

// grid is a table: a header and rows of as many cells.
type grid struct {
	header []string
	right  []bool // columns that are aligned to the right
	rows   [][]cell
}

const (
	columnGap   = 2
	narrowest   = 4 // columns are not cut below it, but the line is
	absentInRow = "-"
)

// writeGrid writes a table that fits the width of the terminal; without a terminal nothing is cut.
func (c *ctl) writeGrid(buf *bytes.Buffer, indent string, g grid) {
	bound := c.tableWidth()
	if bound > 0 {
		bound = max(1, bound-len(indent))
	}
	widths := g.widths()
	if bound > 0 {
		shrink(widths, bound)
	}
	header := make([]cell, len(g.header))
	for i, name := range g.header {
		header[i] = cell{text: strings.ToUpper(strings.ReplaceAll(name, "_", " ")), tone: strong}
	}
	for _, row := range append([][]cell{header}, g.rows...) {
		line := c.gridLine(row, widths, g.right)
		if bound > 0 {
			line = ansi.Truncate(line, bound, "")
		}
		buf.WriteString(indent)
		buf.WriteString(line)
		buf.WriteByte('\n')
	}
}

func (g grid) widths() []int {
	widths := make([]int, len(g.header))
	for i, name := range g.header {
		widths[i] = ansi.StringWidth(name)
	}
	for _, row := range g.rows {
		for i, cell := range row {
			widths[i] = max(widths[i], ansi.StringWidth(cell.text), len(absentInRow))
		}
	}
	return widths
}

// shrink takes columns from the widest until the row fits the bound or nothing is left to take.
func shrink(widths []int, bound int) {
	over := columnGap*(len(widths)-1) - bound
	for _, w := range widths {
		over += w
	}
	for ; over > 0; over-- {
		widest := 0
		for i, w := range widths {
			if w > widths[widest] {
				widest = i
			}
		}
		if widths[widest] <= narrowest {
			return
		}
		widths[widest]--
	}
}

func (c *ctl) gridLine(row []cell, widths []int, right []bool) string {
	var b strings.Builder
	for i, cell := range row {
		text := cell.text
		if text == "" {
			text = absentInRow
		}
		if ansi.StringWidth(text) > widths[i] {
			text = ansi.Truncate(text, widths[i], c.ellipsis())
		}
		padding := strings.Repeat(" ", max(0, widths[i]-ansi.StringWidth(text)))
		text = c.painter.paint(cell.tone, text)
		switch {
		case i < len(right) && right[i]:
			text = padding + text
		case i < len(row)-1:
			text += padding
		}
		if i > 0 {
			b.WriteString(strings.Repeat(" ", columnGap))
		}
		b.WriteString(text)
	}
	return b.String()
}
