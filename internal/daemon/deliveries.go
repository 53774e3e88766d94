package daemon

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"

	"hookd/internal/control"
	"hookd/internal/delivery"
	"hookd/internal/store"
)

// keptHistory is how many attempts a shown delivery has.
const keptHistory = 20

func (a *api) showDelivery(r *request) (reply, error) {
	seq, err := strconv.ParseInt(r.PathValue("seq"), 10, 64)
	if err != nil || seq < 1 {
		return reply{}, control.NewProblem(control.CodeNotFound, "a delivery is named by a subscription and a seq")
	}
	v, err := a.engine.Subscription(r.Context(), r.PathValue("ref"))
	if err != nil {
		return reply{}, err
	}
	e, err := a.store.EventBySeq(r.Context(), seq)
	if errors.Is(err, store.ErrNotFound) {
		e = store.Event{Seq: seq} // what is finished is known without it
	} else if err != nil {
		return reply{}, err
	}
	d, found, err := a.delivery(r.Context(), v, e)
	if err != nil {
		return reply{}, err
	}
	if !found {
		return reply{}, control.NewProblem(control.CodeNotFound, "subscription %s has no delivery of seq %d", v.Name, seq)
	}
	if d.History, err = a.history(r.Context(), v.ID, seq); err != nil {
		return reply{}, err
	}
	return answer(d), nil
}

// delivery tells how an event stands with a subscription: pending, or how it ended last. It is not found where it is
// neither: then the event is none of the subscription's.
func (a *api) delivery(ctx context.Context, v delivery.View, e store.Event) (control.Delivery, bool, error) {
	pending, err := a.pendingFor(v, e)
	if err != nil {
		return control.Delivery{}, false, err
	}
	if pending {
		d, err := a.pendingDelivery(ctx, v, e)
		return d, true, err
	}
	ended, err := a.store.DeliveryOf(ctx, v.ID, e.Seq)
	if err != nil || len(ended) == 0 {
		return control.Delivery{}, false, err
	}
	return endedDelivery(v, ended[0]), true, nil
}

// pendingDelivery is a delivery that is not finished. Only the head of the stream can have been attempted.
func (a *api) pendingDelivery(ctx context.Context, v delivery.View, e store.Event) (control.Delivery, error) {
	d := control.Delivery{
		ID: deliveryID(v, e.Seq), Subscription: v.Name, SubscriptionID: v.UUID, Seq: e.Seq, EventID: e.ID, Type: e.Kind.Type,
		Status: control.StatusPending,
	}
	h := v.Head
	if h == nil || h.Seq != e.Seq {
		return d, nil
	}
	d.Attempts, d.LastError, d.ResponseCode = h.Attempt-1, errorName(h.Error), orNone(h.HTTPStatus)
	d.NextAttemptAt = atOrNone(h.NextAttemptAt)
	if d.Attempts == 0 {
		return d, nil
	}
	made, err := a.store.Attempts(ctx, v.ID, e.Seq, d.Attempts)
	if err != nil {
		return d, err
	}
	made = slices.DeleteFunc(made, func(a store.Attempt) bool { return a.Replay != 0 })
	if len(made) > 0 {
		took := made[0].TookMS
		d.FirstAttemptAt, d.DurationMS = atOrNone(made[len(made)-1].At), &took
	}
	return d, nil
}

func endedDelivery(v delivery.View, row store.Delivery) control.Delivery {
	d := control.Delivery{
		ID: deliveryID(v, row.Seq), Subscription: v.Name, SubscriptionID: v.UUID, Seq: row.Seq, EventID: row.EventID,
		Status: row.Status.String(), Attempts: row.Attempts, ResponseCode: orNone(row.HTTPStatus),
		LastError: errorName(row.Code), FirstAttemptAt: atOrNone(row.FirstAt), FinishedAt: atOrNone(row.EndedAt),
	}
	if row.EventID != "" {
		d.Type = row.Kind.Type
	}
	if row.Attempts > 0 {
		d.DurationMS = &row.TookMS
	}
	return d
}

func deliveryID(v delivery.View, seq int64) string { return v.Name + "/" + number(seq) }

// history is the last attempts of a delivery, oldest first. Failed ones have a row each; one that succeeded is told by
// how the delivery ended.
func (a *api) history(ctx context.Context, sub store.SubID, seq int64) (control.List[control.Attempt], error) {
	failed, err := a.store.Attempts(ctx, sub, seq, keptHistory)
	if err != nil {
		return nil, err
	}
	ended, err := a.store.DeliveryOf(ctx, sub, seq)
	if err != nil {
		return nil, err
	}
	list := control.List[control.Attempt]{}
	for _, f := range failed {
		took := f.TookMS
		list = append(list, control.Attempt{
			At: at(f.At), Attempt: f.Attempt, ResponseCode: orNone(f.HTTPStatus), LastError: errorName(f.Code),
			DurationMS: &took, NextAttemptAt: atOrNone(f.NextAt),
		})
	}
	for _, d := range ended {
		if d.Status != store.Succeeded {
			continue
		}
		took := d.TookMS
		list = append(list, control.Attempt{
			At: at(d.EndedAt - d.TookMS), Attempt: d.Attempts, ResponseCode: orNone(d.HTTPStatus), DurationMS: &took,
		})
	}
	// Attempts of one delivery do not overlap; within a millisecond their numbers tell the order.
	slices.SortFunc(list, func(x, y control.Attempt) int { return cmp.Or(x.At.Compare(y.At), cmp.Compare(x.Attempt, y.Attempt)) })
	return list[max(0, len(list)-keptHistory):], nil
}
