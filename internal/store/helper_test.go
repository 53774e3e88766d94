package store

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"hookd/internal/event"
)

func TestMain(m *testing.M) {
	if job := os.Getenv("STORE_TEST_CHILD"); job != "" {
		os.Exit(child(job))
	}
	goleak.VerifyTestMain(m)
}

// openTest opens a store and closes it at the test's end, unless the test has.
func openTest(t testing.TB, dir string) *Store {
	t.Helper()
	s, err := Open(context.Background(), Options{Dir: dir, Logger: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

// reopen closes a store and opens it again.
func reopen(t testing.TB, s *Store) *Store {
	t.Helper()
	check(t, s.Close())
	return openTest(t, s.dir)
}

// crash opens a copy of the files as they are now: what the next start would find if the process were killed.
func crash(t testing.TB, s *Store) *Store {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{databaseName, databaseName + "-wal"} {
		content, err := os.ReadFile(filepath.Join(s.dir, name))
		check(t, err)
		check(t, os.WriteFile(filepath.Join(dir, name), content, 0o600))
	}
	return openTest(t, dir)
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// line is an event line with an id, a type and something that makes its content.
func line(id, typ string, data any) Line {
	return Line{Event: event.Event{
		ID: id, Type: typ, Line: fmt.Appendf(nil, `{"id":%q,"type":%q,"data":%q}`, id, typ, fmt.Sprint(data)),
	}}
}

// appended puts lines into the log and returns what became of them.
func appended(t testing.TB, s *Store, lines ...Line) []Placed {
	t.Helper()
	src, err := s.Source(t.Context(), "test", "file")
	check(t, err)
	placed, err := s.Append(t.Context(), Batch{Source: src.ID, Lines: lines, Now: 1000})
	check(t, err)
	return placed
}

// fill appends n events with ids that no other call makes, of the types in turn.
func fill(t testing.TB, s *Store, n int, types ...string) {
	t.Helper()
	if len(types) == 0 {
		types = []string{"order.paid"}
	}
	_, last := s.Bounds()
	for done := 0; done < n; {
		var lines []Line
		for ; done < n && len(lines) < 1000; done++ {
			lines = append(lines, line(fmt.Sprintf("fill-%d", last+int64(done)+1), types[done%len(types)], done))
		}
		appended(t, s, lines...)
	}
}

// subscribed makes a subscription.
func subscribed(t testing.TB, s *Store, name string) SubID {
	t.Helper()
	id, err := s.CreateSubscription(t.Context(), NewSubscription{
		UUID: "uuid-" + name, Name: name, App: "default", Host: "example.com", URL: []byte("sealed"),
		Spec: Spec{Types: []string{"*"}}, Now: 1, Generation: 1, Master: 1,
	})
	check(t, err)
	return id
}

// subscription finds one as the next start would read it.
func subscription(t testing.TB, s *Store, id SubID) Subscription {
	t.Helper()
	list, err := s.Subscriptions(t.Context())
	check(t, err)
	for _, sub := range list {
		if sub.ID == id {
			return sub
		}
	}
	t.Fatalf("subscription %d is not there", id)
	return Subscription{}
}

// inTransaction runs f in a transaction of the write connection.
func inTransaction(t testing.TB, s *Store, f func(*tx) error) error {
	t.Helper()
	return s.do(t.Context(), durable, 0, step{do: f})
}

// indexNow fills the indexes with all that has gathered, as a clean stop does.
func indexNow(t testing.TB, s *Store) {
	t.Helper()
	for range 2 {
		check(t, inTransaction(t, s, (*tx).catchUp))
	}
	if len(s.ids.tail)+len(s.ids.run)+len(s.history.tail)+len(s.history.run) > 0 {
		t.Fatal("something is not indexed")
	}
}
