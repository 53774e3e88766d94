package ingest

import (
	"errors"
	"fmt"

	"hookd/internal/event"
	"hookd/internal/store"
)

// The bounds of a batch.
const (
	batchLines = 1000
	batchBytes = 1 << 20
)

// A batch is what is committed at once: lines of one generation and the checkpoint after them.
type batch struct {
	gen     *generation
	lines   []store.Line
	bytes   int
	refused int
	mark    store.FileMark
	drained []*drain // those whose last line is among these
}

func (b *batch) full() bool { return len(b.lines) >= batchLines || b.bytes >= batchBytes }

// add puts a line into the batch: as an event, or with the reason why it is none.
func (b *batch) add(l line, maxBytes int) {
	b.bytes += len(l.text)
	out := store.Line{Offset: l.offset, Length: l.length}
	if l.long {
		out.Refused = &event.Refusal{
			Code:    event.TooLarge,
			Message: fmt.Sprintf("line has %d bytes, at most %d are allowed", l.length, maxBytes),
		}
	} else if e, err := event.Parse(l.text, maxBytes); err == nil {
		if e.ID == "" {
			e.ID = b.gen.eventID(l.offset)
		}
		out.Event = e
	} else if !errors.As(err, &out.Refused) {
		panic(err) // Parse gives nothing else
	}
	if out.Refused != nil {
		b.refused++
		out.Bytes = l.text
		if out.Refused.Code == event.TooLarge {
			out.Bytes = l.text[:min(keptBytes, len(l.text))]
		}
	}
	b.lines = append(b.lines, out)
}

// take fills the batch from its generation. It returns false when the file has no more whole lines now.
func (b *batch) take(maxBytes int, stop <-chan struct{}) (bool, error) {
	r := b.gen.lines
	for !b.full() {
		if l, ok := r.next(); ok {
			b.add(l, maxBytes)
			continue
		}
		select {
		case <-stop:
			return false, nil
		default:
		}
		if more, err := r.more(); err != nil || !more {
			return false, err
		}
	}
	return true, nil
}
