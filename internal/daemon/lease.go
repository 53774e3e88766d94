package daemon

import (
	"context"
	"errors"
	"net/http"
	"time"

	"hookd/internal/control"
	"hookd/internal/delivery"
)

// leaseBeat is how often a lease stream gets a line, so that both sides see a dead connection well within the grace.
const leaseBeat = 3 * time.Second

// holdLease keeps a leased subscription alive for as long as the client reads.
func (a *api) holdLease(w http.ResponseWriter, r *request) error {
	v, err := a.engine.Subscription(r.Context(), r.PathValue("ref"))
	if err != nil {
		return err
	}
	// By its id: another may get the name while this one is held.
	leased, err := a.engine.Leased(v.UUID)
	if err != nil {
		return err
	}
	if !leased {
		return control.NewProblem(control.CodeConflict, "subscription %s has no lease: it stays until it is deleted", v.Name)
	}
	ctx, end := a.untilStop(r.Context())
	held := make(chan struct{})
	go func() {
		defer close(held)
		// It ends with ctx; that the subscription is gone is found by the next beat.
		_ = a.engine.Hold(ctx, v.UUID)
	}()
	defer func() {
		end()
		<-held
	}()
	a.beat(ctx, w, v.UUID)
	return nil
}

// beat writes a line now and at every beat, until ctx ends, the client is gone or the subscription is.
func (a *api) beat(ctx context.Context, w http.ResponseWriter, id string) {
	conn := http.NewResponseController(w)
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	tick := time.NewTicker(leaseBeat)
	defer tick.Stop()
	for {
		_ = conn.SetWriteDeadline(time.Now().Add(leaseBeat))
		if _, err := w.Write([]byte("\n")); err != nil {
			return
		}
		if err := conn.Flush(); err != nil {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if _, err := a.engine.Leased(id); errors.Is(err, delivery.ErrNotFound) {
			return
		}
	}
}

// untilStop is a context for requests that wait: it ends with parent, and when hookd stops. The function it returns ends
// it and must be called; it may be called more than once.
func (a *api) untilStop(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		select {
		case <-a.stopping:
			cancel(errStopping)
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		cancel(nil)
		<-ended
	}
}
