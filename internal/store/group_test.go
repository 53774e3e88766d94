package store

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// holdLead takes the lead until release is called.
func holdLead(s *Store) (release func()) {
	leads, hold := make(chan struct{}), make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = s.do(context.Background(), lazy, 0, step{do: func(*tx) error { close(leads); <-hold; return nil }})
	}()
	<-leads
	return func() { close(hold); <-ended }
}

// together queues units up in this order behind one that holds the lead, so that they share a group. It returns their
// errors.
func together(t *testing.T, s *Store, units ...func() error) []error {
	t.Helper()
	release := holdLead(s)
	errs := make([]error, len(units))
	var wg sync.WaitGroup
	for i, unit := range units {
		wg.Go(func() { errs[i] = unit() })
		waitQueued(t, s, i+1)
	}
	release()
	wg.Wait()
	return errs
}

// waitQueued waits until n units are in the queue.
func waitQueued(t *testing.T, s *Store, n int) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; runtime.Gosched() {
		s.group.mu.Lock()
		queued := len(s.group.queue)
		s.group.mu.Unlock()
		if queued == n {
			return
		}
		if time.Now().After(deadline) {
			t.Errorf("%d units are queued, want %d", queued, n)
			return
		}
	}
}

func put(s *Store, key string, v any) func() error {
	return func() error {
		return s.do(context.Background(), lazy, 0, step{do: func(t *tx) error { return t.w.setMeta.exec(key, v) }})
	}
}

func meta(t *testing.T, s *Store, key string) string {
	t.Helper()
	var v string
	err := one(s.read.QueryRowContext(t.Context(), `SELECT v FROM meta WHERE k = ?`, key), &v)
	if errors.Is(err, ErrNotFound) {
		return ""
	}
	check(t, err)
	return v
}

func TestGroupSharesATransaction(t *testing.T) {
	s := openTest(t, t.TempDir())
	var units []func() error
	for i := range 20 {
		units = append(units, put(s, fmt.Sprint("k", i), i))
	}
	before := s.groups
	for _, err := range together(t, s, units...) {
		check(t, err)
	}
	if n := s.groups - before; n != 2 {
		t.Errorf("%d groups, want 2: the one that held the lead, and all others", n)
	}
	for i := range 20 {
		if meta(t, s, fmt.Sprint("k", i)) != fmt.Sprint(i) {
			t.Errorf("k%d is missing", i)
		}
	}
}

// A unit that fails or panics takes nothing with it, and leaves nothing of its own.
func TestUnitFailsByItself(t *testing.T) {
	s := openTest(t, t.TempDir())
	broken := errors.New("broken")
	failing := func(end func() error) func() error {
		return func() error {
			return s.do(context.Background(), durable, 0, step{
				do: func(t *tx) error {
					if err := t.w.setMeta.exec("bad", 1); err != nil {
						return err
					}
					return end()
				},
				then: func(*tx) { t.Error("a failed unit was applied") },
			})
		}
	}
	duplicate := func() error {
		return s.do(context.Background(), lazy, 0, step{do: func(t *tx) error { return t.w.insertKind.exec("a", "b") }})
	}
	applied := 0
	good := func() error {
		return s.do(context.Background(), lazy, 0, step{do: func(*tx) error { return nil }, then: func(*tx) { applied++ }})
	}
	errs := together(t, s,
		put(s, "a", 1), failing(func() error { return broken }), put(s, "b", 1), failing(func() error { panic("boom") }),
		duplicate, duplicate, good, put(s, "c", 1))
	for i, want := range []string{"", "broken", "", "boom", "", "UNIQUE", "", ""} {
		if got := fmt.Sprint(errs[i]); (want == "") != (errs[i] == nil) || !strings.Contains(got, want) {
			t.Errorf("unit %d: %v, want %q", i, errs[i], want)
		}
	}
	if meta(t, s, "a")+meta(t, s, "b")+meta(t, s, "c") != "111" || meta(t, s, "bad") != "" {
		t.Error("the wrong units were written")
	}
	if applied != 1 {
		t.Errorf("applied %d times, want 1", applied)
	}
}

