package store

import (
	"context"
	"fmt"

	"hookd/internal/event"
)

// QuarantineEntry is an input line that could not become an event.
type QuarantineEntry struct {
	ID             int64
	Source         string
	Gen            GenID
	Offset, Length int64
	Reason         event.Code
	Message        string
	At             int64
	Bytes          []byte // nil in lists; its beginning, where it was too long
}

// QuarantineFilter chooses entries of a list; a zero member chooses all.
type QuarantineFilter struct {
	Source string
	Since  int64 // Unix ms
	Before int64 // page: ID below this
	Limit  int
}

const quarantineColumns = `q.id, s.name, ifnull(q.gen, 0), q.offset, q.length, q.reason, q.message, q.at`

const quarantineTables = ` FROM quarantine q JOIN sources s ON s.id = q.source`

func scanQuarantine(scan scanner, more ...any) (q QuarantineEntry, err error) {
	err = scan(append([]any{&q.ID, &q.Source, &q.Gen, &q.Offset, &q.Length, &q.Reason, &q.Message, &q.At}, more...)...)
	return q, err
}

// ListQuarantine returns entries without their bytes, newest first.
func (s *Store) ListQuarantine(ctx context.Context, f QuarantineFilter) ([]QuarantineEntry, error) {
	var w where
	if f.Source != "" {
		w.and(`s.name = ?`, f.Source)
	}
	if f.Since != 0 {
		w.and(`q.at >= ?`, f.Since)
	}
	if f.Before != 0 {
		w.and(`q.id < ?`, f.Before)
	}
	var list []QuarantineEntry
	err := each(ctx, s.read, `SELECT `+quarantineColumns+quarantineTables+w.text+` ORDER BY q.id DESC LIMIT ?`, append(w.args, f.Limit), func(scan scanner) error {
		q, err := scanQuarantine(scan)
		list = append(list, q)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read quarantine: %w", err)
	}
	return list, nil
}

// Quarantine returns one entry with its bytes, or ErrNotFound.
func (s *Store) Quarantine(ctx context.Context, id int64) (QuarantineEntry, error) {
	var kept []byte
	row := s.read.QueryRowContext(ctx, `SELECT `+quarantineColumns+`, q.bytes`+quarantineTables+` WHERE q.id = ?`, id)
	q, err := scanQuarantine(func(to ...any) error { return one(row, to...) }, &kept)
	q.Bytes = kept
	if err != nil {
		return q, fmt.Errorf("quarantine entry %d: %w", id, err)
	}
	return q, nil
}

// quarantine keeps a refused line, where its source has none to answer to.
func (t *tx) quarantine(b *Batch, line *Line, why *event.Refusal) error {
	if !b.Quarantine {
		return nil
	}
	var gen any
	if b.Mark != nil {
		gen = int64(b.Mark.Gen)
	}
	kept := line.Bytes
	if kept == nil {
		kept = line.Event.Line
	}
	return t.w.insertQuarantine.exec(int64(b.Source), gen, line.Offset, line.Length, string(why.Code), why.Message, t.received, kept)
}
