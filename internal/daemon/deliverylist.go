package daemon

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"hookd/internal/control"
	"hookd/internal/delivery"
	"hookd/internal/store"
)

// deliveryList is a request for deliveries, understood.
//
// Finished deliveries have rows, newest first, and are paged by the number of the row. Pending ones have none: they are
// the log after a cursor. A list without a status has the heads first, since they are what is being worked on, and then
// what is finished; a list of what is pending goes subscription by subscription, in the order of sending. The cursors
// of the parts begin with different letters.
type deliveryList struct {
	api          *api
	views        []delivery.View // the subscriptions asked about, oldest first
	only         store.SubID     // 0: all
	status       store.Status    // 0: any
	types        typeFilter
	since, until int64 // Unix ms
	limit        int
	// Where the page before ended; zero on the first.
	part     byte
	sub, seq int64
}

// The parts of a list, as the cursor names them.
const (
	partHeads    = 'h'
	partPending  = 'p'
	partFinished = 'f'
	partEvent    = 'e'
)

func (a *api) listDeliveries(r *request) (reply, error) {
	l, err := a.readDeliveryList(r)
	if err != nil {
		return reply{}, err
	}
	var page control.Page[control.Delivery]
	switch {
	case r.filter.Event != "":
		page, err = l.ofEvent(r.Context(), r.filter.Event)
	case l.status == store.Pending:
		page, err = l.pending(r.Context())
	default:
		page, err = l.headsAndFinished(r.Context())
	}
	if page.Items == nil {
		page.Items = control.List[control.Delivery]{}
	}
	return answer(page), err
}

func (a *api) readDeliveryList(r *request) (*deliveryList, error) {
	f := r.filter
	l := &deliveryList{api: a, limit: f.Limit, since: ms(f.Since), until: ms(f.Until)}
	var err error
	if l.types, err = a.typesLike(f.Type); err != nil {
		return nil, err
	}
	if f.Status != "" {
		var known bool
		if l.status, known = store.ParseStatus(f.Status); !known {
			return nil, invalid("/status", "a status is pending, succeeded, failed or dead")
		}
	}
	if err := l.readCursor(f.After); err != nil {
		return nil, err
	}
	if f.Sub == "" {
		l.views, err = a.engine.Subscriptions(r.Context())
		return l, err
	}
	v, err := a.engine.Subscription(r.Context(), f.Sub)
	l.views, l.only = []delivery.View{v}, v.ID
	return l, err
}

func (l *deliveryList) readCursor(text string) error {
	if text == "" {
		return nil
	}
	sub, seq, ok := strings.Cut(text[1:], ".")
	var errSub, errSeq error
	l.part = text[0]
	l.sub, errSub = strconv.ParseInt(sub, 10, 64)
	l.seq, errSeq = strconv.ParseInt(seq, 10, 64)
	if !ok || !strings.ContainsRune("hpfe", rune(l.part)) || errSub != nil || errSeq != nil {
		return badCursor()
	}
	return nil
}

func deliveryCursor(part byte, sub store.SubID, seq int64) string {
	return string(part) + number(int64(sub)) + "." + number(seq)
}

// within tells whether a time is in the range asked for.
func (l *deliveryList) within(ms int64) bool { return ms >= l.since && (l.until == 0 || ms < l.until) }

// headsAndFinished lists the heads, unless finished ones alone are asked for, and then what is finished.
func (l *deliveryList) headsAndFinished(ctx context.Context) (control.Page[control.Delivery], error) {
	var page control.Page[control.Delivery]
	var last store.SubID
	for _, v := range l.views {
		if l.status != 0 || l.part == partFinished {
			break
		}
		d, listed, err := l.head(ctx, v)
		if err != nil {
			return page, err
		}
		if !listed {
			continue
		}
		if len(page.Items) == l.limit {
			page.Next = deliveryCursor(partHeads, last, 0)
			return page, nil
		}
		page.Items, last = append(page.Items, d), v.ID
	}
	return page, l.addFinished(ctx, &page)
}

// head is the head of a subscription, where it has one that is asked for.
func (l *deliveryList) head(ctx context.Context, v delivery.View) (d control.Delivery, listed bool, err error) {
	if v.Head == nil || int64(v.ID) <= l.sub {
		return d, false, nil
	}
	e, err := l.api.store.EventBySeq(ctx, v.Head.Seq)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return d, false, nil // it left the log since
	case err != nil:
		return d, false, err
	case !l.types.match(e.Kind.Type) || !l.within(e.ReceivedAt):
		return d, false, nil
	}
	d, err = l.api.pendingDelivery(ctx, v, e)
	return d, true, err
}

// addFinished fills the page up with finished deliveries.
func (l *deliveryList) addFinished(ctx context.Context, page *control.Page[control.Delivery]) error {
	views := map[store.SubID]delivery.View{}
	for _, v := range l.views {
		views[v.ID] = v
	}
	list := rows[store.Delivery]{
		list: func(typ string, before int64, limit int) ([]store.Delivery, error) {
			return l.api.store.ListDeliveries(ctx, store.DeliveryFilter{
				Sub: l.only, Status: l.status, Type: typ, Since: l.since, Until: l.until, Before: before, Limit: limit,
			})
		},
		place: func(d store.Delivery) int64 { return d.N },
		typ:   func(d store.Delivery) string { return d.Kind.Type },
	}
	before := int64(0)
	if l.part == partFinished {
		before = l.seq
	}
	room := l.limit - len(page.Items)
	found, err := newest(l.types, list, before, room+1)
	if err != nil {
		return err
	}
	for _, row := range found[:min(room, len(found))] {
		before = row.N
		// One of a subscription that was made or deleted since is none of this list's.
		if v, ok := views[row.Sub]; ok {
			page.Items = append(page.Items, endedDelivery(v, row))
		}
	}
	if len(found) > room {
		page.Next = deliveryCursor(partFinished, 0, before)
	}
	return nil
}
