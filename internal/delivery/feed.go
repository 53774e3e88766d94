package delivery

import (
	"context"
	"fmt"

	"hookd/internal/store"
)

// queueLength bounds the seqs that wait in memory for one subscription. One that falls further behind reads the log.
const queueLength = 256

// feed is what a subscription knows of the events ahead of it.
//
// A live feed has in its queue every matching event after the cursor that the engine has seen, so that an append only
// touches the subscriptions it matches. One that is not live has a part of them, up to scanned, and reads on from the
// log when its queue is empty. Whether it is live changes under the engine's feedMu and the subscription's mu.
type feed struct {
	queue   []int64
	live    bool
	scanned int64 // not live: matching events up to here are in the queue or finished
}

// appended is called by the store with each group of events that was committed, in order.
func (e *Engine) appended(events []store.Event) {
	e.window.add(events)
	e.feedMu.Lock()
	defer e.feedMu.Unlock()
	for i := range events {
		for _, s := range e.matching(events[i].Kind) {
			s.push(events[i].Seq)
		}
		e.last = events[i].Seq
	}
	e.changes.notify()
}

// matching returns the subscriptions that want a kind of event; feedMu is held. The answers are kept until the
// subscriptions change, for at most maxMatches kinds.
func (e *Engine) matching(k store.Kind) []*subscription {
	list, ok := e.matches[k.ID]
	if ok {
		return list
	}
	for _, s := range e.all() {
		if s.wants(k) {
			list = append(list, s)
		}
	}
	if len(e.matches) >= maxMatches {
		clear(e.matches)
	}
	e.matches[k.ID] = list
	return list
}

const maxMatches = 4096

// rematch forgets which subscriptions want what.
func (e *Engine) rematch() {
	e.feedMu.Lock()
	defer e.feedMu.Unlock()
	clear(e.matches)
}

// wants reports whether an event of this kind is for s.
func (s *subscription) wants(k store.Kind) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return (k.App == "" || k.App == s.app) && s.patterns.Match(k.Type)
}

// push puts an event that was just appended into a live feed, or takes it off live when its queue is full.
func (s *subscription) push(seq int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := &s.feed
	switch {
	case !f.live:
	case len(f.queue) >= queueLength:
		f.live = false
		f.scanned = f.queue[len(f.queue)-1]
	default:
		f.queue = append(f.queue, seq)
		if len(f.queue) == 1 {
			s.nudge()
		}
	}
}

// rewind makes the feed read the log again after the cursor; s.mu is held.
func (s *subscription) rewind() {
	s.feed = feed{scanned: s.cursor}
	s.prepared = nil
}

// pop takes the head off the feed; s.mu is held.
func (f *feed) pop() {
	f.queue = f.queue[1:]
	if len(f.queue) == 0 {
		f.queue = nil // else the array behind it grows with every append
	}
}

// kinds returns the kinds of the log that s wants, and whether these are all there are.
func (e *Engine) kinds(s *subscription) (ids []store.KindID, all bool) {
	known := e.store.Kinds()
	for _, k := range known {
		if s.wants(k) {
			ids = append(ids, k.ID)
		}
	}
	return ids, len(ids) == len(known)
}

// refill reads the next matching seqs from the log into an empty queue and makes the feed live when it has reached the
// end of the log.
func (e *Engine) refill(ctx context.Context, s *subscription) error {
	e.feedMu.Lock()
	last := e.last
	e.feedMu.Unlock()
	s.mu.Lock()
	from := s.feed.scanned
	s.mu.Unlock()

	seqs, err := e.nextSeqs(ctx, s, from, last)
	if err != nil {
		return fmt.Errorf("read log: %w", err)
	}
	e.feedMu.Lock()
	defer e.feedMu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.feed.live || s.feed.scanned != from || len(s.feed.queue) > 0 {
		return nil // it was rewound meanwhile
	}
	s.feed.queue = seqs
	if len(seqs) == queueLength {
		s.feed.scanned = seqs[len(seqs)-1]
		return nil
	}
	s.feed.scanned = last
	s.feed.live = e.last == last // else more came while the log was read: read on
	return nil
}

func (e *Engine) nextSeqs(ctx context.Context, s *subscription, from, last int64) ([]int64, error) {
	if from >= last {
		return nil, nil
	}
	kinds, all := e.kinds(s)
	if !all {
		return e.store.NextSeqs(ctx, kinds, from, last, queueLength)
	}
	first, _ := e.store.Bounds()
	var seqs []int64
	for seq := max(from+1, first); seq <= last && len(seqs) < queueLength; seq++ {
		seqs = append(seqs, seq)
	}
	return seqs, nil
}

// The events that one look into the log brings at most.
const (
	fetchEvents = 32
	fetchBytes  = 256 << 10
)

// fetch returns the event at seq, from the window or else from the log, with some of those that the queue has next.
func (e *Engine) fetch(ctx context.Context, s *subscription, seq int64) (*item, error) {
	if it := e.window.get(seq); it != nil {
		return it, nil
	}
	s.mu.Lock()
	seqs := []int64{seq}
	for _, ahead := range s.feed.queue[:min(len(s.feed.queue), fetchEvents)] {
		if ahead > seq {
			seqs = append(seqs, ahead)
		}
	}
	s.mu.Unlock()
	// One range where what is wanted lies close together, else only what is wanted.
	if span := int(seqs[len(seqs)-1] - seq + 1); span <= 2*len(seqs) {
		events, err := e.store.EventsAfter(ctx, seq-1, span, fetchBytes)
		return e.found(seq, events, err)
	}
	events, err := e.store.EventsAt(ctx, seqs[:min(len(seqs), fetchEvents/2)])
	return e.found(seq, events, err)
}

func (e *Engine) found(seq int64, events []store.Event, err error) (*item, error) {
	if err != nil {
		return nil, fmt.Errorf("read log: %w", err)
	}
	e.window.add(events)
	for i := range events {
		if events[i].Seq == seq {
			if it := e.window.get(seq); it != nil {
				return it, nil
			}
			return &item{Event: events[i], epoch: e.window.epoch}, nil
		}
	}
	return nil, fmt.Errorf("read log: seq %d is not there", seq)
}
