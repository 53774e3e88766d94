package store

import (
	"fmt"
	"runtime/debug"
	"time"
)

// fullEvery is how long outcomes may go on without a commit that survives the loss of power.
const fullEvery = time.Second

// tx is one transaction of a group: what it has added to the copies in memory, so that a later unit of the group sees
// it, and so that nothing of it is left when it is rolled back.
type tx struct {
	s *Store
	w *writer

	last     int64 // of the log
	received int64 // receipt time of the last event
	historyN int64 // last row of history

	events  []Event
	hashes  []int64 // of their ids
	kinds   []Kind  // new ones
	blocks  tally
	history []historyRow
	moves   []move
	deleted []SubID

	idSlice, historySlice int // rows of the runs that went into their indexes

	candidates []int64 // scratch of find
}

// transact runs units in one transaction. Its error is that of the unit at failed, or of the transaction, where failed
// is -1; nothing was written then.
func (s *Store) transact(units []*unit) (failed int, err error) {
	want := lazy
	for _, u := range units {
		want = max(want, u.want)
	}
	now := time.Now()
	if now.Sub(s.lastFull) >= fullEvery {
		want = durable
	}
	if err := s.w.synchronous(want); err != nil {
		return -1, err
	}
	t := s.begin()
	if len(units) == 1 && s.alone(units[0].work) {
		if err = guarded(t, units[0].work); err == nil {
			err = s.w.history.flush()
		}
	} else {
		failed, err = t.commit(units)
	}
	if err != nil {
		s.w.rollback()
		s.forget(t)
		return failed, err
	}
	if want == durable && s.w.wrote {
		s.lastFull = now
	}
	s.mu.Lock()
	s.remember(t)
	for _, u := range units {
		u.applied(t)
	}
	s.mu.Unlock()
	if len(t.events) > 0 && s.onAppend != nil {
		s.onAppend(t.events)
	}
	return 0, nil
}

// begin readies the leader's tx for another transaction.
func (s *Store) begin() *tx {
	t := &s.tx
	*t = tx{
		s: s, w: s.w, last: s.last, received: s.received, historyN: s.historyN,
		hashes: t.hashes[:0], kinds: t.kinds[:0], history: t.history[:0], moves: t.moves[:0],
		deleted:    t.deleted[:0],
		candidates: t.candidates,
	}
	return t
}

// alone reports whether a unit is one statement and nothing is owed to an index: it then is a transaction by itself,
// which is what most of a single stream's outcomes are.
func (s *Store) alone(w work) bool {
	r, ok := w.(*recording)
	return ok && r.plain() && !s.history.due(1)
}

// commit runs units between BEGIN and COMMIT.
func (t *tx) commit(units []*unit) (failed int, err error) {
	if err := t.w.begin.exec(); err != nil {
		return -1, fmt.Errorf("begin: %w", err)
	}
	failed, err = t.runAll(units)
	if err == nil {
		if err = t.w.commit.exec(); err != nil {
			failed, err = -1, fmt.Errorf("commit: %w", err)
		}
	}
	return failed, err
}

func (t *tx) runAll(units []*unit) (failed int, err error) {
	for i, u := range units {
		if err := guarded(t, u.work); err != nil {
			return i, err
		}
	}
	if err := t.w.history.flush(); err != nil {
		return -1, err
	}
	return -1, t.index()
}

// guarded runs one unit; a panic in it is its error.
func guarded(t *tx, w work) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic in a unit of work: %v", p)
			t.s.log.Error("panic in a unit of work", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
		}
	}()
	return w.run(t)
}
