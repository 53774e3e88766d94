package store

import (
	"context"
	"fmt"
	"maps"
	"slices"
)

// memory is what the store knows without a query. It changes after each commit, by the leader, with Store.mu held; so
// the leader may read it without.
type memory struct {
	first, last int64 // of the log
	received    int64 // receipt time of the last event
	historyN    int64 // last row of history
	masterCheck []byte

	kinds     []Kind
	openBlock map[KindID]int64 // events of the open block by kind

	ids        behind[idRow]
	maxIndexed int64 // highest hash in event_ids; its lowest possible value when there is none
	history    behind[historyRow]

	cursors map[SubID]move // moves that subs does not have yet
	deleted map[SubID]bool
	sources []Source
}

type kindName struct{ app, typ string }

// move is a cursor that an outcome moved on.
type move struct {
	sub       SubID
	cursor    int64
	succeeded int64 // highest seq that succeeded, 0 = none
}

// remember puts what a transaction added into memory; s.mu is held.
func (s *Store) remember(t *tx) {
	s.last, s.received, s.historyN = t.last, t.received, t.historyN
	s.kinds = append(s.kinds, t.kinds...)
	if t.blocks.closed {
		s.openBlock = map[KindID]int64{}
	}
	for i := t.blocks.counted; i < len(t.events); i++ {
		s.openBlock[t.events[i].Kind.ID]++
	}
	for _, m := range t.moves {
		s.cursors[m.sub] = s.cursors[m.sub].and(m)
	}

	for _, id := range t.deleted {
		s.deleted[id] = true
	}
	if whole := s.ids.committed(t.idSlice); whole != nil {
		s.maxIndexed = max(s.maxIndexed, whole[len(whole)-1].hash)
		s.recent.remove(whole)
	}
	for i := range t.events {
		s.ids.tail = append(s.ids.tail, idRow{t.hashes[i], t.events[i].Seq})
	}
	s.history.committed(t.historySlice)
	s.history.tail = append(s.history.tail, t.history...)
}

// and is the later of two moves; n comes after m.
func (m move) and(n move) move {
	return move{n.sub, max(m.cursor, n.cursor), max(m.succeeded, n.succeeded)}
}

// forget takes back what a transaction that was rolled back has left in the leader's maps.
func (s *Store) forget(t *tx) {
	for i := range t.events {
		s.recent.remove([]idRow{{t.hashes[i], t.events[i].Seq}})
	}
	for _, k := range t.kinds {
		delete(s.kindIDs, kindName{k.App, k.Type})
	}
}

