package daemon

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"hookd/internal/control"
	"hookd/internal/delivery"
	"hookd/internal/store"
)

// pending lists what is pending, subscription by subscription.
func (l *deliveryList) pending(ctx context.Context) (control.Page[control.Delivery], error) {
	var page control.Page[control.Delivery]
	low, high, err := l.received(ctx)
	if err != nil {
		return page, err
	}
	for _, v := range l.views {
		if int64(v.ID) < l.sub {
			continue
		}
		from := low
		if int64(v.ID) == l.sub {
			from = max(from, l.seq)
		}
		more, err := l.pendingOf(ctx, v, from, high, &page)
		if err != nil {
			return page, err
		}
		if more {
			last := page.Items[len(page.Items)-1]
			page.Next = deliveryCursor(partPending, l.idOf(last), last.Seq)
			return page, nil
		}
	}
	return page, nil
}

// received turns the times asked for into the seqs that lie between them: above low, up to high. What is pending has
// no other time yet than that of its receipt.
func (l *deliveryList) received(ctx context.Context) (low, high int64, err error) {
	_, high = l.api.store.Bounds()
	if l.since != 0 {
		first, err := l.api.firstSince(ctx, at(l.since))
		if err != nil {
			return 0, 0, err
		}
		low = first - 1
	}
	if l.until != 0 {
		first, err := l.api.firstSince(ctx, at(l.until))
		if err != nil {
			return 0, 0, err
		}
		high = first - 1
	}
	return low, high, nil
}

// pendingChunk bounds how many lines are in memory at once for a list that shows none.
const pendingChunk = 100

// pendingOf adds the pending deliveries of one subscription to the page. More tells that some did not fit.
func (l *deliveryList) pendingOf(ctx context.Context, v delivery.View, from, high int64, page *control.Page[control.Delivery]) (more bool, err error) {
	kinds, cursor, err := l.kinds(v)
	if err != nil {
		return false, err
	}
	seqs, err := l.api.store.NextSeqs(ctx, kinds, max(cursor, from), high, l.limit-len(page.Items)+1)
	if err != nil {
		return false, err
	}
	if len(seqs) > l.limit-len(page.Items) {
		seqs, more = seqs[:len(seqs)-1], true
	}
	for chunk := range slices.Chunk(seqs, pendingChunk) {
		events, err := l.api.store.EventsAt(ctx, chunk)
		if err != nil {
			return false, err
		}
		for _, e := range events {
			d, err := l.api.pendingDelivery(ctx, v, e)
			if err != nil {
				return false, err
			}
			page.Items = append(page.Items, d)
		}
	}
	return more, nil
}

// kinds are those that a subscription gets and that are asked for, and up to which seq they are finished.
func (l *deliveryList) kinds(v delivery.View) (kinds []store.KindID, cursor int64, err error) {
	for _, k := range l.api.store.Kinds() {
		if !l.types.match(k.Type) {
			continue
		}
		wants, at, err := l.api.engine.Wants(v.UUID, k)
		switch {
		case errors.Is(err, delivery.ErrNotFound):
			return nil, 0, nil // it was deleted since
		case err != nil:
			return nil, 0, err
		}
		cursor = at
		if wants {
			kinds = append(kinds, k.ID)
		}
	}
	return kinds, cursor, nil
}

func (l *deliveryList) idOf(d control.Delivery) store.SubID {
	for _, v := range l.views {
		if v.UUID == d.SubscriptionID {
			return v.ID
		}
	}
	return 0
}

// ofEvent lists how one event stands with each subscription: pending first, then each end of a delivery, newest first.
// There are few of them, so a page is a range of the whole list.
func (l *deliveryList) ofEvent(ctx context.Context, ref string) (control.Page[control.Delivery], error) {
	var page control.Page[control.Delivery]
	e, err := l.api.eventOrSeq(ctx, ref)
	if err != nil || e.Seq == 0 {
		return page, err
	}
	var all []placedDelivery
	for _, v := range l.views {
		of, err := l.ofEventAnd(ctx, e, v)
		if err != nil {
			return page, err
		}
		all = append(all, of...)
	}
	slices.SortStableFunc(all, func(a, b placedDelivery) int { return cmp.Compare(b.place, a.place) })
	start := 0
	if l.part == partEvent {
		start = min(int(max(l.seq, 0)), len(all))
	}
	end := min(start+l.limit, len(all))
	for _, d := range all[start:end] {
		page.Items = append(page.Items, d.Delivery)
	}
	if end < len(all) {
		page.Next = deliveryCursor(partEvent, 0, int64(end))
	}
	return page, nil
}

// placedDelivery is a delivery with its place in a list: the number of its row, above all of those while it is pending.
type placedDelivery struct {
	place int64
	control.Delivery
}

// ofEventAnd is how one event stands with one subscription, as far as it is asked for.
func (l *deliveryList) ofEventAnd(ctx context.Context, e store.Event, v delivery.View) ([]placedDelivery, error) {
	var list []placedDelivery
	pending, err := l.api.pendingFor(v, e)
	if err != nil {
		return nil, err
	}
	if pending && l.asks(store.Pending, e.Kind.Type, e.ReceivedAt) {
		d, err := l.api.pendingDelivery(ctx, v, e)
		if err != nil {
			return nil, err
		}
		list = append(list, placedDelivery{math.MaxInt64, d})
	}
	ended, err := l.api.store.DeliveryOf(ctx, v.ID, e.Seq)
	if err != nil {
		return nil, err
	}
	for _, row := range ended {
		if l.asks(row.Status, row.Kind.Type, row.EndedAt) {
			list = append(list, placedDelivery{row.N, endedDelivery(v, row)})
		}
	}
	return list, nil
}

// asks tells whether the filter takes a delivery.
func (l *deliveryList) asks(status store.Status, typ string, ms int64) bool {
	return (l.status == 0 || l.status == status) && l.types.match(typ) && l.within(ms)
}

// eventOrSeq finds an event; a seq whose event left the log is still one that deliveries can have had. A zero seq means
// that there is nothing of this name.
func (a *api) eventOrSeq(ctx context.Context, ref string) (store.Event, error) {
	e, err := a.event(ctx, ref)
	if err == nil || problemOf(err).Code != control.CodeNotFound {
		return e, err
	}
	seq, _, err := eventRef(ref)
	if err != nil {
		return store.Event{}, err
	}
	return store.Event{Seq: seq}, nil
}
