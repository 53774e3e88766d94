package cli

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"hookd/internal/control"
)

// rawMembers hold JSON that somebody else wrote: it is shown as JSON, not taken apart.
var rawMembers = []string{"body", "payload"}

// line is one member of a record, its name with those of the objects around it.
type line struct {
	name  string
	value tree
}

// writeRecord writes an object for people: a line for each member, then its lists of objects as tables and its
// payloads as JSON. In tsv it is lines of name and value.
func (c *ctl) writeRecord(buf *bytes.Buffer, t tree) error {
	lines, err := flatten(nil, "", t, c.format == formatTSV)
	if err != nil {
		return err
	}
	if c.format == formatTSV {
		for _, l := range lines {
			text, err := joined(l.value, ",")
			if err != nil {
				return err
			}
			buf.WriteString(tsvField(l.name) + "\t" + tsvField(text) + "\n")
		}
		return nil
	}
	var later []line
	width := 0
	for _, l := range lines {
		width = max(width, ansi.StringWidth(l.name))
	}
	for _, l := range lines {
		if isRaw(l) || isTable(l.value) {
			later = append(later, l)
			continue
		}
		text, err := joined(l.value, ", ")
		if err != nil {
			return err
		}
		c.writeField(buf, width, l.name, c.explained(l.name, text), text)
	}
	for _, l := range later {
		if err := c.writeSection(buf, l); err != nil {
			return err
		}
	}
	return nil
}

func (c *ctl) writeField(buf *bytes.Buffer, width int, name, text, state string) {
	if text == "" {
		text = absentInRow
	}
	padding := strings.Repeat(" ", width-ansi.StringWidth(name)+columnGap)
	buf.WriteString(c.painter.paint(faint, safe(name)) + padding + c.painter.paint(toneOf(state), safe(text)) + "\n")
}

// explained adds to a time how long ago it was, for a person at a terminal.
func (c *ctl) explained(name, text string) string {
	if t, ok := c.humanTime(name, text); ok {
		return text + " (" + relative(t, c.Now()) + ")"
	}
	return text
}

// humanTime says whether a member is a time that a person at a terminal would rather have relative.
func (c *ctl) humanTime(name, text string) (time.Time, bool) {
	name = name[strings.LastIndexAny(name, "._")+1:]
	if !c.OutTTY || !slices.Contains([]string{"at", "until", "since", "timestamp"}, name) {
		return time.Time{}, false
	}
	t, err := time.Parse(time.RFC3339Nano, text)
	return t, err == nil
}

func isRaw(l line) bool {
	// A subscription's "payload" is a word, and no payload.
	return slices.Contains(rawMembers, l.name) && (l.value.isObject() || l.value.isList())
}

// isTable says whether a value is a list of objects.
func isTable(t tree) bool {
	return t.isList() && strings.HasPrefix(strings.TrimLeft(string(t.raw[1:]), " \n\t"), "{")
}

// flatten lists the members of an object, those of objects in it under dotted names; with deep set, lists of objects
// are taken apart too.
func flatten(lines []line, prefix string, t tree, deep bool) ([]line, error) {
	members, err := t.members()
	if err != nil {
		return nil, err
	}
	for _, m := range members {
		l := line{name: prefix + m.name, value: m.value}
		switch {
		case isRaw(l):
			lines = append(lines, l)
		case m.value.isObject():
			if lines, err = flatten(lines, l.name+".", m.value, deep); err != nil {
				return nil, err
			}
		case deep && isTable(m.value):
			items, err := m.value.items()
			if err != nil {
				return nil, err
			}
			for i, item := range items {
				if lines, err = flatten(lines, l.name+"."+strconv.Itoa(i)+".", item, deep); err != nil {
					return nil, err
				}
			}
		default:
			lines = append(lines, l)
		}
	}
	return lines, nil
}

// joined is a scalar's text, and a list's items in one text. Objects stay JSON.
func joined(t tree, separator string) (string, error) {
	if !t.isList() || isTable(t) {
		return t.text(), nil
	}
	items, err := t.items()
	if err != nil {
		return "", err
	}
	texts := make([]string, len(items))
	for i, item := range items {
		texts[i] = item.text()
	}
	return strings.Join(texts, separator), nil
}

// writeSection writes a list of objects as a table, or a payload as JSON, under its name.
func (c *ctl) writeSection(buf *bytes.Buffer, l line) error {
	buf.WriteString("\n" + c.painter.paint(strong, safe(l.name)) + "\n")
	if isRaw(l) {
		for text := range strings.SplitSeq(c.payload(l.value.raw), "\n") {
			buf.WriteString("  " + text + "\n")
		}
		return nil
	}
	items, err := l.value.items()
	if err != nil {
		return err
	}
	g, err := c.gridOfObjects(items)
	if err != nil {
		return err
	}
	c.writeGrid(buf, "  ", g)
	return nil
}

// payload lays JSON out for a person. Its strings may hold characters that steer a terminal: those are shown.
func (c *ctl) payload(raw json.RawMessage) string {
	return c.painter.paintJSON(safeLines(string(tree{raw: raw}.indented())))
}

// gridOfObjects makes a table of objects: a column for each member that one of them has.
func (c *ctl) gridOfObjects(items []tree) (grid, error) {
	var g grid
	index := map[string]int{}
	rows := make([]map[string]string, len(items))
	for i, item := range items {
		lines, err := flatten(nil, "", item, false)
		if err != nil {
			return grid{}, err
		}
		rows[i] = map[string]string{}
		for _, l := range lines {
			if _, ok := index[l.name]; !ok {
				index[l.name] = len(g.header)
				g.header = append(g.header, l.name)
				g.right = append(g.right, !l.value.isString() && !l.value.isList())
			}
			if rows[i][l.name], err = joined(l.value, ", "); err != nil {
				return grid{}, err
			}
		}
	}
	for _, row := range rows {
		cells := make([]cell, len(g.header))
		for i, name := range g.header {
			cells[i] = cell{text: safe(c.shortTime(name, row[name])), tone: toneOf(row[name])}
		}
		g.rows = append(g.rows, cells)
	}
	return g, nil
}

// shortTime makes a time of a table relative, for a person at a terminal.
func (c *ctl) shortTime(name, text string) string {
	if t, ok := c.humanTime(name, text); ok {
		return relative(t, c.Now())
	}
	return text
}

// headText says in one text what a head waits for.
func headText(h *control.Head, now time.Time) string {
	if h == nil || h.BlockedSince == nil {
		return ""
	}
	text := "seq " + strconv.FormatInt(h.Seq, 10) + " since " + strings.TrimSuffix(relative(*h.BlockedSince, now), " ago") +
		", attempt " + strconv.Itoa(h.Attempt)
	if h.NextAttemptAt != nil {
		text += " " + relative(*h.NextAttemptAt, now)
	}
	if h.LastError != "" {
		text += ", " + h.LastError
	}
	if h.ResponseCode != nil {
		text += " " + strconv.Itoa(*h.ResponseCode)
	}
	return text
}
