package delivery

import (
	"context"

	"hookd/internal/store"
)

// ReplayDeadLetters makes the chosen dead letters pending again, each with a fresh schedule, in the replay lane of its
// subscription: beside the stream, lowest seq first. Those that cannot be replayed are returned with the reason.
func (e *Engine) ReplayDeadLetters(ctx context.Context, sel store.Selection) ([]store.Replay, []store.Skipped, error) {
	replays, skipped, err := e.store.ReplayDeadLetters(ctx, sel)
	if err != nil {
		return nil, nil, err
	}
	for _, r := range replays {
		s := e.get(r.Sub)
		if s == nil {
			continue
		}
		// With the token: a loop that just found no replay pending has said so before this.
		unlock := s.lockWrites()
		s.mu.Lock()
		s.replay.open = true
		s.mu.Unlock()
		unlock()
		s.nudge()
	}
	e.changes.notify()
	return replays, skipped, nil
}
