package store

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"hookd/internal/event"
)

// model is what a store does, one unit after another.
type model struct {
	last    int64
	content map[string]string // of each id
	seqs    map[string]int64
	names   map[string]bool
	cursors map[SubID]int64
}

// drawn is one drawn unit of work: what it does to a store, and what must come of it.
type drawn struct {
	do     func() error
	expect func(error) error
}

func (m *model) draw(t *rapid.T, s *Store, round int, src SourceID, subs []SubID) drawn {
	switch rapid.IntRange(0, 4).Draw(t, "unit") {
	case 0, 1:
		return m.drawAppend(t, s, round, src)
	case 2:
		name := fmt.Sprintf("%d-%d", round, rapid.IntRange(0, 2).Draw(t, "name"))
		taken := m.names[name]
		m.names[name] = true
		key := fmt.Sprintf("%s-%d", name, rapid.IntRange(0, 1<<40).Draw(t, "uuid"))
		return drawn{
			do: func() error {
				_, err := s.CreateSubscription(t.Context(), NewSubscription{UUID: key, Name: name, Host: "h", URL: []byte("u")})
				return err
			},
			expect: func(err error) error {
				if taken != errors.Is(err, ErrNameTaken) || !taken && err != nil {
					return fmt.Errorf("name %s, taken %v: %w", name, taken, err)
				}
				return nil
			},
		}
	case 3:
		sub := subs[rapid.IntRange(0, len(subs)-1).Draw(t, "sub")]
		m.cursors[sub]++
		o := success(sub, m.cursors[sub])
		return drawn{do: func() error { return s.Record(t.Context(), o) }, expect: func(err error) error { return err }}
	default:
		key := fmt.Sprintf("%d-%d", round, rapid.IntRange(0, 9).Draw(t, "key"))
		panics := rapid.Bool().Draw(t, "panics")
		return drawn{
			do: func() error {
				return s.do(t.Context(), lazy, 0, step{do: func(tx *tx) error {
					if err := tx.w.setMeta.exec("bad"+key, 1); err != nil {
						return err
					}
					if panics {
						panic("boom")
					}
					return errors.New("boom")
				}})
			},
			expect: func(err error) error {
				if err == nil {
					return errors.New("a failing unit did not fail")
				}
				return nil
			},
		}
	}
}

func (m *model) drawAppend(t *rapid.T, s *Store, round int, src SourceID) drawn {
	var lines []Line
	var want []Placed
	for range rapid.IntRange(0, 5).Draw(t, "lines") {
		id := fmt.Sprintf("%d-%d", round, rapid.IntRange(0, 6).Draw(t, "id"))
		l := line(id, fmt.Sprint("type.", round, rapid.IntRange(0, 2).Draw(t, "type")), rapid.IntRange(0, 1).Draw(t, "data"))
		lines = append(lines, l)
		content := string(l.Event.Line)
		switch before, known := m.content[id]; {
		case !known:
			m.last++
			m.content[id], m.seqs[id] = content, m.last
			want = append(want, Placed{Seq: m.last})
		case before == content:
			want = append(want, Placed{Seq: m.seqs[id], Duplicate: true})
		default:
			want = append(want, Placed{Refused: &event.Refusal{Code: event.IDConflict}})
		}
	}
	var got []Placed
	return drawn{
		do: func() (err error) {
			got, err = s.Append(t.Context(), Batch{Source: src, Lines: lines})
			return err
		},
		expect: func(err error) error {
			if err != nil {
				return err
			}
			same := slices.EqualFunc(got, want, func(a, b Placed) bool {
				return a.Seq == b.Seq && a.Duplicate == b.Duplicate && (a.Refused == nil) == (b.Refused == nil)
			})
			if !same {
				return fmt.Errorf("placed %+v, want %+v", got, want)
			}
			return nil
		},
	}
}

// Groups of any units, failing and panicking ones among them, come to what the same units come to one after another.
func TestGroupsEqualASequence(t *testing.T) {
	s := openTest(t, t.TempDir())
	src, err := s.Source(t.Context(), "model", "file")
	check(t, err)
	subs := []SubID{subscribed(t, s, "a"), subscribed(t, s, "b")}
	var told []int64
	s.OnAppend(func(events []Event) {
		for _, e := range events {
			told = append(told, e.Seq)
		}
	})
	m := &model{content: map[string]string{}, seqs: map[string]int64{}, names: map[string]bool{}, cursors: map[SubID]int64{}}
	round := 0
	rapid.Check(t, func(rt *rapid.T) {
		round++
		for range rapid.IntRange(1, 3).Draw(rt, "groups") {
			var units []func() error
			var expect []func(error) error
			for range rapid.IntRange(1, 8).Draw(rt, "units") {
				u := m.draw(rt, s, round, src.ID, subs)
				units, expect = append(units, u.do), append(expect, u.expect)
			}
			for i, err := range together(t, s, units...) {
				if err := expect[i](err); err != nil {
					rt.Fatalf("unit %d of %d: %v", i, len(units), err)
				}
			}
		}
		if _, last := s.Bounds(); last != m.last || int64(len(told)) != last {
			rt.Fatalf("last is %d, told of %d, want %d", last, len(told), m.last)
		}
	})
	verify := func(s *Store) {
		t.Helper()
		events, err := s.EventsAfter(t.Context(), 0, 1<<30, 1<<30)
		check(t, err)
		if int64(len(events)) != m.last {
			t.Errorf("%d events, want %d", len(events), m.last)
		}
		for _, e := range events {
			if m.seqs[e.ID] != e.Seq || m.content[e.ID] != string(e.Line) {
				t.Errorf("event %s is %d %s, want %d %s", e.ID, e.Seq, e.Line, m.seqs[e.ID], m.content[e.ID])
			}
		}
		for _, sub := range subs {
			if got := subscription(t, s, sub).Cursor; got != m.cursors[sub] {
				t.Errorf("cursor of %d is %d, want %d", sub, got, m.cursors[sub])
			}
		}
		var bad int
		check(t, one(s.read.QueryRowContext(t.Context(), `SELECT count(*) FROM meta WHERE k LIKE 'bad%'`), &bad))
		if bad != 0 {
			t.Errorf("%d traces of failed units", bad)
		}
	}
	verify(s)
	verify(crash(t, s))
}
