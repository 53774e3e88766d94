package store

import (
	"context"
	"fmt"
)

// DeadLetter is a delivery that was given up, with what is needed to send it again.
type DeadLetter struct {
	ID             int64
	Sub            SubID
	SubName        string // read side: also of a deleted subscription
	SubDeleted     bool   // read side
	App            string // of the subscription
	Seq            int64
	Kind           Kind
	EventID        string
	ReceivedAt, At int64
	Resource, Key  string
	Line           []byte // nil in lists
	Attempts       int
	Code           Code
	HTTPStatus     int
	DeadAt         int64
	Replay         int64  // the replay that ran out; 0: the stream
	ReplayedAt     int64  // when the last replay of it ended; 0: none has
	ReplayStatus   Status // how it ended; Pending while one is under way
}

// DeadFilter chooses dead letters of a list; a zero member chooses all.
type DeadFilter struct {
	Sub          SubID
	App, Type    string
	Since, Until int64 // Unix ms; Until is not part of it
	Before       int64 // page: ID below this
	Limit        int
}

const deadColumns = `d.id, d.sub, ifnull(s.name, ''), s.deleted_at IS NOT NULL, d.app, d.seq, d.kind, k.app, k.type, d.event_id,
	d.received_at, ifnull(d.at, 0), ifnull(d.resource, ''), ifnull(d.key, ''), d.attempts, d.error, d.code, d.dead_at, d.replay,
	ifnull(d.replayed_at, 0),
	CASE WHEN EXISTS (SELECT 1 FROM replay_items i WHERE i.dead_letter = d.id) THEN 1 ELSE ifnull(d.replay_status, 0) END`

const deadTables = ` FROM dead_letters d JOIN kinds k ON k.id = d.kind LEFT JOIN subs s ON s.id = d.sub`

func scanDead(scan scanner, more ...any) (DeadLetter, error) {
	var d DeadLetter
	to := append([]any{
		&d.ID, &d.Sub, &d.SubName, &d.SubDeleted, &d.App, &d.Seq, &d.Kind.ID, &d.Kind.App, &d.Kind.Type, &d.EventID, &d.ReceivedAt,
		&d.At, &d.Resource, &d.Key, &d.Attempts, &d.Code, &d.HTTPStatus, &d.DeadAt, &d.Replay, &d.ReplayedAt, &d.ReplayStatus,
	}, more...)
	return d, scan(to...)
}

// ListDeadLetters returns dead letters without their lines, newest first.
func (s *Store) ListDeadLetters(ctx context.Context, f DeadFilter) ([]DeadLetter, error) {
	var w where
	if f.Before != 0 {
		w.and(`d.id < ?`, f.Before)
	}
	if f.Sub != 0 {
		w.and(`d.sub = ?`, int64(f.Sub))
	}
	if f.App != "" {
		w.and(`d.app = ?`, f.App)
	}
	if f.Type != "" {
		w.and(`k.type = ?`, f.Type)
	}
	if f.Since != 0 {
		w.and(`d.dead_at >= ?`, f.Since)
	}
	if f.Until != 0 {
		w.and(`d.dead_at < ?`, f.Until)
	}
	var list []DeadLetter
	err := each(ctx, s.read, `SELECT `+deadColumns+deadTables+w.text+` ORDER BY d.id DESC LIMIT ?`, append(w.args, f.Limit), func(scan scanner) error {
		d, err := scanDead(scan)
		list = append(list, d)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read dead letters: %w", err)
	}
	return list, nil
}

// DeadLetter returns one with its line, or ErrNotFound.
func (s *Store) DeadLetter(ctx context.Context, id int64) (DeadLetter, error) {
	var line []byte
	row := s.read.QueryRowContext(ctx, `SELECT `+deadColumns+`, d.line`+deadTables+` WHERE d.id = ?`, id)
	d, err := scanDead(func(to ...any) error { return one(row, to...) }, &line)
	d.Line = line
	if err != nil {
		return d, fmt.Errorf("dead letter %d: %w", id, err)
	}
	return d, nil
}

// CountDeadLetters returns how many there are that were not replayed with success.
func (s *Store) CountDeadLetters(ctx context.Context) (int64, error) {
	var n int64
	row := s.read.QueryRowContext(ctx, `SELECT count(*) FROM dead_letters WHERE replay_status IS NOT ?`, int64(Succeeded))
	if err := row.Scan(&n); err != nil {
		return 0, fmt.Errorf("count dead letters: %w", classify(err))
	}
	return n, nil
}
