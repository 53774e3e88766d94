package config

import (
	"slices"
	"sort"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// lineTable tells on which line of a TOML document a path first appears. Paths
// are written as join and element write them. go-toml's decoder reports
// positions only for what it cannot decode; a broken bound needs one too.
type lineTable struct {
	lines    map[string]int
	newlines []int          // offset of each line feed
	lists    map[string]int // entries so far of each array of tables
}

// newLineTable counts the lines of a document.
func newLineTable(data []byte) lineTable {
	t := lineTable{lines: map[string]int{}, lists: map[string]int{}}
	for i, b := range data {
		if b == '\n' {
			t.newlines = append(t.newlines, i)
		}
	}
	return t
}

// findLines reads a document that go-toml has accepted.
func findLines(data []byte) map[string]int {
	t := newLineTable(data)
	var parser unstable.Parser
	parser.Reset(data)
	table := ""
	for parser.NextExpression() {
		switch expression := parser.Expression(); expression.Kind {
		case unstable.Table:
			table = t.walkKey("", expression.Key())
		case unstable.ArrayTable:
			table = t.openEntry(expression.Key())
		case unstable.KeyValue:
			t.walkKeyValue(table, expression)
		}
	}
	return t.lines
}

// walkKey notes every part of a dotted key and returns its path. A part that is
// an array of tables stands for its last entry.
func (t *lineTable) walkKey(table string, key unstable.Iterator) string {
	for key.Next() {
		table = t.part(table, key.Node())
		if n := t.lists[table]; n > 0 {
			table = element(table, n-1)
		}
	}
	return table
}

// openEntry notes [[key]] and returns the path of its new entry.
func (t *lineTable) openEntry(key unstable.Iterator) string {
	table := ""
	for key.Next() {
		node := key.Node()
		table = t.part(table, node)
		if key.IsLast() {
			t.lists[table]++
			table = element(table, t.lists[table]-1)
			t.note(table, node)
		} else if n := t.lists[table]; n > 0 {
			table = element(table, n-1)
		}
	}
	return table
}

func (t *lineTable) walkKeyValue(table string, kv *unstable.Node) {
	path := table
	var last *unstable.Node
	for key := kv.Key(); key.Next(); {
		last = key.Node()
		path = t.part(path, last)
	}
	t.walkValue(path, last, kv.Value())
}

// walkValue goes into inline tables; entries of a list get the line of its key.
func (t *lineTable) walkValue(path string, key, value *unstable.Node) {
	switch value.Kind {
	case unstable.InlineTable:
		for it := value.Children(); it.Next(); {
			t.walkKeyValue(path, it.Node())
		}
	case unstable.Array:
		for i, it := 0, value.Children(); it.Next(); i++ {
			t.note(element(path, i), key)
			t.walkValue(element(path, i), key, it.Node())
		}
	}
}

func (t *lineTable) part(table string, key *unstable.Node) string {
	path := join(table, string(key.Data))
	t.note(path, key)
	return path
}

func (t *lineTable) note(path string, key *unstable.Node) {
	if _, known := t.lines[path]; known {
		return
	}
	t.lines[path] = t.line(key)
}

func (t *lineTable) line(key *unstable.Node) int {
	before, _ := slices.BinarySearch(t.newlines, int(key.Raw.Offset))
	return before + 1
}

// redefinition finds the line of a key or table that was defined before: the
// one error that go-toml's decoder gives no position for. A document cut before
// that line is accepted, one cut after it is not, so halving finds it.
func redefinition(data []byte) int {
	t := newLineTable(data)
	var first []int // line of each expression; no two share one
	var parser unstable.Parser
	parser.Reset(data)
	for parser.NextExpression() {
		key := parser.Expression().Key()
		key.Next()
		first = append(first, t.line(key.Node()))
	}
	if len(first) == 0 {
		return 1
	}
	at := sort.Search(len(first)-1, func(i int) bool {
		cut := data[:t.newlines[first[i+1]-2]+1]
		return toml.Unmarshal(cut, new(map[string]any)) != nil
	})
	return first[at]
}
