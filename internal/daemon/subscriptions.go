package daemon

import (
	"context"
	"errors"
	"slices"

	"hookd/internal/control"
	"hookd/internal/delivery"
	"hookd/internal/store"
)

func (a *api) listSubscriptions(r *request) (reply, error) {
	before, err := after(r.filter)
	if err != nil {
		return reply{}, err
	}
	if err := checkState(r.filter.State); err != nil {
		return reply{}, err
	}
	views, err := a.engine.Subscriptions(r.Context())
	if err != nil {
		return reply{}, err
	}
	slices.Reverse(views)
	views = slices.DeleteFunc(views, func(v delivery.View) bool {
		return before != 0 && int64(v.ID) >= before ||
			r.filter.State != "" && v.State.String() != r.filter.State ||
			r.filter.App != "" && v.App != r.filter.App
	})
	return answer(page(views, r.filter.Limit, subscription, func(v delivery.View) string { return number(int64(v.ID)) })), nil
}

func checkState(state string) error {
	switch state {
	case "", control.StateActive, control.StatePaused, control.StateDisabled:
		return nil
	}
	return invalid("/state", "a state is active, paused or disabled")
}

func (a *api) showSubscription(r *request) (reply, error) {
	v, err := a.engine.Subscription(r.Context(), r.PathValue("ref"))
	if err != nil {
		return reply{}, err
	}
	shown := subscription(v)
	shown.URL = v.URL
	shown.Gaps = control.List[control.Gap]{}
	return answer(shown), nil
}

func (a *api) deleteSubscription(r *request) (reply, error) {
	if err := r.noBody(); err != nil {
		return reply{}, err
	}
	return reply{}, a.engine.Delete(r.Context(), r.PathValue("ref"))
}

// change makes a handler of an owner's change of state.
func change(to func(*delivery.Engine, context.Context, string) (delivery.View, error)) func(*api, *request) (reply, error) {
	return func(a *api, r *request) (reply, error) {
		if err := r.noBody(); err != nil {
			return reply{}, err
		}
		v, err := to(a.engine, r.Context(), r.PathValue("ref"))
		if errors.Is(err, delivery.ErrConflict) {
			return reply{}, problemOf(err).WithHint("enable it: hookctl sub enable %s", r.PathValue("ref"))
		}
		if err != nil {
			return reply{}, err
		}
		return answer(subscription(v)), nil
	}
}

// subscription is the form of every list; what only some answers have is added by those.
func subscription(v delivery.View) control.Subscription {
	s := control.Subscription{
		ID: v.UUID, Name: v.Name, App: v.App, Host: v.Host, Types: v.Types, Filters: control.List[string]{},
		State: v.State.String(), Cursor: v.Cursor, LastDeliveredSeq: v.LastSeq,
		Pending: v.Pending, PendingExact: true, OldestPendingAt: atOrNone(v.OldestPendingAt), Head: head(v.Head),
		ConsecutiveFailures: v.Failures,
		Order:               "strict", Sign: control.List[string]{"v1"}, Profile: "standard", Payload: "envelope",
		Retry: v.Retry, TimeoutS: control.SecondsOf(v.Timeout), MaxConsecutiveFailures: v.MaxFailures,
		CreatedAt: at(v.CreatedAt),
	}
	if v.State == store.Disabled {
		s.Cause, s.DisabledAt = v.Cause.String(), atOrNone(v.StateAt)
	}
	return s
}

func head(h *delivery.Head) *control.Head {
	if h == nil {
		return nil
	}
	return &control.Head{
		Seq: h.Seq, EventID: h.EventID, Attempt: h.Attempt, LastError: errorName(h.Error), ResponseCode: orNone(h.HTTPStatus),
		BlockedSince: atOrNone(h.BlockedSince), NextAttemptAt: atOrNone(h.NextAttemptAt),
	}
}

// errorName is the name of a last error, empty where there was none.
func errorName(c store.Code) string {
	if c == store.CodeNone {
		return ""
	}
	return c.String()
}
