package store

import (
	"context"
	"fmt"
)

// Mark is a cursor to be stored.
type Mark struct {
	Sub             SubID
	Cursor, LastSeq int64
}

// SaveCursors stores cursors. They are stored lazily: at the next start the history after them moves them on. Cursors
// that outcomes have moved since are stored with them, so that the start reads only what came later; one that is behind
// them, because they were committed meanwhile, does no harm: a mark moves no cursor back.
func (s *Store) SaveCursors(ctx context.Context, marks []Mark) error {
	if err := s.do(ctx, lazy, 0, &saving{marks: marks}); err != nil {
		return fmt.Errorf("save cursors: %w", err)
	}
	return nil
}

// saving is the unit of work of SaveCursors.
type saving struct {
	marks []Mark
	upTo  int // the transaction's moves that are stored
}

func (v *saving) run(t *tx) error {
	v.upTo = len(t.moves)
	moves := make(map[SubID]move, len(v.marks)+len(t.s.cursors))
	for _, m := range v.marks {
		moves[m.Sub] = move{m.Sub, m.Cursor, m.LastSeq}
	}
	for id, m := range t.s.cursors {
		moves[id] = moves[id].and(m)
	}
	for _, m := range t.moves { // of earlier units of this group
		moves[m.sub] = moves[m.sub].and(m)
	}
	if len(moves) == 0 {
		return nil
	}
	for _, m := range moves {
		if err := t.w.setCursor.exec(m.cursor, t.historyN, m.succeeded, int64(m.sub)); err != nil {
			return err
		}
	}
	return t.w.setMeta.exec("cursors_n", t.historyN)
}

// applied forgets the moves that are stored; later units of the group may have made others.
func (v *saving) applied(t *tx) {
	clear(t.s.cursors)
	for _, m := range t.moves[v.upTo:] {
		t.s.cursors[m.sub] = t.s.cursors[m.sub].and(m)
	}
}
