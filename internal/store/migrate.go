package store

import (
	"context"
	"fmt"
	"os"

	"github.com/google/uuid"

	"hookd/schema"
)

// migrate brings the database to the newest schema: forward only, each step in a transaction, with a copy of the
// database made before the first one. A database of a newer hookd is refused.
func (s *Store) migrate(ctx context.Context, path string, fresh bool) error {
	value, err := s.w.value("PRAGMA user_version")
	if err != nil {
		return fmt.Errorf("read schema version: %w", classify(err))
	}
	steps := schema.Migrations()
	have := int(number(value))
	if have > len(steps) {
		return fmt.Errorf("the database has schema version %d, this hookd knows up to %d: run the newer hookd, or restore a backup", have, len(steps))
	}
	if have == len(steps) {
		return nil
	}
	if !fresh && have > 0 {
		if err := s.copyBefore(path, have); err != nil {
			return err
		}
	}
	for _, step := range steps[have:] {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.step(step); err != nil {
			return fmt.Errorf("migrate to schema version %d (%s): %w", step.Version, step.Name, err)
		}
	}
	return nil
}

func (s *Store) copyBefore(path string, have int) error {
	to := fmt.Sprintf("%s.before-%04d", path, have+1)
	if err := os.Remove(to); err != nil && !os.IsNotExist(err) {
		return fmt.Errorf("copy database before migration: %w", err)
	}
	f, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("copy database before migration: %w", err)
	}
	f.Close()
	vacuum, err := s.w.statement("VACUUM INTO ?")
	if err != nil {
		return err
	}
	if err := vacuum.exec(to); err != nil {
		return fmt.Errorf("copy database before migration: %w", err)
	}
	s.log.Info("copied the database before its migration", "file", to)
	return nil
}

func (s *Store) step(m schema.Migration) error {
	text := "BEGIN IMMEDIATE;\n" + m.SQL
	if m.Version == 1 {
		epoch := uuid.NewString()
		text += fmt.Sprintf("INSERT INTO meta VALUES ('sync_epoch', '%s'), ('ids_indexed', 0), ('history_indexed', 0), ('first_seq', 1);\n", epoch)
	}
	text += fmt.Sprintf("PRAGMA user_version=%d;\nCOMMIT;", m.Version)
	if err := s.w.run(text); err != nil {
		_ = s.w.run("ROLLBACK") // there may be none to roll back
		return err
	}
	return nil
}
