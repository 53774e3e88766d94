package delivery

import (
	"context"
	"time"

	"hookd/internal/store"
)

// lookAgain bounds every wait: a timer that is off, after the machine slept say, is off by this much at most.
const lookAgain = time.Minute

// troubleDelay is how long a loop waits after trouble of hookd's own before it looks again.
const troubleDelay = time.Second

// work is one delivery whose turn it is.
type work struct {
	item   *item
	lane   *lane
	replay *store.ReplayItem // nil: the stream
}

// loop sends the deliveries of one subscription, one at a time, until the engine stops or the subscription is deleted.
func (e *Engine) loop(s *subscription) {
	timer := time.NewTimer(lookAgain)
	defer timer.Stop()
	for e.soft.Err() == nil {
		w, wait, ended := e.next(s)
		switch {
		case ended:
			return
		case w == nil:
			timer.Reset(wait)
			select {
			case <-s.wake:
			case <-timer.C:
			case <-e.soft.Done():
			}
		default:
			e.turn(s, *w)
		}
	}
}

// turn takes a slot for one attempt and makes it.
func (e *Engine) turn(s *subscription, w work) {
	s.mu.Lock()
	host, suspect := s.host, !s.healthy
	s.mu.Unlock()
	if !e.slots.acquire(e.soft, host, suspect, s.wake) {
		return
	}
	defer e.slots.release(host, suspect)
	e.attempt(s, w)
}

// next finds the delivery whose turn it is, or says how long to wait for one.
func (e *Engine) next(s *subscription) (w *work, wait time.Duration, ended bool) {
	for {
		ready, err := e.lookAhead(s)
		if err != nil {
			if e.hard.Err() == nil {
				e.opts.Log.Error("read ahead", "subscription", s.name, "error", err)
			}
			return nil, troubleDelay, false
		}
		if ready {
			break
		}
	}
	if e.store.Refusing() != nil {
		return nil, troubleDelay, false
	}
	now := time.Now()
	s.mu.Lock()
	seq, replay, wait := s.choose(now)
	ended = s.gone
	s.mu.Unlock()
	switch {
	case ended || wait > 0:
		return nil, wait, ended
	case replay != nil:
		return replay, 0, false
	}
	it, err := e.fetch(e.hard, s, seq)
	if err != nil {
		if e.hard.Err() == nil {
			e.opts.Log.Error("fetch head", "subscription", s.name, "seq", seq, "error", err)
		}
		return nil, troubleDelay, false
	}
	return &work{item: it, lane: &s.stream}, 0, false
}

// choose picks the lane whose turn it is; s.mu is held. It returns the seq of the stream's head, or the work of the
// replay lane, or how long there is nothing to do.
func (s *subscription) choose(now time.Time) (seq int64, replay *work, wait time.Duration) {
	if s.gone || s.state != store.Active || s.trouble != "" {
		return 0, nil, lookAgain
	}
	if hold := s.holdTill.Sub(now); hold > 0 {
		return 0, nil, hold
	}
	streamIn, replayIn := lookAgain, lookAgain
	if head, ok := s.head(); ok {
		seq = head
		streamIn = s.stream.dueAt(head, s.schedule, now).Sub(now)
	}
	if s.replay.item != nil {
		replayIn = s.replay.dueAt(s.replay.ref.Seq, s.schedule, now).Sub(now)
	}
	switch {
	case replayIn <= 0 && (streamIn > 0 || s.turn):
		ref := s.replay.ref
		return 0, &work{item: s.replay.item, lane: &s.replay.lane, replay: &ref}, 0
	case streamIn <= 0:
		return seq, nil, 0
	}
	return 0, nil, min(streamIn, replayIn, lookAgain)
}

// head returns the lowest pending seq of the stream; s.mu is held. False: none is known, which means none is there
// when the feed is live.
func (s *subscription) head() (int64, bool) {
	switch {
	case s.stream.retry != nil:
		return s.stream.retry.Seq, true
	case len(s.feed.queue) > 0:
		return s.feed.queue[0], true
	}
	return 0, false
}

// lookAhead reads what an active subscription's next decision needs: the queue from the log when it is empty, the head
// of the replay lane. It reports whether nothing more has to be read.
func (e *Engine) lookAhead(s *subscription) (ready bool, err error) {
	s.mu.Lock()
	_, known := s.head()
	active := s.state == store.Active && !s.gone
	feed := active && !known && !s.feed.live
	replay := active && s.replay.open && s.replay.item == nil
	s.mu.Unlock()
	switch {
	case feed:
		return false, e.refill(e.hard, s)
	case replay:
		return false, e.readReplay(e.hard, s)
	}
	return true, nil
}

// readReplay reads the head of the replay lane, or finds that no replay is pending.
func (e *Engine) readReplay(ctx context.Context, s *subscription) error {
	unlock := s.lockWrites() // so that no replay is begun between the look and the conclusion
	defer unlock()
	ref, ok, err := e.store.NextReplayItem(ctx, s.id)
	if err != nil {
		return err
	}
	if !ok {
		s.mu.Lock()
		s.replay.open = false
		s.mu.Unlock()
		return nil
	}
	dead, err := e.store.DeadLetter(ctx, ref.DeadLetter)
	if err != nil {
		return err
	}
	it := &item{epoch: e.window.epoch, Event: store.Event{
		Seq: dead.Seq, Kind: dead.Kind, ID: dead.EventID, ReceivedAt: dead.ReceivedAt, At: dead.At,
		Resource: dead.Resource, Key: dead.Key, Line: dead.Line,
	}}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.replay.item, s.replay.ref = it, ref
	s.replay.headSeq = 0
	return nil
}