// What a failed append saw is taken back: its seqs, kinds and ids are free.
func TestFailedAppendLeavesNothing(t *testing.T) {
	s := openTest(t, t.TempDir())
	fill(t, s, 3)
	var seen []int64
	s.OnAppend(func(events []Event) {
		for _, e := range events {
			seen = append(seen, e.Seq)
		}
	})
	err := inTransaction(t, s, func(tx *tx) error {
		a := &appending{Batch: Batch{Source: 1, Lines: []Line{line("x", "new.kind", 1)}}, placed: make([]Placed, 1)}
		if err := a.run(tx); err != nil {
			return err
		}
		late := line("y", "new.kind", 1)
		if _, err := tx.place(1, &late.Event, idHash("y"), nil); err != nil {
			return err
		}
		return errors.New("no")
	})
	if err == nil {
		t.Fatal("it did not fail")
	}
	if left := s.recent.find(nil, idHash("x")); left != nil {
		t.Errorf("the id is still taken by %v", left)
	}
	if p := appended(t, s, line("x", "new.kind", 2), line("x", "new.kind", 2))[0]; p.Seq != 4 || p.Duplicate || p.Refused != nil {
		t.Errorf("placed %+v, want seq 4", p)
	}
	if n := count(t, s, "events"); n != 4 {
		t.Errorf("%d events, want 4", n)
	}
	if fmt.Sprint(seen) != "[4]" {
		t.Errorf("told of %v, want [4]", seen)
	}
	if e, err := s.EventBySeq(t.Context(), 4); err != nil || e.Kind.Type != "new.kind" || len(s.Kinds()) != 2 {
		t.Errorf("%+v %v %v", e, err, s.Kinds())
	}
}

// A context that ends takes a unit out of the queue, and has no part in one that is under way.
func TestCancelledWhileQueued(t *testing.T) {
	s := openTest(t, t.TempDir())
	release := holdLead(s)
	ctx, cancel := context.WithCancel(t.Context())
	results := make(chan error, 2)
	go func() {
		results <- s.do(ctx, lazy, 0, step{do: func(*tx) error { t.Error("a cancelled unit ran"); return nil }})
	}()
	waitQueued(t, s, 1)
	cancel()
	if err := <-results; !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled in the queue: %v", err)
	}
	go func() { results <- put(s, "b", 1)() }()
	waitQueued(t, s, 1)
	release()
	check(t, <-results)

	leader, stop := context.WithCancel(t.Context())
	err := s.do(leader, lazy, 0, step{do: func(tx *tx) error { stop(); return tx.w.setMeta.exec("c", 1) }})
	if err != nil || meta(t, s, "c") != "1" {
		t.Errorf("a leader whose context ended in its transaction: %v", err)
	}
	if err := s.do(leader, lazy, 0, step{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that had ended: %v", err)
	}
}

// A group is bounded, in units and in bytes.
func TestGroupBounds(t *testing.T) {
	s := openTest(t, t.TempDir())
	var units []func() error
	for range groupUnits + 10 {
		units = append(units, put(s, "x", 1))
	}
	before := s.groups
	for _, err := range together(t, s, units...) {
		check(t, err)
	}
	if n := s.groups - before; n != 3 {
		t.Errorf("%d groups, want 3", n)
	}
	units = nil
	for range 4 {
		units = append(units, func() error {
			return s.do(context.Background(), lazy, groupBytes/2, step{do: func(*tx) error { return nil }})
		})
	}
	before = s.groups
	together(t, s, units...)
	if n := s.groups - before; n != 3 {
		t.Errorf("%d groups, want 3", n)
	}
}

// While outcomes come, a commit that survives the loss of power goes by each second.
func TestDurableEachSecond(t *testing.T) {
	s := openTest(t, t.TempDir())
	level := func() (is durability) {
		check(t, s.do(t.Context(), lazy, 0, step{do: func(tx *tx) error { is = tx.w.is; return tx.w.setMeta.exec("x", 1) }}))
		return is
	}
	check(t, inTransaction(t, s, func(tx *tx) error { return tx.w.setMeta.exec("x", 1) }))
	if level() != lazy {
		t.Error("an outcome is synced by itself")
	}
	s.lastFull = s.lastFull.Add(-fullEvery)
	if level() != durable || level() != lazy {
		t.Error("not exactly one durable commit after a second")
	}
}

// Closing lets what is queued end.
func TestCloseEndsWhatIsQueued(t *testing.T) {
	s := openTest(t, t.TempDir())
	release := holdLead(s)
	var wg sync.WaitGroup
	errs := make([]error, 50)
	for i := range errs {
		wg.Go(func() { errs[i] = put(s, fmt.Sprint("k", i), i)() })
	}
	waitQueued(t, s, len(errs))
	closed := make(chan error, 1)
	go func() { closed <- s.Close() }()
	release()
	wg.Wait()
	check(t, <-closed)
	for _, err := range errs {
		check(t, err)
	}
	s = openTest(t, s.dir)
	for i := range errs {
		if meta(t, s, fmt.Sprint("k", i)) == "" {
			t.Errorf("k%d is missing", i)
		}
	}
}
