package store

import (
	"context"
	"database/sql/driver"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strings"
)

// The indexes that would make every append or outcome touch a page of its own are filled behind, in sorted slices: what
// is not in them yet is in memory, or the short tail of its table.
const (
	sliceRows = 2000
	tailRows  = 4000 // a tail that is longer is cut by a slice
)

// idHash maps an id to where it stands in the index. Equal ids have equal hashes; ids that rise stand near each other,
// so that indexing them touches few pages: a UUIDv7 and a ULID by their time, another id by all but its last three
// characters, then by those.
func idHash(id string) int64 {
	if h, ok := uuidHash(id); ok {
		return h
	}
	if h, ok := ulidHash(id); ok {
		return h
	}
	cut := max(len(id)-3, 0)
	var low uint64
	for i := cut; i < len(id); i++ {
		low = low<<8 | uint64(id[i])
	}
	return int64(fnv(id[:cut])<<24 | low)
}

// fnv is FNV-1a with a final mix: stable, since the hash is stored.
func fnv(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	h ^= h >> 32
	h *= 0xd6e8feb86659fd93
	return h ^ h>>32
}

// uuidHash is the first half of a UUIDv7 in its text form: its time, version and first random bits.
func uuidHash(id string) (int64, bool) {
	if len(id) != 36 || id[14] != '7' || id[8] != '-' || id[13] != '-' || id[18] != '-' || id[23] != '-' {
		return 0, false
	}
	var first [8]byte
	digits := id[:8] + id[9:13] + id[14:18]
	if _, err := hex.Decode(first[:], []byte(digits)); err != nil {
		return 0, false
	}
	return int64(binary.BigEndian.Uint64(first[:])), true
}

const crockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// ulidHash is the first 65 bits of a ULID, less the one that is always zero: its time and first random bits.
func ulidHash(id string) (int64, bool) {
	if len(id) != 26 || id[0] > '7' {
		return 0, false
	}
	var h uint64
	for i := range len(id) {
		digit := strings.IndexByte(crockford, id[i])
		if digit < 0 {
			return 0, false
		}
		if i < 13 {
			h = h<<5 | uint64(digit)
		}
	}
	return int64(h), true
}

// wakeIndexer tells the indexer when a tail has grown.
func (s *Store) wakeIndexer() {
	if len(s.idsTail) <= tailRows && s.historyN-s.historyIndexed <= tailRows {
		return
	}
	select {
	case s.behind <- struct{}{}:
	default:
	}
}

// keepIndexed fills the indexes, a slice a unit, so that nobody waits for more than one.
func (s *Store) keepIndexed(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.behind:
		}
		for ctx.Err() == nil {
			more, err := s.indexSlices(ctx)
			if err != nil && ctx.Err() == nil && s.Refusing() == nil {
				s.log.Error("fill index", "error", err)
			}
			if !more || err != nil {
				break
			}
		}
	}
}

func (s *Store) indexSlices(ctx context.Context) (more bool, err error) {
	s.mu.RLock()
	ids, history := len(s.idsTail) > tailRows, s.historyN-s.historyIndexed > tailRows
	s.mu.RUnlock()
	if ids {
		if err := s.do(ctx, s.idSlice()); err != nil {
			return false, err
		}
	}
	if history {
		if err := s.do(ctx, s.historySliceUnit()); err != nil {
			return false, err
		}
	}
	return ids || history, nil
}

func (s *Store) idSlice() *unit {
	var rows []idRow
	return &unit{
		run: func(t *tx) error {
			rows = slices.Clone(s.idsTail[:min(sliceRows, len(s.idsTail))])
			if len(rows) == 0 {
				return nil
			}
			sorted := slices.Clone(rows)
			slices.SortFunc(sorted, func(a, b idRow) int { return compare(a.hash, b.hash) })
			for _, r := range sorted {
				if err := s.w.insertID.exec(r.hash, r.seq); err != nil {
					return err
				}
			}
			return s.w.setMeta.exec("ids_indexed", rows[len(rows)-1].seq)
		},
		applied: func(*tx) {
			for _, r := range rows {
				if left := slices.DeleteFunc(s.ids[r.hash], func(seq int64) bool { return seq == r.seq }); len(left) > 0 {
					s.ids[r.hash] = left
				} else {
					delete(s.ids, r.hash)
				}
			}
			s.idsTail = slices.Clone(s.idsTail[len(rows):])
			if len(rows) > 0 {
				s.idsIndexed = rows[len(rows)-1].seq
			}
		},
	}
}

func (s *Store) historySliceUnit() *unit {
	type row struct{ sub, seq, n int64 }
	var rows []row
	return &unit{
		run: func(*tx) error {
			rows = rows[:0]
			err := s.w.historySlice.query(func(v []driver.Value) error {
				rows = append(rows, row{number(v[0]), number(v[1]), number(v[2])})
				return nil
			}, s.historyIndexed, sliceRows)
			if err != nil || len(rows) == 0 {
				return err
			}
			last := rows[len(rows)-1].n
			slices.SortFunc(rows, func(a, b row) int {
				if c := compare(a.sub, b.sub); c != 0 {
					return c
				}
				return compare(a.seq, b.seq)
			})
			for _, r := range rows {
				if err := s.w.insertHistoryIx.exec(r.sub, r.seq, r.n); err != nil {
					return err
				}
			}
			return s.w.setMeta.exec("history_indexed", last)
		},
		applied: func(*tx) {
			for _, r := range rows {
				s.historyIndexed = max(s.historyIndexed, r.n)
			}
		},
	}
}

func compare(a, b int64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
