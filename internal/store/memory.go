package store

import (
	"context"
	"fmt"
	"maps"
	"slices"
)

// memory is what the store knows without a query. It changes after each commit.
type memory struct {
	first, last int64 // of the log
	received    int64 // receipt time of the last event
	historyN    int64 // last row of history
	masterCheck []byte

	kinds     []Kind
	kindIDs   map[kindName]KindID
	openBlock map[KindID]int64 // events of the open block by kind

	ids            map[int64][]int64 // id hash -> seqs, of events whose id is not in event_ids yet
	idsTail        []idRow           // the same, in order of seq
	idsIndexed     int64
	historyIndexed int64

	sources []Source
}

type kindName struct{ app, typ string }

type idRow struct{ hash, seq int64 }

// block is the number of the block of a seq; counts per block answer what would otherwise be a scan.
func block(seq int64) int64 { return seq >> blockBits }

const blockBits = 12

// tx is one transaction of a group: what it has added to the copies in memory, so that a later unit of the group sees
// it, and so that nothing has to be taken back when it fails.
type tx struct {
	s        *Store
	last     int64
	received int64
	historyN int64
	events   []Event
	kinds    []Kind
	hashes   []int64          // of events
	counts   map[KindID]int64 // events of the open block, once a block was closed or nil
	closed   bool             // a block was closed, counts replaces the store's
	counted  int              // events[:counted] are in counts or in a closed block
}

// remember moves what a transaction added into memory; s.mu is held.
func (t *tx) remember() {
	s := t.s
	s.last, s.received, s.historyN = t.last, t.received, t.historyN
	for _, k := range t.kinds {
		s.kinds = append(s.kinds, k)
		s.kindIDs[kindName{k.App, k.Type}] = k.ID
	}
	if t.closed {
		s.openBlock = t.counts
	}
	for _, e := range t.events[t.counted:] {
		s.openBlock[e.Kind.ID]++
	}
	for i, e := range t.events {
		s.ids[t.hashes[i]] = append(s.ids[t.hashes[i]], e.Seq)
		s.idsTail = append(s.idsTail, idRow{t.hashes[i], e.Seq})
	}
}

// remember reads the copies in memory from the database, at open.
func (s *Store) remember(ctx context.Context) error {
	s.kindIDs, s.openBlock, s.ids = map[kindName]KindID{}, map[KindID]int64{}, map[int64][]int64{}
	get := func(key string, to any) error {
		if err := s.read.QueryRowContext(ctx, `SELECT v FROM meta WHERE k = ?`, key).Scan(to); err != nil {
			return fmt.Errorf("read %s: %w", key, classify(err))
		}
		return nil
	}
	for key, to := range map[string]any{
		"sync_epoch": &s.epoch, "first_seq": &s.first, "ids_indexed": &s.idsIndexed, "history_indexed": &s.historyIndexed,
	} {
		if err := get(key, to); err != nil {
			return err
		}
	}
	if err := s.read.QueryRowContext(ctx, `SELECT (SELECT v FROM meta WHERE k = 'master_check')`).Scan(&s.masterCheck); err != nil {
		return fmt.Errorf("read master check: %w", classify(err))
	}
	row := s.read.QueryRowContext(ctx, `SELECT ifnull((SELECT max(seq) FROM events), 0), ifnull((SELECT max(n) FROM history), 0)`)
	if err := row.Scan(&s.last, &s.historyN); err != nil {
		return fmt.Errorf("read log bounds: %w", classify(err))
	}
	s.last = max(s.last, s.first-1)
	row = s.read.QueryRowContext(ctx, `SELECT ifnull((SELECT received_at FROM events WHERE seq = ?), 0)`, s.last)
	if err := row.Scan(&s.received); err != nil {
		return fmt.Errorf("read last receipt: %w", classify(err))
	}
	if err := s.rememberKinds(ctx); err != nil {
		return err
	}
	if err := s.rememberTail(ctx); err != nil {
		return err
	}
	return s.rememberSources(ctx)
}

func (s *Store) rememberKinds(ctx context.Context) error {
	err := each(ctx, s.read, `SELECT id, app, type FROM kinds ORDER BY id`, nil, func(scan scanner) error {
		var k Kind
		if err := scan(&k.ID, &k.App, &k.Type); err != nil {
			return err
		}
		s.kinds = append(s.kinds, k)
		s.kindIDs[kindName{k.App, k.Type}] = k.ID
		return nil
	})
	if err != nil {
		return fmt.Errorf("read kinds: %w", err)
	}
	return nil
}

// rememberTail reads the ids that are not indexed, and counts the events of the open block.
func (s *Store) rememberTail(ctx context.Context) error {
	start := block(s.last+1) << blockBits
	from := min(s.idsIndexed+1, start)
	err := each(ctx, s.read, `SELECT seq, kind, id_hash FROM events WHERE seq >= ? ORDER BY seq`, []any{from}, func(scan scanner) error {
		var seq, hash int64
		var kind KindID
		if err := scan(&seq, &kind, &hash); err != nil {
			return err
		}
		if seq >= start {
			s.openBlock[kind]++
		}
		if seq > s.idsIndexed {
			s.ids[hash] = append(s.ids[hash], seq)
			s.idsTail = append(s.idsTail, idRow{hash, seq})
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("read end of log: %w", err)
	}
	return nil
}

func (s *Store) rememberSources(ctx context.Context) error {
	err := each(ctx, s.read, `SELECT id, name, kind, accepted, duplicates, rejected FROM sources ORDER BY id`, nil, func(scan scanner) error {
		var src Source
		if err := scan(&src.ID, &src.Name, &src.Kind, &src.Accepted, &src.Duplicates, &src.Rejected); err != nil {
			return err
		}
		s.sources = append(s.sources, src)
		return nil
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

// Sources returns the sources with their counts.
func (s *Store) Sources() []Source {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Clone(s.sources)
}

// openCounts copies the counts of the open block and says where it begins and what the last seq is.
func (s *Store) openCounts() (counts map[KindID]int64, start, last int64) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return maps.Clone(s.openBlock), block(s.last+1) << blockBits, s.last
}
