package ingest

import (
	"context"
	"log/slog"

	"hookd/internal/store"
)

// read takes the whole lines that a generation's file has now. Each batch is committed while the next one is read, so at most two
// are held; when it returns, the last one may still be under way. It fails with errChanged, or because the file cannot be read.
func (t *Tail) read(ctx context.Context, g *generation) error {
	for ctx.Err() == nil {
		t.takeDrains()
		size := g.lines.size
		b := t.newBatch(g)
		free := t.tryIdle()
		more, err := b.take(t.c.MaxBytes, ctx.Done())
		for err == nil && !free && len(b.lines) > 0 && !b.full() && ctx.Err() == nil {
			free = t.await(ctx) // what comes while the last batch is committed goes along
			more, err = b.take(t.c.MaxBytes, ctx.Done())
		}
		g.noteGrowth(size, t.now())
		t.showRead(g)
		if !t.give(ctx, b, free) || err != nil || !more {
			return err
		}
	}
	return nil
}

// give hands a batch over to be committed, with the token when that is there already. It returns false when ctx has ended.
func (t *Tail) give(ctx context.Context, b *batch, free bool) bool {
	g := b.gen
	before := g.mark
	b.mark = g.checkpoint()
	t.sayHoles(g)
	if len(b.lines) == 0 && before.Offset == b.mark.Offset && before.SizeSeen == b.mark.SizeSeen {
		t.recycle(b)
		t.release(free)
		return ctx.Err() == nil
	}
	for !free {
		select {
		case <-t.idle:
			free = true
		case <-t.tick: // the store may be taking nothing for long
			_ = g.lines.look() // found out again by who reads on
			t.showRead(g)
		case <-ctx.Done():
			return false
		}
	}
	if len(b.lines) == 0 { // blank ones were passed, or one grows
		t.recycle(b)
		err := t.save(ctx, g)
		t.release(true)
		return err == nil
	}
	if b.refused > 0 && !g.refused {
		g.refused = true
		t.log.Warn("lines are refused and put into quarantine; this is said once for a file", slog.String("path", g.path))
	}
	t.boardDrains(b)
	go t.commit(ctx, b)
	return true
}

// save writes a generation's checkpoint without lines.
func (t *Tail) save(ctx context.Context, g *generation) error {
	m := g.mark
	err := t.persist(ctx, func() error { return t.st.SaveMark(ctx, m) })
	if err == nil {
		t.showCommitted(g, m.Offset)
	}
	return err
}

// commit brings a batch into the log. It has the token meanwhile. A batch that ctx keeps from it is read again some day, for its
// checkpoint is not in the store either.
func (t *Tail) commit(ctx context.Context, b *batch) {
	defer t.release(true)
	err := t.persist(ctx, func() error {
		_, err := t.st.Append(ctx, store.Batch{
			Source: t.source, Lines: b.lines, Mark: &b.mark, Quarantine: true, Now: t.now().UnixMilli(),
		})
		return err
	})
	if err != nil {
		return
	}
	t.showCommitted(b.gen, b.mark.Offset)
	for _, d := range b.drained {
		d.done <- nil
	}
	t.recycle(b)
}

// flush waits until everything that was read is in the log.
func (t *Tail) flush(ctx context.Context) error {
	select {
	case <-t.idle:
		t.release(true)
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (t *Tail) tryIdle() bool {
	select {
	case <-t.idle:
		return true
	default:
		return false
	}
}

// await waits for the token, or for something that may have changed the file; it reports whether it has the token.
func (t *Tail) await(ctx context.Context) bool {
	select {
	case <-t.idle:
		return true
	case <-t.wake:
	case <-t.tick:
	case <-ctx.Done():
	}
	return false
}

func (t *Tail) release(held bool) {
	if held {
		t.idle <- struct{}{}
	}
}

// newBatch makes an empty batch. Only its array is used again: lines live on in what watches the log.
func (t *Tail) newBatch(g *generation) *batch {
	b := &batch{gen: g}
	select {
	case b.lines = <-t.spare:
	default:
	}
	return b
}

func (t *Tail) recycle(b *batch) {
	clear(b.lines) // or it would keep their chunks
	select {
	case t.spare <- b.lines[:0]:
	default:
	}
}

// sayHoles says once for a generation that NUL bytes were skipped.
func (t *Tail) sayHoles(g *generation) {
	if g.lines.nuls > 0 && !g.holed {
		g.holed = true
		t.log.Warn("NUL bytes before a line were skipped: a writer that keeps its place when the file is cut should open it for append",
			slog.Int64("bytes", g.lines.nuls))
	}
}
