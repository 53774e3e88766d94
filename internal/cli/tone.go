package cli

import (
	"io"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"

	"hookd/internal/control"
)

// tone is what a text means; the painter knows its colour.
type tone int

const (
	plain tone = iota
	good
	uneasy
	bad
	faint
	strong
	keyTone
	stringTone
	numberTone
)

// painter colours text, or leaves it as it is.
type painter struct{ styles map[tone]lipgloss.Style }

// newPainter makes a painter. The colours are the sixteen of every terminal, so that its owner's choice holds.
func newPainter(color bool) painter {
	if !color {
		return painter{}
	}
	r := lipgloss.NewRenderer(io.Discard)
	r.SetColorProfile(termenv.ANSI)
	colored := func(n string) lipgloss.Style { return r.NewStyle().Foreground(lipgloss.Color(n)) }
	return painter{styles: map[tone]lipgloss.Style{
		good:       colored("2"),
		uneasy:     colored("3"),
		bad:        colored("1"),
		faint:      r.NewStyle().Faint(true),
		strong:     r.NewStyle().Bold(true),
		keyTone:    colored("4"),
		stringTone: colored("2"),
		numberTone: colored("6"),
	}}
}

// paint colours one line of text.
func (p painter) paint(t tone, text string) string {
	style, ok := p.styles[t]
	if !ok || text == "" {
		return text
	}
	return style.Inline(true).Render(text)
}

// toneOf colours the states and statuses of the specification.
func toneOf(state string) tone {
	switch state {
	case control.StateActive, control.StatusSucceeded, "running":
		return good
	case control.StatePaused, control.StatusPending, "waiting":
		return uneasy
	case control.StateDisabled, control.StatusFailed, control.StatusDead:
		return bad
	}
	return plain
}
