package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
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

// Subscriptions returns those that are not deleted, oldest first, as they stand at one moment.
func (s *Store) Subscriptions(ctx context.Context) (list []Subscription, err error) {
	tx, err := s.read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, fmt.Errorf("read subscriptions: %w", classify(err))
	}
	defer func() { err = errors.Join(err, classify(tx.Rollback())) }()
	r := &roster{tx: tx, at: map[SubID]int{}, cursorN: map[SubID]int64{}}
	for _, read := range []func(context.Context) error{r.readRows, r.moveCursors, r.readSecrets, r.readRetries} {
		if err := read(ctx); err != nil {
			return nil, fmt.Errorf("read subscriptions: %w", err)
		}
	}
	return r.list, nil
}

// roster is the list of subscriptions while it is read.
type roster struct {
	tx      *sql.Tx
	list    []Subscription
	at      map[SubID]int // places in list
	cursorN map[SubID]int64
}

func (r *roster) readRows(ctx context.Context) error {
	return each(ctx, r.tx, `SELECT id, uuid, name, app, state, cause, state_at, rev, host, url, headers, spec, cursor, cursor_n,
		last_seq, failures, ifnull(lease_until, 0), created_at FROM subs WHERE deleted_at IS NULL ORDER BY id`, nil, func(scan scanner) error {
		var sub Subscription
		var spec []byte
		var n int64
		err := scan(&sub.ID, &sub.UUID, &sub.Name, &sub.App, &sub.State, &sub.Cause, &sub.StateAt, &sub.Rev, &sub.Host, &sub.URL,
			&sub.Headers, &spec, &sub.Cursor, &n, &sub.LastSeq, &sub.Failures, &sub.LeaseUntil, &sub.CreatedAt)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(spec, &sub.Spec); err != nil {
			return fmt.Errorf("read spec of %q: %w", sub.Name, err)
		}
		r.at[sub.ID], r.cursorN[sub.ID] = len(r.list), n
		r.list = append(r.list, sub)
		return nil
	})
}

// moveCursors moves the stored cursors on by the outcomes that came after them.
func (r *roster) moveCursors(ctx context.Context) error {
	return each(ctx, r.tx, `SELECT n, sub, seq, status FROM history
		WHERE n > (SELECT v FROM meta WHERE k = 'cursors_n') AND moves = 1 ORDER BY n`, nil, func(scan scanner) error {
		var n, seq int64
		var id SubID
		var status Status
		if err := scan(&n, &id, &seq, &status); err != nil {
			return err
		}
		i, ok := r.at[id]
		if !ok || n <= r.cursorN[id] {
			return nil
		}
		sub := &r.list[i]
		sub.Cursor = max(sub.Cursor, seq)
		if status == Succeeded {
			sub.LastSeq = max(sub.LastSeq, seq)
		}
		return nil
	})
}

func (r *roster) readSecrets(ctx context.Context) error {
	return each(ctx, r.tx, `SELECT sub, generation, master, sealed, created_at, ifnull(not_after, 0) FROM secrets
		ORDER BY sub, generation DESC`, nil, func(scan scanner) error {
		var id SubID
		var g Generation
		if err := scan(&id, &g.Generation, &g.Master, &g.Sealed, &g.CreatedAt, &g.NotAfter); err != nil {
			return err
		}
		if i, ok := r.at[id]; ok {
			r.list[i].Secrets = append(r.list[i].Secrets, g)
		}
		return nil
	})
}

func (r *roster) readRetries(ctx context.Context) error {
	return each(ctx, r.tx, `SELECT sub, lane, seq, replay, attempt, step, counted, first_at, due_at, delay, error, code, since
		FROM retries`, nil, func(scan scanner) error {
		var id SubID
		var t Retry
		err := scan(&id, &t.Lane, &t.Seq, &t.Replay, &t.Attempt, &t.Step, &t.Counted, &t.FirstAt, &t.DueAt, &t.DelayMS, &t.Error, &t.HTTPStatus, &t.Since)
		if err != nil {
			return err
		}
		if i, ok := r.at[id]; ok {
			r.list[i].Retries = append(r.list[i].Retries, t)
		}
		return nil
	})
}
