package daemon

import (
	"cmp"
	"fmt"
	"time"

	"hookd/internal/control"
	"hookd/internal/delivery"
	"hookd/internal/ingest"
	"hookd/internal/store"
)

// blockedTooLong is how long a head may fail before hookd calls itself degraded.
const blockedTooLong = 5 * time.Minute

func (a *api) status(r *request) (reply, error) {
	views, err := a.engine.Subscriptions(r.Context())
	if err != nil {
		return reply{}, err
	}
	dead, err := a.store.CountDeadLetters(r.Context())
	if err != nil {
		return reply{}, err
	}
	now := time.Now()
	size := a.store.Size()
	s := control.Status{
		Version: control.Version, UptimeS: control.SecondsOf(now.Sub(a.started).Round(time.Millisecond)), Socket: a.socket,
		Sources: a.shownSources(), Log: a.logRange(), InFlight: int64(a.engine.InFlight()), DeadLetters: dead,
		StoreBytes: size.Store, WALBytes: size.WAL,
		Problems: control.List[control.Trouble]{}, Disabled: control.List[control.DisabledSubscription]{},
		Blocked: control.List[control.BlockedSubscription]{},
	}
	var oldest int64
	for _, v := range views {
		s.Pending += v.Pending
		if v.OldestPendingAt != 0 {
			oldest = min(cmp.Or(oldest, v.OldestPendingAt), v.OldestPendingAt)
		}
		addSubscription(&s, v)
	}
	if oldest != 0 {
		s.OldestPendingAgeS = control.SecondsOf(max(0, now.Sub(at(oldest)).Round(time.Millisecond)))
	}
	s.Problems = append(s.Problems, a.troubles(s.Sources)...)
	for _, v := range views {
		s.Problems = append(s.Problems, subscriptionTroubles(v, now)...)
	}
	s.Healthy = len(s.Problems) == 0
	return answer(s), nil
}

func (a *api) logRange() control.LogRange {
	first, last := a.store.Bounds()
	if last == 0 {
		return control.LogRange{}
	}
	return control.LogRange{FirstSeq: first, LastSeq: last}
}

// addSubscription counts one and lists it where it is disabled or blocked.
func addSubscription(s *control.Status, v delivery.View) {
	switch v.State {
	case store.Active:
		s.Subscriptions.Active++
	case store.Paused:
		s.Subscriptions.Paused++
	case store.Disabled:
		s.Subscriptions.Disabled++
		s.Disabled = append(s.Disabled, control.DisabledSubscription{
			Name: v.Name, Cause: v.Cause.String(), DisabledAt: atOrNone(v.StateAt),
		})
	}
	if blocked(v) {
		s.Blocked = append(s.Blocked, control.BlockedSubscription{Name: v.Name, Head: *head(v.Head)})
	}
}

// blocked tells whether a subscription that sends has a head that failed.
func blocked(v delivery.View) bool {
	return v.State == store.Active && v.Head != nil && v.Head.BlockedSince != 0
}

// troubles are those of the daemon itself and of its sources.
func (a *api) troubles(sources []control.Source) []control.Trouble {
	var list []control.Trouble
	if a.dev {
		list = append(list, control.Trouble{Code: "dev", Message: "hookd runs with --dev: http and loopback targets are allowed"})
	}
	if a.store.Refusing() != nil {
		list = append(list, control.Trouble{
			Code: "store_refusing", Message: "the store takes no writes: the disk is full, read-only or broken",
		})
	}
	for _, s := range sources {
		if s.State == ingest.Broken {
			list = append(list, control.Trouble{
				Code: "source_failed", Message: fmt.Sprintf("source %s failed: %s", s.Name, s.Reason), Source: s.Name,
			})
		}
	}
	return list
}

// subscriptionTroubles are those of one subscription.
func subscriptionTroubles(v delivery.View, now time.Time) []control.Trouble {
	var list []control.Trouble
	add := func(code, format string, args ...any) {
		list = append(list, control.Trouble{
			Code: code, Message: "subscription " + v.Name + " " + fmt.Sprintf(format, args...), Subscription: v.Name,
		})
	}
	if v.Trouble != "" {
		add("sealed_value", "cannot send: %s", v.Trouble)
	}
	if v.State == store.Disabled && v.Cause != store.CauseOwner {
		add("subscription_disabled", "was disabled: %s", v.Cause)
	}
	if !blocked(v) {
		return list
	}
	if since := now.Sub(at(v.Head.BlockedSince)); since > blockedTooLong {
		add("head_blocked", "is blocked by seq %d for %s (%s)", v.Head.Seq, since.Round(time.Second), v.Head.Error)
	}
	return list
}
