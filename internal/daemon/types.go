package daemon

import (
	"cmp"
	"slices"
	"strings"

	"hookd/internal/event"
)

// fewTypes is up to how many types a list is put together from the rows of each; with more, rows are read and dropped.
const fewTypes = 16

// typeFilter is the parameter "type" of a list: which of the types that the log has seen are meant.
type typeFilter struct {
	all      bool
	types    []string
	patterns event.Patterns
}

// typesLike reads the parameter, a pattern as in a subscription's types; empty stands for every type.
func (a *api) typesLike(pattern string) (typeFilter, error) {
	if pattern == "" {
		return typeFilter{all: true}, nil
	}
	patterns, err := event.ParsePatterns([]string{pattern})
	if err != nil {
		return typeFilter{}, invalid("/type", "%v", err)
	}
	f := typeFilter{patterns: patterns}
	if !strings.Contains(pattern, "*") {
		f.types = []string{pattern}
		return f, nil
	}
	for _, k := range a.store.Kinds() {
		if patterns.Match(k.Type) && !slices.Contains(f.types, k.Type) {
			f.types = append(f.types, k.Type)
		}
	}
	return f, nil
}

func (f typeFilter) match(typ string) bool { return f.all || f.patterns.Match(typ) }

// rows describes one list of the store, newest first: its rows of one type (empty: of all) before a place, and where
// and what a row is.
type rows[R any] struct {
	list  func(typ string, before int64, limit int) ([]R, error)
	place func(R) int64
	typ   func(R) string
}

// newest reads up to limit rows before a place whose types f means.
func newest[R any](f typeFilter, from rows[R], before int64, limit int) ([]R, error) {
	switch {
	case f.all:
		return from.list("", before, limit)
	case len(f.types) > fewTypes:
		return sifted(f, from, before, limit)
	}
	var found []R
	for _, typ := range f.types {
		of, err := from.list(typ, before, limit)
		if err != nil {
			return nil, err
		}
		found = append(found, of...)
	}
	slices.SortFunc(found, func(a, b R) int { return cmp.Compare(from.place(b), from.place(a)) })
	return found[:min(limit, len(found))], nil
}

// sifted reads rows of all types in chunks and drops those that f does not mean.
func sifted[R any](f typeFilter, from rows[R], before int64, limit int) ([]R, error) {
	const chunk = 200
	var found []R
	for {
		read, err := from.list("", before, chunk)
		if err != nil {
			return nil, err
		}
		for _, row := range read {
			before = from.place(row)
			if !f.match(from.typ(row)) {
				continue
			}
			if found = append(found, row); len(found) == limit {
				return found, nil
			}
		}
		if len(read) < chunk {
			return found, nil
		}
	}
}
