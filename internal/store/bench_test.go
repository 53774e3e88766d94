package store

import (
	"context"
	"database/sql/driver"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"modernc.org/sqlite"

	"hookd/internal/event"
)

func success(sub SubID, seq int64) Outcome {
	return Outcome{Sub: sub, Seq: seq, Kind: 1, Moves: true, Finished: Succeeded, HTTPStatus: 200, Attempts: 1, FirstAt: 1, EndedAt: 2, TookMS: 1}
}

// BenchmarkRecord is an outcome a loop, each loop's next one after its last is committed.
func BenchmarkRecord(b *testing.B) {
	for _, loops := range []int{1, 64} {
		b.Run(fmt.Sprintf("loops=%d", loops), func(b *testing.B) {
			s := openTest(b, b.TempDir())
			b.ReportAllocs()
			b.ResetTimer()
			before := processorTime()
			var left atomic.Int64
			left.Store(int64(b.N))
			var wg sync.WaitGroup
			for loop := range loops {
				wg.Go(func() {
					for seq := int64(1); left.Add(-1) >= 0; seq++ {
						if err := s.Record(context.Background(), success(SubID(loop+1), seq)); err != nil {
							b.Error(err)
						}
					}
				})
			}
			wg.Wait()
			b.StopTimer()
			b.ReportMetric(float64(processorTime()-before)/float64(b.N), "cpu-ns/op")
		})
	}
}

// BenchmarkAppend is lines of 1 KiB in batches of 1000, in a store and in the bare loop that it is measured against: the
// same columns and indexes, filled at once, in transactions of 1000. At a million rows the indexes do not fit the cache.
func BenchmarkAppend(b *testing.B) {
	for _, rows := range []int{0, 1_000_000} {
		for _, ids := range []string{"rising", "random"} {
			name := fmt.Sprintf("%s/rows=%d", ids, rows)
			b.Run(name+"/store", func(b *testing.B) { appendBatches(b, ids, rows, storeAppender(b)) })
			b.Run(name+"/bare", func(b *testing.B) { appendBatches(b, ids, rows, bareAppender(b)) })
		}
	}
}

// appendBatches appends rows, then those that are measured.
func appendBatches(b *testing.B, ids string, rows int, appendBatch func(ids []string, lines [][]byte)) {
	const batch = 1000
	pad := `,"type":"order.paid","data":{"x":"` + strings.Repeat("x", 960) + `"}}`
	n := 0
	next := func() {
		names, lines := make([]string, batch), make([][]byte, batch)
		for i := range batch {
			n++
			names[i] = fmt.Sprintf("evt-%09d", n)
			if ids == "random" {
				names[i] = fmt.Sprintf("%016x%016x", fnv(names[i]), fnv(names[i]+"x"))
			}
			lines[i] = []byte(`{"id":"` + names[i] + `"` + pad)
		}
		appendBatch(names, lines)
	}
	for n < rows {
		next()
	}
	b.ReportAllocs()
	b.ResetTimer()
	before := processorTime()
	for done := 0; done < b.N; done += batch {
		next()
	}
	b.StopTimer()
	b.ReportMetric(float64(processorTime()-before)/float64(b.N), "cpu-ns/op")
}

func storeAppender(b *testing.B) func(ids []string, lines [][]byte) {
	s := openTest(b, b.TempDir())
	src, err := s.Source(b.Context(), "bench", "file")
	if err != nil {
		b.Fatal(err)
	}
	return func(ids []string, lines [][]byte) {
		batch := Batch{Source: src.ID, Now: 1, Lines: make([]Line, len(ids))}
		for i := range ids {
			batch.Lines[i].Event = event.Event{ID: ids[i], Type: "order.paid", Line: lines[i]}
		}
		if _, err := s.Append(b.Context(), batch); err != nil {
			b.Fatal(err)
		}
	}
}

func bareAppender(b *testing.B) func(ids []string, lines [][]byte) {
	conn, err := (&sqlite.Driver{}).Open(filepath.Join(b.TempDir(), "bare.db"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = conn.Close() })
	run := func(text string) {
		if _, err := conn.(driver.ExecerContext).ExecContext(context.Background(), text, nil); err != nil {
			b.Fatal(err)
		}
	}
	for _, text := range []string{
		"PRAGMA journal_mode=wal", "PRAGMA synchronous=2", "PRAGMA cache_size=-8192",
		`CREATE TABLE events (seq INTEGER PRIMARY KEY, kind INTEGER NOT NULL, source INTEGER NOT NULL, received_at INTEGER NOT NULL,
			at INTEGER, id TEXT NOT NULL, resource TEXT, key TEXT, line BLOB NOT NULL) STRICT`,
		"CREATE INDEX events_kind ON events (kind)", "CREATE UNIQUE INDEX events_id ON events (id)",
	} {
		run(text)
	}
	prepared, err := conn.Prepare("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = prepared.Close() })
	args := make([]driver.NamedValue, 9)
	for i := range args {
		args[i].Ordinal = i + 1
	}
	args[1].Value, args[2].Value, args[3].Value = int64(1), int64(1), int64(1)
	seq := int64(0)
	return func(ids []string, lines [][]byte) {
		run("BEGIN IMMEDIATE")
		for i := range ids {
			seq++
			args[0].Value, args[5].Value, args[8].Value = seq, ids[i], lines[i]
			if _, err := prepared.(driver.StmtExecContext).ExecContext(context.Background(), args); err != nil {
				b.Fatal(err)
			}
		}
		run("COMMIT")
	}
}

// BenchmarkNextSeqs is a subscription far behind that reads its next 256 events, with few kinds of many and with most.
func BenchmarkNextSeqs(b *testing.B) {
	s := openTest(b, b.TempDir())
	src, err := s.Source(b.Context(), "bench", "file")
	if err != nil {
		b.Fatal(err)
	}
	for n := 0; n < 100_000; n += 1000 {
		batch := Batch{Source: src.ID, Now: 1}
		for i := range 1000 {
			id := "evt-" + strconv.Itoa(n+i+1000)
			batch.Lines = append(batch.Lines, Line{Event: event.Event{ID: id, Type: "t." + strconv.Itoa(i*7%163), Line: []byte(`{"id":"` + id + `"}`)}})
		}
		if _, err := s.Append(b.Context(), batch); err != nil {
			b.Fatal(err)
		}
	}
	all := make([]KindID, 0, 163)
	for _, k := range s.Kinds() {
		all = append(all, k.ID)
	}
	for _, n := range []int{1, 16, 100, 162} {
		b.Run(fmt.Sprintf("kinds=%d", n), func(b *testing.B) {
			for b.Loop() {
				if seqs, err := s.NextSeqs(b.Context(), all[:n], 1000, 100_000, 256); err != nil || len(seqs) != 256 {
					b.Fatal(len(seqs), err)
				}
			}
		})
		b.Run(fmt.Sprintf("count/kinds=%d", n), func(b *testing.B) {
			for b.Loop() {
				if _, err := s.Count(b.Context(), all[:n], 1000); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// processorTime is what the process has used so far: where others share the machine, the figure to compare.
func processorTime() int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return u.Utime.Nano() + u.Stime.Nano()
}
