package store

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// mergeKinds is up to how many kinds the next seqs are found by merging each one's range of the kind index. With more,
// all their entries in one stretch of the log are taken.
const mergeKinds = 16

// The bounds of a stretch, in seqs: it begins with a few times what is wanted, and grows where little of it matches.
const (
	stretchFew  = 4
	stretchMost = 1 << 16
)

// Both go by the index events_kind, which holds (kind, seq), and by nothing else. The answer is one text: a row for each
// seq would cost ten times as much as finding it.
const (
	querySeqsAmong = `SELECT ifnull(group_concat(e.seq), '')
		FROM json_each(?) ask CROSS JOIN events e ON e.kind = ask.value AND e.seq > ? AND e.seq <= ?`
)

// querySeqsMerged are the queries for 1 to mergeKinds kinds: ranges that SQLite merges as far as it needs them.
var querySeqsMerged = func() (queries [mergeKinds + 1]string) {
	ranges := ""
	for n := 1; n <= mergeKinds; n++ {
		ranges += fmt.Sprintf(`SELECT seq FROM events WHERE kind = ?%d AND seq > ?1 AND seq <= ?2`, 3+n)
		queries[n] = `SELECT ifnull(group_concat(seq), '') FROM (` + ranges + ` ORDER BY seq LIMIT ?3)`
		ranges += ` UNION ALL `
	}
	return queries
}()

// NextSeqs returns the lowest seqs of these kinds that are above after and not above upTo, at most limit, in order. No
// kind may be there twice.
func (s *Store) NextSeqs(ctx context.Context, kinds []KindID, after, upTo int64, limit int) (seqs []int64, err error) {
	v := s.view()
	after, upTo = max(after, v.first-1), min(upTo, v.last)
	if len(kinds) == 0 || after >= upTo || limit <= 0 {
		return nil, nil
	}
	switch {
	case len(kinds) == len(v.kinds):
		for seq := after + 1; seq <= upTo && len(seqs) < limit; seq++ {
			seqs = append(seqs, seq)
		}
	case len(kinds) <= mergeKinds:
		seqs, err = s.seqsOfEach(ctx, kinds, after, upTo, limit)
	default:
		seqs, err = s.seqsAmong(ctx, kinds, after, upTo, limit)
	}
	if err != nil {
		return nil, fmt.Errorf("find next events: %w", err)
	}
	return seqs, nil
}

func (s *Store) seqsOfEach(ctx context.Context, kinds []KindID, after, upTo int64, limit int) (seqs []int64, err error) {
	args := append(make([]any, 0, 3+len(kinds)), after, upTo, limit)
	for _, k := range kinds {
		args = append(args, int64(k))
	}
	err = s.often(ctx, querySeqsMerged[len(kinds)], scanSeqs(&seqs), args...)
	return seqs, err
}

func (s *Store) seqsAmong(ctx context.Context, kinds []KindID, after, upTo int64, limit int) (seqs []int64, err error) {
	ask := numbers(kinds)
	for stretch := int64(stretchFew * limit); after < upTo && len(seqs) < limit; stretch = min(4*stretch, stretchMost) {
		end := min(after+stretch, upTo)
		before := len(seqs)
		if err := s.often(ctx, querySeqsAmong, scanSeqs(&seqs), ask, after, end); err != nil {
			return nil, err
		}
		slices.Sort(seqs[before:])
		after = end
	}
	return seqs[:min(limit, len(seqs))], nil
}

// scanSeqs appends the seqs of a text that group_concat made.
func scanSeqs(to *[]int64) func(scanner) error {
	return func(scan scanner) error {
		var text string
		if err := scan(&text); err != nil || text == "" {
			return err
		}
		for part := range strings.SplitSeq(text, ",") {
			seq, err := strconv.ParseInt(part, 10, 64)
			if err != nil {
				return err
			}
			*to = append(*to, seq)
		}
		return nil
	}
}
