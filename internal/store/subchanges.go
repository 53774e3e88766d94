package store

import (
	"context"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"slices"
)

// NewSubscription is a row to be made, with a first, derived secret.
type NewSubscription struct {
	UUID, Name, App, Host   string
	URL, Headers            []byte // sealed
	Spec                    Spec
	Cursor, LeaseUntil, Now int64
	Generation, Master      int64
}

// CreateSubscription makes a subscription. A name that another one has is ErrNameTaken.
func (s *Store) CreateSubscription(ctx context.Context, n NewSubscription) (SubID, error) {
	spec, err := json.Marshal(n.Spec)
	if err != nil {
		return 0, fmt.Errorf("create subscription: %w", err)
	}
	var id int64
	err = s.do(ctx, durable, len(spec), step{do: func(t *tx) error {
		taken := false
		if err := t.w.nameTaken.query(func([]driver.Value) error { taken = true; return nil }, n.Name); err != nil {
			return err
		}
		if taken {
			return fmt.Errorf("%w: %q", ErrNameTaken, n.Name)
		}
		id, err = t.w.insertSub.insert(n.UUID, n.Name, n.App, int64(Active), int64(CauseNone), n.Now, n.Host, n.URL, blob(n.Headers),
			string(spec), n.Cursor, t.historyN, null(n.LeaseUntil), n.Now)
		if err != nil {
			return err
		}
		return t.w.insertSecret.exec(id, n.Generation, n.Master, nil, n.Now, nil)
	}})
	if err != nil {
		return 0, fmt.Errorf("create subscription: %w", err)
	}
	return SubID(id), nil
}

// Change is a change of a subscription's state.
type Change struct {
	Sub           SubID
	Rev           int64
	State         State
	Cause         Cause
	At            int64  // Unix ms
	ResetFailures bool   // the count of failures in a row starts again
	ClearRetry    bool   // the stream's head starts again with attempt 1
	Retry         *Retry // the stream's head goes on like this
}

// ChangeState writes a change that an owner asked for. A subscription that is not there is ErrNotFound.
func (s *Store) ChangeState(ctx context.Context, c Change) error {
	if err := s.do(ctx, durable, 0, step{do: func(t *tx) error { return t.changeState(&c) }}); err != nil {
		return fmt.Errorf("change state: %w", err)
	}
	return nil
}

func (t *tx) changeState(c *Change) error {
	n, err := t.w.setState.change(int64(c.State), int64(c.Cause), c.At, c.Rev, int64(c.Sub))
	if err := found(n, err); err != nil {
		return err
	}
	if c.ResetFailures {
		if err := t.w.setFailures.exec(0, int64(c.Sub)); err != nil {
			return err
		}
	}
	if c.ClearRetry {
		return t.w.dropRetry.exec(int64(c.Sub), 0)
	}
	return t.putRetry(c.Sub, c.Retry)
}

func (t *tx) putRetry(sub SubID, r *Retry) error {
	if r == nil {
		return nil
	}
	return t.w.putRetry.exec(int64(sub), r.Lane, r.Seq, r.Replay, r.Attempt, r.Step, r.Counted, r.FirstAt, r.DueAt, r.DelayMS,
		int64(r.Error), r.HTTPStatus, r.Since)
}

// found turns a change of no row into ErrNotFound.
func found(n int64, err error) error {
	if err == nil && n == 0 {
		return ErrNotFound
	}
	return err
}

// SetLease writes when a leased subscription ends, Unix ms; 0: never. A subscription that is not there is ErrNotFound.
// It is not synced: a lease is renewed again and again.
func (s *Store) SetLease(ctx context.Context, sub SubID, until int64) error {
	err := s.do(ctx, lazy, 0, step{do: func(t *tx) error { return found(t.w.setLease.change(null(until), int64(sub))) }})
	if err != nil {
		return fmt.Errorf("set lease: %w", err)
	}
	return nil
}

// DeleteSubscription makes a subscription disappear: its name is free, its secrets and what was pending are gone, its
// dead letters and its history stay until their time. One that is not there is ErrNotFound.
func (s *Store) DeleteSubscription(ctx context.Context, sub SubID, rev, now int64) error {
	err := s.do(ctx, durable, 0, step{do: func(t *tx) error {
		if err := found(t.w.deleteSub.change(now, rev, int64(sub))); err != nil {
			return err
		}
		t.deleted = append(t.deleted, sub)
		for _, drop := range []*stmt{t.w.dropSecrets, t.w.dropRetries, t.w.dropReplayItems} {
			if err := drop.exec(int64(sub)); err != nil {
				return err
			}
		}
		return t.w.endReplays.exec(replayCancelled, now, int64(sub))
	}})
	if err != nil {
		return fmt.Errorf("delete subscription: %w", err)
	}
	return nil
}

// isDeleted reports whether a subscription is deleted, also by an earlier unit of this group.
func (t *tx) isDeleted(sub SubID) bool { return t.s.deleted[sub] || slices.Contains(t.deleted, sub) }

// SetSecrets replaces the secrets of a subscription. One that is deleted is ErrNotFound.
func (s *Store) SetSecrets(ctx context.Context, sub SubID, generations []Generation) error {
	err := s.do(ctx, durable, 0, step{do: func(t *tx) error {
		if t.isDeleted(sub) {
			return ErrNotFound
		}
		if err := t.w.dropSecrets.exec(int64(sub)); err != nil {
			return err
		}
		for _, g := range generations {
			if err := t.w.insertSecret.exec(int64(sub), g.Generation, g.Master, blob(g.Sealed), g.CreatedAt, null(g.NotAfter)); err != nil {
				return err
			}
		}
		return nil
	}})
	if err != nil {
		return fmt.Errorf("set secrets: %w", err)
	}
	return nil
}
