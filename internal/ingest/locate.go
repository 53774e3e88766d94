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
	first  []byte // how the file began when it was opened
	copied bool   // the file is a copy of the generation's
}

// close lets go of the file; a nil step has none.
func (s *step) close() {
	if s != nil {
		_ = s.file.Close() // only read
	}
}

func (s *step) id() fileID { return idOf(s.info) }

// openStep opens a file of which nothing else is known.
func openStep(path string) (*step, *trouble) {
	f, info, tr := openFile(path)
	if tr != nil {
		return nil, tr
	}
	first, err := peek(f)
	if err != nil {
		_ = f.Close()
		return nil, troubleOf(path, err)
	}
	return &step{path: path, file: f, info: info, first: first}, nil
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
		if bad == &stale {
			return nil, rest{hold: renameTime}, true
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
	s, kept, ok := t.findCopy(list)
	switch {
	case !ok:
		return nil, rest{hold: renameTime}, true
	case s != nil:
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

// stale is the trouble of a name that leads to another file than a moment before: files are being renamed.
var stale = trouble{Waiting, "it was renamed"}

// renameTime is how long files that are being renamed are left alone.
const renameTime = 10 * time.Millisecond

// openSibling opens a file that was listed.
func openSibling(c sibling) (*step, *trouble) {
	s, tr := openStep(c.path)
	switch {
	case tr != nil && tr.state == Waiting:
		return nil, &stale
	case tr == nil && s.id() != c.id:
		s.close()
		return nil, &stale
	}
	return s, tr
}

// reopen opens the file of the current generation; nil when it has other content.
func (t *Tail) reopen(path string) (*step, *trouble) {
	s, tr := openSibling(sibling{path: path, id: t.cur.id()})
	if tr != nil {
		return nil, tr
	}
	like, err := compare(s.file, s.info.Size(), &t.cur.mark)
	if err == nil && like == continues {
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
// one there is. It fails while files are being renamed.
func (t *Tail) findCopy(list []sibling) (best *step, size int64, ok bool) {
	for _, c := range list {
		s, tr := openSibling(c)
		if tr == &stale {
			best.close()
			return nil, 0, false
		}
		if tr != nil {
			continue
		}
		like, err := compare(s.file, s.info.Size(), &t.cur.mark)
		if err != nil || !t.cur.copyOf(like) {
			s.close()
			continue
		}
		if n := s.info.Size(); like == continues && n > t.cur.mark.Offset && n > size {
			s.gen, s.copied = t.cur, true
			best.close()
			best = s
		} else {
			s.close()
		}
		size = max(size, s.info.Size())
	}
	return best, size, true
}
