package delivery

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"hookd/internal/event"
	"hookd/internal/keyring"
	"hookd/internal/signing"
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

// NewSubscription is what an owner asks for. What is empty follows the configuration.
type NewSubscription struct {
	URL     string
	Name    string // made from the host when empty
	Types   []string
	Retry   string
	Timeout time.Duration // 0: the configuration's
	// MaxFailures is nil for the configuration's and 0 for never.
	MaxFailures *int
	// After is the seq behind which it starts.
	After int64
	Lease bool
}

// Create makes a subscription and starts its loop. It returns the text of its secret, which is shown this once. The
// URL's refusal is an *egress.Refusal, a name that is taken store.ErrNameTaken.
func (e *Engine) Create(ctx context.Context, n NewSubscription) (View, string, error) {
	target, err := e.opts.Policy.Check(n.URL)
	if err != nil {
		return View{}, "", err
	}
	if len(n.Types) == 0 {
		n.Types = []string{"*"}
	}
	if n.Name == "" {
		n.Name = e.freeName(target.Host)
	}
	id, err := uuid.NewV7()
	if err != nil {
		return View{}, "", fmt.Errorf("make subscription id: %w", err)
	}
	now := time.Now()
	row := store.Subscription{
		UUID: id.String(), Name: n.Name, App: DefaultApp, State: store.Active, StateAt: now.UnixMilli(),
		Host: target.Host, Cursor: n.After, CreatedAt: now.UnixMilli(),
		URL: e.opts.Master.Seal(urlPlace(id.String()), []byte(target.URL.String())),
		Spec: store.Spec{
			Types: n.Types, Retry: n.Retry, TimeoutMS: n.Timeout.Milliseconds(), MaxFailures: n.MaxFailures,
		},
		Secrets: []store.Generation{{Generation: 1, Master: masterID, CreatedAt: now.UnixMilli()}},
	}
	if n.Lease {
		row.LeaseUntil = now.Add(LeaseGrace).UnixMilli()
	}
	s, err := e.load(row, now)
	if err != nil {
		return View{}, "", err
	}
	s.id, err = e.store.CreateSubscription(ctx, store.NewSubscription{
		UUID: row.UUID, Name: row.Name, App: row.App, Host: row.Host, URL: row.URL, Spec: row.Spec,
		Cursor: row.Cursor, LeaseUntil: row.LeaseUntil, Now: row.CreatedAt, Generation: 1, Master: masterID,
	})
	if err != nil {
		return View{}, "", err
	}
	e.mu.Lock()
	e.subs[s.id] = s
	e.mu.Unlock()
	e.rematch()
	e.run(s)
	if n.Lease {
		e.expireLease(s)
	}
	e.changes.notify()
	view, err := e.view(ctx, s)
	return view, e.opts.Master.Derive(s.uuid, 1).Text(), err
}

// DefaultApp owns every subscription that names no other.
const DefaultApp = "default"

func urlPlace(row string) keyring.Place {
	return keyring.Place{Table: "subscriptions", Row: row, Column: "url", Master: masterID}
}

// load makes the copy in memory of a row.
func (e *Engine) load(row store.Subscription, now time.Time) (*subscription, error) {
	s := &subscription{
		id: row.ID, uuid: row.UUID, name: row.Name, app: row.App, createdAt: row.CreatedAt,
		wake: make(chan struct{}, 1), token: make(chan struct{}, 1),
		rev: row.Rev, state: row.State, cause: row.Cause, stateAt: row.StateAt, host: row.Host,
		cursor: row.Cursor, savedCursor: row.Cursor, lastSeq: row.LastSeq, failures: row.Failures,
		leaseUntil: row.LeaseUntil, secrets: row.Secrets, feed: feed{scanned: row.Cursor},
	}
	if err := s.compile(row.Spec, e.opts.Defaults); err != nil {
		return nil, fmt.Errorf("subscription %s: %w", row.Name, err)
	}
	e.open(s, row.URL)
	for i := range row.Retries {
		r := row.Retries[i]
		l := &s.stream
		if r.Lane == replayLaneID {
			l = &s.replay.lane
		}
		// The wall clock may have moved while hookd was down: never later than the whole delay from now.
		wait := min(time.Duration(r.DueAt-now.UnixMilli()), time.Duration(r.DelayMS)) * time.Millisecond
		l.setRetry(&r, now.Add(max(wait, 0)))
	}
	return s, nil
}

