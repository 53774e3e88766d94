package delivery

import (
	"time"

	"hookd/internal/store"
)

// replayLaneID is the lane of deliveries that are sent again, beside the stream's 0.
const replayLaneID = -1

// recording composes what one outcome writes; s.mu is held.
func (e *Engine) recording(s *subscription, w work, c claim, o outcome, v verdict, started, ended time.Time) store.Outcome {
	moved := c.rev != s.rev // the owner moved the stream while the request was out
	rec := store.Outcome{
		Sub: s.id, Seq: w.item.Seq, Kind: w.item.Kind.ID, Moves: w.replay == nil && !moved,
		Finished: v.status, Code: o.code, HTTPStatus: o.httpStatus, Attempts: c.attempt,
		FirstAt: started.UnixMilli(), EndedAt: ended.UnixMilli(), TookMS: ended.Sub(started).Milliseconds(),
		HadRetry: w.lane.retry != nil && !moved, Failures: s.failures,
	}
	lane := int64(0)
	if w.replay != nil {
		rec.Replay, rec.DeadRef = w.replay.Replay, w.replay.DeadLetter
		lane = replayLaneID
	}
	since := ended.UnixMilli()
	if w.lane.retry != nil {
		rec.FirstAt, since = w.lane.retry.FirstAt, w.lane.retry.Since
	}
	if o.code != store.CodeNone {
		rec.Failed = &store.Attempt{
			Attempt: c.attempt, At: started.UnixMilli(), TookMS: rec.TookMS, Code: o.code, HTTPStatus: o.httpStatus,
		}
	}
	if v.status == 0 && !moved {
		due := ended.Add(v.delay).UnixMilli()
		rec.Failed.NextAt = due
		rec.Retry = &store.Retry{
			Lane: lane, Seq: w.item.Seq, Replay: rec.Replay, Attempt: c.attempt, Step: v.step, Counted: v.counted,
			FirstAt: rec.FirstAt, DueAt: due, DelayMS: v.delay.Milliseconds(),
			Error: o.code, HTTPStatus: o.httpStatus, Since: since,
		}
	}
	if v.status == store.Dead {
		rec.Dead = &store.DeadLetter{
			Sub: s.id, App: s.app, Seq: w.item.Seq, Kind: w.item.Kind, EventID: w.item.ID,
			ReceivedAt: w.item.ReceivedAt, At: w.item.At, Resource: w.item.Resource, Key: w.item.Key,
			Line: w.item.Line, Attempts: c.attempt, Code: o.code, HTTPStatus: o.httpStatus,
			DeadAt: ended.UnixMilli(), Replay: rec.Replay,
		}
	}
	if moved {
		return rec
	}
	if v.failures != s.failures {
		rec.Failures, rec.SetFailures = v.failures, true
	}
	if v.disable != store.CauseNone && s.state != store.Disabled {
		rec.State = &store.Change{
			Sub: s.id, Rev: s.rev, State: store.Disabled, Cause: v.disable, At: ended.UnixMilli(),
		}
	}
	return rec
}

// apply changes the copy in memory as rec, now committed, says; s.mu is held.
func (s *subscription) apply(w work, rec store.Outcome, v verdict, ended time.Time) {
	l := w.lane
	l.inFlight = false
	s.turn = w.replay == nil
	s.healthy = v.status == store.Succeeded
	if rec.State != nil {
		s.setState(*rec.State)
	}
	if w.replay == nil && !rec.Moves {
		return // claimed under an older revision: history only
	}
	if rec.SetFailures {
		s.failures = rec.Failures
	}
	if rec.Retry != nil {
		l.setRetry(rec.Retry, ended.Add(v.delay))
		l.fresh = v.fresh
		return
	}
	l.setRetry(nil, time.Time{})
	l.fresh = false
	l.headSeq = 0
	if w.replay != nil {
		s.replay.item = nil
		return
	}
	s.finish(w.item.Seq)
	if v.status == store.Succeeded {
		s.lastSeq = max(s.lastSeq, w.item.Seq)
	}
}

// finish moves the cursor to seq, the head; s.mu is held.
func (s *subscription) finish(seq int64) {
	s.cursor = seq
	if len(s.feed.queue) > 0 && s.feed.queue[0] == seq {
		s.feed.pop()
	}
	if !s.feed.live {
		s.feed.scanned = max(s.feed.scanned, seq)
	}
}

// setState makes c the state in memory; s.mu is held. An inactive subscription keeps no queue.
func (s *subscription) setState(c store.Change) {
	s.state, s.cause, s.stateAt = c.State, c.Cause, c.At
	if c.State != store.Active {
		s.rewind()
	}
}
