package store

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"

	"hookd/internal/event"
)

// openTest opens a store in dir.
func openTest(t testing.TB, dir string) *Store {
	t.Helper()
	s, err := Open(context.Background(), Options{Dir: dir, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func success(sub SubID, seq int64) Outcome {
	return Outcome{Sub: sub, Seq: seq, Kind: 1, Moves: true, Finished: Succeeded, HTTPStatus: 200, Attempts: 1, FirstAt: 1, EndedAt: 2, TookMS: 1}
}

func BenchmarkRecord(b *testing.B) {
	for _, loops := range []int{1, 64} {
		b.Run(fmt.Sprintf("loops=%d", loops), func(b *testing.B) {
			s := openTest(b, b.TempDir())
			defer s.Close()
			var seq atomic.Int64
			b.ReportAllocs()
			b.SetParallelism(max(loops/2, 1))
			if loops == 1 {
				for b.Loop() {
					if err := s.Record(b.Context(), success(1, seq.Add(1))); err != nil {
						b.Fatal(err)
					}
				}
				return
			}
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if err := s.Record(context.Background(), success(1, seq.Add(1))); err != nil {
						b.Error(err)
					}
				}
			})
		})
	}
}

func BenchmarkAppend(b *testing.B) {
	data := strings.Repeat("x", 1024-80)
	for _, ids := range []string{"rising", "random"} {
		b.Run(ids, func(b *testing.B) {
			s := openTest(b, b.TempDir())
			defer s.Close()
			src, err := s.Source(b.Context(), "bench", "file")
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			n := 0
			for n < b.N {
				batch := Batch{Source: src.ID, Now: 1}
				for range 1000 {
					n++
					id := fmt.Sprintf("evt-%09d", n)
					if ids == "random" {
						id = fmt.Sprintf("%016x%016x", fnv(id), fnv(id+"x"))
					}
					ev := event.Event{ID: id, Type: "order.paid", Line: fmt.Appendf(nil, `{"id":%q,"type":"order.paid","data":{"x":%q}}`, id, data)}
					batch.Lines = append(batch.Lines, Line{Event: ev})
				}
				if _, err := s.Append(b.Context(), batch); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
