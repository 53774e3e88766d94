package delivery

import (
	"context"
	"errors"
	"fmt"
	"time"

	"hookd/internal/store"
)

// The reasons for which a request of an owner is refused. Each comes wrapped with what was asked.
var (
	ErrNotFound  = errors.New("there is no such subscription")
	ErrAmbiguous = errors.New("fits several subscriptions")
	ErrConflict  = errors.New("not in this state")
	ErrInvalid   = errors.New("not valid")
)

// masterID names the master key in the associated data of what is sealed.
const masterID = 1

// Pause holds the deliveries of an active or disabled subscription. An attempt in flight ends and its result counts.
func (e *Engine) Pause(ctx context.Context, ref string) (View, error) {
	return e.transition(ctx, ref, func(s *subscription) (store.Change, error) {
		return s.changed(store.Paused, store.CauseOwner), nil
	})
}

// Disable switches a subscription off until it is enabled.
func (e *Engine) Disable(ctx context.Context, ref string) (View, error) {
	return e.transition(ctx, ref, func(s *subscription) (store.Change, error) {
		return s.changed(store.Disabled, store.CauseOwner), nil
	})
}

// Resume makes a paused subscription active: its failure count is 0, its head due now, at its place of the schedule.
func (e *Engine) Resume(ctx context.Context, ref string) (View, error) {
	return e.transition(ctx, ref, func(s *subscription) (store.Change, error) {
		if s.state == store.Disabled {
			return store.Change{}, fmt.Errorf("%w: %s is disabled (%s), not paused", ErrConflict, s.name, s.cause)
		}
		c := s.changed(store.Active, store.CauseNone)
		c.ResetFailures = true
		if s.stream.retry != nil {
			due := *s.stream.retry
			due.DueAt, due.DelayMS = c.At, 0
			c.Retry = &due
		}
		return c, nil
	})
}

// Enable makes a disabled subscription active: its failure count is 0, its head due now with a fresh schedule. One that
// its owner paused stays so: it is resumed.
func (e *Engine) Enable(ctx context.Context, ref string) (View, error) {
	return e.transition(ctx, ref, func(s *subscription) (store.Change, error) {
		if s.state == store.Paused {
			return store.Change{}, fmt.Errorf("%w: %s is paused, not disabled", ErrConflict, s.name)
		}
		c := s.changed(store.Active, store.CauseNone)
		c.ResetFailures, c.ClearRetry = true, true
		return c, nil
	})
}

// changed is a change of state now; s.mu is held.
func (s *subscription) changed(to store.State, cause store.Cause) store.Change {
	return store.Change{Sub: s.id, Rev: s.rev, State: to, Cause: cause, At: time.Now().UnixMilli()}
}

// transition commits the change of state that decide makes, then applies it. Asking for the state that is there is
// fine and changes nothing.
func (e *Engine) transition(ctx context.Context, ref string, decide func(*subscription) (store.Change, error)) (View, error) {
	s, err := e.find(ref)
	if err != nil {
		return View{}, err
	}
	unlock := s.lockWrites()
	defer unlock()
	s.mu.Lock()
	if s.gone {
		s.mu.Unlock()
		return View{}, fmt.Errorf("%w: %q", ErrNotFound, ref)
	}
	c, err := decide(s)
	same := c.State == s.state && c.Cause == s.cause
	s.mu.Unlock()
	if err != nil {
		return View{}, err
	}
	if !same {
		if err := e.store.ChangeState(ctx, c); err != nil {
			return View{}, err
		}
		s.mu.Lock()
		s.setState(c)
		if c.ResetFailures {
			s.failures = 0
		}
		switch {
		case c.ClearRetry:
			s.stream.setRetry(nil, time.Time{})
		case c.Retry != nil:
			s.stream.setRetry(c.Retry, time.Now())
		}
		s.mu.Unlock()
		s.nudge()
		e.changes.notify()
	}
	return e.view(ctx, s)
}

// Delete removes a subscription. A request that is out is not taken back; its result is dropped.
func (e *Engine) Delete(ctx context.Context, ref string) error {
	s, err := e.find(ref)
	if err != nil {
		return err
	}
	return e.remove(ctx, s)
}

func (e *Engine) remove(ctx context.Context, s *subscription) error {
	unlock := s.lockWrites()
	defer unlock()
	s.mu.Lock()
	rev, gone := s.rev+1, s.gone
	s.mu.Unlock()
	if gone {
		return nil
	}
	if err := e.store.DeleteSubscription(ctx, s.id, rev, time.Now().UnixMilli()); err != nil {
		return err
	}
	s.mu.Lock()
	s.gone, s.rev = true, rev
	s.rewind()
	s.mu.Unlock()
	e.mu.Lock()
	delete(e.subs, s.id)
	e.mu.Unlock()
	e.rematch()
	s.nudge()
	e.changes.notify()
	return nil
}
