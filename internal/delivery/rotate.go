package delivery

import (
	"context"
	"fmt"
	"time"

	"hookd/internal/signing"
	"hookd/internal/store"
)

// A Rotation is what became of a request for a new secret.
type Rotation struct {
	Name         string
	Generation   int64
	Rotated      bool      // false: the newest secret is younger than was asked
	Secret       string    // text of the new secret, shown this once
	OverlapUntil time.Time // when the previous one stops signing; zero: it does no longer
	EndedEarly   bool      // an overlap was running, and its oldest secret was cut off
}

// Rotate makes a new secret. The previous one signs beside it for overlap (0: not at all); an older one ends at once.
// With ifOlder above 0 it does nothing while the newest secret is younger.
func (e *Engine) Rotate(ctx context.Context, ref string, overlap, ifOlder time.Duration) (Rotation, error) {
	s, err := e.find(ref)
	if err != nil {
		return Rotation{}, err
	}
	unlock := s.lockWrites()
	defer unlock()
	now := time.Now()
	s.mu.Lock()
	live := liveSecrets(s.secrets, now.UnixMilli())
	newest, gone := s.secrets[0], s.gone
	s.mu.Unlock()
	if gone {
		return Rotation{}, fmt.Errorf("%w: %q", ErrNotFound, ref)
	}
	r := Rotation{Name: s.name, Generation: newest.Generation}
	if ifOlder > 0 && now.Sub(time.UnixMilli(newest.CreatedAt)) < ifOlder {
		return r, nil
	}
	r.Generation, r.Rotated = newest.Generation+1, true
	r.EndedEarly = len(live) > 1
	next := []store.Generation{{Generation: r.Generation, Master: masterID, CreatedAt: now.UnixMilli()}}
	if overlap > 0 {
		r.OverlapUntil = now.Add(overlap)
		newest.NotAfter = r.OverlapUntil.UnixMilli()
		next = append(next, newest)
	}
	if err := e.store.SetSecrets(ctx, s.id, next); err != nil {
		return Rotation{}, err
	}
	s.mu.Lock()
	s.secrets, s.signer = next, nil
	s.keys++
	s.mu.Unlock()
	r.Secret = signing.Secret(e.opts.Master.Derive(s.uuid, r.Generation)).Text()
	return r, nil
}
