package cli

import (
	"strconv"
	"strings"
	"time"
)

// column is a column of a list: the same in a table and in tsv, unless it says otherwise. The names are the member
// names of the JSON forms.
type column[T any] struct {
	name  string
	where formats
	right bool
	// text is the full value, empty where there is none.
	text func(T) string
	// human is what a terminal shows; text if nil.
	human func(v T, now time.Time) string
	tone  func(T) tone
}

// formats says in which formats a column is.
type formats int

const (
	everywhere formats = iota
	onlyTable
	onlyTSV
)

func textColumn[T any](name string, text func(T) string) column[T] {
	return column[T]{name: name, text: text}
}

func numberColumn[T any](name string, n func(T) int64) column[T] {
	return column[T]{name: name, right: true, text: func(v T) string { return strconv.FormatInt(n(v), 10) }}
}

// codeColumn is for numbers that may not exist.
func codeColumn[T any](name string, n func(T) *int) column[T] {
	return column[T]{name: name, right: true, text: func(v T) string {
		if p := n(v); p != nil {
			return strconv.Itoa(*p)
		}
		return ""
	}}
}

func timeColumn[T any](name string, at func(T) *time.Time) column[T] {
	return column[T]{
		name: name,
		text: func(v T) string {
			if t := at(v); t != nil {
				return timestamp(*t)
			}
			return ""
		},
		human: func(v T, now time.Time) string {
			if t := at(v); t != nil {
				return relative(*t, now)
			}
			return ""
		},
	}
}

// stateColumn is coloured by what it says.
func stateColumn[T any](name string, state func(T) string) column[T] {
	return column[T]{name: name, text: state, tone: func(v T) tone { return toneOf(state(v)) }}
}

func (col column[T]) only(f formats) column[T] {
	col.where = f
	return col
}

// columnsIn keeps the columns of one format.
func columnsIn[T any](all []column[T], not formats) []column[T] {
	var kept []column[T]
	for _, col := range all {
		if col.where != not {
			kept = append(kept, col)
		}
	}
	return kept
}

// tsvColumnsHelp tells scripts what the columns in a pipe are.
func tsvColumnsHelp[T any](all []column[T]) string {
	var names []string
	for _, col := range columnsIn(all, onlyTable) {
		names = append(names, col.name)
	}
	return "Columns of tsv: " + strings.Join(names, ", ") + "."
}
