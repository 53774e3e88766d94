package delivery

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"strings"
	"time"

	"hookd/internal/egress"
	"hookd/internal/store"
)

// View is a subscription as an owner sees it: values that it inherits are given as they are in force.
type View struct {
	ID                 store.SubID
	UUID, Name, App    string
	URL, Host          string
	Types              []string
	State              store.State
	Cause              store.Cause
	StateAt, CreatedAt int64 // Unix ms
	Cursor, LastSeq    int64
	Pending            int64 // matching events after the cursor; exact
	OldestPendingAt    int64 // receipt of the lowest of them, Unix ms; 0 = none
	Head               *Head
	Failures           int
	Retry              string
	Timeout            time.Duration
	MaxFailures        int
	Trouble            string // why nothing can be sent; "" = nothing is wrong
}

// Head is the lowest pending event of a subscription's stream.
type Head struct {
	Seq           int64
	EventID       string
	Attempt       int // number of the attempt in flight or of the next
	InFlight      bool
	Error         store.Code // of the last attempt
	HTTPStatus    int        // of the last attempt; 0: no response
	BlockedSince  int64      // Unix ms; 0 = it has not failed
	NextAttemptAt int64      // Unix ms; 0: none is planned
}

// Subscriptions returns all of them, oldest first.
func (e *Engine) Subscriptions(ctx context.Context) ([]View, error) {
	list := e.all()
	sort.Slice(list, func(i, j int) bool { return list[i].id < list[j].id })
	views := make([]View, 0, len(list))
	for _, s := range list {
		v, err := e.view(ctx, s)
		if err != nil {
			return nil, err
		}
		views = append(views, v)
	}
	return views, nil
}

// Subscription returns the one that ref names: its name, else its id, else 8 or more characters of the id's end.
func (e *Engine) Subscription(ctx context.Context, ref string) (View, error) {
	s, err := e.find(ref)
	if err != nil {
		return View{}, err
	}
	return e.view(ctx, s)
}

// Counts says how many subscriptions are in each state.
func (e *Engine) Counts() (active, paused, disabled int) {
	for _, s := range e.all() {
		s.mu.Lock()
		switch s.state {
		case store.Active:
			active++
		case store.Paused:
			paused++
		case store.Disabled:
			disabled++
		}
		s.mu.Unlock()
	}
	return active, paused, disabled
}

// Name returns the name of a subscription that exists.
func (e *Engine) Name(id store.SubID) (string, bool) {
	if s := e.get(id); s != nil {
		return s.name, true
	}
	return "", false
}

// minSuffix is how much of an id's end has to be given.
const minSuffix = 8

func (e *Engine) find(ref string) (*subscription, error) {
	var byID, bySuffix []*subscription
	for _, s := range e.all() {
		switch {
		case s.name == ref:
			return s, nil
		case strings.EqualFold(s.uuid, ref):
			byID = append(byID, s)
		case len(ref) >= minSuffix && strings.HasSuffix(s.uuid, strings.ToLower(ref)):
			bySuffix = append(bySuffix, s)
		}
	}
	switch found := append(byID, bySuffix...); {
	case len(found) == 0:
		return nil, fmt.Errorf("%w: %q", ErrNotFound, ref)
	case len(byID) == 1 || len(found) == 1:
		return found[0], nil
	default:
		return nil, fmt.Errorf("%w: %q", ErrAmbiguous, ref)
	}
}

// freeName makes a name from a host that no subscription has yet.
func (e *Engine) freeName(host string) string {
	base := nameOf(host)
	taken := map[string]bool{}
	for _, s := range e.all() {
		taken[s.name] = true
	}
	name := base
	for n := 2; taken[name]; n++ {
		name = fmt.Sprintf("%s-%d", base, n)
	}
	return name
}

