package delivery

import (
	"math"
	"sync"
	"time"

	"hookd/internal/event"
	"hookd/internal/store"
)

// windowBytes bounds the events that are kept in memory for the loops: the newest, and those that a loop that is behind
// has read from the log.
const windowBytes = 8 << 20

// item is one event ready to be sent: its row and, made once by the first loop that needs it, the body that every
// subscription with the same payload mode gets. It is immutable but for that.
type item struct {
	store.Event
	epoch string

	once     sync.Once
	envelope []byte
	err      error
}

// body returns the bytes to send. They are the same at every attempt and must not be changed.
func (it *item) body() ([]byte, error) {
	it.once.Do(func() {
		parsed, err := event.Parse(it.Line, math.MaxInt)
		if err != nil {
			it.err = err
			return
		}
		parsed.ID, parsed.Type, parsed.App = it.ID, it.Kind.Type, it.Kind.App
		it.envelope = parsed.AppendEnvelope(make([]byte, 0, len(it.Line)+envelopeSlack), event.Stamp{
			Seq: it.Seq, Epoch: it.epoch, Received: time.UnixMilli(it.ReceivedAt).UTC(),
		})
	})
	return it.envelope, it.err
}

// envelopeSlack is what an envelope adds to a line at most: id, timestamp, seq and sync_epoch.
const envelopeSlack = 512

// size is what an item costs: its line, and as much again for its body.
func (it *item) size() int { return 2*len(it.Line) + envelopeSlack }

// window holds items by seq, bounded by bytes; the first that came is the first that goes.
type window struct {
	epoch string
	limit int

	mu    sync.Mutex
	items map[int64]*item
	order []int64 // a ring would need a bound in events; this slice is compacted as it drains
	drop  int     // order[:drop] has left
	bytes int
}

func newWindow(epoch string, limit int) *window {
	return &window{epoch: epoch, limit: limit, items: map[int64]*item{}}
}

// add keeps events; their lines belong to the window from now on. It returns the items, in the order of the events.
func (w *window) add(events []store.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range events {
		if w.items[events[i].Seq] != nil {
			continue
		}
		it := &item{Event: events[i], epoch: w.epoch}
		w.items[it.Seq] = it
		w.order = append(w.order, it.Seq)
		w.bytes += it.size()
	}
	for w.bytes > w.limit && len(w.order)-w.drop > 1 {
		seq := w.order[w.drop]
		w.drop++
		w.bytes -= w.items[seq].size()
		delete(w.items, seq)
	}
	if w.drop > len(w.order)/2 {
		w.order = append(w.order[:0], w.order[w.drop:]...)
		w.drop = 0
	}
}

// get returns the event at seq, nil when it is not here.
func (w *window) get(seq int64) *item {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.items[seq]
}
