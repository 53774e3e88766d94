package store

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
)

// Delivery is a finished delivery, as it ended.
type Delivery struct {
	N                        int64 // rises with time; the place in a list
	Sub                      SubID
	Seq                      int64
	Kind                     Kind
	Status                   Status
	Code                     Code
	HTTPStatus, Attempts     int
	FirstAt, EndedAt, TookMS int64
	Replay                   int64
	EventID                  string // "" where the event left the log
}

// DeliveryFilter chooses deliveries of a list; a zero member chooses all.
type DeliveryFilter struct {
	Sub           SubID
	Status        Status
	Type, EventID string
	Since, Until  int64 // end, Unix ms; Until is not part of it
	Before        int64 // page: N below this
	Limit         int
}

const deliveryColumns = `h.n, h.sub, h.seq, h.kind, k.app, k.type, h.status, h.error, h.code, h.attempts, h.first_at, h.ended_at,
	h.took, h.replay, ifnull((SELECT e.id FROM events e WHERE e.seq = h.seq), '')`

const deliveryTables = ` FROM history h JOIN kinds k ON k.id = h.kind`

// historyStretch is how many rows of history one read of a list looks at, so that none is long however few match.
const historyStretch = 20000

func scanDeliveries(to *[]Delivery) func(scanner) error {
	return func(scan scanner) error {
		var d Delivery
		err := scan(&d.N, &d.Sub, &d.Seq, &d.Kind.ID, &d.Kind.App, &d.Kind.Type, &d.Status, &d.Code, &d.HTTPStatus, &d.Attempts,
			&d.FirstAt, &d.EndedAt, &d.TookMS, &d.Replay, &d.EventID)
		*to = append(*to, d)
		return err
	}
}

// ListDeliveries returns finished deliveries of subscriptions that are not deleted, newest first.
func (s *Store) ListDeliveries(ctx context.Context, f DeliveryFilter) ([]Delivery, error) {
	var w where
	w.and(`h.sub IN (SELECT id FROM subs WHERE deleted_at IS NULL)`)
	if f.Sub != 0 {
		w.and(`h.sub = ?`, int64(f.Sub))
	}
	if f.Status != 0 {
		w.and(`h.status = ?`, int64(f.Status))
	}
	if f.Type != "" {
		w.and(`k.type = ?`, f.Type)
	}
	if f.Since != 0 {
		w.and(`h.ended_at >= ?`, f.Since)
	}
	if f.Until != 0 {
		w.and(`h.ended_at < ?`, f.Until)
	}
	if f.Before == 0 {
		f.Before = math.MaxInt64
	}
	if f.EventID != "" {
		return s.deliveriesOfEvent(ctx, f, w)
	}
	return s.recentDeliveries(ctx, f, w)
}

// recentDeliveries walks the history down, a stretch a read.
func (s *Store) recentDeliveries(ctx context.Context, f DeliveryFilter, w where) ([]Delivery, error) {
	s.mu.RLock()
	high := min(f.Before-1, s.historyN)
	s.mu.RUnlock()
	var list []Delivery
	for high > 0 && len(list) < f.Limit {
		low := max(high-historyStretch, 0)
		stretch := where{w.text, slices.Clone(w.args)}
		stretch.and(`h.n > ? AND h.n <= ?`, low, high)
		err := each(ctx, s.read, `SELECT `+deliveryColumns+deliveryTables+stretch.text+` ORDER BY h.n DESC LIMIT ?`,
			append(stretch.args, f.Limit-len(list)), scanDeliveries(&list))
		if err != nil {
			return nil, fmt.Errorf("list deliveries: %w", err)
		}
		high = low
	}
	return list, nil
}

// deliveriesOfEvent finds them by the subscriptions, of which there are fewer than rows of history.
func (s *Store) deliveriesOfEvent(ctx context.Context, f DeliveryFilter, w where) ([]Delivery, error) {
	e, err := s.EventByID(ctx, f.EventID)
	if errors.Is(err, ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	ns := s.unindexed(func(r historyRow) bool { return r.seq == e.Seq })
	err = each(ctx, s.read, `SELECT i.n FROM subs s CROSS JOIN history_ix i ON i.sub = s.id AND i.seq = ? WHERE s.deleted_at IS NULL`,
		[]any{e.Seq}, scanSeq(&ns))
	if err != nil {
		return nil, fmt.Errorf("list deliveries: %w", err)
	}
	w.and(`h.n < ?`, f.Before)
	w.and(`h.n IN (SELECT value FROM json_each(?))`, numbers(ns))
	var list []Delivery
	err = each(ctx, s.read, `SELECT `+deliveryColumns+deliveryTables+w.text+` ORDER BY h.n DESC LIMIT ?`, append(w.args, f.Limit), scanDeliveries(&list))
	if err != nil {
		return nil, fmt.Errorf("list deliveries: %w", err)
	}
	return list, nil
}

// unindexed returns the rows of history, of those that are not in history_ix yet, that match.
func (s *Store) unindexed(match func(historyRow) bool) (ns []int64) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, part := range [][]historyRow{s.history.run, s.history.tail} {
		for _, r := range part {
			if match(r) {
				ns = append(ns, r.n)
			}
		}
	}
	return ns
}

const (
	queryIndexedHistory = `SELECT n FROM history_ix WHERE sub = ? AND seq = ?`
	queryDeliveriesAt   = `SELECT ` + deliveryColumns + deliveryTables + ` WHERE h.n IN (SELECT value FROM json_each(?)) ORDER BY h.n DESC`
)

// DeliveryOf returns how one delivery ended, each time it did, newest first.
func (s *Store) DeliveryOf(ctx context.Context, sub SubID, seq int64) ([]Delivery, error) {
	// Memory before the index: what leaves the one is in the other by then.
	ns := s.unindexed(func(r historyRow) bool { return r.sub == int64(sub) && r.seq == seq })
	if err := s.often(ctx, queryIndexedHistory, scanSeq(&ns), int64(sub), seq); err != nil {
		return nil, fmt.Errorf("read delivery: %w", err)
	}
	if len(ns) == 0 {
		return nil, nil
	}
	var list []Delivery
	if err := s.often(ctx, queryDeliveriesAt, scanDeliveries(&list), numbers(ns)); err != nil {
		return nil, fmt.Errorf("read delivery: %w", err)
	}
	return list, nil
}

const queryAttempts = `SELECT attempt, at, took, error, code, ifnull(next_at, 0), replay FROM attempts
	WHERE sub = ? AND seq = ? ORDER BY n DESC LIMIT ?`

// Attempts returns the failed attempts of a delivery, newest first.
func (s *Store) Attempts(ctx context.Context, sub SubID, seq int64, limit int) ([]Attempt, error) {
	var list []Attempt
	err := s.often(ctx, queryAttempts, func(scan scanner) error {
		var a Attempt
		err := scan(&a.Attempt, &a.At, &a.TookMS, &a.Code, &a.HTTPStatus, &a.NextAt, &a.Replay)
		list = append(list, a)
		return err
	}, int64(sub), seq, limit)
	if err != nil {
		return nil, fmt.Errorf("read attempts: %w", err)
	}
	return list, nil
}
