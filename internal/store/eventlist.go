package store

import (
	"context"
	"fmt"
	"math"
	"slices"
)

// EventFilter chooses events of a list; a zero member chooses all.
type EventFilter struct {
	Type, App    string
	Since, Until int64 // receipt, Unix ms; Until is not part of it
	Before       int64 // page: seq below this
	Limit        int
}

// The queries of lists and of what looks for a time.
const (
	querySeqsDown   = `SELECT seq FROM events WHERE kind = ? AND seq >= ? AND seq <= ? ORDER BY seq DESC LIMIT ?`
	queryReceivedAt = `SELECT received_at FROM events WHERE seq = ?`
)

// ListEvents returns events, newest first.
func (s *Store) ListEvents(ctx context.Context, f EventFilter) ([]Event, error) {
	v := s.view()
	from, to, err := s.span(ctx, v, f)
	if err != nil {
		return nil, fmt.Errorf("list events: %w", err)
	}
	if from > to || f.Limit <= 0 {
		return nil, nil
	}
	if f.Type == "" && f.App == "" {
		var list []Event
		err := s.often(ctx, queryEventsDown, func(scan scanner) error {
			e, err := v.scan(scan)
			list = append(list, e)
			return err
		}, from, to, f.Limit)
		if err != nil {
			return nil, fmt.Errorf("list events: %w", err)
		}
		return list, nil
	}
	var seqs []int64
	for _, k := range v.kinds {
		if f.Type != "" && f.Type != k.Type || f.App != "" && f.App != k.App {
			continue
		}
		if err := s.often(ctx, querySeqsDown, scanSeq(&seqs), int64(k.ID), from, to, f.Limit); err != nil {
			return nil, fmt.Errorf("list events: %w", err)
		}
	}
	slices.Sort(seqs)
	list, err := s.EventsAt(ctx, seqs[max(len(seqs)-f.Limit, 0):])
	slices.Reverse(list)
	return list, err
}

// span is the range of seqs that a filter leaves.
func (s *Store) span(ctx context.Context, v view, f EventFilter) (from, to int64, err error) {
	from, to = v.first, v.last
	if f.Before != 0 {
		to = min(to, f.Before-1)
	}
	if f.Until != 0 {
		seq, err := s.firstSince(ctx, v, f.Until)
		if err != nil {
			return 0, 0, err
		}
		to = min(to, seq-1)
	}
	if f.Since != 0 {
		from, err = s.firstSince(ctx, v, f.Since)
	}
	return from, to, err
}

// firstSince returns the first seq that was received at a time (Unix ms) or later, last+1 where none was: receipt times
// never fall within the log, so it is found by halving.
func (s *Store) firstSince(ctx context.Context, v view, ms int64) (int64, error) {
	low, high := v.first, v.last+1
	for low < high {
		middle := low + (high-low)/2
		received := int64(math.MinInt64) // of one that retention has removed meanwhile
		if err := s.often(ctx, queryReceivedAt, func(scan scanner) error { return scan(&received) }, middle); err != nil {
			return 0, err
		}
		if received >= ms {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return low, nil
}

func scanSeq(to *[]int64) func(scanner) error {
	return func(scan scanner) error {
		var seq int64
		err := scan(&seq)
		*to = append(*to, seq)
		return err
	}
}
