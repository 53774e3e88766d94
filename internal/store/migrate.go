package store

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/google/uuid"

	"hookd/schema"
)

// NewerError says that the database was made by a newer hookd, whose schema this one does not know.
type NewerError struct {
	Have  int // schema version of the database
	Known int // highest that this hookd knows
}

func (e *NewerError) Error() string {
	return fmt.Sprintf("the database has schema version %d, this hookd knows up to %d: run the newer hookd, or restore a backup", e.Have, e.Known)
}

// migrate brings the database to the newest schema: forward only, each step in a transaction, with a copy of the
// database made before the first one. A database of a newer hookd is refused.
func (s *Store) migrate(ctx context.Context, path string, fresh bool, steps []schema.Migration) error {
	version, err := value(s.w.conn, "PRAGMA user_version")
	if err != nil {
		return fmt.Errorf("read schema version: %w", classify(err))
	}
	have := int(number(version))
	if have > len(steps) {
		return &NewerError{Have: have, Known: len(steps)}
	}
	if have == len(steps) {
		return nil
	}
	if !fresh && have > 0 {
		if err := s.copyBefore(path, have+1); err != nil {
			return fmt.Errorf("copy database before migration: %w", err)
		}
	}
	if err := s.w.synchronous(durable); err != nil {
		return err
	}
	for _, step := range steps[have:] {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.take(step); err != nil {
			return fmt.Errorf("migrate to schema version %d (%s): %w", step.Version, step.Name, err)
		}
		s.log.Info("migrated the database", "schema_version", step.Version, "name", step.Name)
	}
	return nil
}

// copyBefore copies the database as it stands before the step to version.
func (s *Store) copyBefore(path string, version int) error {
	to := fmt.Sprintf("%s.before-%04d", path, version)
	if err := os.Remove(to); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600) // SQLite takes an empty file, and with it the mode
	if err != nil {
		return err
	}
	defer f.Close()
	vacuum, err := s.w.statement("VACUUM INTO ?")
	if err != nil {
		return err
	}
	if err := errors.Join(vacuum.exec(to), f.Sync()); err != nil {
		return err
	}
	s.log.Info("copied the database before its migration", "file", to)
	return nil
}

// take takes one step. The first one also makes what a new database starts with.
func (s *Store) take(m schema.Migration) error {
	text := "BEGIN IMMEDIATE;\n" + m.SQL
	if m.Version == 1 {
		text += fmt.Sprintf(`
;			INSERT INTO meta (k, v) VALUES ('sync_epoch', '%s'), ('first_seq', 1), ('ids_indexed', 0), ('history_indexed', 0), ('cursors_n', 0)`,
			uuid.NewString())
	}
	text += fmt.Sprintf("\n;PRAGMA user_version=%d;\nCOMMIT;", m.Version)
	if err := s.w.run(text); err != nil {
		_ = s.w.run("ROLLBACK") // there may be none to roll back
		return err
	}
	return nil
}
