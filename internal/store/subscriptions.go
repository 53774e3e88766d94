package store

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
)

// SubID is the store's number of a subscription.
type SubID int64

// Spec is what the owner of a subscription asked for. What is absent follows the configuration, also later.
type Spec struct {
	Types       []string `json:"types"`
	Retry       string   `json:"retry,omitempty"`
	TimeoutMS   int64    `json:"timeout_ms,omitempty"`
	MaxFailures *int     `json:"max_failures,omitempty"`
}

// Generation is one secret of a subscription. Sealed is nil where it is derived from the master key.
type Generation struct {
	Generation, Master  int64
	Sealed              []byte
	CreatedAt, NotAfter int64 // Unix ms; NotAfter 0 = it does not end
}

// Retry is the head of a lane that has failed before.
type Retry struct {
	Lane, Seq, Replay       int64
	Attempt                 int  // attempts made
	Step                    int  // index into the schedule of the next attempt
	Counted                 bool // an attempt of this head counted as a failure of the subscription
	FirstAt, DueAt, DelayMS int64
	Error                   Code // of the last attempt
	HTTPStatus              int
	Since                   int64 // when it began to block its lane, Unix ms
}

// Subscription is a row and what belongs to it.
type Subscription struct {
	ID              SubID
	UUID, Name, App string
	State           State
	Cause           Cause
	StateAt         int64
	Rev             int64
	Host            string
	URL, Headers    []byte // sealed
	Spec            Spec
	Cursor          int64 // moved on by the history
	LastSeq         int64 // highest seq that succeeded, 0 = none
	Failures        int
	LeaseUntil      int64 // 0 = it has no lease
	CreatedAt       int64
	Secrets         []Generation // newest first
	Retries         []Retry
}

// Subscriptions returns those that are not deleted, as they stand: for the start.
func (s *Store) Subscriptions(ctx context.Context) ([]Subscription, error) {
	var list []Subscription
	at := map[SubID]int{}
	cursorN := map[SubID]int64{}
	oldest := s.historyN
	err := each(ctx, s.read, `SELECT id, uuid, name, app, state, cause, state_at, rev, host, url, headers, spec, cursor, cursor_n,
		last_seq, failures, ifnull(lease_until, 0), created_at FROM subs WHERE deleted_at IS NULL ORDER BY id`, nil, func(scan scanner) error {
		var sub Subscription
		var spec string
		var n int64
		err := scan(&sub.ID, &sub.UUID, &sub.Name, &sub.App, &sub.State, &sub.Cause, &sub.StateAt, &sub.Rev, &sub.Host, &sub.URL,
			&sub.Headers, &spec, &sub.Cursor, &n, &sub.LastSeq, &sub.Failures, &sub.LeaseUntil, &sub.CreatedAt)
		if err != nil {
			return err
		}
		at[sub.ID], cursorN[sub.ID] = len(list), n
		oldest = min(oldest, n)
		list = append(list, sub)
		return json.Unmarshal([]byte(spec), &list[len(list)-1].Spec)
	})
	if err != nil {
		return nil, fmt.Errorf("read subscriptions: %w", err)
	}
	if err := s.moveCursors(ctx, oldest, list, at, cursorN); err != nil {
		return nil, err
	}
	err = each(ctx, s.read, `SELECT sub, generation, master, sealed, created_at, ifnull(not_after, 0) FROM secrets ORDER BY sub, generation DESC`,
		nil, func(scan scanner) error {
			var id SubID
			var g Generation
			if err := scan(&id, &g.Generation, &g.Master, &g.Sealed, &g.CreatedAt, &g.NotAfter); err != nil {
				return err
			}
			if i, ok := at[id]; ok {
				list[i].Secrets = append(list[i].Secrets, g)
			}
			return nil
		})
	if err != nil {
		return nil, fmt.Errorf("read secrets: %w", err)
	}
	err = each(ctx, s.read, `SELECT sub, lane, seq, replay, attempt, step, counted, first_at, due_at, delay, error, code, since FROM retries`,
		nil, func(scan scanner) error {
			var id SubID
			var r Retry
			err := scan(&id, &r.Lane, &r.Seq, &r.Replay, &r.Attempt, &r.Step, &r.Counted, &r.FirstAt, &r.DueAt, &r.DelayMS, &r.Error, &r.HTTPStatus, &r.Since)
			if err != nil {
				return err
			}
			if i, ok := at[id]; ok {
				list[i].Retries = append(list[i].Retries, r)
			}
			return nil
		})
	if err != nil {
		return nil, fmt.Errorf("read retries: %w", err)
	}
	return list, nil
}

