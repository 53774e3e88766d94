package daemon

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"hookd/internal/config"
	"hookd/internal/control"
	"hookd/internal/ingest"
	"hookd/internal/store"
)

// source is one source that was configured, with what reads it.
type source struct {
	name, kind, path string
	tail             *ingest.Tail
}

// newSource makes what reads one source.
func newSource(st *store.Store, c config.Source, maxBytes int, log *slog.Logger) *source {
	return &source{name: c.Name, kind: c.Kind, path: c.Path, tail: ingest.NewTail(st, ingest.FileConfig{
		Name: c.Name, Path: c.Path, Start: c.Start, MaxBytes: maxBytes,
	}, log)}
}

func (a *api) listSources(*request) (reply, error) {
	return answer(control.Page[control.Source]{Items: a.shownSources()}), nil
}

func (a *api) shownSources() control.List[control.Source] {
	counts := map[string]store.Source{}
	for _, s := range a.store.Sources() {
		counts[s.Name] = s
	}
	list := control.List[control.Source]{}
	for _, s := range a.sources {
		now, count := s.tail.Status(), counts[s.name]
		list = append(list, control.Source{
			Name: s.name, Kind: s.kind, State: now.State, Reason: now.Reason, Path: s.path,
			Offset: now.Offset, LagBytes: now.Lag,
			Accepted: count.Accepted, Duplicates: count.Duplicates, Rejected: count.Rejected,
		})
	}
	return list
}

// drain waits until every source has been read to the end that it has now. It names the one that was not by timeUp.
func (a *api) drain(parent context.Context, timeUp time.Time) (behind string, err error) {
	ctx, cancel := context.WithDeadline(parent, timeUp)
	defer cancel()
	for _, s := range a.sources {
		err := s.tail.Drain(ctx)
		switch {
		case err == nil:
		case errors.Is(err, context.DeadlineExceeded):
			return "source " + s.name + " is not read to its end", nil
		case parent.Err() != nil:
			return "", context.Cause(parent)
		default:
			return "source " + s.name + " cannot be read to its end: " + err.Error(), nil
		}
	}
	return "", nil
}
