package delivery

import (
	"net/http"
	"sync"
	"time"

	"hookd/internal/egress"
	"hookd/internal/event"
	"hookd/internal/signing"
	"hookd/internal/store"
)

// subscription is the copy in memory of one subscription: the row, what is compiled from it, and where its lanes stand.
type subscription struct {
	id        store.SubID
	uuid      string
	name      string
	app       string
	createdAt int64
	wake      chan struct{} // holds one token when the loop has to look again
	token     chan struct{} // write token: who holds it may write this subscription to the store

	mu        sync.Mutex // guards all below
	rev       int64
	gone      bool // deleted: the loop ends
	state     store.State
	cause     store.Cause
	stateAt   int64
	spec      store.Spec
	patterns  event.Patterns
	schedule  Schedule
	timeout   time.Duration
	maxFail   int
	host      string
	url       string
	target    *egress.Target  // nil when the rules no longer allow the URL, or when it does not open
	refusal   *egress.Refusal // why the rules do not allow it
	trouble   string          // why nothing can be sent at all: a sealed value that does not open
	headers   http.Header     // own headers, opened
	secrets   []store.Generation
	signer    *signing.Signer
	signerEnd int64  // ms: the signer is made anew at this time, since a secret ends; 0 = never
	keys      uint64 // rises with every change that makes a prepared request wrong

	cursor      int64 // every matching event up to here is finished
	savedCursor int64
	lastSeq     int64 // highest seq that succeeded
	failures    int
	healthy     bool // the last attempt since the start succeeded
	leaseUntil  int64
	leases      int // open lease streams

	feed     feed
	stream   lane
	replay   replayLane
	turn     bool      // the replay lane is next when both are due
	holdTill time.Time // no attempt before, after trouble of hookd's own
	prepared *prepared
}

// lane is a row of deliveries of which one is attempted at a time.
type lane struct {
	retry    *store.Retry // the head, when it failed before
	due      time.Time    // when retry is due, on the monotonic clock
	fresh    bool         // the next attempt repeats one that met a stale connection
	inFlight bool
	started  time.Time
	headSeq  int64     // the seq that since belongs to
	since    time.Time // when the head became the head
}

// replayLane is the lane of deliveries that are sent again.
type replayLane struct {
	lane
	open bool  // replays are pending in the store
	item *item // the head's event, nil before it is read
	ref  store.ReplayItem
}

// stands reports since when seq is the head of l.
func (l *lane) stands(seq int64, now time.Time) time.Time {
	if l.headSeq != seq {
		l.headSeq, l.since = seq, now
	}
	return l.since
}

// dueAt returns when the head seq may be attempted.
func (l *lane) dueAt(seq int64, s Schedule, now time.Time) time.Time {
	if l.retry != nil {
		return l.due
	}
	return l.stands(seq, now).Add(s.first())
}

// setRetry makes r the state of the head; nil means that the head has no failed attempt.
func (l *lane) setRetry(r *store.Retry, due time.Time) { l.retry, l.due = r, due }

// attempts returns how many attempts the head has had.
func (l *lane) attempts() int {
	if l.retry == nil {
		return 0
	}
	return l.retry.Attempt
}

// nudge makes the loop look again.
func (s *subscription) nudge() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// lockWrites takes the write token; the function it returns gives it back.
func (s *subscription) lockWrites() func() {
	s.token <- struct{}{}
	return func() { <-s.token }
}

// mark is the cursor as it stands, and whether it moved since it was stored.
func (s *subscription) mark() (m store.Mark, moved bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return store.Mark{Sub: s.id, Cursor: s.cursor, LastSeq: s.lastSeq}, s.cursor != s.savedCursor
}

func (s *subscription) cursorSaved(cursor int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.savedCursor = max(s.savedCursor, cursor)
}

// rules returns what a verdict is made by; s.mu is held.
func (s *subscription) rules(d Defaults) rules {
	return rules{schedule: s.schedule, jitter: d.Jitter, retryAfterCap: d.RetryAfterCap, maxFailures: s.maxFail}
}