// compile makes what is in force from what the owner gave and what the configuration says.
func (s *subscription) compile(spec store.Spec, d Defaults) error {
	patterns, err := event.ParsePatterns(spec.Types)
	if err != nil {
		return fmt.Errorf("types: %w: %w", ErrInvalid, err)
	}
	s.spec, s.patterns = spec, patterns
	s.schedule, s.timeout, s.maxFail = d.Schedule, d.Timeout, d.MaxFailures
	if spec.Retry != "" {
		if s.schedule, err = ParseSchedule(spec.Retry); err != nil {
			return fmt.Errorf("retry: %w: %w", ErrInvalid, err)
		}
	}
	if spec.TimeoutMS != 0 {
		s.timeout = time.Duration(spec.TimeoutMS) * time.Millisecond
	}
	if spec.MaxFailures != nil {
		s.maxFail = *spec.MaxFailures
	}
	return nil
}

// open unseals the URL and judges it by the rules in force.
func (e *Engine) open(s *subscription, sealed []byte) {
	url, err := e.opts.Master.Open(urlPlace(s.uuid), sealed)
	if err != nil {
		s.trouble = "its stored URL does not open with the present master key"
		e.opts.Log.Error("open url", "subscription", s.name, "error", err)
		return
	}
	s.url = string(url)
	if s.target, err = e.opts.Policy.Check(s.url); err != nil {
		s.refusal = asRefusal(err)
	}
}

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

// Enable makes a disabled or paused subscription active: its failure count is 0, its head due now with a fresh
// schedule.
func (e *Engine) Enable(ctx context.Context, ref string) (View, error) {
	return e.transition(ctx, ref, func(s *subscription) (store.Change, error) {
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

// A Rotation is what became of a request for a new secret.
type Rotation struct {
	Name         string
	Generation   int64
	Rotated      bool      // false: the newest secret is younger than was asked
	Secret       string    // text of the new secret, shown this once
	OverlapUntil time.Time // when the previous one stops signing; zero: it does no longer
	EndedEarly   bool      // an overlap was running, and its oldest secret was cut off
}

// Rotate makes a new secret. The previous one signs beside it for overlap (0: not at all); an older one ends at once.
// With ifOlder above 0 it does nothing while the newest secret is younger.
func (e *Engine) Rotate(ctx context.Context, ref string, overlap, ifOlder time.Duration) (Rotation, error) {
	s, err := e.find(ref)
	if err != nil {
		return Rotation{}, err
	}
	unlock := s.lockWrites()
	defer unlock()
	now := time.Now()
	s.mu.Lock()
	live := liveSecrets(s.secrets, now.UnixMilli())
	newest, gone := s.secrets[0], s.gone
	s.mu.Unlock()
	if gone {
		return Rotation{}, fmt.Errorf("%w: %q", ErrNotFound, ref)
	}
	r := Rotation{Name: s.name, Generation: newest.Generation}
	if ifOlder > 0 && now.Sub(time.UnixMilli(newest.CreatedAt)) < ifOlder {
		return r, nil
	}
	r.Generation, r.Rotated = newest.Generation+1, true
	r.EndedEarly = len(live) > 1
	next := []store.Generation{{Generation: r.Generation, Master: masterID, CreatedAt: now.UnixMilli()}}
	if overlap > 0 {
		r.OverlapUntil = now.Add(overlap)
		newest.NotAfter = r.OverlapUntil.UnixMilli()
		next = append(next, newest)
	}
	if err := e.store.SetSecrets(ctx, s.id, next); err != nil {
		return Rotation{}, err
	}
	s.mu.Lock()
	s.secrets, s.signer = next, nil
	s.keys++
	s.mu.Unlock()
	r.Secret = signing.Secret(e.opts.Master.Derive(s.uuid, r.Generation)).Text()
	return r, nil
}
