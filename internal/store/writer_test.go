package store

import (
	"database/sql/driver"
	"errors"
	"path/filepath"
	"testing"

	"modernc.org/sqlite"
)

// DB-01: a transaction that reads first and writes then has the right to write from its beginning.
func TestBeginImmediate(t *testing.T) {
	s := openTest(t, t.TempDir())
	other, err := (&sqlite.Driver{}).Open(filepath.Join(s.dir, databaseName))
	check(t, err)
	defer other.Close()
	err = inTransaction(t, s, func(tx *tx) error {
		if err := tx.w.eventByRow.query(func([]driver.Value) error { return nil }, 1); err != nil {
			return err
		}
		_, err := other.(driver.ExecerContext).ExecContext(t.Context(), `INSERT INTO meta VALUES ('other', 1)`, nil)
		var e *sqlite.Error
		if !errors.As(err, &e) || e.Code() != 5 { // SQLITE_BUSY
			t.Errorf("another connection wrote in between: %v", err)
		}
		return tx.w.setMeta.exec("own", 1)
	})
	if err != nil || meta(t, s, "own") != "1" {
		t.Error(err)
	}
	// Held by another connection for longer than the patience of 5 s, cut short here, it is a store that takes no writes.
	check(t, s.w.run("PRAGMA busy_timeout=1"))
	_, err = other.(driver.ExecerContext).ExecContext(t.Context(), `BEGIN IMMEDIATE`, nil)
	check(t, err)
	if err := put(s, "late", 1)(); !errors.Is(err, ErrFull) || s.Refusing() == nil {
		t.Errorf("locked out: %v, want ErrFull", err)
	}
	_, err = other.(driver.ExecerContext).ExecContext(t.Context(), `ROLLBACK`, nil)
	check(t, err)
	check(t, put(s, "late", 1)())
	if s.Refusing() != nil {
		t.Error("it still says that it refuses")
	}
}
