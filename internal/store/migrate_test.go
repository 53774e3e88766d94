package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hookd/schema"
)

// openSteps opens a store whose program knows these migrations.
func openSteps(t *testing.T, dir string, steps []schema.Migration) (*Store, error) {
	t.Helper()
	s, err := openWith(t.Context(), Options{Dir: dir, Logger: quiet()}, steps)
	if err == nil {
		t.Cleanup(func() { _ = s.Close() })
	}
	return s, err
}

// next is the schema of a later hookd.
func next(sql string) []schema.Migration {
	steps := schema.Migrations()
	return append(steps, schema.Migration{Version: len(steps) + 1, Name: "later", SQL: sql})
}

// An older database is migrated, with a copy as it was beside it that an older hookd can open; a newer one is refused.
func TestMigrationKeepsACopy(t *testing.T) {
	known := len(schema.Migrations())
	dir := t.TempDir()
	s := openTest(t, dir)
	fill(t, s, 10)
	epoch := s.Epoch()
	check(t, s.Close())
	files, err := filepath.Glob(filepath.Join(dir, "*before*"))
	if err != nil || len(files) != 0 {
		t.Errorf("a new database has a copy: %v %v", files, err)
	}

	s, err = openSteps(t, dir, next(`CREATE TABLE later (x INTEGER) STRICT; -- no newline at the end`))
	check(t, err)
	check(t, inTransaction(t, s, func(tx *tx) error { return tx.w.run(`INSERT INTO later VALUES (1)`) }))
	fill(t, s, 1)
	if s.Epoch() != epoch {
		t.Error("the epoch is another")
	}
	check(t, s.Close())
	copied := filepath.Join(dir, fmt.Sprintf("%s.before-%04d", databaseName, known+1))
	info, err := os.Stat(copied)
	if err != nil || info.Mode() != 0o600 {
		t.Fatalf("the copy: %v %v", info, err)
	}

	_, err = Open(t.Context(), Options{Dir: dir, Logger: quiet()})
	var newer *NewerError
	if !errors.As(err, &newer) || newer.Have != known+1 || newer.Known != known {
		t.Errorf("a newer database: %v", err)
	}
	if !strings.Contains(err.Error(), fmt.Sprint(known+1)) || !strings.Contains(err.Error(), fmt.Sprint("up to ", known)) {
		t.Errorf("it does not name both versions: %v", err)
	}

	older := t.TempDir()
	check(t, os.Rename(copied, filepath.Join(older, databaseName)))
	s = openTest(t, older)
	if _, last := s.Bounds(); last != 10 || s.Epoch() != epoch {
		t.Errorf("the copy ends at %d", last)
	}
}

// A step that fails leaves the database as it was.
func TestMigrationFails(t *testing.T) {
	dir := t.TempDir()
	s := openTest(t, dir)
	fill(t, s, 3)
	check(t, s.Close())
	if _, err := openSteps(t, dir, next(`CREATE TABLE later (x INTEGER) STRICT; INSERT INTO nowhere VALUES (1);`)); err == nil ||
		!strings.Contains(err.Error(), "later") {
		t.Fatalf("migration: %v", err)
	}
	s = openTest(t, dir)
	if _, last := s.Bounds(); last != 3 {
		t.Errorf("last is %d", last)
	}
	if err := inTransaction(t, s, func(tx *tx) error { return tx.w.run(`INSERT INTO later VALUES (1)`) }); err == nil {
		t.Error("part of the step is there")
	}
}
