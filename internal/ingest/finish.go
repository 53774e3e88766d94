package ingest

import (
	"context"
	"log/slog"
	"slices"

	"hookd/internal/store"
)

// finish ends a generation whose file was rotated and read to its end. The file is watched on for what comes late. It fails like
// read.
func (t *Tail) finish(ctx context.Context, g *generation) error {
	if err := t.conclude(ctx, g); err != nil || ctx.Err() != nil {
		return err
	}
	if g.copied {
		g.close()
		return nil
	}
	g.ended = t.now()
	t.late = append(t.late, g)
	if len(t.late) > maxLate {
		t.late[0].close()
		t.late = slices.Delete(t.late, 0, 1)
	}
	return nil
}

// conclude takes what is left in a file, a last line without a newline too, closes its generation, and waits until that is in the
// store. It fails like read.
func (t *Tail) conclude(ctx context.Context, g *generation) error {
	l, ok, more, err := g.lines.last()
	for err == nil && more && ctx.Err() == nil {
		if err = t.read(ctx, g); err == nil {
			l, ok, more, err = g.lines.last()
		}
	}
	if err != nil || ctx.Err() != nil {
		return err
	}
	g.mark.State = store.GenClosed
	b := t.newBatch(g)
	if ok {
		b.add(l, t.c.MaxBytes)
	}
	if t.give(ctx, b, false) && t.flush(ctx) == nil && !ok {
		_ = t.save(ctx, g) // fails only when ctx has ended
	}
	return nil
}

// resumeLate opens the files that got more lines after they had been read to their end, and after the last run.
func (t *Tail) resumeLate() {
	if t.cur == nil {
		return
	}
	list, _ := rotated(t.places()) // without one there is nothing
	for _, c := range list {
		known := t.byID(c.id)
		if known == nil || known == t.cur || len(t.late) == maxLate {
			continue
		}
		s, tr := openSibling(c)
		if tr != nil {
			continue
		}
		g := t.metBefore(s)
		if g == nil || g == t.cur || s.info.Size() <= g.mark.Offset || g.attach(s, t.c.MaxBytes, t.now()) != nil {
			s.close()
			continue
		}
		g.ended = t.now()
		t.late = append(t.late, g)
	}
}

// readLate takes the lines that came into files after their rotation, and lets go of those that are quiet.
func (t *Tail) readLate(ctx context.Context) {
	t.late = slices.DeleteFunc(t.late, func(g *generation) bool {
		if err := t.read(ctx, g); err != nil {
			t.log.Info("rotated file is let go", slog.String("path", g.path), slog.Any("error", err))
			g.close()
			return true
		}
		now := t.now()
		gone, busy := now.Sub(g.active) >= t.linger && now.Sub(g.ended) >= t.linger, now.Sub(g.ended) >= lateLingers*t.linger
		if !gone && !busy || ctx.Err() != nil {
			return false
		}
		if err := t.conclude(ctx, g); err != nil {
			t.log.Warn("end of a rotated file cannot be read", slog.String("path", g.path), slog.Any("error", err))
		}
		g.close()
		if !gone {
			t.log.Warn("file is still written to long after its rotation, it is not followed any more", slog.String("path", g.path))
		}
		return true
	})
}

// letGoUnlinked ends the current file when its last name was removed, nothing has taken its place, and nobody writes to it: or its
// bytes would take room for ever.
func (t *Tail) letGoUnlinked(ctx context.Context, r rest) {
	g := t.cur
	if r.trouble == nil || g == nil || !g.open() || t.now().Sub(g.active) < t.linger {
		return
	}
	if info, err := g.lines.file.Stat(); err != nil || !unlinked(info) {
		return
	}
	err := t.conclude(ctx, g)
	switch {
	case err != nil:
		_ = t.lostSight(err) // it is looked for again, and that trouble found with it
	case ctx.Err() == nil:
		g.close()
		t.over = true
	}
}

// lose ends the current generation where it stands: its file is gone, or has other content. kept is the size of the longest copy
// of it. It returns false when ctx has ended.
func (t *Tail) lose(ctx context.Context, kept int64) bool {
	g := t.cur
	open := g.mark.State == store.GenOpen
	if read := max(kept, g.mark.Offset); open && g.mark.SizeSeen > read {
		t.log.Warn("bytes of a file were lost before they were read", slog.Bool("certain", true),
			slog.Int64("from", read), slog.Int64("to", g.mark.SizeSeen))
	} else if open {
		t.log.Info("file ended when all its known bytes had been read, more may have been lost", slog.Bool("certain", false),
			slog.Int64("offset", read))
	}
	g.mark.State = store.GenClosed
	if open || g.cut() {
		if t.save(ctx, g) != nil {
			return false
		}
	}
	t.over = true
	return true
}