// recall reads the copies in memory from the database, at open.
func (s *Store) recall(ctx context.Context) error {
	s.openBlock, s.cursors, s.deleted = map[KindID]int64{}, map[SubID]move{}, map[SubID]bool{}
	s.kindIDs, s.recent = map[kindName]KindID{}, newRecentIDs()
	s.ids = behind[idRow]{compare: compareIDs, size: runRows}
	s.history = behind[historyRow]{compare: compareHistory, size: runRows}
	var idsIndexed, historyIndexed int64
	for key, to := range map[string]any{
		"sync_epoch": &s.epoch, "first_seq": &s.first, "ids_indexed": &idsIndexed, "history_indexed": &historyIndexed,
	} {
		if err := one(s.read.QueryRowContext(ctx, `SELECT v FROM meta WHERE k = ?`, key), to); err != nil {
			return fmt.Errorf("read %s: %w", key, err)
		}
	}
	row := s.read.QueryRowContext(ctx, `SELECT (SELECT v FROM meta WHERE k = 'master_check'),
		ifnull((SELECT max(seq) FROM events), 0), ifnull((SELECT max(n) FROM history), 0),
		ifnull((SELECT received_at FROM events ORDER BY seq DESC LIMIT 1), 0),
		ifnull((SELECT max(id_hash) FROM event_ids), ?)`, int64(-1<<63))
	if err := one(row, &s.masterCheck, &s.last, &s.historyN, &s.received, &s.maxIndexed); err != nil {
		return fmt.Errorf("read ends of log and history: %w", err)
	}
	s.last = max(s.last, s.first-1)
	for _, read := range []func() error{
		func() error { return s.recallKinds(ctx) },
		func() error { return s.recallEvents(ctx, idsIndexed) },
		func() error { return s.recallHistory(ctx, historyIndexed) },
		func() error { return s.recallDeleted(ctx) },
		func() error { return s.recallSources(ctx) },
	} {
		if err := read(); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) recallKinds(ctx context.Context) error {
	err := each(ctx, s.read, `SELECT id, app, type FROM kinds ORDER BY id`, nil, func(scan scanner) error {
		var k Kind
		err := scan(&k.ID, &k.App, &k.Type)
		s.kinds = append(s.kinds, k)
		s.kindIDs[kindName{k.App, k.Type}] = k.ID
		return err
	})
	if err != nil {
		return fmt.Errorf("read kinds: %w", err)
	}
	return nil
}

// recallEvents reads the ids that are not indexed, and counts the events of the open block.
func (s *Store) recallEvents(ctx context.Context, indexed int64) error {
	start := block(s.last+1) << blockBits
	from := min(indexed+1, start)
	err := each(ctx, s.read, `SELECT seq, kind, id_hash FROM events WHERE seq >= ? ORDER BY seq`, []any{from}, func(scan scanner) error {
		var seq, hash int64
		var kind KindID
		if err := scan(&seq, &kind, &hash); err != nil {
			return err
		}
		if seq >= start {
			s.openBlock[kind]++
		}
		if seq > indexed {
			s.recent.add(hash, seq)
			s.ids.tail = append(s.ids.tail, idRow{hash, seq})
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("read end of log: %w", err)
	}
	return nil
}

func (s *Store) recallHistory(ctx context.Context, indexed int64) error {
	err := each(ctx, s.read, `SELECT sub, seq, n FROM history WHERE n > ? ORDER BY n`, []any{indexed}, func(scan scanner) error {
		var r historyRow
		err := scan(&r.sub, &r.seq, &r.n)
		s.history.tail = append(s.history.tail, r)
		return err
	})
	if err != nil {
		return fmt.Errorf("read end of history: %w", err)
	}
	return nil
}

func (s *Store) recallDeleted(ctx context.Context) error {
	err := each(ctx, s.read, `SELECT id FROM subs WHERE deleted_at IS NOT NULL`, nil, func(scan scanner) error {
		var id SubID
		err := scan(&id)
		s.deleted[id] = true
		return err
	})
	if err != nil {
		return fmt.Errorf("read deleted subscriptions: %w", err)
	}
	return nil
}

func (s *Store) recallSources(ctx context.Context) error {
	err := each(ctx, s.read, `SELECT id, name, kind, accepted, duplicates, rejected FROM sources ORDER BY id`, nil, func(scan scanner) error {
		var src Source
		err := scan(&src.ID, &src.Name, &src.Kind, &src.Accepted, &src.Duplicates, &src.Rejected)
		s.sources = append(s.sources, src)
		return err
	})
	if err != nil {
		return fmt.Errorf("read sources: %w", err)
	}
	return nil
}

// Bounds returns the first seq that is retained and the last one; last is first-1 when the log is empty.
func (s *Store) Bounds() (first, last int64) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.first, s.last
}

// Kinds returns every (app, type) that the log has seen, oldest first. The slice must not be changed.
func (s *Store) Kinds() []Kind {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.kinds[:len(s.kinds):len(s.kinds)]
}

// Sources returns the sources with their counts, oldest first.
func (s *Store) Sources() []Source {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Clone(s.sources)
}

// openCounts copies the counts of the open block and says where it begins.
func (s *Store) openCounts() (counts map[KindID]int64, start int64, v view) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	v = view{s.first, s.last, s.kinds[:len(s.kinds):len(s.kinds)]}
	return maps.Clone(s.openBlock), block(s.last+1) << blockBits, v
}
