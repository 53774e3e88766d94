package store

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"
)

// limitPages bounds the database's size as a full disk would; 0 lifts the bound.
func limitPages(t *testing.T, s *Store, more int64) {
	t.Helper()
	pages, err := value(s.w.conn, "PRAGMA page_count")
	check(t, err)
	limit := number(pages) + more
	if more == 0 {
		limit = 1 << 30
	}
	_, err = value(s.w.conn, fmt.Sprintf("PRAGMA max_page_count=%d", limit))
	check(t, err)
}

// DB-04: a full disk is ErrFull for all that is written, loses nothing that was acknowledged, leaves nothing half done, and
// ends by itself.
func TestFullDisk(t *testing.T) {
	s := openTest(t, t.TempDir())
	sub := subscribed(t, s, "a")
	fill(t, s, 100)
	src := s.Sources()[0]
	told := 0
	s.OnAppend(func(events []Event) { told += len(events) })
	limitPages(t, s, 20)

	big := strings.Repeat("x", 2000)
	accepted := []string{}
	var err error
	for n := 0; err == nil && n < 1000; n++ {
		id := fmt.Sprintf("full-%d", n)
		if _, err = s.Append(t.Context(), Batch{Source: src.ID, Lines: []Line{line(id, fmt.Sprint("type.", n), big)}}); err == nil {
			accepted = append(accepted, id)
		}
	}
	if !errors.Is(err, ErrFull) || len(accepted) == 0 {
		t.Fatalf("after %d events: %v, want ErrFull", len(accepted), err)
	}
	if !errors.Is(s.Refusing(), ErrFull) {
		t.Errorf("refusing is %v", s.Refusing())
	}
	_, last := s.Bounds()
	if last != int64(100+len(accepted)) || told != len(accepted) {
		t.Errorf("last is %d, told of %d, accepted are %d", last, told, len(accepted))
	}
	// Reads go on.
	if e, err := s.EventByID(t.Context(), accepted[len(accepted)-1]); err != nil || e.Seq != last {
		t.Errorf("the last accepted: %d %v", e.Seq, err)
	}
	// An outcome with it is refused as long, and fits afterwards: nothing is left of the failed ones.
	o := success(sub, 1)
	o.Dead = &DeadLetter{Sub: sub, Kind: Kind{ID: 1}, Line: []byte(strings.Repeat("y", 200000))}
	if err := s.Record(t.Context(), o); !errors.Is(err, ErrFull) {
		t.Errorf("record: %v, want ErrFull", err)
	}
	if n := count(t, s, "history") + count(t, s, "dead_letters"); n != 0 {
		t.Errorf("%d rows of it are there", n)
	}

	limitPages(t, s, 0)
	check(t, s.Record(t.Context(), o))
	if s.Refusing() != nil {
		t.Errorf("still refusing: %v", s.Refusing())
	}
	id := fmt.Sprintf("full-%d", len(accepted))
	placed := appended(t, s, line(id, fmt.Sprint("type.", len(accepted)), big))
	if placed[0].Seq != last+1 || placed[0].Duplicate {
		t.Errorf("the refused one again: %+v, want seq %d", placed[0], last+1)
	}
	if e, err := crash(t, s).EventBySeq(t.Context(), last+1); err != nil || e.ID != id || e.Kind.Type != fmt.Sprint("type.", len(accepted)) {
		t.Errorf("after a crash: %+v %v", e, err)
	}
}

// A unit that fails the whole group fails it for each.
func TestFullDiskFailsTheGroup(t *testing.T) {
	s := openTest(t, t.TempDir())
	fill(t, s, 1)
	limitPages(t, s, 2)
	for i, err := range together(t, s, put(s, "a", 1), put(s, "b", strings.Repeat("x", 100000)), put(s, "c", 1)) {
		if !errors.Is(err, ErrFull) {
			t.Errorf("unit %d: %v, want ErrFull", i, err)
		}
	}
	if meta(t, s, "a")+meta(t, s, "c") != "" {
		t.Error("part of the group was written")
	}
	check(t, put(s, "a", 1)())
}

// DB-10: contexts that end at any moment. What was reported failed is not there, what was reported stored is, and writes
// work afterwards.
func TestStormOfCancelledContexts(t *testing.T) {
	s := openTest(t, t.TempDir())
	src, err := s.Source(t.Context(), "storm", "socket")
	check(t, err)
	var mu sync.Mutex
	stored := map[string]bool{}
	end := time.Now().Add(time.Second)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for n := 0; n < 2500 && time.Now().Before(end); n++ {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(rand.IntN(400))*time.Microsecond)
				id := fmt.Sprintf("storm-%d-%d", g, n)
				_, err := s.Append(ctx, Batch{Source: src.ID, Lines: []Line{line(id, "t", 1)}})
				if err != nil && !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("append: %v", err)
				}
				mu.Lock()
				stored[id] = err == nil
				mu.Unlock()
				if _, err := s.EventBySeq(ctx, 1); err != nil && ctx.Err() == nil && !errors.Is(err, ErrNotFound) {
					t.Errorf("read: %v", err)
				}
				cancel()
			}
		})
	}
	wg.Wait()
	fill(t, s, 10)
	events, err := s.EventsAfter(t.Context(), 0, 1<<30, 1<<30)
	check(t, err)
	there := map[string]bool{}
	for _, e := range events {
		there[e.ID] = true
	}
	yes := 0
	for id, ok := range stored {
		if there[id] != ok {
			t.Errorf("%s: stored %v, there %v", id, ok, there[id])
		}
		if ok {
			yes++
		}
	}
	if yes == 0 || yes == len(stored) {
		t.Errorf("%d of %d were stored: this storm shows nothing", yes, len(stored))
	}
}
