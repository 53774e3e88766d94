package egress

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

const origin = "https://example.com"

// entering returns how long a request waited, and whether it expects a free connection.
func entering(ctx context.Context, s *pools, fresh bool) (time.Duration, bool, *pool) {
	start := time.Now()
	p, expects := s.enter(ctx, origin, fresh)
	return time.Since(start), expects, p
}

func TestPoolsWait(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name    string
		before  func(s *pools, p *pool) // what happened to the request before
		fresh   bool
		waited  time.Duration
		expects bool
	}{
		{"connection is free", func(s *pools, p *pool) { s.leave(p, false, true) }, false, 0, true},
		{"connection has gone", func(s *pools, p *pool) { s.leave(p, false, false) }, false, 0, false},
		{"drain ends soon", func(s *pools, p *pool) {
			s.draining(p, false, false)
			time.AfterFunc(ms, func() { s.drained(p, false, true) })
		}, false, ms, true},
		{"drain ends soon without use", func(s *pools, p *pool) {
			s.draining(p, false, false)
			time.AfterFunc(ms, func() { s.drained(p, false, false) })
		}, false, ms, false},
		{"drain takes long", func(s *pools, p *pool) { s.draining(p, false, false) }, false, patience, false},
		{"drain began before", func(s *pools, p *pool) { s.draining(p, false, false); <-time.After(ms) }, false, patience - ms, false},
		{"drain began long ago", func(s *pools, p *pool) { s.draining(p, false, false); <-time.After(time.Second) }, false, 0, false},
		{"shared connection", func(s *pools, p *pool) { s.draining(p, false, true) }, false, 0, false},
		{"fresh", func(s *pools, p *pool) { s.draining(p, false, false) }, true, 0, false},
		{"another is free", func(s *pools, p *pool) {
			other, _ := s.enter(context.Background(), origin, false)
			s.leave(other, false, true)
			s.draining(p, false, false)
		}, false, 0, true},
		{"belief was wrong", func(s *pools, p *pool) {
			s.leave(p, false, true)
			next, _ := s.enter(context.Background(), origin, false)
			other, _ := s.enter(context.Background(), origin, false)
			s.leave(other, false, true)
			s.draining(next, true, false)
		}, false, patience, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newPools()
				p, _ := s.enter(t.Context(), origin, false)
				c.before(s, p)
				waited, expects, _ := entering(t.Context(), s, c.fresh)
				if waited != c.waited || expects != c.expects {
					t.Errorf("waited %v, expects %t; want %v, %t", waited, expects, c.waited, c.expects)
				}
			})
		})
	}
}

// A receiver that drips costs one wait, until it was quick again.
func TestPoolsLosePatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPools()
		_, _, p := entering(t.Context(), s, false)
		s.draining(p, false, false)
		for i, want := range []time.Duration{patience, 0, 0} {
			waited, _, p := entering(t.Context(), s, false)
			if waited != want {
				t.Errorf("request %d waited %v, want %v", i, waited, want)
			}
			s.draining(p, false, false)
		}
		s.drained(p, false, true) // at once
		_, expects, p := entering(t.Context(), s, false)
		if !expects {
			t.Error("the free connection is not expected")
		}
		s.draining(p, false, false)
		if waited, _, _ := entering(t.Context(), s, false); waited != patience {
			t.Errorf("patience did not come back: waited %v", waited)
		}
	})
}

func TestPoolsWaitEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPools()
		_, _, p := entering(t.Context(), s, false)
		s.draining(p, false, false)
		ctx, cancel := context.WithTimeout(t.Context(), patience/2)
		defer cancel()
		if waited, expects, _ := entering(ctx, s, false); waited != patience/2 || expects {
			t.Errorf("waited %v, expects %t", waited, expects)
		}
	})
}

func TestPoolsClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPools()
		_, _, one := entering(t.Context(), s, false)
		_, _, two := entering(t.Context(), s, true)
		closed := make(chan struct{})
		go func() { s.close(); close(closed) }()
		ended := func() bool {
			synctest.Wait()
			select {
			case <-closed:
				return true
			default:
				return false
			}
		}
		if ended() {
			t.Fatal("closed with two requests in flight")
		}
		if _, _, p := entering(t.Context(), s, false); p != nil {
			t.Error("a request entered")
		}
		s.leave(one, false, true)
		s.draining(two, false, false)
		if ended() {
			t.Fatal("closed with a drain in flight")
		}
		s.drained(two, false, true)
		if !ended() {
			t.Fatal("not closed")
		}
		s.close() // again: nothing to wait for
	})
}

// Origins without anything in flight are forgotten when there are many.
func TestPoolsAreBounded(t *testing.T) {
	s := newPools()
	busy, _ := s.enter(t.Context(), "busy", false)
	for i := range 3 * maxPools {
		p, _ := s.enter(t.Context(), time.Duration(i).String(), false)
		s.leave(p, false, true)
	}
	if len(s.origins) > maxPools || s.origins["busy"] != busy {
		t.Errorf("%d origins", len(s.origins))
	}
}
