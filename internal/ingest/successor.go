package ingest

import (
	"log/slog"
	"slices"
)

// sameBytes is how much of two files is compared to tell a copy from a file that begins alike.
const sameBytes = 64 << 10

// successor finds what comes after the current generation: first the files that a rotation has put away meanwhile, oldest first,
// then the one at the path.
func (t *Tail) successor() (*step, rest) {
	// The path first: a file that is put away after this look is found below, in its place among the others.
	at, tr := openStep(t.c.Path)
	if t.cur != nil {
		s, ok := t.putAway(at)
		if s != at && (s != nil || !ok) {
			at.close()
		}
		switch {
		case !ok:
			return nil, rest{hold: renameTime}
		case s != nil:
			return s, rest{}
		}
	}
	if tr != nil {
		t.showAhead(0)
		return nil, rest{trouble: tr}
	}
	if wait := t.hold(); wait > 0 {
		t.showAhead(at.info.Size())
		at.close()
		return nil, rest{hold: wait}
	}
	at.gen = t.metBefore(at)
	return at, rest{}
}

// missed returns a file that was copied from the current one and cut out of it before a byte of it was seen. Nothing but the copy
// can tell: so it is looked for when a file that was empty begins to grow. The current file is let go then, and met again.
func (t *Tail) missed() (*step, rest) {
	g := t.cur
	if g == nil || !g.open() || !g.unseen {
		return nil, rest{}
	}
	info, err := g.lines.file.Stat()
	if err != nil || info.Size() == 0 || g.lines.peek() != nil {
		return nil, rest{} // found out again by who reads
	}
	at := &step{path: g.path, file: g.lines.file, info: info}
	s, ok := t.putAway(at)
	switch {
	case !ok:
		return nil, rest{hold: renameTime}
	case s != nil && s != at:
		g.close()
		return s, rest{}
	}
	g.unseen = false
	return nil, rest{}
}

// putAway returns the oldest file beside the path of which something is to be read, nil when there is none. It fails while files are
// being renamed.
func (t *Tail) putAway(at *step) (*step, bool) {
	list, err := rotated(t.places())
	if err != nil && at != nil && !t.passed[fileID{}] {
		t.passed[fileID{}] = true
		t.log.Warn("rotated files cannot be looked for", slog.Any("error", err))
	}
	for _, c := range list {
		if at != nil && c.id == at.id() {
			if t.isAtPath(c.id) {
				continue // the path is a link to one of these
			}
			at.gen = t.metBefore(at) // it was put away after it was opened
			return at, true
		}
		if t.isOpen(c.id) || c.modTime.Before(t.since) && t.byID(c.id) == nil {
			continue
		}
		s, tr := openSibling(c)
		if tr == &stale {
			return nil, false
		}
		if tr != nil {
			t.sayPassed(c, tr)
			continue
		}
		if t.toRead(s, at) {
			return s, true
		}
		s.close()
	}
	return nil, true
}

// toRead reports whether something is to be read of a file that was put away, and sets its generation.
func (t *Tail) toRead(s, at *step) bool {
	size := s.info.Size()
	if s.gen = t.metBefore(s); s.gen != nil {
		return size > s.gen.mark.Offset
	}
	if s.info.ModTime().Before(t.since) {
		return false
	}
	for _, g := range t.known {
		if like, err := compare(s.file, size, &g.mark); err == nil && g.copyOf(like) {
			s.gen, s.copied = g, true
			return like == continues && size > g.mark.Offset && !g.open()
		}
	}
	if at == nil {
		return true
	}
	// While a file is copied, to be cut then, both have the same. It is read at the path.
	n := min(size, at.info.Size(), sameBytes)
	if n < printLen {
		return true
	}
	same, err := sameBeginning(s.file, at.file, n)
	return err == nil && !same
}

// metBefore returns the generation whose file this is, nil when it is none's.
func (t *Tail) metBefore(s *step) *generation {
	for _, g := range t.known {
		if g.id() != s.id() {
			continue
		}
		if like, err := compare(s.file, s.info.Size(), &g.mark); err == nil && like == continues {
			return g
		}
	}
	return nil
}

func (t *Tail) byID(id fileID) *generation {
	if i := slices.IndexFunc(t.known, func(g *generation) bool { return g.id() == id }); i >= 0 {
		return t.known[i]
	}
	return nil
}

func (t *Tail) isAtPath(id fileID) bool {
	info, tr := statFile(t.c.Path)
	return tr == nil && idOf(info) == id
}

// isOpen reports whether a file is the current one, or watched for what comes late.
func (t *Tail) isOpen(id fileID) bool {
	return slices.ContainsFunc(t.known, func(g *generation) bool { return g.open() && g.id() == id })
}

// sayPassed says once of a file that it is passed over.
func (t *Tail) sayPassed(c sibling, tr *trouble) {
	if !t.passed[c.id] {
		t.passed[c.id] = true
		t.log.Warn("rotated file is passed over", slog.String("path", c.path), slog.String("reason", tr.reason))
	}
}
