package store

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// work1 appends and records from several goroutines until it is killed, and prints what it was told is stored.
func work1(s *Store) int {
	ctx := context.Background()
	src, err := s.Source(ctx, "child", "file")
	if err != nil {
		println(err.Error())
		return 1
	}
	run := time.Now().UnixNano()
	var print sync.Mutex
	say := func(format string, args ...any) {
		print.Lock()
		defer print.Unlock()
		fmt.Fprintf(os.Stdout, format+"\n", args...)
	}
	var wg sync.WaitGroup
	for g := range 3 {
		wg.Go(func() {
			for n := 0; ; n++ {
				batch := Batch{Source: src.ID, Now: time.Now().UnixMilli()}
				for i := range 1 + n%7 {
					batch.Lines = append(batch.Lines, line(fmt.Sprintf("%d-%d-%d-%d", run, g, n, i), "t", n))
				}
				placed, err := s.Append(ctx, batch)
				if err != nil {
					println(err.Error())
					os.Exit(1)
				}
				for i, p := range placed {
					say("event %d %s", p.Seq, batch.Lines[i].Event.ID)
				}
			}
		})
	}
	subs, err := s.Subscriptions(ctx)
	if err != nil || len(subs) == 0 {
		return 1
	}
	for _, sub := range subs {
		wg.Go(func() {
			for seq := sub.Cursor + 1; ; seq++ {
				if err := s.Record(ctx, success(sub.ID, seq)); err != nil {
					println(err.Error())
					os.Exit(1)
				}
				say("cursor %d %d", sub.ID, seq)
				if seq%50 == 0 {
					if err := s.SaveCursors(ctx, []Mark{{Sub: sub.ID, Cursor: seq - 1}}); err != nil {
						println(err.Error())
						os.Exit(1)
					}
				}
			}
		})
	}
	wg.Wait()
	return 0
}

// Every append and outcome that was acknowledged is there after a kill, and no seq is ever given twice.
func TestKill(t *testing.T) {
	dir := t.TempDir()
	s := openTest(t, dir)
	epoch := s.Epoch()
	for i := range 3 {
		subscribed(t, s, fmt.Sprint("s", i))
	}
	check(t, s.Close())

	ids := map[int64]string{}    // by the seq they were acknowledged with
	cursors := map[SubID]int64{} // the highest acknowledged outcome
	for round := range 6 {
		cmd, out := startChild(t, "work", dir)
		kill := 20 + rand.IntN(400)
		for n := 0; out.Scan(); n++ {
			var seq, cursor int64
			var sub SubID
			var id string
			if k, _ := fmt.Sscanf(out.Text(), "event %d %s", &seq, &id); k == 2 {
				if ids[seq] != "" {
					t.Fatalf("round %d: seq %d was given to %s and to %s", round, seq, ids[seq], id)
				}
				ids[seq] = id
			} else if k, _ := fmt.Sscanf(out.Text(), "cursor %d %d", &sub, &cursor); k == 2 {
				cursors[sub] = max(cursors[sub], cursor)
			} else if !strings.HasSuffix(out.Text(), "\n") && n < kill {
				t.Fatalf("the child says %q", out.Text())
			}
			if n == kill {
				check(t, cmd.Process.Kill())
			}
		}
		_ = cmd.Wait()
		verifyAfterKill(t, dir, epoch, ids, cursors)
	}
}

func verifyAfterKill(t *testing.T, dir, epoch string, ids map[int64]string, cursors map[SubID]int64) {
	t.Helper()
	s := openTest(t, dir)
	defer s.Close()
	if s.Epoch() != epoch {
		t.Fatal("another database")
	}
	_, last := s.Bounds()
	events, err := s.EventsAfter(t.Context(), 0, 1<<30, 1<<30)
	check(t, err)
	if int64(len(events)) != last {
		t.Fatalf("%d events up to %d", len(events), last)
	}
	seen := map[string]int64{}
	for i, e := range events {
		if e.Seq != int64(i+1) {
			t.Fatalf("event %d has seq %d", i+1, e.Seq)
		}
		if seen[e.ID] != 0 {
			t.Fatalf("event %s is there twice: %d, %d", e.ID, seen[e.ID], e.Seq)
		}
		seen[e.ID] = e.Seq
		if i > 0 && e.ReceivedAt < events[i-1].ReceivedAt {
			t.Fatalf("receipt falls at %d", e.Seq)
		}
	}
	for seq, id := range ids {
		if seen[id] != seq {
			t.Fatalf("event %s was acknowledged as %d and is %d", id, seq, seen[id])
		}
	}
	subs, err := s.Subscriptions(t.Context())
	check(t, err)
	for _, sub := range subs {
		// One outcome may have been committed and not told any more.
		if acked := cursors[sub.ID]; sub.Cursor < acked || sub.Cursor > acked+1 {
			t.Fatalf("cursor of %d is %d, acknowledged was %d", sub.ID, sub.Cursor, acked)
		}
		cursors[sub.ID] = sub.Cursor
	}
}
