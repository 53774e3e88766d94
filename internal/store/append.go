package store

import (
	"bytes"
	"context"
	"database/sql/driver"
	"encoding/json"
	"fmt"

	"hookd/internal/event"
)

// SourceID and KindID are the store's own small numbers.
type (
	SourceID int64
	KindID   int64
)

// Kind is an app, or "", and a type: what decides which subscriptions an event is for.
type Kind struct {
	ID        KindID
	App, Type string
}

// Event is one row of the log. Its slices must not be changed.
type Event struct {
	Seq           int64
	Kind          Kind
	Source        SourceID
	ID            string
	ReceivedAt    int64 // Unix ms; never falls within the log
	At            int64 // the event's own time, Unix ms; 0 = none
	Resource, Key string
	Line          []byte // as it came, without its line end
}

// Line is one input line on its way into the log.
type Line struct {
	Event          event.Event    // with its ID, where Refused is nil
	Refused        *event.Refusal // why it is no event
	Offset, Length int64          // where it stands in a file
	Bytes          []byte         // what quarantine keeps of a refused line
}

// Batch is what a source gives to the log at once.
type Batch struct {
	Source     SourceID
	Lines      []Line    // at most 1000
	Mark       *FileMark // the checkpoint after the last line, nil for sources without one
	Quarantine bool      // keep refused lines in quarantine, and lines of a known id with other bytes
	Now        int64     // Unix ms
}

// Placed is what became of a line.
type Placed struct {
	Seq       int64          // in the log; of a duplicate, that of the first
	Duplicate bool           // the same id with the same bytes is in the log
	Refused   *event.Refusal // id_conflict, or as it was given
}

// OnAppend sets what is called after each commit that appended, with the events in order of seq. It runs on the
// committing goroutine: it must be quick, and must not call the store. It is set once, before the first Append.
func (s *Store) OnAppend(f func([]Event)) { s.change = f }

// Append puts the lines of a batch into the log, with the source's checkpoint, in one transaction. They are on disk when
// it returns. There is one Placed for each line. The lines' bytes belong to the store from now on.
func (s *Store) Append(ctx context.Context, b Batch) ([]Placed, error) {
	size := 0
	for i := range b.Lines {
		size += len(b.Lines[i].Event.Line) + len(b.Lines[i].Bytes)
	}
	var placed []Placed
	var counts [3]int64 // accepted, duplicates, rejected
	err := s.do(ctx, &unit{
		full: true, size: size,
		run: func(t *tx) (err error) {
			placed, counts, err = t.append(b)
			return err
		},
		applied: func(*tx) {
			for i := range s.sources {
				if src := &s.sources[i]; src.ID == b.Source {
					src.Accepted += counts[0]
					src.Duplicates += counts[1]
					src.Rejected += counts[2]
				}
			}
		},
	})
	if err != nil {
		return nil, fmt.Errorf("append to log: %w", err)
	}
	return placed, nil
}

func (t *tx) append(b Batch) ([]Placed, [3]int64, error) {
	w := t.s.w
	placed := make([]Placed, len(b.Lines))
	var counts [3]int64
	t.received = max(t.received, b.Now)
	for i := range b.Lines {
		line := &b.Lines[i]
		p, err := t.place(b.Source, line)
		if err != nil {
			return nil, counts, err
		}
		placed[i] = p
		switch {
		case p.Refused != nil:
			counts[2]++
			if b.Quarantine {
				if err := t.quarantine(b, line, p.Refused); err != nil {
					return nil, counts, err
				}
			}
		case p.Duplicate:
			counts[1]++
		default:
			counts[0]++
		}
	}
	if b.Mark != nil {
		if err := t.mark(*b.Mark); err != nil {
			return nil, counts, err
		}
	}
	if counts != [3]int64{} {
		if err := w.addCounts.exec(counts[0], counts[1], counts[2], int64(b.Source)); err != nil {
			return nil, counts, err
		}
	}
	return placed, counts, nil
}

