package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// makeDirectory makes the data directory, closed to others, and makes sure that it is still there after a loss of power.
func makeDirectory(dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make data directory: %w", err)
	}
	if err := syncDirectory(filepath.Dir(dir)); err != nil {
		return fmt.Errorf("sync data directory's parent: %w", err)
	}
	return nil
}

// prepareFile makes the database's file with its mode before SQLite opens it, since SQLite would use the umask's; the
// sidecars take the file's. Files of an earlier start that are open to others are closed to them.
func (s *Store) prepareFile(path string) (fresh bool, err error) {
	if info, err := os.Stat(s.dir); err != nil {
		return false, fmt.Errorf("stat data directory: %w", err)
	} else if info.Mode().Perm()&0o077 != 0 {
		s.log.Warn("data directory was open to others, closed it", "mode", info.Mode().Perm().String())
		if err := os.Chmod(s.dir, 0o700); err != nil {
			return false, fmt.Errorf("close data directory to others: %w", err)
		}
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return false, fmt.Errorf("open database: %w", err)
	}
	info, err := f.Stat()
	if err := errors.Join(err, f.Close()); err != nil {
		return false, fmt.Errorf("open database: %w", err)
	}
	for _, name := range []string{path, path + "-wal", path + "-shm"} {
		side, err := os.Stat(name)
		if err != nil || side.Mode().Perm()&0o077 == 0 {
			continue
		}
		s.log.Warn("database file was open to others, closed it", "file", filepath.Base(name), "mode", side.Mode().Perm().String())
		if err := os.Chmod(name, 0o600); err != nil {
			return false, fmt.Errorf("close database file to others: %w", err)
		}
	}
	return info.Size() == 0, nil
}

func syncDirectory(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