// moveCursors moves the stored cursors on by the outcomes that came after them.
func (s *Store) moveCursors(ctx context.Context, after int64, list []Subscription, at map[SubID]int, cursorN map[SubID]int64) error {
	err := each(ctx, s.read, `SELECT n, sub, seq, status FROM history WHERE n > ? AND moves = 1 ORDER BY n`, []any{after}, func(scan scanner) error {
		var n, seq int64
		var id SubID
		var status Status
		if err := scan(&n, &id, &seq, &status); err != nil {
			return err
		}
		i, ok := at[id]
		if !ok || n <= cursorN[id] {
			return nil
		}
		list[i].Cursor = max(list[i].Cursor, seq)
		if status == Succeeded {
			list[i].LastSeq = max(list[i].LastSeq, seq)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("move cursors on: %w", err)
	}
	return nil
}

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
	err = s.do(ctx, &unit{full: true, run: func(t *tx) (err error) {
		id, err = s.w.insertSub.insert(n.UUID, n.Name, n.App, int64(Active), int64(CauseNone), n.Now, n.Host, n.URL, blob(n.Headers),
			string(spec), n.Cursor, t.historyN, null(n.LeaseUntil), n.Now)
		if err != nil {
			return err
		}
		return s.w.insertSecret.exec(id, n.Generation, n.Master, nil, n.Now, nil)
	}})
	if err != nil && strings.Contains(err.Error(), "subs.name") {
		return 0, fmt.Errorf("%w: %q", ErrNameTaken, n.Name)
	}
	if err != nil {
		return 0, fmt.Errorf("create subscription: %w", err)
	}
	return SubID(id), nil
}

func blob(b []byte) any {
	if b == nil {
		return nil
	}
	return b
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

// ChangeState writes a change that an owner asked for.
func (s *Store) ChangeState(ctx context.Context, c Change) error {
	err := s.do(ctx, &unit{full: true, run: func(*tx) error { return s.change1(c) }})
	if err != nil {
		return fmt.Errorf("change state: %w", err)
	}
	return nil
}

func (s *Store) change1(c Change) error {
	if err := s.w.setState.exec(int64(c.State), int64(c.Cause), c.At, c.Rev, int64(c.Sub)); err != nil {
		return err
	}
	if c.ResetFailures {
		if err := s.w.setFailures.exec(0, int64(c.Sub)); err != nil {
			return err
		}
	}
	if c.ClearRetry {
		return s.w.dropRetry.exec(int64(c.Sub), 0)
	}
	return s.putRetry(c.Sub, c.Retry)
}

func (s *Store) putRetry(sub SubID, r *Retry) error {
	if r == nil {
		return nil
	}
	return s.w.putRetry.exec(int64(sub), r.Lane, r.Seq, r.Replay, r.Attempt, r.Step, r.Counted, r.FirstAt, r.DueAt, r.DelayMS,
		int64(r.Error), r.HTTPStatus, r.Since)
}

// SetLease writes when a leased subscription ends, Unix ms.
func (s *Store) SetLease(ctx context.Context, sub SubID, until int64) error {
	return s.do(ctx, &unit{run: func(*tx) error { return s.w.setLease.exec(null(until), int64(sub)) }})
}

// DeleteSubscription makes a subscription disappear: its name is free, its secrets and what was pending are gone, its
// dead letters and its history stay until their time.
func (s *Store) DeleteSubscription(ctx context.Context, sub SubID, rev, now int64) error {
	err := s.do(ctx, &unit{full: true, run: func(*tx) error {
		if n, err := s.w.deleteSub.change(now, rev, int64(sub)); err != nil || n == 0 {
			return orNotFound(err)
		}
		for _, drop := range []*stmt{s.w.dropSecrets, s.w.dropRetries, s.w.dropReplayItems} {
			if err := drop.exec(int64(sub)); err != nil {
				return err
			}
		}
		return s.w.endReplays.exec(replayCancelled, now, int64(sub))
	}})
	if err != nil {
		return fmt.Errorf("delete subscription: %w", err)
	}
	return nil
}

func orNotFound(err error) error {
	if err == nil {
		return ErrNotFound
	}
	return err
}

// SetSecrets replaces the secrets of a subscription.
func (s *Store) SetSecrets(ctx context.Context, sub SubID, generations []Generation) error {
	err := s.do(ctx, &unit{full: true, run: func(*tx) error {
		if err := s.w.dropSecrets.exec(int64(sub)); err != nil {
			return err
		}
		for _, g := range generations {
			if err := s.w.insertSecret.exec(int64(sub), g.Generation, g.Master, blob(g.Sealed), g.CreatedAt, null(g.NotAfter)); err != nil {
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

// Mark is a cursor to be stored.
type Mark struct {
	Sub             SubID
	Cursor, LastSeq int64
}

// SaveCursors stores cursors. They are stored lazily: at the next start the history after them moves them on.
func (s *Store) SaveCursors(ctx context.Context, marks []Mark) error {
	err := s.do(ctx, &unit{run: func(t *tx) error {
		for _, m := range marks {
			if err := s.w.setCursor.exec(m.Cursor, t.historyN, m.LastSeq, int64(m.Sub)); err != nil {
				return err
			}
		}
		return nil
	}})
	if err != nil {
		return fmt.Errorf("save cursors: %w", err)
	}
	return nil
}
