package delivery

import (
	"context"
	"testing"
	"testing/synctest"
)

func TestSlotsHalfForSuspects(t *testing.T) {
	s := newSlots(4, 4)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	try := func(host string, suspect bool) bool { return s.acquire(ended, host, suspect, nil) }
	if !try("a", true) || !try("b", true) {
		t.Fatal("suspects get their half")
	}
	if try("c", true) {
		t.Error("a third suspect got a slot of the other half")
	}
	if !try("a", false) || !try("d", false) {
		t.Error("a healthy one got no slot of its half")
	}
	if try("e", false) {
		t.Error("more slots than there are")
	}
	s.release("a", true)
	if !try("e", false) {
		t.Error("a released slot was not given again")
	}
	if n := s.inFlight(); n != 4 {
		t.Errorf("%d slots are taken, want 4", n)
	}
}

func TestSlotsPerHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSlots(10, 2)
		s.acquire(t.Context(), "a", false, nil)
		s.acquire(t.Context(), "a", false, nil)
		got := make(chan bool, 1)
		go func() { got <- s.acquire(t.Context(), "a", false, nil) }()
		synctest.Wait()
		if !s.acquire(t.Context(), "b", false, nil) {
			t.Fatal("another host waits for the full one")
		}
		select {
		case <-got:
			t.Fatal("a third slot of the host was given")
		default:
		}
		s.release("a", false)
		if !<-got {
			t.Error("the waiting one did not get the released slot")
		}
		for range 2 {
			s.release("a", false)
		}
		s.release("b", false)
		if s.inFlight() != 0 || len(s.hosts) != 0 {
			t.Errorf("%d slots and %d hosts are left", s.inFlight(), len(s.hosts))
		}
	})
}

func TestSlotsWaitIsWoken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSlots(1, 1)
		s.acquire(t.Context(), "a", false, nil)
		wake := make(chan struct{}, 1)
		got := make(chan bool, 1)
		go func() { got <- s.acquire(t.Context(), "a", false, wake) }()
		synctest.Wait()
		wake <- struct{}{}
		if <-got {
			t.Error("a slot was given that is taken")
		}
		s.release("a", false)
		if len(s.waiting) != 0 || s.inFlight() != 0 {
			t.Error("who gave up still waits")
		}
	})
}
