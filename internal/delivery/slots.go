package delivery

import (
	"context"
	"sync"
)

// slots bounds the attempts in flight, in all and per host. Whoever is suspect (the last attempt did not succeed, or
// there was none yet) shares at most half of each with its like, so that receivers that hang leave room for those that
// answer. Turns are taken in the order they were asked for, but one whose host is full does not hold the others.
type slots struct {
	all, perHost int

	mu      sync.Mutex
	used    use
	hosts   map[string]*use
	waiting []*turn
}

// use counts slots taken.
type use struct{ total, suspect int }

// turn is one request for a slot that has to wait.
type turn struct {
	host    string
	suspect bool
	granted chan struct{} // closed when the slot is taken for it
}

func newSlots(all, perHost int) *slots {
	return &slots{all: all, perHost: perHost, hosts: map[string]*use{}}
}

// acquire takes a slot, or waits for one until ctx ends or wake fires; it reports whether it has one.
func (s *slots) acquire(ctx context.Context, host string, suspect bool, wake <-chan struct{}) bool {
	s.mu.Lock()
	if s.take(host, suspect) {
		s.mu.Unlock()
		return true
	}
	t := &turn{host: host, suspect: suspect, granted: make(chan struct{})}
	s.waiting = append(s.waiting, t)
	s.mu.Unlock()

	select {
	case <-t.granted:
		return true
	case <-wake:
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-t.granted:
		return true // it came while we gave up: use it, the caller looks again anyway
	default:
	}
	for i, other := range s.waiting {
		if other == t {
			s.waiting = append(s.waiting[:i], s.waiting[i+1:]...)
			break
		}
	}
	return false
}

// release gives a slot back and grants it to whoever waits and fits.
func (s *slots) release(host string, suspect bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.hosts[host]
	s.used.add(suspect, -1)
	h.add(suspect, -1)
	if h.total == 0 {
		delete(s.hosts, host)
	}
	kept := s.waiting[:0]
	for _, t := range s.waiting {
		if s.take(t.host, t.suspect) {
			close(t.granted)
		} else {
			kept = append(kept, t)
		}
	}
	clear(s.waiting[len(kept):])
	s.waiting = kept
}

// take takes a slot if there is one; s.mu is held.
func (s *slots) take(host string, suspect bool) bool {
	h := s.hosts[host]
	if h == nil {
		h = &use{}
	}
	if !s.used.fits(suspect, s.all) || !h.fits(suspect, s.perHost) {
		return false
	}
	s.hosts[host] = h
	s.used.add(suspect, 1)
	h.add(suspect, 1)
	return true
}

// inFlight returns how many slots are taken.
func (s *slots) inFlight() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used.total
}

func (u *use) fits(suspect bool, limit int) bool {
	return u.total < limit && (!suspect || u.suspect < max(limit/2, 1))
}

func (u *use) add(suspect bool, n int) {
	u.total += n
	if suspect {
		u.suspect += n
	}
}
