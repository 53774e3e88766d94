package ingest

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// A step is a file to be read next. Its file is closed by who does not take the step.
type step struct {
	gen    *generation // nil: one that was not met before
	path   string
	file   *os.File
	info   fs.FileInfo
	copied bool // the file is a copy of the generation's
}

func (s *step) close() { _ = s.file.Close() }

func (s *step) id() fileID { return idOf(s.info) }

// openStep opens a file of which nothing else is known.
func openStep(path string) (*step, *trouble) {
	f, info, tr := openFile(path)
	if tr != nil {
		return nil, tr
	}
	return &step{path: path, file: f, info: info}, nil
}

// locate looks for the file of the current generation, which is not open: at the start, or when it was lost sight of. That is the
// one with its identity, at the path or renamed, if its content is right, else a copy that has more of it than was read. It
// returns false when there is none: the generation is over then.
func (t *Tail) locate(ctx context.Context, info fs.FileInfo, tr *trouble) (*step, rest, bool) {
	path, size := t.c.Path, int64(0)
	if tr == nil {
		size = info.Size()
	}
	if tr != nil || idOf(info) != t.cur.id() {
		c, found, err := findID(t.places(), t.cur.id())
		if err != nil {
			return nil, rest{trouble: cannotList(tr, err)}, true
		}
		if path, size = "", 0; found {
			path, size = c.path, c.size
		}
	}
	if path != "" {
		s, bad := t.reopen(path)
		if s != nil {
			return s, rest{}, true
		}
		if bad != nil && bad.state == Broken && size > t.cur.mark.Offset {
			if path != t.c.Path {
				bad.reason = "the rotated file " + filepath.Base(path) + " cannot be opened: " + bad.reason
			}
			return nil, rest{trouble: bad}, true
		}
	}
	list, err := rotated(t.places())
	if tr != nil && (err != nil || len(list) == 0) { // perhaps its file system is not there yet
		return nil, rest{trouble: tr}, true
	}
	s, kept := t.findCopy(list)
	if s != nil {
		return s, rest{}, true
	}
	return nil, rest{}, !t.lose(ctx, kept)
}

// cannotList is the trouble of a folder that cannot be listed, unless the path has one of its own.
func cannotList(tr *trouble, err error) *trouble {
	if tr != nil {
		return tr
	}
	return &trouble{Broken, "rotated files cannot be looked for: " + troubleOf("", err).reason}
}

// reopen opens a file of the current generation's identity; nil when it has other content.
func (t *Tail) reopen(path string) (*step, *trouble) {
	s, tr := openStep(path)
	if tr != nil {
		return nil, tr
	}
	like, err := compare(s.file, s.info.Size(), &t.cur.mark)
	if err == nil && like == continues && s.id() == t.cur.id() {
		s.gen = t.cur
		return s, nil
	}
	s.close()
	if err != nil {
		return nil, troubleOf(path, err)
	}
	t.cur.setCut()
	return nil, nil
}

// findCopy looks for the longest copy of the current generation that has more than was read, and returns the size of the longest
// one there is.
func (t *Tail) findCopy(list []sibling) (best *step, size int64) {
	for _, c := range list {
		s, tr := openStep(c.path)
		if tr != nil {
			continue
		}
		like, err := compare(s.file, s.info.Size(), &t.cur.mark)
		if err != nil || !t.cur.copyOf(like) {
			s.close()
			continue
		}
		t.since = laterOf(t.since, s.info.ModTime())
		if n := s.info.Size(); like == continues && n > t.cur.mark.Offset && n > size {
			s.gen, s.copied = t.cur, true
			if best != nil {
				best.close()
			}
			best = s
		} else {
			s.close()
		}
		size = max(size, s.info.Size())
	}
	return best, size
}

func laterOf(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
