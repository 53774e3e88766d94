package delivery

import (
	"sync"
	"sync/atomic"
)

// changes lets goroutines wait until anything changed. With nobody waiting, telling costs one atomic load.
type changes struct {
	waiting atomic.Int64
	mu      sync.Mutex
	ch      chan struct{}
}

// next returns a channel that is closed at the next change. The caller calls done when it has stopped waiting.
func (c *changes) next() (ch <-chan struct{}, done func()) {
	c.waiting.Add(1)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ch == nil {
		c.ch = make(chan struct{})
	}
	return c.ch, func() { c.waiting.Add(-1) }
}

func (c *changes) notify() {
	if c.waiting.Load() == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ch != nil {
		close(c.ch)
		c.ch = nil
	}
}

// Changed returns a channel that is closed when any subscription, delivery or replay changed after the call. done must
// be called when the caller has stopped waiting.
func (e *Engine) Changed() (ch <-chan struct{}, done func()) { return e.changes.next() }
