package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// A drain waits until a file was read as far as it went when it was asked for.
type drain struct {
	id   fileID
	size int64
	done chan error // has room for the one answer
}

// Drain returns when every whole line that the file has now is in the log or in quarantine; at once when there is no file. It
// fails when the file cannot be read, when ctx ends, and when Run has. While the store takes no lines it waits.
func (t *Tail) Drain(ctx context.Context) error {
	d := &drain{done: make(chan error, 1)}
	if info, tr := statFile(t.c.Path); tr == nil {
		d.id, d.size = idOf(info), info.Size()
	}
	t.mu.Lock()
	t.asked = append(t.asked, d)
	t.mu.Unlock()
	select {
	case t.poke <- struct{}{}:
	default: // another one's does
	}
	select {
	case err := <-d.done:
		return err
	case <-t.ended:
		return errors.New("drain source: it is no longer followed")
	case <-ctx.Done():
		return fmt.Errorf("drain source: %w", context.Cause(ctx))
	}
}

// takeDrains takes over those that were asked for. What is read from now on has what they ask for.
func (t *Tail) takeDrains() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.drains = append(t.drains, t.asked...)
	t.asked = nil
}

// boardDrains lets those go with a batch that end within it. Without them, one would wait for as long as a writer is faster than
// the log.
func (t *Tail) boardDrains(b *batch) {
	t.drains = slices.DeleteFunc(t.drains, func(d *drain) bool {
		in := d.id == b.gen.id() && d.size <= b.mark.Offset
		if in {
			b.drained = append(b.drained, d)
		}
		return in
	})
}

// settleDrains answers those whose file was read, or cannot be, by the pass that ended with r.
func (t *Tail) settleDrains(ctx context.Context, r rest) {
	if len(t.drains) == 0 || r.hold > 0 || t.flush(ctx) != nil || ctx.Err() != nil {
		return
	}
	err := error(nil)
	if r.trouble != nil && r.trouble.state == Broken {
		err = fmt.Errorf("drain source %q: %s", t.c.Name, r.trouble.reason)
	}
	for _, d := range t.drains {
		d.done <- err
	}
	t.drains = nil
}
