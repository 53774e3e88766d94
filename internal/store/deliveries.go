package store

import (
	"context"
	"fmt"
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

func (s *Store) deliveries(ctx context.Context, clause string, args ...any) ([]Delivery, error) {
	var list []Delivery
	err := each(ctx, s.read, `SELECT `+deliveryColumns+` FROM history h JOIN kinds k ON k.id = h.kind`+clause, args, func(scan scanner) error {
		var d Delivery
		err := scan(&d.N, &d.Sub, &d.Seq, &d.Kind.ID, &d.Kind.App, &d.Kind.Type, &d.Status, &d.Code, &d.HTTPStatus, &d.Attempts,
			&d.FirstAt, &d.EndedAt, &d.TookMS, &d.Replay, &d.EventID)
		list = append(list, d)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read deliveries: %w", err)
	}
	return list, nil
}

// ListDeliveries returns finished deliveries, newest first.
func (s *Store) ListDeliveries(ctx context.Context, f DeliveryFilter) ([]Delivery, error) {
	var w where
	if f.Before != 0 {
		w.and(`h.n < ?`, f.Before)
	}
	if f.Sub != 0 {
		w.and(`h.sub = ?`, int64(f.Sub))
	} else {
		w.and(`h.sub IN (SELECT id FROM subs WHERE deleted_at IS NULL)`)
	}
	if f.Status != 0 {
		w.and(`h.status = ?`, int64(f.Status))
	}
	if f.Type != "" {
		w.and(`k.type = ?`, f.Type)
	}
	if f.EventID != "" {
		e, err := s.EventByID(ctx, f.EventID)
		if err != nil {
			return nil, ignoreNotFound(err)
		}
		w.and(`h.seq = ?`, e.Seq)
	}
	if f.Since != 0 {
		w.and(`h.ended_at >= ?`, f.Since)
	}
	if f.Until != 0 {
		w.and(`h.ended_at < ?`, f.Until)
	}
	return s.deliveries(ctx, w.text+` ORDER BY h.n DESC LIMIT ?`, append(w.args, f.Limit)...)
}

// DeliveryOf returns how one delivery ended, each time it did, newest first.
func (s *Store) DeliveryOf(ctx context.Context, sub SubID, seq int64) ([]Delivery, error) {
	s.mu.RLock()
	indexed := s.historyIndexed
	s.mu.RUnlock()
	// The index, and the short tail that is not in it yet.
	return s.deliveries(ctx, ` WHERE h.n IN (SELECT n FROM history_ix WHERE sub = ?1 AND seq = ?2
		UNION SELECT n FROM history WHERE n > ?3 AND sub = ?1 AND seq = ?2) ORDER BY h.n DESC`, int64(sub), seq, indexed)
}

// Attempts returns the failed attempts of a delivery, newest first.
func (s *Store) Attempts(ctx context.Context, sub SubID, seq int64, limit int) ([]Attempt, error) {
	var list []Attempt
	err := each(ctx, s.read, `SELECT attempt, at, took, error, code, ifnull(next_at, 0), replay FROM attempts
		WHERE sub = ? AND seq = ? ORDER BY n DESC LIMIT ?`, []any{int64(sub), seq, limit}, func(scan scanner) error {
		var a Attempt
		err := scan(&a.Attempt, &a.At, &a.TookMS, &a.Code, &a.HTTPStatus, &a.NextAt, &a.Replay)
		list = append(list, a)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read attempts: %w", err)
	}
	return list, nil
}
