package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"hookd/internal/control"
	"hookd/internal/delivery"
	"hookd/internal/event"
	"hookd/internal/store"
)

func (a *api) listEvents(r *request) (reply, error) {
	before, err := after(r.filter)
	if err != nil {
		return reply{}, err
	}
	types, err := a.typesLike(r.filter.Type)
	if err != nil {
		return reply{}, err
	}
	list := rows[store.Event]{
		list: func(typ string, before int64, limit int) ([]store.Event, error) {
			return a.store.ListEvents(r.Context(), store.EventFilter{
				Type: typ, App: r.filter.App, Since: ms(r.filter.Since), Until: ms(r.filter.Until), Before: before, Limit: limit,
			})
		},
		place: func(e store.Event) int64 { return e.Seq },
		typ:   func(e store.Event) string { return e.Kind.Type },
	}
	events, err := newest(types, list, before, r.filter.Limit+1)
	if err != nil {
		return reply{}, err
	}
	names := a.sourceNames()
	shown := func(e store.Event) control.Event { return shownEvent(e, names) }
	return answer(page(events, r.filter.Limit, shown, func(e store.Event) string { return number(e.Seq) })), nil
}

func (a *api) showEvent(r *request) (reply, error) {
	e, err := a.event(r.Context(), r.PathValue("ref"))
	if err != nil {
		return reply{}, err
	}
	shown := shownEvent(e, a.sourceNames())
	if shown.Body, err = a.envelope(e); err != nil {
		return reply{}, err
	}
	views, err := a.engine.Subscriptions(r.Context())
	if err != nil {
		return reply{}, err
	}
	shown.Deliveries = control.List[control.EventDelivery]{}
	for _, v := range views {
		d, found, err := a.delivery(r.Context(), v, e)
		if err != nil {
			return reply{}, err
		}
		if found {
			shown.Deliveries = append(shown.Deliveries, control.EventDelivery{
				Subscription: v.Name, SubscriptionID: v.UUID, Status: d.Status,
			})
		}
	}
	return answer(shown), nil
}

// event finds an event of the log: digits are a seq, anything else an id, "id:X" the id X whatever it looks like.
func (a *api) event(ctx context.Context, ref string) (store.Event, error) {
	var e store.Event
	seq, id, err := eventRef(ref)
	switch {
	case err != nil:
		return e, err
	case id != "":
		e, err = a.store.EventByID(ctx, id)
	default:
		e, err = a.store.EventBySeq(ctx, seq)
	}
	if errors.Is(err, store.ErrNotFound) {
		return e, control.NewProblem(control.CodeNotFound, "there is no event %q in the log", ref)
	}
	return e, err
}

// eventRef tells a seq from an id.
func eventRef(ref string) (seq int64, id string, err error) {
	if id, marked := strings.CutPrefix(ref, "id:"); marked {
		ref = id
	} else if strings.Trim(ref, "0123456789") == "" && ref != "" {
		if seq, err = strconv.ParseInt(ref, 10, 64); err != nil || seq == 0 {
			return 0, "", control.NewProblem(control.CodeNotFound, "%s is no seq: they begin with 1 and have at most 19 digits", ref)
		}
		return seq, "", nil
	}
	if err := event.ValidID(ref); err != nil {
		return 0, "", control.NewProblem(control.CodeNotFound, "%q is neither a seq nor an event's id", ref)
	}
	return 0, ref, nil
}

func shownEvent(e store.Event, sources map[store.SourceID]string) control.Event {
	return control.Event{
		Seq: e.Seq, ID: e.ID, Type: e.Kind.Type, App: e.Kind.App, Key: e.Key,
		Timestamp: at(cmp.Or(e.At, e.ReceivedAt)), ReceivedAt: at(e.ReceivedAt), Source: sources[e.Source],
	}
}

func (a *api) sourceNames() map[store.SourceID]string {
	names := map[store.SourceID]string{}
	for _, s := range a.store.Sources() {
		names[s.ID] = s.Name
	}
	return names
}

// envelope makes the body that is delivered. The line was taken when a bound may have been another one, so none is set.
func (a *api) envelope(e store.Event) ([]byte, error) {
	parsed, err := event.Parse(e.Line, noBound)
	if err != nil {
		return nil, fmt.Errorf("parse line of seq %d: %w", e.Seq, err)
	}
	parsed.ID, parsed.Type = e.ID, e.Kind.Type
	return parsed.AppendEnvelope(nil, event.Stamp{Seq: e.Seq, Epoch: a.store.Epoch(), Received: at(e.ReceivedAt)}), nil
}

// noBound is above every length that a line and its envelope can have.
const noBound = 1 << 30

// pendingFor reports whether an event is a delivery of a subscription that is not finished. One of which only the seq is
// known is not in the log.
func (a *api) pendingFor(v delivery.View, e store.Event) (bool, error) {
	if e.ID == "" {
		return false, nil
	}
	wants, cursor, err := a.engine.Wants(v.UUID, e.Kind)
	if errors.Is(err, delivery.ErrNotFound) {
		return false, nil // it was deleted since
	}
	return wants && e.Seq > cursor, err
}
