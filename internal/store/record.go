package store

import (
	"context"
	"fmt"
)

// Attempt is one attempt that did not succeed.
type Attempt struct {
	Attempt    int
	At, TookMS int64 // Unix ms; ms
	Code       Code
	HTTPStatus int
	NextAt     int64 // Unix ms; 0: none followed
	Replay     int64 // 0: of the stream
}

// Outcome is what one attempt writes.
type Outcome struct {
	Sub                      SubID
	Seq                      int64
	Kind                     KindID
	Replay                   int64  // 0: of the stream
	Moves                    bool   // the cursor moves to Seq
	Finished                 Status // 0: the delivery goes on
	Code                     Code
	HTTPStatus               int
	Attempts                 int
	FirstAt, EndedAt, TookMS int64
	Failed                   *Attempt // this attempt, where it did not succeed
	Retry                    *Retry   // the head, where it goes on
	HadRetry                 bool     // the head had failed before
	Failures                 int      // failures in a row, written where SetFailures
	SetFailures              bool
	State                    *Change     // made by the system
	Dead                     *DeadLetter // given up
	DeadRef                  int64       // the dead letter that is replayed
}

// recording is the unit of work of Record.
type recording struct{ Outcome }

// Record writes an outcome in one transaction. That of a deleted subscription is dropped. Outcomes are not synced one by
// one: the end of the process forgets none, that of the power the last second's, which are then made again; one that
// changes a state or leaves a dead letter is on disk when it returns. A context that ends has no part in a commit that
// is under way.
func (s *Store) Record(ctx context.Context, o Outcome) error {
	want, size := lazy, 64
	if o.State != nil || o.Dead != nil {
		want = durable
	}
	if o.Dead != nil {
		size += len(o.Dead.Line)
	}
	if err := s.do(ctx, want, size, &recording{o}); err != nil {
		return fmt.Errorf("record outcome: %w", err)
	}
	return nil
}

func (r *recording) applied(*tx) {}

// plain reports whether the outcome is a row of history and nothing else, as a success at once is.
func (r *recording) plain() bool {
	return r.Finished != 0 && r.Failed == nil && r.Retry == nil && !r.HadRetry && !r.SetFailures && r.State == nil &&
		r.Dead == nil && r.Replay == 0
}

func (r *recording) run(t *tx) error {
	o := &r.Outcome
	if t.isDeleted(o.Sub) {
		return nil
	}
	if a := o.Failed; a != nil {
		err := t.w.insertAttempt.exec(int64(o.Sub), o.Seq, o.Replay, a.Attempt, a.At, a.TookMS, int64(a.Code), a.HTTPStatus, null(a.NextAt))
		if err != nil {
			return err
		}
	}
	if o.Finished != 0 {
		if err := t.finish(o); err != nil {
			return err
		}
	}
	if o.SetFailures {
		if err := t.w.setFailures.exec(o.Failures, int64(o.Sub)); err != nil {
			return err
		}
	}
	if err := t.recordHead(o); err != nil {
		return err
	}
	if o.State != nil {
		if err := t.changeState(o.State); err != nil {
			return err
		}
	}
	if o.Dead != nil {
		if err := t.bury(o.Dead); err != nil {
			return err
		}
	}
	if o.Replay != 0 && o.Finished != 0 {
		return t.endReplayItem(o)
	}
	return nil
}

// finish appends the row of a delivery that ended, with the others of the group; it is also what moves the cursor.
func (t *tx) finish(o *Outcome) error {
	n := t.historyN + 1
	err := t.w.history.add(n, int64(o.Sub), o.Seq, int64(o.Kind), int64(o.Finished), int64(o.Code), o.HTTPStatus, o.Attempts,
		o.FirstAt, o.EndedAt, o.TookMS, o.Replay, o.Moves)
	if err != nil {
		return err
	}
	t.historyN = n
	t.history = append(t.history, historyRow{int64(o.Sub), o.Seq, n})
	if o.Moves {
		m := move{sub: o.Sub, cursor: o.Seq}
		if o.Finished == Succeeded {
			m.succeeded = o.Seq
		}
		t.moves = append(t.moves, m)
	}
	return nil
}

// recordHead writes how the head of the lane goes on, or that it is gone.
func (t *tx) recordHead(o *Outcome) error {
	if o.Retry != nil {
		return t.putRetry(o.Sub, o.Retry)
	}
	if !o.HadRetry || o.Finished == 0 {
		return nil
	}
	lane := 0
	if o.Replay != 0 {
		lane = replayLane
	}
	return t.w.dropRetry.exec(int64(o.Sub), lane)
}

// bury keeps a delivery that was given up.
func (t *tx) bury(d *DeadLetter) error {
	return t.w.insertDead.exec(int64(d.Sub), d.App, d.Seq, int64(d.Kind.ID), d.EventID, d.ReceivedAt, null(d.At),
		text(d.Resource), text(d.Key), d.Line, d.Attempts, d.HTTPStatus, int64(d.Code), d.DeadAt, d.Replay)
}

// endReplayItem takes a finished delivery off its replay, counts it there and on its dead letters, and ends the replay
// with its last. What is not in the replay any more counts nowhere.
func (t *tx) endReplayItem(o *Outcome) error {
	if n, err := t.w.dropReplayItem.change(o.Replay, o.Seq); err != nil || n == 0 {
		return err
	}
	dead := 0
	if o.Finished == Dead {
		dead = 1
	}
	if err := t.w.countReplay.exec(0, 1-dead, dead, o.Replay); err != nil {
		return err
	}
	if o.DeadRef != 0 {
		if err := t.w.setReplayed.exec(o.EndedAt, int64(o.Finished), o.DeadRef); err != nil {
			return err
		}
	}
	if o.Finished == Succeeded {
		// The receiver has it now, whichever of the delivery's dead letters was replayed.
		if err := t.w.setDelivered.exec(o.EndedAt, int64(Succeeded), int64(o.Sub), o.Seq); err != nil {
			return err
		}
	}
	return t.w.endReplay.exec(replayDone, o.EndedAt, o.Replay)
}
