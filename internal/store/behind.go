package store

import (
	"cmp"
	"slices"
)

// An index whose keys come in no order would make every append or outcome touch a page of its own. So event_ids and
// history_ix are filled behind their tables: rows gather in memory, a run of them is sorted, and goes into the index
// slice by slice, each in a transaction that is committed anyway. Sorted, neighbours share a page, also across slices.
const (
	runRows   = 16384 // rows of a run; at most about twice as many are in memory
	sliceRows = 2000  // rows that one transaction adds at most, so that nobody waits long
	fewRows   = 256   // rows that are worth the pages of a slice
)

// behind is the part of an index that is not filled yet. What is not in memory after a crash is read back from the
// table: rows after the end of the last whole run.
type behind[R any] struct {
	compare func(a, b R) int
	size    int // of a run
	tail    []R // rows after the run, oldest first
	run     []R // sorted
	done    int // run[:done] is in the index
	end     R   // the newest row of the run
	owed    int // rows that may go into the index, by what came since the last slice
}

// slice returns the rows that go into the index next, where added rows come with this transaction: twice as many as
// came, so that a run ends before the next is due. last: they end the run.
func (b *behind[R]) slice(added int) (rows []R, last bool) {
	if len(b.run) == 0 && len(b.tail) >= b.size {
		b.start()
	}
	if len(b.run) == 0 {
		return nil, false
	}
	b.owed += 2 * added
	n := min(b.owed, sliceRows, len(b.run)-b.done)
	if n < fewRows && n < len(b.run)-b.done {
		return nil, false
	}
	return b.run[b.done : b.done+n], b.done+n == len(b.run)
}

// due reports whether added rows would bring a slice with them; where they do not, they are counted as slice counts
// them.
func (b *behind[R]) due(added int) bool {
	rows := len(b.run) - b.done
	if rows == 0 {
		return len(b.tail) >= b.size
	}
	if min(b.owed+2*added, sliceRows, rows) >= min(fewRows, rows) {
		return true
	}
	b.owed += 2 * added
	return false
}

// start makes a run of what has gathered.
func (b *behind[R]) start() {
	b.run, b.tail = b.tail, b.run[:0]
	b.done, b.owed = 0, 0
	if len(b.run) > 0 {
		b.end = b.run[len(b.run)-1]
		slices.SortFunc(b.run, b.compare)
	}
}

// committed says that n rows of the run are in the index. It returns the rows of a run that is complete.
func (b *behind[R]) committed(n int) (whole []R) {
	b.done += n
	if n > 0 {
		b.owed = 0
	}
	if len(b.run) == 0 || b.done < len(b.run) {
		return nil
	}
	whole = b.run
	b.run, b.done = b.run[:0], 0
	return whole
}

type idRow struct{ hash, seq int64 }

func compareIDs(a, b idRow) int { return cmp.Compare(a.hash, b.hash) }

type historyRow struct{ sub, seq, n int64 }

func compareHistory(a, b historyRow) int {
	return cmp.Or(cmp.Compare(a.sub, b.sub), cmp.Compare(a.seq, b.seq), cmp.Compare(a.n, b.n))
}

// index adds to the indexes what this transaction owes them.
func (t *tx) index() error {
	if n := len(t.events); n > 0 {
		rows, last := t.s.ids.slice(n)
		if err := t.indexIDs(rows, last); err != nil {
			return err
		}
	}
	if n := int(t.historyN - t.s.historyN); n > 0 {
		rows, last := t.s.history.slice(n)
		return t.indexHistory(rows, last)
	}
	return nil
}

func (t *tx) indexIDs(rows []idRow, last bool) error {
	for _, r := range rows {
		if err := t.w.eventIDs.add(r.hash, r.seq); err != nil {
			return err
		}
	}
	if err := t.w.eventIDs.flush(); err != nil {
		return err
	}
	t.idSlice = len(rows)
	if !last {
		return nil
	}
	return t.w.setMeta.exec("ids_indexed", t.s.ids.end.seq)
}

func (t *tx) indexHistory(rows []historyRow, last bool) error {
	for _, r := range rows {
		if err := t.w.historyIx.add(r.sub, r.seq, r.n); err != nil {
			return err
		}
	}
	if err := t.w.historyIx.flush(); err != nil {
		return err
	}
	t.historySlice = len(rows)
	if !last {
		return nil
	}
	return t.w.setMeta.exec("history_indexed", t.s.history.end.n)
}

// catchUp fills the indexes with one run's rest or, where none is open, with all that has gathered. At a clean stop it
// is called twice, so that the next start has nothing to read back.
func (t *tx) catchUp() error {
	ids, history := &t.s.ids, &t.s.history
	if len(ids.run) == 0 {
		ids.start()
	}
	if len(history.run) == 0 {
		history.start()
	}
	if err := t.indexIDs(ids.run[ids.done:], len(ids.run) > 0); err != nil {
		return err
	}
	return t.indexHistory(history.run[history.done:], len(history.run) > 0)
}
