package store

import (
	"context"
	"database/sql/driver"
	"fmt"
	"slices"
)

// Source is where events come from, with its counts of lines.
type Source struct {
	ID                             SourceID
	Name, Kind                     string
	Accepted, Duplicates, Rejected int64
}

// Source returns the source of this name, and makes it where there is none.
func (s *Store) Source(ctx context.Context, name, kind string) (Source, error) {
	s.mu.RLock()
	i := s.sourceNamed(name)
	if i >= 0 {
		defer s.mu.RUnlock()
		return s.sources[i], nil
	}
	s.mu.RUnlock()
	src := Source{Name: name, Kind: kind}
	err := s.do(ctx, durable, 0, step{
		do: func(t *tx) error {
			return t.w.insertSource.query(func(row []driver.Value) error {
				src.ID = SourceID(number(row[0]))
				return nil
			}, name, kind)
		},
		then: func(*tx) {
			if s.sourceNamed(name) < 0 { // another caller's unit may have made it
				s.sources = append(s.sources, src)
			}
		},
	})
	if err != nil {
		return Source{}, fmt.Errorf("make source %q: %w", name, err)
	}
	return src, nil
}

// sourceNamed is the place of a source in s.sources, -1 where there is none; s.mu is held.
func (s *Store) sourceNamed(name string) int {
	return slices.IndexFunc(s.sources, func(src Source) bool { return src.Name == name })
}

// GenID is the store's number of a generation.
type GenID int64

// GenState is how far a generation of a file has been read.
type GenState int

// The states of a generation. The numbers are stored.
const (
	GenOpen   GenState = iota + 1 // it is read, or has still to be
	GenClosed                     // it was read to its end, or is gone
)

// FileMark is a generation of a tailed file and the checkpoint in it.
type FileMark struct {
	Gen              GenID
	Salt             []byte // random, given with the generation
	Dev, Ino         uint64
	HeadLen          int64 // bytes at the file's beginning that HeadSum is the digest of
	HeadSum          []byte
	TailLen          int64 // bytes before Offset that TailSum is the digest of
	TailSum          []byte
	Offset, SizeSeen int64
	State            GenState
}

// keptGenerations is how many closed generations of a source are kept, to know copies of files that were read.
const keptGenerations = 16

// BeginGeneration writes a generation, on disk before its first line is delivered.
func (s *Store) BeginGeneration(ctx context.Context, source SourceID, m FileMark) (GenID, error) {
	var id int64
	err := s.do(ctx, durable, 0, step{do: func(t *tx) (err error) {
		id, err = t.w.insertFile.insert(int64(source), m.Salt, int64(m.Dev), int64(m.Ino), m.HeadLen, blob(m.HeadSum), m.TailLen, blob(m.TailSum),
			m.Offset, m.SizeSeen, int64(m.State))
		if err != nil {
			return err
		}
		return t.w.dropFiles.exec(int64(source), int64(GenClosed), keptGenerations)
	}})
	if err != nil {
		return 0, fmt.Errorf("begin file generation: %w", err)
	}
	return GenID(id), nil
}

// SaveMark writes a checkpoint without lines. A generation that is not there is ErrNotFound.
func (s *Store) SaveMark(ctx context.Context, m FileMark) error {
	if err := s.do(ctx, lazy, 0, step{do: func(t *tx) error { return t.mark(m) }}); err != nil {
		return fmt.Errorf("save checkpoint: %w", err)
	}
	return nil
}

func (t *tx) mark(m FileMark) error {
	return found(t.w.updateFile.change(int64(m.Dev), int64(m.Ino), m.HeadLen, blob(m.HeadSum), m.TailLen, blob(m.TailSum), m.Offset, m.SizeSeen,
		int64(m.State), int64(m.Gen)))
}

// Generations returns the generations of a source that are known, newest first.
func (s *Store) Generations(ctx context.Context, source SourceID) ([]FileMark, error) {
	var list []FileMark
	err := each(ctx, s.read, `SELECT gen, salt, dev, ino, head_len, head_sum, tail_len, tail_sum, offset, size_seen, state
		FROM files WHERE source = ? ORDER BY gen DESC`, []any{int64(source)}, func(scan scanner) error {
		var m FileMark
		var dev, ino int64 // SQLite's integers are signed
		err := scan(&m.Gen, &m.Salt, &dev, &ino, &m.HeadLen, &m.HeadSum, &m.TailLen, &m.TailSum, &m.Offset, &m.SizeSeen, &m.State)
		m.Dev, m.Ino = uint64(dev), uint64(ino)
		list = append(list, m)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read file generations: %w", err)
	}
	return list, nil
}
