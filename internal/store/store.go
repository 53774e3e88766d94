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

	"hookd/schema"
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
	Dir    string       // the data directory; made, with mode 0700, if it is missing
	Logger *slog.Logger // nil: nothing is logged
}

// Store is an open database. Its methods may be used from many goroutines.
type Store struct {
	dir   string // absolute
	log   *slog.Logger
	lock  *os.File
	w     *writer
	read  *sql.DB
	plans sync.Map // query -> *sql.Stmt of read
	epoch string

	group    group
	onAppend func([]Event)
	refusing atomic.Pointer[error]

	// The leader's.
	tx       tx
	crowded  bool // the last group had several units
	kindIDs  map[kindName]KindID
	lastFull time.Time // last commit that survives the loss of power
	groups   int
	walLimit int64
	walTried time.Time

	recent recentIDs
	mu     sync.RWMutex
	memory // guarded by mu
}

// Open opens the database of a data directory and holds the directory until Close. A directory that another process
// holds is a *LockedError, a database of a newer hookd a *NewerError.
func Open(ctx context.Context, o Options) (*Store, error) {
	return openWith(ctx, o, schema.Migrations())
}

func openWith(ctx context.Context, o Options, steps []schema.Migration) (*Store, error) {
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("find data directory: %w", err)
	}
	if err := makeDirectory(dir); err != nil {
		return nil, err
	}
	lock, err := takeLock(dir)
	if err != nil {
		return nil, err
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Store{dir: dir, log: o.Logger, lock: lock, walLimit: walBytes}
	if err := s.open(ctx, steps); err != nil {
		return nil, errors.Join(err, s.closeFiles())
	}
	return s, nil
}

func (s *Store) open(ctx context.Context, steps []schema.Migration) error {
	path := filepath.Join(s.dir, databaseName)
	fresh, err := s.prepareFile(path)
	if err != nil {
		return err
	}
	if s.w, err = openWriter(path, fresh); err != nil {
		return err
	}
	if err := s.migrate(ctx, path, fresh, steps); err != nil {
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
	return s.recall(ctx)
}

// Close lets the units of work that are queued end, stores what is stored lazily, and releases the data directory.
// Methods that are called later, or still read, return an error; so does a second Close.
func (s *Store) Close() error {
	if !s.group.close() {
		return ErrClosed
	}
	if s.Refusing() == nil {
		s.tidy()
	}
	return s.closeFiles()
}

// tidy writes what the next start would otherwise read back. An error in it loses nothing.
func (s *Store) tidy() {
	rest := step{do: (*tx).catchUp}
	for _, u := range []unit{
		{work: rest}, {work: rest}, // the run that is open, then what has gathered behind it
		{want: durable, work: &saving{}},
	} {
		if _, err := s.transact([]*unit{&u}); err != nil {
			s.log.Warn("store what is stored lazily", "error", err)
			return
		}
	}
}

func (s *Store) closeFiles() error {
	var errs []error
	if s.read != nil {
		errs = append(errs, s.closePlans(), s.read.Close())
	}
	if s.w != nil {
		errs = append(errs, s.w.close()) // the last connection: SQLite checkpoints and removes the WAL
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
	err := s.do(ctx, durable, 0, step{
		do:   func(t *tx) error { return t.w.setMeta.exec("master_check", check) },
		then: func(*tx) { s.masterCheck = check },
	})
	if err != nil {
		return fmt.Errorf("set master check: %w", err)
	}
	return nil
}

// Refusing returns why the last write failed for want of room or rights (ErrFull), nil when writes work.
func (s *Store) Refusing() error {
	if err := s.refusing.Load(); err != nil {
		return *err
	}
	return nil
}

// Unix milliseconds of a time, 0 for none.
func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}
