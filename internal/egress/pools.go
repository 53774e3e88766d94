package egress

import (
	"context"
	"runtime"
	"sync"
	"time"
)

const (
	// patience is how long a request waits for the connection of the one before it, whose body is being drained. A body
	// that came with its headers is drained in microseconds; a new connection costs more than this wait.
	patience = 2 * time.Millisecond

	// yields is how often it first lets others run instead: a drain whose body is there needs a few turns of two
	// goroutines, which costs a tenth of going to sleep on a timer (measured: 12 us of a request of 60 us).
	yields = 4

	maxPools = 1024 // origins remembered; more are forgotten when nothing of them is in flight
)

// pools knows, for each origin, whether a connection of the transport is about to become free, which the transport does
// not tell. It decides only whether a request waits a moment before it asks the transport: what it believes may be
// wrong (a receiver closes idle connections unseen), and then a connection is opened that was not needed, or a request
// starts 2 ms late once.
type pools struct {
	mu      sync.Mutex
	origins map[string]*pool
	active  int           // requests and drains in flight
	closed  chan struct{} // made by close; closed when active is 0
	closing bool
}

type pool struct {
	inFlight  int           // requests and drains
	idle      int           // connections believed to be free
	draining  int           // bodies being drained on HTTP/1 connections
	lastDrain time.Time     // when the youngest of these began
	slow      bool          // the last wait was for nothing: no more until a drain is quick again
	changed   chan struct{} // made by one who waits; closed at the end of a drain
}

func newPools() *pools {
	return &pools{origins: map[string]*pool{}}
}

// enter counts a request in. Unless it wants a fresh connection, it waits for one that is about to become free, no
// longer than ctx or patience lasts. expects tells whether a free connection should be there for it. The pool is nil
// when the client is closed.
func (s *pools) enter(ctx context.Context, origin string, fresh bool) (p *pool, expects bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return nil, false
	}
	p = s.origins[origin]
	if p == nil {
		s.trim()
		p = &pool{}
		s.origins[origin] = p
	}
	s.active++
	p.inFlight++
	if fresh {
		return p, false
	}
	for round := 0; p.idle == 0; round++ {
		left := patience - time.Since(p.lastDrain)
		if p.draining == 0 || p.slow || left <= 0 || ctx.Err() != nil {
			p.slow = p.slow || round > 0 && p.draining > 0
			return p, false
		}
		if round < yields {
			s.yield()
		} else {
			s.wait(ctx, p, left)
		}
	}
	p.idle--
	return p, true
}

// yield lets go of the lock and the processor for a turn.
func (s *pools) yield() {
	s.mu.Unlock()
	defer s.mu.Lock()
	runtime.Gosched()
}

// wait lets go of the lock until a drain of p ends, the time is over or ctx ends.
func (s *pools) wait(ctx context.Context, p *pool, most time.Duration) {
	if p.changed == nil {
		p.changed = make(chan struct{})
	}
	changed := p.changed
	s.mu.Unlock()
	defer s.mu.Lock()
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-changed:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// leave counts a request out whose connection is free again or has gone. misled says that it expected a free one and
// got a new one: there is none.
func (s *pools) leave(p *pool, misled, free bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p.learn(misled)
	if free {
		p.idle++
		p.wake()
	}
	s.out(p)
}

// draining turns a request in flight into a drain. shared says that its connection serves many requests at a time.
func (s *pools) draining(p *pool, misled, shared bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p.learn(misled)
	if !shared {
		p.draining++
		p.lastDrain = time.Now()
	}
}

// drained counts a drain out.
func (s *pools) drained(p *pool, shared, free bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !shared {
		p.draining--
		if free {
			p.idle++
			p.slow = p.slow && time.Since(p.lastDrain) > patience
		}
		p.wake()
	}
	s.out(p)
}

func (p *pool) learn(misled bool) {
	if misled {
		p.idle = 0
	}
}

func (p *pool) wake() {
	if p.changed != nil {
		close(p.changed)
		p.changed = nil
	}
}

func (s *pools) out(p *pool) {
	p.inFlight--
	s.active--
	if s.active == 0 && s.closed != nil {
		close(s.closed)
		s.closed = nil
	}
}

// trim forgets origins without anything in flight when there are many.
func (s *pools) trim() {
	if len(s.origins) < maxPools {
		return
	}
	for origin, p := range s.origins {
		if p.inFlight == 0 {
			delete(s.origins, origin)
		}
	}
}

// forget takes every connection for gone.
func (s *pools) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.origins {
		p.idle = 0
	}
}

// close lets no request in any more and waits until none is in flight.
func (s *pools) close() {
	s.mu.Lock()
	s.closing = true
	if s.active == 0 {
		s.mu.Unlock()
		return
	}
	if s.closed == nil {
		s.closed = make(chan struct{})
	}
	closed := s.closed
	s.mu.Unlock()
	<-closed
}
