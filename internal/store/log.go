package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

const eventColumns = `e.seq, e.kind, k.app, k.type, e.source, e.received_at, ifnull(e.at, 0), e.id, ifnull(e.route, ''), e.line`

const eventTables = ` FROM events e JOIN kinds k ON k.id = e.kind`

func scanEvent(scan scanner) (Event, error) {
	var e Event
	var text string
	if err := scan(&e.Seq, &e.Kind.ID, &e.Kind.App, &e.Kind.Type, &e.Source, &e.ReceivedAt, &e.At, &e.ID, &text, &e.Line); err != nil {
		return e, err
	}
	r, err := parseRoute(text)
	e.Resource, e.Key = r.Resource, r.Key
	return e, err
}

func (s *Store) events(ctx context.Context, clause string, args ...any) ([]Event, error) {
	var list []Event
	err := each(ctx, s.read, `SELECT `+eventColumns+eventTables+clause, args, func(scan scanner) error {
		e, err := scanEvent(scan)
		list = append(list, e)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read events: %w", err)
	}
	return list, nil
}

// EventsAfter returns up to limit events behind a seq, in order, and not more than about maxBytes of lines.
func (s *Store) EventsAfter(ctx context.Context, after int64, limit, maxBytes int) ([]Event, error) {
	rows, err := s.read.QueryContext(ctx, `SELECT `+eventColumns+eventTables+` WHERE e.seq > ? ORDER BY e.seq LIMIT ?`, after, limit)
	if err != nil {
		return nil, fmt.Errorf("read events: %w", classify(err))
	}
	defer rows.Close()
	var list []Event
	for size := 0; size < maxBytes && rows.Next(); {
		e, err := scanEvent(rows.Scan)
		if err != nil {
			return nil, fmt.Errorf("read events: %w", classify(err))
		}
		list = append(list, e)
		size += len(e.Line)
	}
	return list, classify(rows.Err())
}

// EventsAt returns the events of these seqs, those that exist, in order of seq.
func (s *Store) EventsAt(ctx context.Context, seqs []int64) ([]Event, error) {
	if len(seqs) == 0 {
		return nil, nil
	}
	args := make([]any, len(seqs))
	for i, seq := range seqs {
		args[i] = seq
	}
	marks := strings.TrimSuffix(strings.Repeat("?,", len(seqs)), ",")
	return s.events(ctx, ` WHERE e.seq IN (`+marks+`) ORDER BY e.seq`, args...)
}

// EventBySeq returns one event of the log, or ErrNotFound.
func (s *Store) EventBySeq(ctx context.Context, seq int64) (Event, error) {
	return first(s.events(ctx, ` WHERE e.seq = ?`, seq))
}

// EventByID returns the event with this id, or ErrNotFound.
func (s *Store) EventByID(ctx context.Context, id string) (Event, error) {
	hash := idHash(id)
	s.mu.RLock()
	seqs := slices.Clone(s.ids[hash])
	s.mu.RUnlock()
	err := each(ctx, s.read, `SELECT seq FROM event_ids WHERE id_hash = ?`, []any{hash}, func(scan scanner) error {
		var seq int64
		err := scan(&seq)
		seqs = append(seqs, seq)
		return err
	})
	if err != nil {
		return Event{}, fmt.Errorf("look up event id: %w", err)
	}
	candidates, err := s.EventsAt(ctx, seqs)
	return first(slices.DeleteFunc(candidates, func(e Event) bool { return e.ID != id }), err)
}

func first(list []Event, err error) (Event, error) {
	if err != nil {
		return Event{}, err
	}
	if len(list) == 0 {
		return Event{}, ErrNotFound
	}
	return list[0], nil
}

// EventFilter chooses events of a list; a zero member chooses all.
type EventFilter struct {
	Type, App    string
	Since, Until int64 // receipt, Unix ms; Until is not part of it
	Before       int64 // page: seq below this
	Limit        int
}

// ListEvents returns events, newest first.
func (s *Store) ListEvents(ctx context.Context, f EventFilter) ([]Event, error) {
	var w where
	if f.Before != 0 {
		w.and(`e.seq < ?`, f.Before)
	}
	if f.Type != "" {
		w.and(`e.kind IN (SELECT id FROM kinds WHERE type = ?)`, f.Type)
	}
	if f.App != "" {
		w.and(`e.kind IN (SELECT id FROM kinds WHERE app = ?)`, f.App)
	}
	if f.Since != 0 {
		w.and(`e.received_at >= ?`, f.Since)
	}
	if f.Until != 0 {
		w.and(`e.received_at < ?`, f.Until)
	}
	return s.events(ctx, w.text+` ORDER BY e.seq DESC LIMIT ?`, append(w.args, f.Limit)...)
}

// indexRanges is up to how many kinds the next seqs are found by their ranges of the kind index; with more, the log is
// walked.
const indexRanges = 16

// NextSeqs returns the lowest seqs of these kinds that are above after and not above upTo, at most limit, in order.
func (s *Store) NextSeqs(ctx context.Context, kinds []KindID, after, upTo int64, limit int) ([]int64, error) {
	if len(kinds) == 0 || after >= upTo || limit <= 0 {
		return nil, nil
	}
	if len(kinds) == len(s.Kinds()) {
		begin, end := s.Bounds()
		var seqs []int64
		for seq := max(after+1, begin); seq <= min(upTo, end) && len(seqs) < limit; seq++ {
			seqs = append(seqs, seq)
		}
		return seqs, nil
	}
	if len(kinds) <= indexRanges {
		return s.seqsOfKinds(ctx, kinds, after, upTo, limit)
	}
	return s.seqsByWalk(ctx, kinds, after, upTo, limit)
}

func (s *Store) seqsOfKinds(ctx context.Context, kinds []KindID, after, upTo int64, limit int) ([]int64, error) {
	var seqs []int64
	for _, kind := range kinds {
		args := []any{int64(kind), after, upTo, limit}
		err := each(ctx, s.read, `SELECT seq FROM events WHERE kind = ? AND seq > ? AND seq <= ? ORDER BY seq LIMIT ?`, args, scanSeq(&seqs))
		if err != nil {
			return nil, fmt.Errorf("find next events: %w", err)
		}
	}
	slices.Sort(seqs)
	return seqs[:min(limit, len(seqs))], nil
}

// seqsByWalk walks the log in pages, so that no read is long.
func (s *Store) seqsByWalk(ctx context.Context, kinds []KindID, after, upTo int64, limit int) ([]int64, error) {
	const page = 4096
	wanted := map[KindID]bool{}
	for _, k := range kinds {
		wanted[k] = true
	}
	var seqs []int64
	for from := after; from < upTo && len(seqs) < limit; from += page {
		args := []any{from, min(from+page, upTo)}
		err := each(ctx, s.read, `SELECT seq, kind FROM events WHERE seq > ? AND seq <= ? ORDER BY seq`, args, func(scan scanner) error {
			var seq int64
			var kind KindID
			if err := scan(&seq, &kind); err != nil {
				return err
			}
			if wanted[kind] && len(seqs) < limit {
				seqs = append(seqs, seq)
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("find next events: %w", err)
		}
	}
	return seqs, nil
}

func scanSeq(to *[]int64) func(scanner) error {
	return func(scan scanner) error {
		var seq int64
		err := scan(&seq)
		*to = append(*to, seq)
		return err
	}
}

// Count returns how many events of these kinds are behind a seq: exact, by the counts of closed blocks.
func (s *Store) Count(ctx context.Context, kinds []KindID, after int64) (int64, error) {
	open, start, last := s.openCounts()
	first, _ := s.Bounds()
	after = max(after, first-1)
	if after >= last || len(kinds) == 0 {
		return 0, nil
	}
	if len(kinds) == len(s.Kinds()) {
		return last - after, nil
	}
	n, err := s.countClosed(ctx, kinds, after, start)
	if err != nil {
		return 0, err
	}
	if after < start {
		for _, k := range kinds {
			n += open[k]
		}
		return n, nil
	}
	m, err := s.countRange(ctx, kinds, after, last)
	return n + m, err
}

// countClosed counts in the blocks before start: one part of a block by the kind index, whole ones by their sums.
func (s *Store) countClosed(ctx context.Context, kinds []KindID, after, start int64) (int64, error) {
	if after+1 >= start {
		return 0, nil
	}
	whole := block(after + 1)
	var n int64
	if whole<<blockBits != after+1 {
		var err error
		if n, err = s.countRange(ctx, kinds, after, (whole+1)<<blockBits-1); err != nil {
			return 0, err
		}
		whole++
	}
	wanted := map[KindID]bool{}
	for _, k := range kinds {
		wanted[k] = true
	}
	err := each(ctx, s.read, `SELECT kind, sum(n) FROM blocks WHERE block >= ? AND block < ? GROUP BY kind`,
		[]any{whole, block(start)}, func(scan scanner) error {
			var kind KindID
			var sum int64
			if err := scan(&kind, &sum); err != nil {
				return err
			}
			if wanted[kind] {
				n += sum
			}
			return nil
		})
	if err != nil {
		return 0, fmt.Errorf("count events: %w", err)
	}
	return n, nil
}

func (s *Store) countRange(ctx context.Context, kinds []KindID, after, upTo int64) (int64, error) {
	var n int64
	for _, k := range kinds {
		var m int64
		row := s.read.QueryRowContext(ctx, `SELECT count(*) FROM events WHERE kind = ? AND seq > ? AND seq <= ?`, int64(k), after, upTo)
		if err := row.Scan(&m); err != nil {
			return 0, fmt.Errorf("count events: %w", classify(err))
		}
		n += m
	}
	return n, nil
}
