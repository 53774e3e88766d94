package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

// The queries that read events take the kind's number alone: its names are in memory.
const (
	eventColumns = `e.seq, e.kind, e.source, e.received_at, ifnull(e.at, 0), e.id, ifnull(e.resource, ''), ifnull(e.key, ''), e.line`

	queryEventsAfter = `SELECT ` + eventColumns + ` FROM events e WHERE e.seq > ? AND e.seq <= ? ORDER BY e.seq LIMIT ?`
	queryEventsDown  = `SELECT ` + eventColumns + ` FROM events e WHERE e.seq >= ? AND e.seq <= ? ORDER BY e.seq DESC LIMIT ?`
	queryEventsAt    = `SELECT ` + eventColumns + ` FROM json_each(?) ask CROSS JOIN events e ON e.seq = ask.value`
	queryIndexedID   = `SELECT seq FROM event_ids WHERE id_hash = ?`
)

// view is what a read of the log goes by: what is committed but not yet in memory is not in it, so that every event's
// kind is.
type view struct {
	first, last int64
	kinds       []Kind
}

func (s *Store) view() view {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return view{s.first, s.last, s.kinds[:len(s.kinds):len(s.kinds)]}
}

func (v view) kind(id KindID) (Kind, bool) {
	i, ok := slices.BinarySearchFunc(v.kinds, id, func(k Kind, id KindID) int { return cmp.Compare(k.ID, id) })
	if !ok {
		return Kind{}, false
	}
	return v.kinds[i], true
}

// scan reads one row of eventColumns.
func (v view) scan(scan scanner) (e Event, err error) {
	err = scan(&e.Seq, &e.Kind.ID, &e.Source, &e.ReceivedAt, &e.At, &e.ID, &e.Resource, &e.Key, &e.Line)
	if err != nil {
		return e, err
	}
	kind, ok := v.kind(e.Kind.ID)
	if !ok {
		return e, fmt.Errorf("%w: event %d has the kind %d, which is not there", ErrCorrupt, e.Seq, e.Kind.ID)
	}
	e.Kind = kind
	return e, nil
}

// EventsAfter returns the events behind a seq, in order and without a hole: at most limit, and, but for the first one,
// not more than maxBytes of lines.
func (s *Store) EventsAfter(ctx context.Context, after int64, limit, maxBytes int) ([]Event, error) {
	v := s.view()
	if after >= v.last || limit <= 0 {
		return nil, nil
	}
	p, err := s.plan(ctx, queryEventsAfter)
	if err != nil {
		return nil, fmt.Errorf("read events: %w", err)
	}
	rows, err := p.QueryContext(ctx, after, v.last, limit)
	if err != nil {
		return nil, fmt.Errorf("read events: %w", classify(err))
	}
	defer rows.Close() //nolint:errcheck // rows.Err says it
	var list []Event
	for size := 0; rows.Next(); {
		e, err := v.scan(rows.Scan)
		if err != nil {
			return nil, fmt.Errorf("read events: %w", classify(err))
		}
		if size += len(e.Line); size > maxBytes && len(list) > 0 {
			break
		}
		list = append(list, e)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read events: %w", classify(err))
	}
	return list, nil
}

// EventsAt returns the events of these seqs, those that exist, in order of seq.
func (s *Store) EventsAt(ctx context.Context, seqs []int64) ([]Event, error) {
	if len(seqs) == 0 {
		return nil, nil
	}
	v := s.view()
	list := make([]Event, 0, len(seqs))
	err := s.often(ctx, queryEventsAt, func(scan scanner) error {
		e, err := v.scan(scan)
		list = append(list, e)
		return err
	}, numbers(v.within(seqs)))
	if err != nil {
		return nil, fmt.Errorf("read events: %w", err)
	}
	slices.SortFunc(list, func(a, b Event) int { return cmp.Compare(a.Seq, b.Seq) })
	return list, nil
}

// within leaves out the seqs that are not in the log.
func (v view) within(seqs []int64) []int64 {
	return slices.DeleteFunc(slices.Clone(seqs), func(seq int64) bool { return seq < v.first || seq > v.last })
}

// EventBySeq returns one event of the log, or ErrNotFound.
func (s *Store) EventBySeq(ctx context.Context, seq int64) (Event, error) {
	list, err := s.EventsAt(ctx, []int64{seq})
	if err == nil && len(list) == 0 {
		err = fmt.Errorf("event %d: %w", seq, ErrNotFound)
	}
	if err != nil {
		return Event{}, err
	}
	return list[0], nil
}

// EventByID returns the event of the log with this id, or ErrNotFound.
func (s *Store) EventByID(ctx context.Context, id string) (Event, error) {
	hash := idHash(id)
	seqs := s.recent.find(nil, hash)
	err := s.often(ctx, queryIndexedID, func(scan scanner) error {
		var seq int64
		err := scan(&seq)
		seqs = append(seqs, seq)
		return err
	}, hash)
	if err != nil {
		return Event{}, fmt.Errorf("look up event id: %w", err)
	}
	candidates, err := s.EventsAt(ctx, seqs)
	if err != nil {
		return Event{}, err
	}
	for _, e := range candidates {
		if e.ID == id {
			return e, nil
		}
	}
	return Event{}, fmt.Errorf("event %q: %w", id, ErrNotFound)
}
