package ingest

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"hookd/internal/event"
	"hookd/internal/store"
)

// benchFile writes n lines of 1 KiB.
func benchFile(b *testing.B, n int) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "events.ndjson")
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	pad := strings.Repeat("p", 900)
	for i := range n {
		_, err = fmt.Fprintf(f, `{"id":"evt-%09d","type":"order.paid","timestamp":"2026-11-30T12:00:00Z","data":{"order":"A-%d","pad":%q}}`+"\n", i, i, pad)
		if err != nil {
			b.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
	return path
}

// BenchmarkRead cuts lines and nothing more; BenchmarkParse makes batches of them.
func BenchmarkRead(b *testing.B)  { benchRead(b, false) }
func BenchmarkParse(b *testing.B) { benchRead(b, true) }

func benchRead(b *testing.B, parse bool) {
	f, err := os.Open(benchFile(b, b.N))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	g := &generation{lines: newLineReader(f, event.DefaultMaxBytes, 0, 0, prints{}, nil)}
	batch := &batch{gen: g}
	b.ReportAllocs()
	b.ResetTimer()
	n := 0
	for more := true; more; {
		if !parse {
			for _, ok := g.lines.next(); ok; _, ok = g.lines.next() {
				n++
			}
			more, err = g.lines.more()
		} else {
			more, err = batch.take(event.DefaultMaxBytes, nil)
			g.checkpoint()
			n += len(batch.lines)
			batch.lines, batch.bytes = batch.lines[:0], 0
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	if n != b.N {
		b.Fatalf("%d lines of %d", n, b.N)
	}
}

// BenchmarkIngest brings a file into the log.
func BenchmarkIngest(b *testing.B) {
	w := newWorld(b)
	w.path = benchFile(b, b.N)
	b.ReportAllocs()
	b.ResetTimer()
	w.start().drain()
	b.StopTimer()
	if _, last := w.store.Bounds(); last != int64(b.N) {
		b.Fatalf("%d events of %d", last, b.N)
	}
	w.stop()
}

// BenchmarkAppendAlone is what of BenchmarkIngest the store does: batches of the same lines, one after the other.
func BenchmarkAppendAlone(b *testing.B) {
	st := openStore(b, b.TempDir())
	defer st.Close()
	src, err := st.Source(context.Background(), "app", Kind)
	if err != nil {
		b.Fatal(err)
	}
	f, err := os.Open(benchFile(b, b.N))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	g := &generation{lines: newLineReader(f, event.DefaultMaxBytes, 0, 0, prints{}, nil)}
	b.ResetTimer()
	for more := true; more; {
		b.StopTimer()
		batch := &batch{gen: g}
		if more, err = batch.take(event.DefaultMaxBytes, nil); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		if len(batch.lines) == 0 {
			break
		}
		if _, err := st.Append(context.Background(), store.Batch{Source: src.ID, Lines: batch.lines, Now: 1}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkFollow is the time from a line's write to its commit; to-append is the median of what of it comes before the store.
func BenchmarkFollow(b *testing.B) {
	st := openStore(b, b.TempDir())
	defer st.Close()
	came := make(chan struct{}, 1)
	st.OnAppend(func([]store.Event) { came <- struct{}{} })
	path := filepath.Join(b.TempDir(), "events.ndjson")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	tail := NewTail(st, FileConfig{Name: "app", Path: path}, slog.New(slog.NewTextHandler(io.Discard, nil)))
	tail.tick = make(chan time.Time)
	var wrote atomic.Pointer[time.Time]
	var took []time.Duration
	tail.fault = func() error {
		if at := wrote.Load(); at != nil {
			took = append(took, time.Since(*at))
		}
		return nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- tail.Run(ctx) }()
	if err := tail.Drain(ctx); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		text := ev(fmt.Sprint(i)) + "\n"
		now := time.Now()
		wrote.Store(&now)
		if _, err := f.WriteString(text); err != nil {
			b.Fatal(err)
		}
		<-came
	}
	b.StopTimer()
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Nanoseconds()), "ns/to-append")
	cancel()
	<-done
}
