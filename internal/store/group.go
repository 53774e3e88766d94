package store

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"
)

// The bounds of one group.
const (
	groupUnits = 256
	groupBytes = 1 << 20
)

// fullEvery is how long outcomes may go without a commit that is on disk.
const fullEvery = time.Second

// unit is one unit of work that waits for its group. run may be called again after a rollback, so it keeps what it
// finds in the tx or overwrites it; applied changes the copies in memory, after the commit, with s.mu held.
type unit struct {
	full    bool // the group must be on disk when it is done
	size    int  // bytes that it writes, about
	run     func(*tx) error
	applied func(*tx) // may be nil

	err  error
	done chan struct{} // one token: the result is there, or lead is set
	lead bool          // the unit's goroutine leads the next group; guarded by group.mu until the token is taken
}

// group is the queue of units. The first that waits leads: on its own goroutine it runs and commits what has queued up,
// its own unit with it, while the next ones queue. No goroutine is handed anything but its own result, or the lead.
type group struct {
	mu       sync.Mutex
	queue    []*unit
	leading  bool
	lastFull time.Time
}

// do runs one unit and returns its error once the group is committed. A context that ends takes the unit out of the
// queue; once it is taken into a group, its result is waited for.
func (s *Store) do(ctx context.Context, u *unit) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	g := &s.group
	u.done = make(chan struct{}, 1)
	g.mu.Lock()
	g.queue = append(g.queue, u)
	if !g.leading {
		g.leading = true
		g.mu.Unlock()
		s.lead(u)
		return u.err
	}
	g.mu.Unlock()
	select {
	case <-u.done:
	case <-ctx.Done():
		if g.withdraw(u) {
			return ctx.Err()
		}
		<-u.done
	}
	if u.lead {
		s.lead(u)
	}
	return u.err
}

// withdraw takes u out of the queue; false: it is in a group already, or leads one.
func (g *group) withdraw(u *unit) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if u.lead {
		return false
	}
	for i, other := range g.queue {
		if other == u {
			g.queue = append(g.queue[:i], g.queue[i+1:]...)
			return true
		}
	}
	return false
}

// take takes the next group out of the queue.
func (g *group) take() []*unit {
	g.mu.Lock()
	defer g.mu.Unlock()
	n, size := 0, 0
	for n < len(g.queue) && n < groupUnits && (n == 0 || size+g.queue[n].size <= groupBytes) {
		size += g.queue[n].size
		n++
	}
	units := make([]*unit, n)
	copy(units, g.queue)
	rest := copy(g.queue, g.queue[n:])
	clear(g.queue[rest:])
	g.queue = g.queue[:rest]
	return units
}

// lead runs one group, of which own is a part, and gives the lead on.
func (s *Store) lead(own *unit) {
	units := s.group.take()
	s.commit(units)

	g := &s.group
	g.mu.Lock()
	if len(g.queue) > 0 {
		next := g.queue[0]
		next.lead = true
		next.done <- struct{}{}
	} else {
		g.leading = false
	}
	g.mu.Unlock()
	for _, u := range units {
		if u != own {
			u.done <- struct{}{}
		}
	}
}

// commit runs units in one transaction. Savepoints would cost more than the units of a group do, so it is tried without:
// when one fails, all is rolled back and each runs in a transaction of its own.
func (s *Store) commit(units []*unit) {
	err := s.transact(units)
	if err != nil && len(units) > 1 && !errors.Is(err, ErrFull) {
		err = nil
		for _, u := range units {
			u.err = s.transact([]*unit{u})
		}
	}
	if err != nil {
		for _, u := range units {
			u.err = err
		}
	}
}

func (s *Store) transact(units []*unit) (err error) {
	defer func() { s.note(err) }()
	full := time.Since(s.group.lastFull) >= fullEvery
	for _, u := range units {
		full = full || u.full
	}
	if err := s.w.synchronous(full); err != nil {
		return err
	}
	if err := s.w.begin.exec(); err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	t := &tx{s: s, last: s.last, received: s.received, historyN: s.historyN}
	for _, u := range units {
		if err := t.run(u); err != nil {
			s.w.rollback()
			return err
		}
	}
	if err := s.w.commit.exec(); err != nil {
		s.w.rollback()
		return fmt.Errorf("commit: %w", err)
	}
	if full {
		s.group.lastFull = time.Now()
	}
	s.mu.Lock()
	t.remember()
	for _, u := range units {
		if u.applied != nil {
			u.applied(t)
		}
	}
	s.mu.Unlock()
	if len(t.events) > 0 && s.change != nil {
		s.change(t.events)
	}
	s.wakeIndexer()
	return nil
}

// run runs one unit; a panic in it is its error.
func (t *tx) run(u *unit) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic in a unit of work: %v\n%s", p, debug.Stack())
		}
	}()
	return u.run(t)
}

// note remembers whether the store takes writes.
func (s *Store) note(err error) {
	switch {
	case err == nil:
		if s.refusing.Swap(nil) != nil {
			s.log.Warn("the store takes writes again")
		}
	case errors.Is(err, ErrFull):
		if s.refusing.Swap(&err) == nil {
			s.log.Error("the store takes no writes", "error", err)
		}
	}
}