// nameOf turns a host into a name: letters, digits, ".", "_", "-", beginning with a letter or digit.
func nameOf(host string) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '.', r == '_', r == '-':
			return r
		}
		return '-'
	}, strings.Trim(host, "[]"))
	name = strings.TrimLeft(name, "-._")
	if len(name) > 56 {
		name = name[:56]
	}
	if name == "" {
		return "subscription"
	}
	return name
}

// view reads what the owner sees; it asks the store for the count of pending events and for the head.
func (e *Engine) view(ctx context.Context, s *subscription) (View, error) {
	s.mu.Lock()
	v := View{
		ID: s.id, UUID: s.uuid, Name: s.name, App: s.app, URL: s.url, Host: s.host, Types: s.patterns.Strings(),
		State: s.state, Cause: s.cause, StateAt: s.stateAt, CreatedAt: s.createdAt,
		Cursor: s.cursor, LastSeq: s.lastSeq, Failures: s.failures,
		Retry: s.schedule.String(), Timeout: s.timeout, MaxFailures: s.maxFail, Trouble: s.trouble,
	}
	head, known := s.head()
	idle := s.feed.live && !known
	s.mu.Unlock()
	if idle {
		return v, nil
	}
	kinds, _ := e.kinds(s)
	var err error
	if v.Pending, err = e.store.Count(ctx, kinds, v.Cursor); err != nil || v.Pending == 0 {
		return v, err
	}
	if !known {
		_, last := e.store.Bounds()
		seqs, err := e.store.NextSeqs(ctx, kinds, v.Cursor, last, 1)
		if err != nil || len(seqs) == 0 {
			return v, err
		}
		head = seqs[0]
	}
	it, err := e.fetch(ctx, s, head)
	if err != nil {
		return v, err
	}
	v.OldestPendingAt = it.ReceivedAt
	v.Head = s.headView(it)
	return v, nil
}

// headView tells how the head stands; nil when it is not the head any more.
func (s *subscription) headView(it *item) *Head {
	s.mu.Lock()
	defer s.mu.Unlock()
	if it.Seq <= s.cursor {
		return nil
	}
	l := &s.stream
	h := &Head{Seq: it.Seq, EventID: it.ID, Attempt: 1, InFlight: l.inFlight}
	if r := l.retry; r != nil && r.Seq == it.Seq {
		h.Attempt = r.Attempt + 1
		h.Error, h.HTTPStatus, h.BlockedSince = r.Error, r.HTTPStatus, r.Since
	}
	if s.state == store.Active && !l.inFlight {
		now := time.Now()
		h.NextAttemptAt = now.UnixMilli()
		if due := l.dueAt(it.Seq, s.schedule, now); due.After(now) {
			h.NextAttemptAt = due.UnixMilli()
		}
	}
	return h
}

// Pending returns deliveries of a subscription that are not finished, lowest seq first, at most limit.
func (e *Engine) Pending(ctx context.Context, ref string, limit int) ([]store.Event, error) {
	s, err := e.find(ref)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	cursor := s.cursor
	s.mu.Unlock()
	kinds, _ := e.kinds(s)
	_, last := e.store.Bounds()
	seqs, err := e.store.NextSeqs(ctx, kinds, cursor, last, limit)
	if err != nil {
		return nil, err
	}
	return e.store.EventsAt(ctx, seqs)
}

// Wants reports whether the subscription that ref names gets events of this kind, and up to which seq they are
// finished.
func (e *Engine) Wants(ref string, k store.Kind) (wants bool, cursor int64, err error) {
	s, err := e.find(ref)
	if err != nil {
		return false, 0, err
	}
	wants = s.wants(k)
	s.mu.Lock()
	defer s.mu.Unlock()
	return wants, s.cursor, nil
}

// asRefusal unwraps what Policy.Check returns.
func asRefusal(err error) *egress.Refusal {
	var r *egress.Refusal
	if errors.As(err, &r) {
		return r
	}
	return &egress.Refusal{Reason: egress.HostNotAllowed, Message: err.Error()}
}
