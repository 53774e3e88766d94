package delivery

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"hookd/internal/egress"
	"hookd/internal/keyring"
	"hookd/internal/store"
)

// Defaults is what is in force for a subscription that does not say otherwise.
type Defaults struct {
	Schedule      Schedule
	Jitter        float64       // 0 to 1: the share that may be added to a delay
	Timeout       time.Duration // of one attempt, up to the end of the response's headers
	RetryAfterCap time.Duration
	MaxFailures   int // counted failures in a row that disable; 0 = never
}

// Options is what an Engine is made of. All of it is needed.
type Options struct {
	Store  *store.Store
	Master *keyring.Master
	Policy *egress.Policy
	// Send makes one request; in the running daemon it is egress.Client.Do, so that nothing leaves unguarded.
	Send               func(context.Context, *egress.Request) egress.Result
	Defaults           Defaults
	MaxInFlight        int
	MaxInFlightPerHost int
	UserAgent          string
	Log                *slog.Logger
}

// An Engine runs the loops of all subscriptions. Its methods may be called from any goroutine between Start and Stop.
type Engine struct {
	opts   Options
	store  *store.Store
	window *window
	slots  *slots
	random func() float64

	// feedMu orders appends against loops that become live: see feed.go. It is taken before a subscription's mu.
	feedMu  sync.Mutex
	last    int64 // highest seq the feed has seen
	matches map[store.KindID][]*subscription

	mu   sync.RWMutex
	subs map[store.SubID]*subscription

	// soft ends when no new attempt may start, hard when those in flight are cut off.
	soft, hard         context.Context
	softStop, hardStop context.CancelFunc
	loops              sync.WaitGroup

	changes changes
}

// New makes an engine; nothing runs before Start.
func New(o Options) *Engine {
	e := &Engine{
		opts:    o,
		store:   o.Store,
		window:  newWindow(o.Store.Epoch(), windowBytes),
		slots:   newSlots(o.MaxInFlight, o.MaxInFlightPerHost),
		random:  rand.Float64,
		matches: map[store.KindID][]*subscription{},
		subs:    map[store.SubID]*subscription{},
	}
	e.hard, e.hardStop = context.WithCancel(context.Background())
	e.soft, e.softStop = context.WithCancel(e.hard)
	return e
}

// Start reads the subscriptions and starts their loops. It must be called once, before anything is appended to the
// store.
func (e *Engine) Start(ctx context.Context) error {
	rows, err := e.store.Subscriptions(ctx)
	if err != nil {
		return err
	}
	replaying, err := e.store.OpenReplays(ctx)
	if err != nil {
		return err
	}
	_, e.last = e.store.Bounds()
	e.store.OnAppend(e.appended)
	now := time.Now()
	for _, row := range rows {
		s, err := e.load(row, now)
		if err != nil {
			return err
		}
		e.subs[s.id] = s
	}
	for _, id := range replaying {
		if s := e.subs[id]; s != nil {
			s.replay.open = true
		}
	}
	for _, s := range e.subs {
		e.run(s)
		if s.leaseUntil != 0 {
			e.expireLease(s)
		}
	}
	e.loops.Go(e.keepCursors)
	return nil
}

// run starts the loop of a subscription.
func (e *Engine) run(s *subscription) { e.loops.Go(func() { e.loop(s) }) }

// Stop ends the loops: no new attempt starts; those in flight have until ctx ends, then they are cut off and count for
// nothing. It returns when every loop has ended and every cursor is stored.
func (e *Engine) Stop(ctx context.Context) {
	e.softStop()
	ended := make(chan struct{})
	go func() {
		e.loops.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-ctx.Done():
		e.hardStop()
		<-ended
	}
	e.hardStop()
	e.changes.notify()
	if err := e.saveCursors(context.WithoutCancel(ctx)); err != nil && !errors.Is(err, store.ErrFull) {
		e.opts.Log.Error("save cursors", "error", err)
	}
}

// cursorEvery is how often the cursors of moving subscriptions are stored: the history after them tells the rest at the
// next start, so this only bounds how much of it is read then.
const cursorEvery = 10 * time.Second

// keepCursors stores the cursors that moved, and tries the store once a second while it refuses writes, so that the
// loops that wait for it go on.
func (e *Engine) keepCursors() {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	saved := time.Now()
	for {
		select {
		case <-e.soft.Done():
			return
		case <-tick.C:
		}
		if time.Since(saved) < cursorEvery && e.store.Refusing() == nil {
			continue
		}
		saved = time.Now()
		if err := e.saveCursors(e.hard); err != nil && e.hard.Err() == nil {
			e.opts.Log.Warn("save cursors", "error", err)
		}
	}
}

func (e *Engine) saveCursors(ctx context.Context) error {
	var marks []store.Mark
	refusing := e.store.Refusing() != nil
	for _, s := range e.all() {
		if m, moved := s.mark(); moved || refusing {
			marks = append(marks, m)
		}
	}
	if len(marks) == 0 {
		return nil
	}
	if err := e.store.SaveCursors(ctx, marks); err != nil {
		return err
	}
	for _, m := range marks {
		if s := e.get(m.Sub); s != nil {
			s.cursorSaved(m.Cursor)
		}
	}
	return nil
}

// all returns the subscriptions, in no order.
func (e *Engine) all() []*subscription {
	e.mu.RLock()
	defer e.mu.RUnlock()
	list := make([]*subscription, 0, len(e.subs))
	for _, s := range e.subs {
		list = append(list, s)
	}
	return list
}

func (e *Engine) get(id store.SubID) *subscription {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return e.subs[id]
}

// InFlight returns how many attempts are on the wire.
func (e *Engine) InFlight() int { return e.slots.inFlight() }