// place appends one line, unless it is refused or known.
func (t *tx) place(source SourceID, line *Line) (Placed, error) {
	if line.Refused != nil {
		return Placed{Refused: line.Refused}, nil
	}
	e := &line.Event
	hash := idHash(e.ID)
	seq, same, err := t.known(hash, e.ID, e.Line)
	switch {
	case err != nil:
		return Placed{}, err
	case seq != 0 && same:
		return Placed{Seq: seq, Duplicate: true}, nil
	case seq != 0:
		return Placed{Refused: &event.Refusal{
			Code: event.IDConflict, Message: fmt.Sprintf("id: the event with seq %d has the same id and other content", seq),
		}}, nil
	}
	kind, err := t.kind(e.App, e.Type)
	if err != nil {
		return Placed{}, err
	}
	row := Event{
		Seq: t.last + 1, Kind: kind, Source: source, ID: e.ID, ReceivedAt: t.received, At: millis(e.Time),
		Resource: e.Resource, Key: e.Key, Line: e.Line,
	}
	err = t.s.w.insertEvent.exec(row.Seq, int64(kind.ID), hash, int64(source), row.ReceivedAt, null(row.At), row.ID,
		routeText(e.Resource, e.Key), row.Line)
	if err != nil {
		return Placed{}, err
	}
	t.last = row.Seq
	t.events, t.hashes = append(t.events, row), append(t.hashes, hash)
	return Placed{Seq: row.Seq}, t.closeBlock()
}

// known looks an id up: seq 0 where the log does not have it.
func (t *tx) known(hash int64, id string, line []byte) (seq int64, same bool, err error) {
	for i := range t.events {
		if t.hashes[i] == hash && t.events[i].ID == id {
			return t.events[i].Seq, bytes.Equal(t.events[i].Line, line), nil
		}
	}
	candidates := t.s.ids[hash]
	if t.s.idsIndexed >= t.s.first {
		candidates = candidates[:len(candidates):len(candidates)]
		err := t.s.w.idCandidates.query(func(row []driver.Value) error {
			candidates = append(candidates, number(row[0]))
			return nil
		}, hash)
		if err != nil {
			return 0, false, err
		}
	}
	for _, candidate := range candidates {
		err := t.s.w.eventByRow.query(func(row []driver.Value) error {
			if row[0].(string) == id {
				seq, same = candidate, bytes.Equal(row[1].([]byte), line)
			}
			return nil
		}, candidate)
		if err != nil || seq != 0 {
			return seq, same, err
		}
	}
	return 0, false, nil
}

func (t *tx) kind(app, typ string) (Kind, error) {
	name := kindName{app, typ}
	if id, ok := t.s.kindIDs[name]; ok {
		return Kind{ID: id, App: app, Type: typ}, nil
	}
	for _, k := range t.kinds {
		if k.App == app && k.Type == typ {
			return k, nil
		}
	}
	id, err := t.s.w.insertKind.insert(app, typ)
	if err != nil {
		return Kind{}, err
	}
	k := Kind{ID: KindID(id), App: app, Type: typ}
	t.kinds = append(t.kinds, k)
	return k, nil
}

// closeBlock writes the counts of a block once its last seq was appended.
func (t *tx) closeBlock() error {
	if block(t.last) == block(t.last+1) {
		return nil
	}
	counts := map[KindID]int64{}
	if !t.closed {
		for kind, n := range t.s.openBlock {
			counts[kind] = n
		}
	}
	for _, e := range t.events[t.counted:] {
		counts[e.Kind.ID]++
	}
	for kind, n := range counts {
		if err := t.s.w.insertBlock.exec(block(t.last), int64(kind), n); err != nil {
			return err
		}
	}
	t.counts, t.closed, t.counted = map[KindID]int64{}, true, len(t.events)
	return nil
}

func (t *tx) quarantine(b Batch, line *Line, why *event.Refusal) error {
	var gen any
	if b.Mark != nil {
		gen = int64(b.Mark.Gen)
	}
	kept := line.Bytes
	if kept == nil {
		kept = line.Event.Line
	}
	return t.s.w.insertQuarantine.exec(int64(b.Source), gen, line.Offset, line.Length, string(why.Code), why.Message, t.received, kept)
}

// route is what an event is routed by beside its kind.
type route struct {
	Resource string `json:"r,omitempty"`
	Key      string `json:"k,omitempty"`
}

func routeText(resource, key string) any {
	if resource == "" && key == "" {
		return nil
	}
	text, err := json.Marshal(route{resource, key})
	if err != nil {
		panic(err) // two strings
	}
	return string(text)
}

func parseRoute(text string) (r route, err error) {
	if text != "" {
		err = json.Unmarshal([]byte(text), &r)
	}
	return r, err
}
