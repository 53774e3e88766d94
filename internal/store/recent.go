package store

import "sync"

// recentIDs finds the events whose ids are not in event_ids yet, by the hash of the id. The leader adds an event before
// it is committed, so that a later line of the group finds it; a reader looks the seq up in the log and finds it there
// once it is.
type recentIDs struct {
	mu   sync.RWMutex
	one  map[int64]int64   // nearly every hash has one event,
	more map[int64][]int64 // these have others beside it
}

func newRecentIDs() recentIDs {
	return recentIDs{one: map[int64]int64{}, more: map[int64][]int64{}}
}

// find appends the seqs of a hash to list.
func (r *recentIDs) find(list []int64, hash int64) []int64 {
	r.mu.RLock()
	defer r.mu.RUnlock()
	seq, ok := r.one[hash]
	if !ok {
		return list
	}
	return append(append(list, seq), r.more[hash]...)
}

func (r *recentIDs) add(hash, seq int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.one[hash]; ok {
		r.more[hash] = append(r.more[hash], seq)
		return
	}
	r.one[hash] = seq
}

func (r *recentIDs) remove(rows []idRow) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, row := range rows {
		r.removeOne(row.hash, row.seq)
	}
}

func (r *recentIDs) removeOne(hash, seq int64) {
	others := r.more[hash]
	if r.one[hash] != seq {
		for i, other := range others {
			if other == seq {
				others = append(others[:i], others[i+1:]...)
				break
			}
		}
	} else if len(others) == 0 {
		delete(r.one, hash)
		return
	} else {
		r.one[hash], others = others[0], others[1:]
	}
	if len(others) == 0 {
		delete(r.more, hash)
	} else {
		r.more[hash] = others
	}
}
