package ingest

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// A model knows what must come of what was done to the file.
type model struct {
	w       *world
	n       int    // of events, so far
	half    string // the last line of the file, when it has no newline
	ids     []string
	reasons []string
	rotated int
}

// next makes an event. Some are small, some fill the prints.
func (m *model) next() (id, line string) {
	m.n++
	id = fmt.Sprintf("e%d", m.n)
	return id, fmt.Sprintf(`{"id":%q,"type":"t","data":%q}`, id, strings.Repeat("d", m.n*53%700))
}

// ends writes the end of a line, of which the beginning may stand there already.
func (m *model) ends(text string, id, reason string) {
	line := m.half + text
	m.half = ""
	m.w.write(text + "\n")
	m.count(line, id, reason)
}

// count expects a line's event, or its refusal. A line that began with something else is none.
func (m *model) count(line, id, reason string) {
	switch {
	case reason != "":
		m.reasons = append(m.reasons, reason)
	case line != "":
		m.ids = append(m.ids, id)
	}
}

// turn ends the last line: the file is put away.
func (m *model) turn() {
	if m.half != "" {
		m.reasons = append(m.reasons, "not_json")
		m.half = ""
	}
}

// shift makes room for the suffix .1.
func (m *model) shift() {
	for i := m.rotated; i > 0; i-- {
		m.w.rename(fmt.Sprintf(".%d", i), fmt.Sprintf(".%d", i+1))
	}
	m.rotated++
}

func (m *model) exists() bool {
	_, err := os.Stat(m.w.path)
	return err == nil
}

func (m *model) check() {
	m.w.drain()
	if got := m.w.came(); !slices.Equal(got, m.ids) {
		m.w.tb.Fatalf("came %s\nwant %s\nlog:\n%s", short(got), short(m.ids), m.w.logs.String())
	}
	m.ids = nil
}

// steps are what can happen, by number.
var steps = []struct {
	name string
	do   func(*model)
}{
	{"lines", func(m *model) {
		for range 1 + m.n%3 {
			id, line := m.next()
			if m.half != "" {
				m.ends(line, "", "not_json") // glued to what stands there
				continue
			}
			m.ends(line, id, "")
		}
	}},
	{"half", func(m *model) {
		if m.half == "" {
			_, line := m.next()
			m.half = line[:len(line)/2]
			m.w.write(m.half)
		}
	}},
	{"other half", func(m *model) {
		if m.half != "" {
			id := fmt.Sprintf("e%d", m.n)
			_, line := (&model{n: m.n - 1}).next()
			m.ends(line[len(m.half):], id, "")
		}
	}},
	{"glued", func(m *model) { m.ends(`{"id":"g","type":"t"}{"id":"h","type":"t"}`, "", "not_json") }},
	{"too long", func(m *model) { // never the same either: files that begin alike are copies
		m.n++
		m.ends(strings.Repeat(fmt.Sprintf("%07d", m.n), 400), "", "too_large")
	}},
	{"not UTF-8", func(m *model) { m.ends("\xff", "", "not_utf8") }},
	{"blank", func(m *model) {
		if m.half == "" { // never the same: a file that has only such lines cannot be told from another
			m.n++
			m.w.write("\r\n" + strings.Repeat(" ", m.n) + "\n\x00\x00\n")
		}
	}},
	{"rename", func(m *model) {
		if m.exists() {
			m.turn()
			m.shift()
			m.w.rename("", ".1")
		}
	}},
	{"copy and cut", func(m *model) {
		if m.exists() {
			m.turn()
			m.shift()
			m.w.cutCopy(".1")
		}
	}},
	{"replace in place", func(m *model) {
		m.check() // what is unread would be lost
		m.half = ""
		m.w.must(os.WriteFile(m.w.path, nil, 0o600))
		for range m.n % 4 {
			id, line := m.next()
			m.ends(line, id, "")
		}
	}},
	{"remove", func(m *model) {
		if m.exists() && m.half == "" {
			m.check()
			m.w.remove("")
		}
	}},
	{"replace by rename", func(m *model) {
		if m.half == "" {
			m.check()
			id, line := m.next()
			m.w.writeTo(m.w.at(".new"), line+"\n")
			m.w.must(os.Rename(m.w.at(".new"), m.w.path))
			m.ids = append(m.ids, id)
		}
	}},
	{"restart", func(m *model) { m.w.restart() }},
	{"check", func(m *model) { m.check() }},
}

// FuzzTail does things to a file, in any order: what was written comes, each line once and in order, in the log or in quarantine.
func FuzzTail(f *testing.F) {
	seeds := []string{"", "\x00\x0d\x01\x0c\x02\x0d"}
	for i := range steps {
		for j := range steps {
			if i > 5 && j > 5 {
				seeds = append(seeds, string([]byte{0, 0, 13, byte(i), 0, byte(j), 1, byte(i), 0, 12, byte(j)}))
			}
		}
	}
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, what []byte) {
		w := newWorld(t)
		w.c.MaxBytes = 2000
		w.start()
		m := &model{w: w}
		m.ends(ev("first"), "first", "")
		m.check() // rotations count from the first file that was met
		var done []string
		defer func() {
			if t.Failed() {
				t.Logf("done: %s", strings.Join(done, ", "))
			}
		}()
		for _, b := range what[:min(len(what), 60)] {
			s := steps[int(b)%len(steps)]
			done = append(done, s.name)
			s.do(m)
		}
		if m.half != "" {
			m.ends("", "", "not_json")
		}
		m.ends(ev("last"), "last", "") // also where there is no file: one that was put away is at its end now
		m.check()
		w.restart()
		m.check()
		if got, want := w.reasons(), strings.Join(m.reasons, " "); got != want {
			t.Fatalf("quarantine %s\nwant       %s\nlog:\n%s", got, want, w.logs.String())
		}
	})
}
