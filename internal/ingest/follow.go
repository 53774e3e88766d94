package ingest

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"hookd/internal/store"
)

// A rest is how a pass ended.
type rest struct {
	trouble *trouble      // the path cannot be read
	hold    time.Duration // the file at the path waits that long for the one before it to be quiet
}

// pass reads everything that there is to read now: what came late, the rest of the current file, and then those after it.
func (t *Tail) pass(ctx context.Context) rest {
	for ctx.Err() == nil {
		t.takeDrains()
		t.readLate(ctx)
		s, r := t.missed()
		if s == nil && r.hold == 0 && t.cur != nil && t.cur.open() {
			if err := t.read(ctx, t.cur); err != nil {
				r.trouble = t.lostSight(err)
			}
		}
		if ctx.Err() != nil {
			s.close()
			break
		}
		if s == nil && r == (rest{}) {
			s, r = t.next(ctx)
		}
		if s != nil {
			r.trouble = t.advance(ctx, s)
		}
		if s == nil || r.trouble != nil {
			t.letGoUnlinked(ctx, r)
			t.report(r.trouble)
			return r
		}
	}
	return rest{}
}

// lostSight lets go of the current file when it is no longer what was read, to be looked for anew, or when it cannot be read: that
// is trouble.
func (t *Tail) lostSight(err error) *trouble {
	g := t.cur
	size := g.lines.now
	g.checkpoint() // with what was seen of the file before
	g.close()
	if !errors.Is(err, errChanged) {
		return troubleOf(g.path, err)
	}
	t.log.Warn("file was cut or replaced in place", slog.String("path", g.path),
		slog.Int64("offset", g.mark.Offset), slog.Int64("size_seen", g.mark.SizeSeen), slog.Int64("size", size))
	return nil
}

// next finds what is to be read after the current file was read to its end, or when there is none.
func (t *Tail) next(ctx context.Context) (*step, rest) {
	info, tr := statFile(t.c.Path)
	if !t.looked { // a file that comes later is new from its first line on
		t.looked = true
		t.fromEnd = t.fromEnd && (tr == nil || tr.state == Broken)
	}
	if t.cur != nil && t.cur.open() && tr == nil && idOf(info) == t.cur.id() {
		t.showAhead(0)
		t.held = time.Time{}
		return nil, rest{}
	}
	t.moved = true // perhaps a link leads to another folder
	if t.cur != nil && !t.cur.open() && !t.over {
		if s, r, done := t.locate(ctx, info, tr); done {
			return s, r
		}
	}
	return t.successor()
}

// hold returns how long the file at the path has still to wait for the current one. Who writes to that may not know of the
// rotation yet, and what it writes comes before what is in the next. A copy is complete.
func (t *Tail) hold() time.Duration {
	if t.cur == nil || !t.cur.open() || t.cur.copied {
		return 0
	}
	now := t.now()
	if t.held.IsZero() {
		t.held = now
	}
	return max(0, min(t.quiet-now.Sub(t.cur.active), longestHold-now.Sub(t.held)))
}

// advance goes on with another file, after the end of the current one.
func (t *Tail) advance(ctx context.Context, s *step) *trouble {
	if t.cur != nil && t.cur.open() && t.cur != s.gen {
		if err := t.finish(ctx, t.cur); err != nil {
			s.close()
			return t.lostSight(err)
		}
	}
	g, met := s.gen, s.gen != nil
	if !met {
		g = newGeneration(t.c.Name, s)
		if t.fromEnd {
			if tr := g.startAtEnd(s.file, s.info.Size()); tr != nil {
				s.close()
				return tr
			}
		}
	}
	if i := slices.Index(t.late, g); i >= 0 { // it has come back to the path
		t.late = slices.Delete(t.late, i, i+1)
		s.close()
	} else if err := g.attach(s, t.c.MaxBytes, t.now()); err != nil {
		s.close()
		return troubleOf(s.path, err)
	}
	g.mark.State = store.GenOpen
	if !met && !t.begin(ctx, g) {
		g.close()
		return nil
	}
	if modified := s.info.ModTime(); !met {
		t.since = g.since()
	} else if modified.Before(t.since) { // somebody has set it
		t.since = modified
	}
	t.cur, t.over, t.fromEnd, t.held = g, false, false, time.Time{}
	t.showCurrent(g)
	t.log.Info("file is read", slog.String("path", s.path), slog.Int64("offset", g.mark.Offset), slog.Bool("met_before", met))
	return nil
}

// keptGenerations is how many generations that were read to their end are remembered, to know them and their copies.
const keptGenerations = 16

// begin makes a generation known to the store, before any line of it is read.
func (t *Tail) begin(ctx context.Context, g *generation) bool {
	if t.flush(ctx) != nil {
		return false
	}
	err := t.persist(ctx, func() (err error) {
		g.mark.Gen, err = t.st.BeginGeneration(ctx, t.source, g.mark)
		return err
	})
	if err != nil {
		return false
	}
	t.known = slices.Insert(t.known, 0, g)
	closed := 0
	t.known = slices.DeleteFunc(t.known, func(k *generation) bool {
		if k == g || k.open() {
			return false
		}
		closed++
		return closed > keptGenerations
	})
	return true
}

func (t *Tail) places() []place {
	target := targetOf(t.c.Path)
	t.showTarget(target)
	return placesOf(t.c.Path, target)
}
