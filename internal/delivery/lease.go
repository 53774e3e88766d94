package delivery

import (
	"context"
	"time"
)

// LeaseGrace is how long a leased subscription outlives the last of its lease streams.
const LeaseGrace = 10 * time.Second

// Hold keeps a leased subscription alive until ctx ends or the engine stops; LeaseGrace later it is deleted, unless
// another holder came.
func (e *Engine) Hold(ctx context.Context, ref string) error {
	s, err := e.find(ref)
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.leases++
	s.mu.Unlock()
	select {
	case <-ctx.Done():
	case <-e.soft.Done():
	}
	s.mu.Lock()
	s.leases--
	s.mu.Unlock()
	if e.soft.Err() == nil {
		e.expireLease(s)
	}
	return nil
}

// Leased reports whether the subscription ends with its lease.
func (e *Engine) Leased(ref string) (bool, error) {
	s, err := e.find(ref)
	if err != nil {
		return false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.leaseUntil != 0, nil
}

// expireLease deletes a leased subscription that nobody holds when its grace is over.
func (e *Engine) expireLease(s *subscription) {
	e.loops.Go(func() {
		select {
		case <-time.After(LeaseGrace):
		case <-e.soft.Done():
			return // the next start gives it its grace again
		}
		s.mu.Lock()
		held, gone := s.leases > 0, s.gone
		s.mu.Unlock()
		if held || gone {
			return
		}
		if err := e.remove(e.hard, s); err != nil {
			e.opts.Log.Error("delete leased subscription", "subscription", s.name, "error", err)
		}
	})
}
