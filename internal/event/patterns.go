package event

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Patterns says which types are taken. The zero value takes none. It does not change, so any number of goroutines may use it.
//
// A star stands for any run of characters, dots too, and for none. A pattern that begins with ! takes away what it matches,
// wherever in the list it stands. The types of hookd's own events ("hookd.") are matched only by patterns that begin with
// "hookd.", with or without the !, so neither * nor !* speaks of them.
type Patterns struct {
	written []string
	take    []glob
	drop    []glob
}

// ParsePatterns reads the patterns of a subscription or a source. A pattern has 1 to 128 characters of a type or stars, after
// the ! if there is one, and at least one pattern must take something. The error names the pattern and the rule it breaks. types
// is copied.
func ParsePatterns(types []string) (Patterns, error) {
	if len(types) == 0 {
		return Patterns{}, errors.New(`parse types: at least one pattern is needed, "*" takes every type`)
	}
	p := Patterns{written: slices.Clone(types)}
	for _, pattern := range types {
		body, drops := strings.CutPrefix(pattern, "!")
		if err := checkPattern(body); err != nil {
			return Patterns{}, fmt.Errorf("parse pattern %s: %w", hint(pattern), err)
		}
		if drops {
			p.drop = append(p.drop, newGlob(body))
		} else {
			p.take = append(p.take, newGlob(body))
		}
	}
	if len(p.take) == 0 {
		return Patterns{}, fmt.Errorf(`parse types: %s only takes away, so nothing would match: add a pattern that takes, such as "*"`,
			hint(types[0]))
	}
	return p, nil
}

// Match reports whether the patterns take the type.
func (p Patterns) Match(typ string) bool {
	own := strings.HasPrefix(typ, ownPrefix)
	return matchAny(p.take, typ, own) && !matchAny(p.drop, typ, own)
}

// Strings returns the patterns as they were written, in their order. The slice is the caller's.
func (p Patterns) Strings() []string { return slices.Clone(p.written) }

func checkPattern(body string) error {
	switch {
	case body == "":
		return errors.New("it is empty, a pattern has 1 to 128 characters")
	case len(body) > maxType:
		return fmt.Errorf("it has %d bytes, at most %d characters are allowed", len(body), maxType)
	}
	for i := range len(body) {
		if c := body[i]; !typeChar(c) && c != '*' {
			return errors.New("allowed are A-Z a-z 0-9 _ . : / - and *, and one ! at the beginning")
		}
	}
	return nil
}

func matchAny(globs []glob, typ string, own bool) bool {
	for i := range globs {
		if g := &globs[i]; (g.own || !own) && g.match(typ) {
			return true
		}
	}
	return false
}

// A glob is one pattern, cut at its stars.
type glob struct {
	head   string   // before the first star; the whole pattern where there is none
	middle []string // between stars, without the empty ones
	tail   string   // after the last star
	star   bool
	own    bool // it begins with "hookd."
}

func newGlob(body string) glob {
	parts := strings.Split(body, "*")
	last := len(parts) - 1
	g := glob{head: parts[0], star: last > 0, own: strings.HasPrefix(body, ownPrefix)}
	if g.star {
		g.tail = parts[last]
		g.middle = slices.DeleteFunc(parts[1:last], func(part string) bool { return part == "" })
	}
	return g
}

// match takes each middle part at its first place: if any placing of the parts fits, this one does. It never goes back, so no
// pattern can make it slow.
func (g *glob) match(typ string) bool {
	if !g.star {
		return typ == g.head
	}
	rest, ok := strings.CutPrefix(typ, g.head)
	if !ok {
		return false
	}
	if rest, ok = strings.CutSuffix(rest, g.tail); !ok {
		return false
	}
	for _, part := range g.middle {
		i := strings.Index(rest, part)
		if i < 0 {
			return false
		}
		rest = rest[i+len(part):]
	}
	return true
}
