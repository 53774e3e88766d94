package daemon

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"hookd/internal/control"
	"hookd/internal/delivery"
	"hookd/internal/store"
)

// subscriptions are those that a request is about: one, or all that there are at the time.
type subscriptions struct {
	api  *api
	only string // id; empty for all
}

func (s subscriptions) views(ctx context.Context) ([]delivery.View, error) {
	if s.only == "" {
		return s.api.engine.Subscriptions(ctx)
	}
	v, err := s.api.engine.Subscription(ctx, s.only)
	return []delivery.View{v}, err
}

// idle is reached when every source has been read to the end that it had when the request came, and then nothing is
// pending, in the streams and in the replays.
func (a *api) idle(who subscriptions, timeUp time.Time) goal {
	drained := false
	return func(ctx context.Context) (bool, string, error) {
		if !drained {
			behind, err := a.drain(ctx, timeUp)
			if err != nil || behind != "" {
				return false, behind, err
			}
			drained = true
		}
		views, err := who.views(ctx)
		if err != nil {
			return false, "", err
		}
		replaying, err := a.store.OpenReplays(ctx)
		if err != nil {
			return false, "", err
		}
		var missing []string
		for _, v := range views {
			switch {
			case v.Pending > 0 && v.State == store.Active:
				missing = append(missing, fmt.Sprintf("%s: %d pending", v.Name, v.Pending))
			case v.Pending > 0:
				missing = append(missing, fmt.Sprintf("%s: %d pending, it is %s", v.Name, v.Pending, v.State))
			case slices.Contains(replaying, v.ID):
				missing = append(missing, v.Name+": a replay is pending")
			}
		}
		if len(missing) > 0 {
			return false, list(missing), nil
		}
		return true, "nothing is pending", nil
	}
}

// inState is reached when the subscriptions asked about have a state; where there is none, nothing has it.
func inState(who subscriptions, state string) goal {
	return func(ctx context.Context) (bool, string, error) {
		views, err := who.views(ctx)
		if err != nil {
			return false, "", err
		}
		if len(views) == 0 {
			return false, "there is no subscription", nil
		}
		var there, missing []string
		for _, v := range views {
			if v.State.String() == state {
				there = append(there, v.Name+" is "+state)
			} else {
				missing = append(missing, fmt.Sprintf("%s is %s", v.Name, v.State))
			}
		}
		if len(missing) > 0 {
			return false, list(missing), nil
		}
		return true, list(there), nil
	}
}

// delivered is reached when the deliveries of an event to the subscriptions asked about have succeeded. An event that
// is not there yet is waited for; one that has left the log is not found.
func (a *api) delivered(who subscriptions, ref string) (goal, error) {
	seq, _, err := eventRef(ref)
	if err != nil {
		return nil, err
	}
	var e store.Event
	succeeded := map[store.SubID]bool{}
	return func(ctx context.Context) (bool, string, error) {
		if e.Seq == 0 {
			found, err := a.event(ctx, ref)
			if first, _ := a.store.Bounds(); seq != 0 && seq < first {
				return false, "", control.NewProblem(control.CodeNotFound, "event %d has left the log, which begins at %d", seq, first)
			}
			var problem *control.Problem
			if errors.As(err, &problem) {
				return false, fmt.Sprintf("event %s is not in the log yet", ref), nil
			}
			if err != nil {
				return false, "", err
			}
			e = found
		}
		views, err := who.views(ctx)
		if err != nil {
			return false, "", err
		}
		var there, missing []string
		for _, v := range views {
			if !succeeded[v.ID] {
				status, err := a.succeeded(ctx, v, e)
				switch {
				case err != nil:
					return false, "", err
				case status == notItsEvent && who.only == "":
					continue
				case status != "":
					missing = append(missing, v.Name+": "+status)
					continue
				}
				succeeded[v.ID] = true
			}
			there = append(there, v.Name)
		}
		switch {
		case len(missing) > 0:
			return false, list(missing), nil
		case len(there) == 0:
			return false, "no subscription gets the event", nil
		}
		return true, "delivered to " + list(there), nil
	}, nil
}

// notItsEvent is what succeeded says of a subscription that does not get the event.
const notItsEvent = "it does not get the event"

// succeeded returns "" where a delivery of the event has ended with success, once at least, else how it stands.
func (a *api) succeeded(ctx context.Context, v delivery.View, e store.Event) (string, error) {
	ended, err := a.store.DeliveryOf(ctx, v.ID, e.Seq)
	if err != nil {
		return "", err
	}
	if slices.ContainsFunc(ended, func(d store.Delivery) bool { return d.Status == store.Succeeded }) {
		return "", nil
	}
	pending, err := a.pendingFor(v, e)
	switch {
	case err != nil:
		return "", err
	case pending && v.State != store.Active:
		return fmt.Sprintf("pending, it is %s", v.State), nil
	case pending:
		return control.StatusPending, nil
	case len(ended) > 0:
		return ended[0].Status.String(), nil
	}
	return notItsEvent, nil
}

// list joins what a person reads, and says how many more there are where there are many.
func list(texts []string) string {
	const most = 10
	if len(texts) > most {
		return strings.Join(texts[:most], ", ") + fmt.Sprintf(" and %d more", len(texts)-most)
	}
	return strings.Join(texts, ", ")
}
