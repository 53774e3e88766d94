package cli

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// safe shows what came from outside with everything that could steer a terminal as a visible escape: control
// characters, bidirectional controls, line separators, and bytes that are not UTF-8.
func safe(s string) string { return escape(s, false) }

// tsvField is safe, and can be read back: the backslash is escaped too, tab and line ends have their short forms.
func tsvField(s string) string { return escape(s, true) }

func escape(s string, reversible bool) string {
	if !needsEscape(s, reversible) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\t' && reversible:
			b.WriteString(`\t`)
		case r == '\n' && reversible:
			b.WriteString(`\n`)
		case r == '\r' && reversible:
			b.WriteString(`\r`)
		case r == '\\' && reversible:
			b.WriteString(`\\`)
		case r < 0x20 || r == 0x7f:
			fmt.Fprintf(&b, `\x%02x`, r)
		case steers(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteString(s[i : i+size])
		}
		i += size
	}
	return b.String()
}

func needsEscape(s string, reversible bool) bool {
	if !utf8.ValidString(s) {
		return true
	}
	return strings.ContainsFunc(s, func(r rune) bool {
		return r < 0x20 || r == 0x7f || steers(r) || (reversible && r == '\\')
	})
}

// steers tells the characters beyond ASCII that change how what follows is shown: the C1 controls, and what moves the
// direction or the line of text. The joiners stay: emoji need them.
func steers(r rune) bool {
	switch {
	case r >= 0x80 && r <= 0x9f,
		r == 0x061c, r == 0x200e, r == 0x200f,
		r >= 0x2028 && r <= 0x202e,
		r >= 0x2066 && r <= 0x206f,
		r == 0xfeff:
		return true
	}
	return false
}

// safeLines is safe for a text of several lines: line feeds stay.
func safeLines(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = safe(line)
	}
	return strings.Join(lines, "\n")
}

func timestamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// relative says how far t is from now, in one or two units.
func relative(t, now time.Time) string {
	d := t.Sub(now)
	switch {
	case d > -time.Second && d < time.Second:
		return "now"
	case d < 0:
		return span(-d) + " ago"
	}
	return "in " + span(d)
}

// span writes a duration as a person would say it: the larger unit, and the next one where it still matters.
func span(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return twoUnits(d, time.Minute, "m", time.Second, "s", 10)
	case d < day:
		return twoUnits(d, time.Hour, "h", time.Minute, "m", 24)
	}
	return twoUnits(d, day, "d", time.Hour, "h", 7)
}

func twoUnits(d, unit time.Duration, name string, next time.Duration, nextName string, below time.Duration) string {
	whole, rest := d/unit, d%unit/next
	if whole >= below || rest == 0 {
		return fmt.Sprintf("%d%s", whole, name)
	}
	return fmt.Sprintf("%d%s%d%s", whole, name, rest, nextName)
}

// size writes a number of bytes with a binary unit.
func size(n int64) string {
	if n < 1024 {
		return fmt.Sprintf("%d B", n)
	}
	value, unit := float64(n), ""
	for _, unit = range []string{"KiB", "MiB", "GiB", "TiB"} {
		value /= 1024
		if value < 1024 {
			break
		}
	}
	return fmt.Sprintf("%.1f %s", value, unit)
}

// plural writes a count with its noun.
func plural(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
