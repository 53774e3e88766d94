package store

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// The WAL's size is looked at each so many groups; where readers keep it from being made short, not again for a while.
const (
	walLook  = 64
	walPause = 5 * time.Second
)

// boundWAL keeps the WAL from growing without end behind readers that overlap. The leader calls it between groups: a
// checkpoint from another connection would let the WAL grow all the faster.
func (s *Store) boundWAL() {
	if s.groups++; s.groups%walLook != 0 || time.Since(s.walTried) < walPause {
		return
	}
	if s.Size().WAL < s.walLimit {
		return
	}
	s.walTried = time.Now()
	if err := s.checkpoint(500); err != nil {
		s.log.Warn("the write-ahead log cannot be made short", "wal_bytes", s.Size().WAL, "error", err)
	}
}

// checkpoint moves the WAL into the database and cuts it to nothing; readers hold it up for at most so many ms.
func (s *Store) checkpoint(patience int) error {
	if err := s.w.run(fmt.Sprintf("PRAGMA busy_timeout=%d", patience)); err != nil {
		return err
	}
	busy, err := value(s.w.conn, "PRAGMA wal_checkpoint(TRUNCATE)")
	if err != nil {
		return fmt.Errorf("checkpoint: %w", classify(err))
	}
	if err := s.w.run("PRAGMA busy_timeout=5000"); err != nil {
		return err
	}
	if number(busy) != 0 {
		return fmt.Errorf("checkpoint: a reader holds it up")
	}
	return nil
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
