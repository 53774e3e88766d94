package store

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
)

// The bounds of one group.
const (
	groupUnits = 256
	groupBytes = 1 << 20
)

// ErrClosed says that the store was closed before the unit of work was taken up. Nothing was written.
var ErrClosed = errors.New("the store is closed")

// work is one unit of work. run may be called again after a rollback, so it overwrites what it finds of an earlier run
// and touches nothing else; applied changes the copies in memory, after the commit, with Store.mu held.
type work interface {
	run(*tx) error
	applied(*tx)
}

// step is a unit of work that is not run often enough to need a type of its own.
type step struct {
	do   func(*tx) error
	then func(*tx) // may be nil
}

func (s step) run(t *tx) error { return s.do(t) }

func (s step) applied(t *tx) {
	if s.then != nil {
		s.then(t)
	}
}

// durability is what a unit of work asks of its group's commit.
type durability int

const (
	lazy    durability = iota // survives the end of the process
	durable                   // survives the loss of power too
)

// unit is a unit of work that waits for its group.
type unit struct {
	work
	want durability
	size int // bytes that it writes, about
	err  error

	wake chan struct{} // one token: the result is there, or lead is set
	lead bool          // the unit's goroutine leads the next group; guarded by group.mu until the token is taken
}

// group is the queue of units. The first that waits leads: on its own goroutine it runs and commits what has queued up,
// its own unit with it, while the next ones queue. No goroutine is handed anything but its own result, or the lead.
type group struct {
	mu      sync.Mutex // held for the queue's sake only, never across a commit
	queue   []*unit
	leading bool
	closed  bool
	idle    chan struct{} // closed when nobody leads any more, once closed is set

	// Units are used again. Not a sync.Pool: a channel must not leave the synctest bubble it was made in, and those of
	// one store never do.
	spare []*unit
	batch []*unit // the leader's
}

// do runs one unit of work and returns its error once its group is committed. A context that ends takes the unit out of
// the queue; once it is taken into a group, its result is waited for.
func (s *Store) do(ctx context.Context, want durability, size int, w work) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	g := &s.group
	g.mu.Lock()
	if g.closed {
		g.mu.Unlock()
		return ErrClosed
	}
	u := g.unit()
	u.work, u.want, u.size = w, want, size
	g.queue = append(g.queue, u)
	if !g.leading {
		g.leading = true
		g.mu.Unlock()
		s.lead(u)
		return g.release(u)
	}
	g.mu.Unlock()
	if done := ctx.Done(); done == nil {
		<-u.wake
	} else {
		select {
		case <-u.wake:
		case <-done:
			if g.withdraw(u) {
				return ctx.Err()
			}
			<-u.wake
		}
	}
	if u.lead {
		s.lead(u)
	}
	return g.release(u)
}

// unit returns an unused unit; g.mu is held.
func (g *group) unit() *unit {
	if n := len(g.spare); n > 0 {
		u := g.spare[n-1]
		g.spare = g.spare[:n-1]
		return u
	}
	return &unit{wake: make(chan struct{}, 1)}
}

// release takes a unit back whose token was taken, or never sent, and returns its error.
func (g *group) release(u *unit) error {
	err := u.err
	*u = unit{wake: u.wake}
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.spare) < groupUnits {
		g.spare = append(g.spare, u)
	}
	return err
}

// withdraw takes u out of the queue; false: it is in a group already, or leads one.
func (g *group) withdraw(u *unit) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if u.lead {
		return false
	}
	i := slices.Index(g.queue, u)
	if i >= 0 {
		g.queue = slices.Delete(g.queue, i, i+1)
	}
	return i >= 0
}

// take takes the next group out of the queue, oldest first.
func (g *group) take() []*unit {
	g.mu.Lock()
	defer g.mu.Unlock()
	n, size := 0, 0
	for n < len(g.queue) && n < groupUnits && (n == 0 || size+g.queue[n].size <= groupBytes) {
		size += g.queue[n].size
		n++
	}
	g.batch = append(g.batch[:0], g.queue[:n]...)
	g.queue = slices.Delete(g.queue, 0, n)
	return g.batch
}

// lead runs one group, of which own is a part, and gives the lead on.
func (s *Store) lead(own *unit) {
	g := &s.group
	if s.crowded {
		// Others were here a moment ago: those that are ready to run may join. With nothing ready it costs nothing.
		runtime.Gosched()
	}
	units := g.take()
	s.crowded = len(units) > 1
	s.commit(units)
	for _, u := range units {
		if u != own {
			u.wake <- struct{}{}
		}
	}
	clear(units)
	s.boundWAL()

	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case len(g.queue) > 0:
		next := g.queue[0]
		next.lead = true
		next.wake <- struct{}{}
	case g.closed:
		close(g.idle)
		fallthrough
	default:
		g.leading = false
	}
}

// close lets what is queued end and refuses everything else. When it returns nobody leads, and nobody will; false: it
// was closed before.
func (g *group) close() bool {
	g.mu.Lock()
	if g.closed {
		g.mu.Unlock()
		return false
	}
	g.closed = true
	if g.leading {
		g.idle = make(chan struct{})
		g.mu.Unlock()
		<-g.idle
		return true
	}
	g.mu.Unlock()
	return true
}

// commit runs units in one transaction. A savepoint for each would cost as much as the units of most groups do, so it is
// tried without: when one fails, all is rolled back and the others run again, as if it had never been there.
func (s *Store) commit(units []*unit) {
	for len(units) > 0 {
		failed, err := s.transact(units)
		s.note(err)
		if err == nil {
			return
		}
		if failed < 0 || errors.Is(err, ErrFull) || errors.Is(err, ErrCorrupt) {
			for _, u := range units {
				u.err = err
			}
			return
		}
		units[failed].err = err
		// Moved to the front, not deleted: the slice is the leader's list of whom to wake.
		u := units[failed]
		copy(units[1:failed+1], units[:failed])
		units[0] = u
		units = units[1:]
	}
}

// note remembers whether the store takes writes.
func (s *Store) note(err error) {
	switch {
	case err == nil:
		if s.refusing.Load() != nil && s.refusing.Swap(nil) != nil {
			s.log.Warn("the store takes writes again")
		}
	case errors.Is(err, ErrFull):
		if s.refusing.Swap(&err) == nil {
			s.log.Error("the store takes no writes", "error", err)
		}
	}
}
