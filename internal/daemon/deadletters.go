package daemon

import (
	"context"
	"errors"
	"strconv"
	"time"

	"hookd/internal/control"
	"hookd/internal/store"
)

func (a *api) listDeadLetters(r *request) (reply, error) {
	before, err := after(r.filter)
	if err != nil {
		return reply{}, err
	}
	types, err := a.typesLike(r.filter.Type)
	if err != nil {
		return reply{}, err
	}
	sub, err := a.subID(r.Context(), r.filter.Sub)
	if err != nil {
		return reply{}, err
	}
	list := rows[store.DeadLetter]{
		list: func(typ string, before int64, limit int) ([]store.DeadLetter, error) {
			return a.store.ListDeadLetters(r.Context(), store.DeadFilter{
				Sub: sub, App: r.filter.App, Type: typ, Since: ms(r.filter.Since), Until: ms(r.filter.Until),
				Before: before, Limit: limit,
			})
		},
		place: func(d store.DeadLetter) int64 { return d.ID },
		typ:   func(d store.DeadLetter) string { return d.Kind.Type },
	}
	found, err := newest(types, list, before, r.filter.Limit+1)
	if err != nil {
		return reply{}, err
	}
	return answer(page(found, r.filter.Limit, deadLetter, func(d store.DeadLetter) string { return number(d.ID) })), nil
}

func (a *api) showDeadLetter(r *request) (reply, error) {
	id, err := pathID(r, "dead letter")
	if err != nil {
		return reply{}, err
	}
	d, err := a.store.DeadLetter(r.Context(), id)
	if err != nil {
		return reply{}, err
	}
	shown := deadLetter(d)
	shown.Payload = d.Line
	return answer(shown), nil
}

// pathID reads the number in the path that names one thing.
func pathID(r *request, kind string) (int64, error) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil || id < 1 {
		return 0, control.NewProblem(control.CodeNotFound, "there is no %s %q", kind, r.PathValue("id"))
	}
	return id, nil
}

// subID finds the number of the subscription that ref names; 0, which stands for all, where it names none.
func (a *api) subID(ctx context.Context, ref string) (store.SubID, error) {
	if ref == "" {
		return 0, nil
	}
	v, err := a.engine.Subscription(ctx, ref)
	return v.ID, err
}

func deadLetter(d store.DeadLetter) control.DeadLetter {
	shown := control.DeadLetter{
		ID: d.ID, Subscription: d.SubName, App: d.App, EventID: d.EventID, Seq: d.Seq, Type: d.Kind.Type,
		Attempts: d.Attempts, LastStatus: orNone(d.HTTPStatus), LastError: errorName(d.Code),
		DeadAt: at(d.DeadAt), ReplayedAt: atOrNone(d.ReplayedAt),
	}
	if d.ReplayStatus != 0 {
		shown.ReplayStatus = d.ReplayStatus.String()
	}
	return shown
}

// mostReplayed bounds how many ids one request may name.
const mostReplayed = 10_000

func (a *api) replayDeadLetters(r *request) (reply, error) {
	in, err := decode[control.ReplayDeadLetters](r)
	if err != nil {
		return reply{}, err
	}
	selected := in.Sub != "" || in.Since != nil
	switch {
	case len(in.IDs) == 0 && !in.All && !selected:
		return reply{}, invalid("", "say which dead letters: ids, sub, since or all")
	case len(in.IDs) > 0 && (in.All || selected), in.All && selected:
		return reply{}, invalid("", "ids, all, and sub with since cannot be combined")
	case len(in.IDs) > mostReplayed:
		return reply{}, invalid("/ids", "at most %d ids at once", mostReplayed)
	}
	choice := store.Selection{IDs: in.IDs, All: in.All, Now: time.Now().UnixMilli()}
	if choice.Sub, err = a.subID(r.Context(), in.Sub); err != nil {
		return reply{}, err
	}
	if in.Since != nil {
		choice.Since = ms(*in.Since)
	}
	replays, skipped, err := a.engine.ReplayDeadLetters(r.Context(), choice)
	if err != nil {
		return reply{}, err
	}
	if len(replays) == 0 {
		if err := a.onlyDeleted(r.Context(), skipped); err != nil {
			return reply{}, err
		}
	}
	out := control.ReplayedDeadLetters{Replays: control.List[control.Replay]{}, Skipped: control.List[control.SkippedDeadLetter]{}}
	for _, made := range replays {
		name, _ := a.engine.Name(made.Sub)
		out.Replayed += made.Total
		out.Replays = append(out.Replays, control.Replay{
			ID: made.ID, Subscription: name, Origin: "dead_letters", State: made.State, Total: made.Total, Done: made.Done,
			Dead: made.Dead, Expired: made.Expired, CreatedAt: at(made.CreatedAt), EndedAt: atOrNone(made.EndedAt),
		})
	}
	for _, s := range skipped {
		out.Skipped = append(out.Skipped, control.SkippedDeadLetter{ID: s.ID, Reason: s.Reason})
	}
	return answer(out), nil
}

// onlyDeleted refuses a request all of whose dead letters belong to deleted subscriptions: no later try can help.
func (a *api) onlyDeleted(ctx context.Context, skipped []store.Skipped) error {
	for _, s := range skipped {
		d, err := a.store.DeadLetter(ctx, s.ID)
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		if !d.SubDeleted {
			return nil
		}
	}
	if len(skipped) == 0 {
		return nil
	}
	return control.NewProblem(control.CodeConflict, "dead letter %d belongs to a deleted subscription and cannot be replayed", skipped[0].ID)
}
