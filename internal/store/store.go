package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
)

// The reasons that a caller decides on. They come wrapped; use errors.Is.
var (
	ErrNotFound  = errors.New("not found")
	ErrNameTaken = errors.New("the name is taken")
	// ErrFull says that the database takes no writes now: the disk is full, read-only or broken. Nothing was written.
	ErrFull = errors.New("the store takes no writes")
	// ErrCorrupt says that the database file is damaged.
	ErrCorrupt = errors.New("the database is damaged")
)

// databaseName is the database's file in the data directory.
const databaseName = "hookd.db"

// Options is what a store is opened with.
type Options struct {
	Dir    string // the data directory; made, with mode 0700, if it is missing
	Logger *slog.Logger
}

// Store is an open database. Its methods may be used from many goroutines.
type Store struct {
	dir    string
	log    *slog.Logger
	lock   *os.File
	w      *writer
	read   *sql.DB
	epoch  string
	group  group
	change func([]Event) // OnAppend

	refusing atomic.Pointer[error]

	mu sync.RWMutex // guards the copies below; they change after a commit, by its leader
	memory

	stop    context.CancelFunc
	indexer sync.WaitGroup
	behind  chan struct{} // tells the indexer that there is enough to do
}

// Open opens the database of a data directory and holds the directory until Close. A directory that another process
// holds is a *LockedError.
func Open(ctx context.Context, o Options) (*Store, error) {
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("make data directory: %w", err)
	}
	lock, err := takeLock(o.Dir)
	if err != nil {
		return nil, err
	}
	s := &Store{dir: o.Dir, log: o.Logger, lock: lock, behind: make(chan struct{}, 1)}
	if err := s.open(ctx); err != nil {
		return nil, errors.Join(err, s.closeFiles())
	}
	background, stop := context.WithCancel(context.Background())
	s.stop = stop
	s.indexer.Go(func() { s.keepIndexed(background) })
	return s, nil
}

func (s *Store) open(ctx context.Context) error {
	path := filepath.Join(s.dir, databaseName)
	fresh, err := s.prepareFile(path)
	if err != nil {
		return err
	}
	if s.w, err = openWriter(path, fresh); err != nil {
		return err
	}
	if err := s.migrate(ctx, path, fresh); err != nil {
		return err
	}
	if err := s.w.prepare(); err != nil {
		return err
	}
	if s.read, err = openReaders(ctx, path); err != nil {
		return err
	}
	if err := syncDirectory(s.dir); err != nil {
		return fmt.Errorf("sync data directory: %w", err)
	}
	return s.remember(ctx)
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

// Close writes what is lazy, and releases the data directory. No method may be running.
func (s *Store) Close() error {
	s.stop()
	s.indexer.Wait()
	return s.closeFiles()
}

func (s *Store) closeFiles() error {
	var errs []error
	if s.read != nil {
		errs = append(errs, s.read.Close())
	}
	if s.w != nil {
		errs = append(errs, s.w.close())
	}
	return errors.Join(append(errs, s.lock.Close())...)
}

// Epoch returns the UUID that was made with the database: under it a seq is given once.
func (s *Store) Epoch() string { return s.epoch }

// MasterCheck returns the check value of the master key, nil where none is set yet.
func (s *Store) MasterCheck() []byte {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.masterCheck
}

// SetMasterCheck sets the check value of the master key.
func (s *Store) SetMasterCheck(ctx context.Context, check []byte) error {
	return s.do(ctx, &unit{
		full:    true,
		run:     func(*tx) error { return s.w.setMeta.exec("master_check", check) },
		applied: func(*tx) { s.masterCheck = check },
	})
}

// Size is how much room the database takes, in bytes.
type Size struct{ Store, WAL int64 }

// Size looks at the files.
func (s *Store) Size() Size {
	var size Size
	if info, err := os.Stat(filepath.Join(s.dir, databaseName)); err == nil {
		size.Store = info.Size()
	}
	if info, err := os.Stat(filepath.Join(s.dir, databaseName+"-wal")); err == nil {
		size.WAL = info.Size()
	}
	return size
}

// Refusing returns why the last write failed for want of room or rights (ErrFull), nil when writes work.
func (s *Store) Refusing() error {
	if err := s.refusing.Load(); err != nil {
		return *err
	}
	return nil
}

func syncDirectory(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Unix milliseconds of a time, 0 for none.
func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}
