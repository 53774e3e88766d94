package store

import (
	"context"
	"database/sql/driver"
	"fmt"
	"slices"
)

// replayLane is the lane of a subscription's replays in the table of retries.
const replayLane = -1

// The states of a replay, and where it comes from. The numbers are stored.
const (
	replayRunning = iota + 1
	replayDone
	replayCancelled
)

const originDeadLetters = 1

// Replay is a request to send deliveries of one subscription again.
type Replay struct {
	ID                         int64
	Sub                        SubID
	State                      string // running, done, cancelled
	Total, Done, Dead, Expired int64
	CreatedAt, EndedAt         int64
}

// Selection says which dead letters to replay: those of IDs, or else all, those of Sub, those given up at or after
// Since, that were not replayed with success since.
type Selection struct {
	IDs   []int64
	Sub   SubID
	Since int64 // Unix ms
	All   bool
	Now   int64
}

// Skipped is a dead letter that is not replayed.
type Skipped struct {
	ID     int64
	Reason string
}

// ReplayDeadLetters makes one replay for each subscription that the selection touches. A dead letter that does not
// exist is ErrNotFound, and nothing is replayed.
func (s *Store) ReplayDeadLetters(ctx context.Context, sel Selection) ([]Replay, []Skipped, error) {
	chosen, err := s.choose(ctx, sel)
	if err != nil {
		return nil, nil, err
	}
	var made []Replay
	var skipped []Skipped
	err = s.do(ctx, durable, 0, step{do: func(t *tx) error {
		made, skipped = nil, nil
		for _, d := range chosen {
			if err := t.replay(d, sel.Now, &made, &skipped); err != nil {
				return err
			}
		}
		for i := range made {
			if err := t.w.countReplay.exec(made[i].Total, 0, 0, made[i].ID); err != nil {
				return err
			}
		}
		return nil
	}})
	if err != nil {
		return nil, nil, fmt.Errorf("replay dead letters: %w", err)
	}
	return made, skipped, nil
}

func (s *Store) choose(ctx context.Context, sel Selection) ([]DeadLetter, error) {
	var chosen []DeadLetter
	for _, id := range sel.IDs {
		d, err := s.DeadLetter(ctx, id)
		if err != nil {
			return nil, err
		}
		chosen = append(chosen, d)
	}
	if len(sel.IDs) > 0 {
		return chosen, nil
	}
	var w where
	w.and(`d.replay_status IS NOT ? AND s.deleted_at IS NULL`, int64(Succeeded))
	if sel.Sub != 0 {
		w.and(`d.sub = ?`, int64(sel.Sub))
	}
	if sel.Since != 0 {
		w.and(`d.dead_at >= ?`, sel.Since)
	}
	type delivery struct {
		sub SubID
		seq int64
	}
	seen := map[delivery]bool{}
	err := each(ctx, s.read, `SELECT `+deadColumns+deadTables+w.text+` ORDER BY d.id DESC`, w.args, func(scan scanner) error {
		d, err := scanDead(scan)
		if of := (delivery{d.Sub, d.Seq}); !seen[of] { // of several of one delivery, the newest
			seen[of] = true
			chosen = append(chosen, d)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("choose dead letters: %w", err)
	}
	slices.Reverse(chosen)
	return chosen, nil
}

func (t *tx) replay(d DeadLetter, now int64, made *[]Replay, skipped *[]Skipped) error {
	if d.SubDeleted || t.isDeleted(d.Sub) {
		*skipped = append(*skipped, Skipped{d.ID, "its subscription is deleted"})
		return nil
	}
	pending := false
	err := t.w.pendingDead.query(func([]driver.Value) error { pending = true; return nil }, int64(d.Sub), d.Seq)
	if err != nil {
		return err
	}
	if pending {
		*skipped = append(*skipped, Skipped{d.ID, "a replay of this delivery is pending"})
		return nil
	}
	r := replayFor(*made, d.Sub)
	if r == nil {
		id, err := t.w.insertReplay.insert(int64(d.Sub), originDeadLetters, replayRunning, now)
		if err != nil {
			return err
		}
		*made = append(*made, Replay{ID: id, Sub: d.Sub, State: "running", CreatedAt: now})
		r = &(*made)[len(*made)-1]
	}
	r.Total++
	return t.w.insertReplayItem.exec(r.ID, d.Seq, d.ID)
}

func replayFor(made []Replay, sub SubID) *Replay {
	for i := range made {
		if made[i].Sub == sub {
			return &made[i]
		}
	}
	return nil
}

// ReplayItem is one delivery that a replay has still to send.
type ReplayItem struct{ Replay, Seq, DeadLetter int64 }

const queryNextReplayItem = `SELECT i.replay, i.seq, ifnull(i.dead_letter, 0) FROM replays r CROSS JOIN replay_items i ON i.replay = r.id
	WHERE r.sub = ? AND r.ended_at IS NULL ORDER BY r.id, i.seq LIMIT 1`

// NextReplayItem returns what the replay lane of a subscription sends next: of its oldest open replay the lowest seq.
func (s *Store) NextReplayItem(ctx context.Context, sub SubID) (item ReplayItem, ok bool, err error) {
	err = s.often(ctx, queryNextReplayItem, func(scan scanner) error {
		ok = true
		return scan(&item.Replay, &item.Seq, &item.DeadLetter)
	}, int64(sub))
	if err != nil {
		return ReplayItem{}, false, fmt.Errorf("read replay: %w", err)
	}
	return item, ok, nil
}

// OpenReplays returns the subscriptions that have replays to send.
func (s *Store) OpenReplays(ctx context.Context) ([]SubID, error) {
	var list []SubID
	err := each(ctx, s.read, `SELECT DISTINCT sub FROM replays WHERE ended_at IS NULL`, nil, func(scan scanner) error {
		var id SubID
		err := scan(&id)
		list = append(list, id)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read open replays: %w", err)
	}
	return list, nil
}
