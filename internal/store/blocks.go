package store

// The counts per block of 4096 seqs and kind answer what would otherwise be a scan.
const blockBits = 12

// block is the number of the block of a seq.
func block(seq int64) int64 { return seq >> blockBits }

// tally is what a transaction knows of the counts of the open block.
type tally struct {
	closed  bool // a block was closed: the store's counts are used up
	counted int  // events[:counted] of the transaction are in closed blocks
}

// closeBlock writes the counts of a block once its last seq was appended.
func (t *tx) closeBlock() error {
	if block(t.last) == block(t.last+1) {
		return nil
	}
	counts := map[KindID]int64{}
	if !t.blocks.closed {
		for kind, n := range t.s.openBlock {
			counts[kind] = n
		}
	}
	for i := t.blocks.counted; i < len(t.events); i++ {
		counts[t.events[i].Kind.ID]++
	}
	for kind, n := range counts {
		if err := t.w.insertBlock.exec(block(t.last), int64(kind), n); err != nil {
			return err
		}
	}
	t.blocks = tally{closed: true, counted: len(t.events)}
	return nil
}
