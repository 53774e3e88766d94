package store

import (
	"bytes"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// DB-02: settings are there on every connection, the write connection's and four of the pool held at once.
func TestPragmasOnEveryConnection(t *testing.T) {
	s := openTest(t, t.TempDir())
	want := map[string]string{"journal_mode": "wal", "busy_timeout": "5000", "foreign_keys": "1", "mmap_size": "0"}
	verify := func(who string, conn driver.Conn, name, want string) {
		t.Helper()
		got, err := value(conn, "PRAGMA "+name)
		check(t, err)
		if fmt.Sprint(got) != want {
			t.Errorf("%s: %s is %v, want %s", who, name, got, want)
		}
	}
	for name, v := range want {
		verify("writer", s.w.conn, name, v)
	}
	for name, v := range map[string]string{"auto_vacuum": "2", "page_size": "4096", "wal_autocheckpoint": "1000"} {
		verify("writer", s.w.conn, name, v)
	}
	check(t, inTransaction(t, s, func(tx *tx) error {
		verify("writer in a durable group", tx.w.conn, "synchronous", "2")
		return tx.w.setMeta.exec("x", 1)
	}))
	check(t, s.do(t.Context(), lazy, 0, step{do: func(tx *tx) error {
		verify("writer in a lazy group", tx.w.conn, "synchronous", "1")
		return nil
	}}))
	var held []*sql.Conn
	for i := range readers {
		c, err := s.read.Conn(t.Context())
		check(t, err)
		held = append(held, c)
		check(t, c.Raw(func(raw any) error {
			for name, v := range want {
				verify(fmt.Sprintf("reader %d", i), raw.(driver.Conn), name, v)
			}
			verify(fmt.Sprintf("reader %d", i), raw.(driver.Conn), "synchronous", "2")
			verify(fmt.Sprintf("reader %d", i), raw.(driver.Conn), "query_only", "1")
			return nil
		}))
		if _, err := c.ExecContext(t.Context(), "DELETE FROM meta"); err == nil {
			t.Error("a reader wrote")
		}
	}
	for _, c := range held {
		check(t, c.Close())
	}
}

// DB-12: nothing of it is open to others, from the first moment; what was is closed, and said.
func TestModes(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o022))
	dir := filepath.Join(t.TempDir(), "data")
	s := openTest(t, dir)
	fill(t, s, 10)
	modes := func() {
		t.Helper()
		files, err := os.ReadDir(dir)
		check(t, err)
		if len(files) < 3 { // database, WAL, lock
			t.Errorf("files are %v", files)
		}
		for _, f := range files {
			if info, err := f.Info(); err != nil || info.Mode() != 0o600 {
				t.Errorf("%s: %v, mode %v, want 0600", f.Name(), err, info.Mode())
			}
		}
		if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("directory: %v, mode %v, want 0700", err, info.Mode())
		}
	}
	modes()
	check(t, s.Close())
	check(t, os.Chmod(dir, 0o755))                              //nolint:gosec // the fault
	check(t, os.Chmod(filepath.Join(dir, databaseName), 0o644)) //nolint:gosec // the fault
	var log bytes.Buffer
	s, err := Open(t.Context(), Options{Dir: dir, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	check(t, err)
	defer s.Close()
	fill(t, s, 1)
	modes()
	if n := strings.Count(log.String(), "level=WARN"); n != 2 {
		t.Errorf("%d warnings, want 2: %s", n, log.String())
	}
}

// DB-13: the database lies in exactly the directory that was named.
func TestDirectoryNames(t *testing.T) {
	base := t.TempDir()
	check(t, os.Mkdir(filepath.Join(base, "x"), 0o700))
	for _, name := range []string{"a#b", "a?b", "a%20b", "a b", "ü", "a&mode=memory", "file:a", "%", "a'b"} {
		dir := filepath.Join(base, name)
		s := openTest(t, dir)
		fill(t, s, 1)
		epoch := s.Epoch()
		if _, err := os.Stat(filepath.Join(dir, databaseName+"-wal")); err != nil {
			t.Errorf("%q: %v", name, err)
		}
		if s = reopen(t, s); s.Epoch() != epoch {
			t.Errorf("%q: another database", name)
		}
		check(t, s.Close())
	}
	s := openTest(t, "//"+strings.TrimPrefix(filepath.Join(base, "x"), "/"))
	fill(t, s, 1)
	if _, err := os.Stat(filepath.Join(base, "x", databaseName)); err != nil {
		t.Error(err)
	}
	entries, err := os.ReadDir(base)
	check(t, err)
	if len(entries) != 10 {
		t.Errorf("%d directories, want 10: %v", len(entries), entries)
	}
}

func TestRelativeDirectory(t *testing.T) {
	t.Chdir(t.TempDir())
	s := openTest(t, "data")
	t.Chdir(t.TempDir())
	fill(t, s, 10) // its files are found still
	if s.Size().Store == 0 {
		t.Error("the database has no size")
	}
}

func TestReopenKeeps(t *testing.T) {
	s := openTest(t, t.TempDir())
	if s.MasterCheck() != nil {
		t.Error("a new database has a master check")
	}
	check(t, s.SetMasterCheck(t.Context(), []byte("check")))
	fill(t, s, 3, "a", "b")
	epoch, kinds := s.Epoch(), fmt.Sprint(s.Kinds())
	s = reopen(t, s)
	if s.Epoch() != epoch || string(s.MasterCheck()) != "check" || fmt.Sprint(s.Kinds()) != kinds {
		t.Error("epoch, master check or kinds are others")
	}
	if first, last := s.Bounds(); first != 1 || last != 3 {
		t.Errorf("log is %d to %d, want 1 to 3", first, last)
	}
	if src := s.Sources(); len(src) != 1 || src[0].Accepted != 3 || src[0].Kind != "file" {
		t.Errorf("sources are %+v", src)
	}
	other := openTest(t, t.TempDir())
	if other.Epoch() == epoch {
		t.Error("two databases have one epoch")
	}
	if first, last := other.Bounds(); first != 1 || last != 0 {
		t.Errorf("empty log is %d to %d, want 1 to 0", first, last)
	}
}

func TestClosedStoreRefuses(t *testing.T) {
	s := openTest(t, t.TempDir())
	check(t, s.Close())
	if err := s.Record(t.Context(), success(1, 1)); !errors.Is(err, ErrClosed) {
		t.Errorf("record: %v, want ErrClosed", err)
	}
	if _, err := s.ListEvents(t.Context(), EventFilter{Limit: 1}); err != nil {
		t.Errorf("an empty log needs no read: %v", err)
	}
	if _, err := s.Subscriptions(t.Context()); err == nil {
		t.Error("a closed store reads")
	}
	if err := s.Close(); !errors.Is(err, ErrClosed) {
		t.Errorf("close: %v, want ErrClosed", err)
	}
}

func TestDamagedDatabase(t *testing.T) {
	dir := t.TempDir()
	check(t, os.WriteFile(filepath.Join(dir, databaseName), bytes.Repeat([]byte("no database "), 1000), 0o600))
	if _, err := Open(context.Background(), Options{Dir: dir, Logger: quiet()}); !errors.Is(err, ErrCorrupt) {
		t.Errorf("open: %v, want ErrCorrupt", err)
	}
	check(t, os.Remove(filepath.Join(dir, databaseName)))
	openTest(t, dir) // the lock was released
}
