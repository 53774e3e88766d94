package ingest

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"hookd/internal/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A world is a folder with a file that is followed into a store. Nothing in it waits for time: a test says when a poll is.
type world struct {
	tb    testing.TB
	dir   string
	path  string
	store *store.Store
	c     FileConfig
	logs  logs
	set   func(*Tail) // before each start

	tail   *Tail
	tick   chan time.Time
	cancel context.CancelFunc
	done   chan struct{}
	after  int64 // seq of the last event that was looked at
}

type logs struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func openStore(tb testing.TB, dir string) *store.Store {
	tb.Helper()
	st, err := store.Open(context.Background(), store.Options{Dir: dir, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		tb.Fatal(err)
	}
	return st
}

// newWorld makes a world that is not running yet.
func newWorld(tb testing.TB) *world {
	tb.Helper()
	st := openStore(tb, tb.TempDir())
	tb.Cleanup(func() {
		if err := st.Close(); err != nil {
			tb.Error(err)
		}
	})
	return worldOf(tb, tb.TempDir(), st)
}

func worldOf(tb testing.TB, dir string, st *store.Store) *world {
	w := &world{tb: tb, dir: dir, path: filepath.Join(dir, "events.ndjson"), store: st, c: FileConfig{Name: "app"}}
	_, w.after = st.Bounds()
	tb.Cleanup(func() { w.stop() })
	return w
}

// start begins to follow. Quiet files are not waited for unless set says so.
func (w *world) start() *world {
	w.tb.Helper()
	w.c.Path = w.path
	w.tick = make(chan time.Time)
	w.tail = NewTail(w.store, w.c, slog.New(slog.NewTextHandler(&w.logs, nil)))
	w.tail.tick, w.tail.events, w.tail.quiet = w.tick, false, 0
	if w.set != nil {
		w.set(w.tail)
	}
	ctx, cancel := context.WithCancel(context.Background())
	w.cancel, w.done = cancel, make(chan struct{})
	go func() {
		defer close(w.done)
		if err := w.tail.Run(ctx); err != nil {
			w.tb.Errorf("run: %v", err)
		}
	}()
	return w
}

func (w *world) stop() {
	if w.cancel != nil {
		w.cancel()
		<-w.done
		w.cancel = nil
	}
}

func (w *world) restart() {
	w.tb.Helper()
	w.stop()
	w.start()
}

func (w *world) drain() {
	w.tb.Helper()
	if err := w.tail.Drain(w.context()); err != nil {
		w.tb.Fatal(err)
	}
}

// context ends long after any test that is not stuck.
func (w *world) context() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	w.tb.Cleanup(cancel)
	return ctx
}

func (w *world) must(err error) {
	w.tb.Helper()
	if err != nil {
		w.tb.Fatal(err)
	}
}

// at returns the path of the file with a suffix.
func (w *world) at(suffix string) string { return w.path + suffix }

// write appends to the file as it is named now.
func (w *world) write(text string) {
	w.tb.Helper()
	w.writeTo(w.path, text)
}

func (w *world) writeTo(path, text string) {
	w.tb.Helper()
	f := w.writer(path)
	_, err := f.WriteString(text)
	w.must(err)
	w.must(f.Close())
}

// writer opens a file as a program that appends to it does.
func (w *world) writer(path string) *os.File {
	w.tb.Helper()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	w.must(err)
	return f
}

func (w *world) rename(from, to string) {
	w.tb.Helper()
	w.must(os.Rename(w.at(from), w.at(to)))
}

func (w *world) remove(suffix string) {
	w.tb.Helper()
	w.must(os.Remove(w.at(suffix)))
}

// cutCopy rotates by copying to a suffix and cutting the file.
func (w *world) cutCopy(suffix string) {
	w.tb.Helper()
	text, err := os.ReadFile(w.path)
	w.must(err)
	w.must(os.WriteFile(w.at(suffix), text, 0o600))
	w.must(os.Truncate(w.path, 0))
}

// old makes a file one that was written long ago.
func (w *world) old(suffix string, hours int) {
	w.tb.Helper()
	then := time.Now().Add(-time.Duration(hours) * time.Hour)
	w.must(os.Chtimes(w.at(suffix), then, then))
}

// came returns the ids of the events that came since it was last asked.
func (w *world) came() []string {
	w.tb.Helper()
	var ids []string
	for {
		list, err := w.store.EventsAfter(context.Background(), w.after, 1000, 64<<20)
		w.must(err)
		if len(list) == 0 {
			return ids
		}
		for _, e := range list {
			ids = append(ids, e.ID)
			w.after = e.Seq
		}
	}
}

// wants reads what there is and compares the ids of what came, in order.
func (w *world) wants(ids ...string) {
	w.tb.Helper()
	w.drain()
	if got := w.came(); !slices.Equal(got, ids) {
		w.tb.Fatalf("came %s\nwant %s\nlog:\n%s", short(got), short(ids), w.logs.String())
	}
}

func short(ids []string) string {
	if len(ids) > 40 {
		return fmt.Sprintf("%d: %q ... %q", len(ids), ids[:20], ids[len(ids)-20:])
	}
	return fmt.Sprintf("%d: %q", len(ids), ids)
}

// quarantine returns the entries of the source, oldest first.
func (w *world) quarantine() []store.QuarantineEntry {
	w.tb.Helper()
	list, err := w.store.ListQuarantine(context.Background(), store.QuarantineFilter{Source: w.c.Name, Limit: 1000})
	w.must(err)
	slices.Reverse(list)
	for i := range list {
		list[i], err = w.store.Quarantine(context.Background(), list[i].ID)
		w.must(err)
	}
	return list
}

// reasons returns the codes of the quarantine, oldest first.
func (w *world) reasons() string {
	w.tb.Helper()
	var codes []string
	for _, q := range w.quarantine() {
		codes = append(codes, string(q.Reason))
	}
	return strings.Join(codes, " ")
}

// ev is the line of an event, without its end.
func ev(id string) string { return `{"id":"` + id + `","type":"t"}` }

// evs are whole lines.
func evs(ids ...string) string {
	var b strings.Builder
	for _, id := range ids {
		b.WriteString(ev(id))
		b.WriteByte('\n')
	}
	return b.String()
}

// run returns ids from a to b.
func run(prefix string, from, to int) []string {
	var ids []string
	for i := from; i <= to; i++ {
		ids = append(ids, fmt.Sprintf("%s%d", prefix, i))
	}
	return ids
}
