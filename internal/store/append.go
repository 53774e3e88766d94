package store

import (
	"bytes"
	"context"
	"database/sql/driver"
	"fmt"
	"slices"

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
func (s *Store) OnAppend(f func([]Event)) { s.onAppend = f }

// appending is the unit of work of Append.
type appending struct {
	Batch
	placed                        []Placed
	accepted, duplicates, refused int64
}

// Append puts the lines of a batch into the log, with the source's checkpoint, in one transaction. They are on disk when
// it returns. There is one Placed for each line. The lines' bytes belong to the store from now on.
func (s *Store) Append(ctx context.Context, b Batch) ([]Placed, error) {
	size := 0
	for i := range b.Lines {
		size += len(b.Lines[i].Event.Line) + len(b.Lines[i].Bytes)
	}
	a := &appending{Batch: b, placed: make([]Placed, len(b.Lines))}
	if err := s.do(ctx, durable, size, a); err != nil {
		return nil, fmt.Errorf("append to log: %w", err)
	}
	return a.placed, nil
}

func (a *appending) run(t *tx) error {
	a.accepted, a.duplicates, a.refused = 0, 0, 0
	t.received = max(t.received, a.Now)
	hashes, known, err := t.lookUp(a.Lines)
	if err != nil {
		return err
	}
	for i := range a.Lines {
		line := &a.Lines[i]
		p := Placed{Refused: line.Refused}
		if p.Refused == nil {
			if p, err = t.place(a.Source, &line.Event, hashes[i], known[hashes[i]]); err != nil {
				return err
			}
		}
		a.placed[i] = p
		switch {
		case p.Refused != nil:
			a.refused++
			if err := t.quarantine(&a.Batch, line, p.Refused); err != nil {
				return err
			}
		case p.Duplicate:
			a.duplicates++
		default:
			a.accepted++
		}
	}
	if err := t.w.events.flush(); err != nil {
		return err
	}
	if a.Mark != nil {
		if err := t.mark(*a.Mark); err != nil {
			return err
		}
	}
	if a.accepted+a.duplicates+a.refused == 0 {
		return nil
	}
	return t.w.addCounts.exec(a.accepted, a.duplicates, a.refused, int64(a.Source))
}

func (a *appending) applied(t *tx) {
	for i := range t.s.sources {
		if src := &t.s.sources[i]; src.ID == a.Source {
			src.Accepted += a.accepted
			src.Duplicates += a.duplicates
			src.Rejected += a.refused
		}
	}
}

// lookUp hashes the ids of lines and looks those up in event_ids that may be there, all at once: a statement for each
// would cost more than the search.
func (t *tx) lookUp(lines []Line) (hashes []int64, known map[int64][]int64, err error) {
	hashes = make([]int64, len(lines))
	var ask []int64
	for i := range lines {
		if lines[i].Refused != nil {
			continue
		}
		hashes[i] = idHash(lines[i].Event.ID)
		if hashes[i] <= t.s.maxIndexed {
			ask = append(ask, hashes[i])
		}
	}
	if len(ask) == 0 {
		return hashes, nil, nil
	}
	slices.Sort(ask) // neighbours share a page
	known = map[int64][]int64{}
	err = t.w.indexedIDs.query(func(row []driver.Value) error {
		hash := number(row[0])
		known[hash] = append(known[hash], number(row[1]))
		return nil
	}, numbers(ask))
	return hashes, known, err
}

// place appends one event, unless the log has its id; indexed are the seqs that event_ids has for its hash.
func (t *tx) place(source SourceID, e *event.Event, hash int64, indexed []int64) (Placed, error) {
	seq, same, err := t.find(e, hash, indexed)
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
	err = t.w.events.add(row.Seq, int64(kind.ID), hash, int64(source), row.ReceivedAt, null(row.At), row.ID,
		text(row.Resource), text(row.Key), row.Line)
	if err != nil {
		return Placed{}, err
	}
	t.last = row.Seq
	t.events, t.hashes = append(t.events, row), append(t.hashes, hash)
	t.s.recent.add(hash, row.Seq)
	return Placed{Seq: row.Seq}, t.closeBlock()
}

// find looks an event's id up in the log, this transaction's events included: seq 0 where it is not there. The hash
// says where it may be, the id itself decides.
func (t *tx) find(e *event.Event, hash int64, indexed []int64) (seq int64, same bool, err error) {
	t.candidates = append(t.s.recent.find(t.candidates[:0], hash), indexed...)
	if len(t.candidates) > 0 {
		if err := t.w.events.flush(); err != nil { // it may be one of this batch
			return 0, false, err
		}
	}
	for _, candidate := range t.candidates {
		err := t.w.eventByRow.query(func(row []driver.Value) error {
			if row[0].(string) == e.ID {
				line, _ := row[1].([]byte)
				seq, same = candidate, bytes.Equal(line, e.Line)
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
	id, err := t.w.insertKind.insert(app, typ)
	if err != nil {
		return Kind{}, err
	}
	k := Kind{ID: KindID(id), App: app, Type: typ}
	t.kinds = append(t.kinds, k)
	t.s.kindIDs[name] = k.ID
	return k, nil
}
