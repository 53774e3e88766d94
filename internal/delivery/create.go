package delivery

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"hookd/internal/event"
	"hookd/internal/keyring"
	"hookd/internal/store"
)

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
