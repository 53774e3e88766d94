package delivery

import (
	"context"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"hookd/internal/egress"
	"hookd/internal/store"
)

// attempt makes one attempt: check, sign, send, decide, record.
func (e *Engine) attempt(s *subscription, w work) {
	started := time.Now()
	c, ok := s.claim(w, started)
	if !ok {
		return
	}
	if !c.matches {
		e.unsubscribed(s, w, c, started)
		return
	}
	res, ok := e.send(s, w, c, started)
	if !ok {
		return
	}
	e.record(s, w, c, res, started, time.Now())
}

// send makes the request of an attempt. It reports false where the attempt ended by hookd's own trouble.
func (e *Engine) send(s *subscription, w work, c claim, now time.Time) (egress.Result, bool) {
	if c.refusal != nil {
		return egress.Result{Failure: c.refusal.Reason, Detail: c.refusal.Error()}, true
	}
	req, err := e.request(s, w, c, now)
	if err != nil {
		e.opts.Log.Error("make request", "subscription", s.name, "seq", w.item.Seq, "error", err)
		s.unclaim(w, troubleDelay)
		return egress.Result{}, false
	}
	var ahead sync.WaitGroup
	if w.replay == nil {
		ahead.Go(func() { e.prepareNext(s, time.Now()) })
	}
	res := e.guardedSend(s, req)
	ahead.Wait()
	if res.Interrupted {
		s.unclaim(w, 0)
		return res, false
	}
	return res, true
}

// guardedSend turns a panic on the way out into a failure of the attempt: one odd answer must not end the daemon.
func (e *Engine) guardedSend(s *subscription, req *egress.Request) (res egress.Result) {
	defer func() {
		if p := recover(); p != nil {
			e.opts.Log.Error("panic in attempt", "subscription", s.name, "stack", string(debug.Stack()))
			res = egress.Result{Failure: egress.ConnectionFailed, Detail: "internal error"}
		}
	}()
	return e.opts.Send(e.hard, req)
}

// record decides what follows from an attempt, commits it, and then changes the copy in memory.
func (e *Engine) record(s *subscription, w work, c claim, res egress.Result, started, ended time.Time) {
	unlock := s.lockWrites()
	defer unlock()
	s.mu.Lock()
	if s.gone {
		w.lane.inFlight = false
		s.mu.Unlock()
		return
	}
	o := judge(res)
	step := 0
	counted := false
	if w.lane.retry != nil {
		step, counted = w.lane.retry.Step, w.lane.retry.Counted
	}
	r := s.rules(e.opts.Defaults)
	failures := s.failures
	if w.replay != nil {
		// What is sent again says nothing about the stream: it neither breaks nor makes a row of failures.
		r.maxFailures = 0
	}
	v := decide(r, headState{step: step, counted: counted, repeated: c.fresh, failures: failures}, o, ended, e.random())
	if w.replay != nil {
		v.failures = failures
	}
	rec := e.recording(s, w, c, o, v, started, ended)
	s.mu.Unlock()

	if !e.commit(s, rec) {
		s.unclaim(w, 0)
		return
	}
	s.mu.Lock()
	s.apply(w, rec, v, ended)
	s.mu.Unlock()
	e.logAttempt(s, w, c, res, rec, v, ended.Sub(started))
	e.changes.notify()
}

// unsubscribed ends a delivery whose type the subscription no longer wants: dead if it was attempted before, else it
// simply is none.
func (e *Engine) unsubscribed(s *subscription, w work, c claim, now time.Time) {
	unlock := s.lockWrites()
	defer unlock()
	s.mu.Lock()
	v := verdict{status: store.Dead, failures: s.failures}
	silent := w.replay == nil && w.lane.retry == nil
	rec := e.recording(s, w, c, outcome{code: store.CodeNotSubscribed}, v, now, now)
	rec.Failed, rec.Dead = nil, nil
	rec.Attempts = c.attempt - 1
	s.mu.Unlock()
	if !silent && !e.commit(s, rec) {
		s.unclaim(w, 0)
		return
	}
	s.mu.Lock()
	s.apply(w, rec, v, now)
	s.mu.Unlock()
	e.changes.notify()
}

// commit gives an outcome to the store. While the store refuses, it is kept and tried again, so that it is the first
// thing written when there is room; false: the engine was stopped first.
func (e *Engine) commit(s *subscription, rec store.Outcome) bool {
	for {
		// The commit is not cut off by a stop: what the receiver has answered is written if it can be.
		err := e.store.Record(context.WithoutCancel(e.hard), rec)
		if err == nil {
			return true
		}
		if e.hard.Err() != nil {
			return false
		}
		e.opts.Log.Error("record outcome", "subscription", s.name, "seq", rec.Seq, "error", err)
		select {
		case <-time.After(troubleDelay):
		case <-e.hard.Done():
		}
	}
}

// logAttempt writes the one line of an attempt, and a warn line where it changed the subscription's state.
func (e *Engine) logAttempt(s *subscription, w work, c claim, res egress.Result, rec store.Outcome, v verdict, took time.Duration) {
	level := slog.LevelInfo
	if v.status == store.Succeeded && c.attempt == 1 {
		level = slog.LevelDebug
	}
	ctx := context.Background()
	if e.opts.Log.Enabled(ctx, level) {
		attrs := make([]slog.Attr, 0, 12)
		attrs = append(attrs, slog.String("subscription", s.name), slog.Int64("seq", w.item.Seq),
			slog.String("event_id", w.item.ID), slog.Int("attempt", c.attempt), slog.String("host", s.host),
			slog.Float64("duration_ms", float64(took.Microseconds())/1000))
		if w.replay != nil {
			attrs = append(attrs, slog.Int64("replay", w.replay.Replay))
		}
		if res.Status != 0 {
			attrs = append(attrs, slog.Int("response_code", res.Status))
		}
		if rec.Code != store.CodeNone {
			attrs = append(attrs, slog.String("error", rec.Code.String()), slog.String("detail", res.Detail))
		}
		if v.status == 0 {
			attrs = append(attrs, slog.String("status", store.Pending.String()), slog.Duration("retry_in", v.delay))
		} else {
			attrs = append(attrs, slog.String("status", v.status.String()))
		}
		e.opts.Log.LogAttrs(ctx, level, "attempt", attrs...)
	}
	if rec.State != nil {
		e.opts.Log.Warn("subscription changed", "subscription", s.name, "state", rec.State.State.String(),
			"cause", rec.State.Cause.String())
	}
}
