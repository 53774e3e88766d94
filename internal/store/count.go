package store

import (
	"context"
	"fmt"
)

const (
	queryCountRange  = `SELECT count(*) FROM json_each(?) ask CROSS JOIN events e ON e.kind = ask.value AND e.seq > ? AND e.seq <= ?`
	queryCountBlocks = `SELECT ifnull(sum(b.n), 0) FROM json_each(?) ask CROSS JOIN blocks b
		ON b.kind = ask.value AND b.block >= ? AND b.block < ?`
)

// Count returns how many events of these kinds are behind a seq. It is exact and never a scan: the sums of whole blocks,
// the counts of the open one in memory, and the kind index for the part of the block that after lies in. No kind may be
// there twice.
func (s *Store) Count(ctx context.Context, kinds []KindID, after int64) (int64, error) {
	open, start, v := s.openCounts()
	after = max(after, v.first-1)
	switch {
	case after >= v.last || len(kinds) == 0:
		return 0, nil
	case len(kinds) == len(v.kinds):
		return v.last - after, nil
	}
	ask := numbers(kinds)
	if after >= start {
		return s.count(ctx, queryCountRange, ask, after, v.last)
	}
	var n int64
	for _, k := range kinds {
		n += open[k]
	}
	whole := block(after + 1)
	if whole<<blockBits != after+1 {
		part, err := s.count(ctx, queryCountRange, ask, after, (whole+1)<<blockBits-1)
		if err != nil {
			return 0, err
		}
		n += part
		whole++
	}
	sum, err := s.count(ctx, queryCountBlocks, ask, whole, block(start))
	return n + sum, err
}

func (s *Store) count(ctx context.Context, query string, args ...any) (n int64, err error) {
	if err := s.often(ctx, query, func(scan scanner) error { return scan(&n) }, args...); err != nil {
		return 0, fmt.Errorf("count events: %w", err)
	}
	return n, nil
}
