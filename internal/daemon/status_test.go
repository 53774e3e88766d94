package daemon

import (
	"os"
	"strings"
	"testing"
	"time"

	"hookd/internal/control"
	"hookd/internal/delivery"
	"hookd/internal/ingest"
	"hookd/internal/store"
)

func TestStatus(t *testing.T) {
	f := start(t)
	ctx := t.Context()
	s, err := f.Status(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if !s.Healthy || len(s.Problems) != 0 || s.Socket != f.socket || s.Version == "" || s.UptimeS < 0 || s.Log != (control.LogRange{}) ||
		s.StoreBytes == 0 || len(s.Sources) != 1 {
		t.Errorf("at the start: %+v", s)
	}
	f.receivers.answers(failing("a-1", 3))
	f.create(control.CreateSubscription{Name: "crm"})
	f.create(control.CreateSubscription{Name: "held", Types: []string{"user.*"}})
	f.create(control.CreateSubscription{Name: "off", Types: []string{"nothing"}})
	for name, action := range map[string]string{"held": control.ActionPause, "off": control.ActionDisable} {
		if _, err := f.ChangeSubscription(ctx, name, action); err != nil {
			t.Fatal(err)
		}
	}
	f.write(append(events("a", "order.paid", 2), events("b", "user.made", 3)...)...)
	f.waitFor(control.WaitRequest{Sub: "crm", Idle: true})
	if s, err = f.Status(ctx); err != nil {
		t.Fatal(err)
	}
	if !s.Healthy || s.Log != (control.LogRange{FirstSeq: 1, LastSeq: 5}) || s.Pending != 3 || s.OldestPendingAgeS < 0 || s.DeadLetters != 1 ||
		s.Subscriptions != (control.SubscriptionCounts{Active: 1, Paused: 1, Disabled: 1}) ||
		len(s.Disabled) != 1 || s.Disabled[0].Name != "off" || s.Disabled[0].Cause != "owner" || s.Disabled[0].DisabledAt == nil ||
		len(s.Blocked) != 0 {
		t.Errorf("at work: %+v", s)
	}

	f.receivers.answers(status(410))
	f.write(events("c", "order.paid", 1)...)
	f.waitFor(control.WaitRequest{Sub: "crm", State: "disabled"})
	if s, err = f.Status(ctx); err != nil {
		t.Fatal(err)
	}
	if s.Healthy || len(s.Problems) != 1 || s.Problems[0].Code != "subscription_disabled" || s.Problems[0].Subscription != "crm" ||
		s.Problems[0].Message != "subscription crm was disabled: gone" {
		t.Errorf("disabled by the system: %+v", s)
	}
}

func TestStatusOfBlockedHead(t *testing.T) {
	f := start(t)
	f.receivers.answers(status(500))
	f.create(control.CreateSubscription{Name: "crm", Retry: "tiers:0s,1h"})
	f.write(events("a", "order.paid", 1)...)
	var s *control.Status
	f.until(func() bool {
		var err error
		if s, err = f.Status(t.Context()); err != nil {
			t.Fatal(err)
		}
		return len(s.Blocked) == 1
	})
	if b := s.Blocked[0]; !s.Healthy || b.Name != "crm" || b.Head.Seq != 1 || b.Head.LastError != "http_status" || b.Head.BlockedSince == nil {
		t.Errorf("status %+v", s)
	}
}

func TestTroubles(t *testing.T) {
	now := time.Now()
	long := now.Add(-blockedTooLong - time.Second).UnixMilli()
	for name, tt := range map[string]struct {
		view delivery.View
		code string // empty: none
	}{
		"fine":               {delivery.View{State: store.Active}, ""},
		"disabled by owner":  {delivery.View{State: store.Disabled, Cause: store.CauseOwner}, ""},
		"disabled by system": {delivery.View{State: store.Disabled, Cause: store.CauseMaxFailures}, "subscription_disabled"},
		"does not open":      {delivery.View{State: store.Active, Trouble: "it does not open"}, "sealed_value"},
		"blocked":            {delivery.View{State: store.Active, Head: &delivery.Head{BlockedSince: now.UnixMilli()}}, ""},
		"blocked for long":   {delivery.View{State: store.Active, Head: &delivery.Head{BlockedSince: long}}, "head_blocked"},
		"blocked and paused": {delivery.View{State: store.Paused, Head: &delivery.Head{BlockedSince: long}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			tt.view.Name = "crm"
			list := subscriptionTroubles(tt.view, now)
			if tt.code == "" {
				if len(list) != 0 {
					t.Errorf("troubles %+v", list)
				}
				return
			}
			if len(list) != 1 || list[0].Code != tt.code || list[0].Subscription != "crm" || !strings.HasPrefix(list[0].Message, "subscription crm ") {
				t.Errorf("troubles %+v", list)
			}
		})
	}
}

func TestDaemonTroubles(t *testing.T) {
	f := start(t)
	f.api.dev = true
	list := f.api.troubles([]control.Source{
		{Name: "a", State: ingest.Running}, {Name: "b", State: ingest.Waiting}, {Name: "c", State: ingest.Broken, Reason: "why"},
	})
	if len(list) != 2 || list[0].Code != "dev" || list[1].Code != "source_failed" || list[1].Source != "c" ||
		list[1].Message != "source c failed: why" {
		t.Errorf("troubles %+v", list)
	}
}

// A source that cannot be read is a state with a reason, and makes hookd degraded.
func TestStatusOfBrokenSource(t *testing.T) {
	f := start(t)
	if err := os.Mkdir(f.file, 0o700); err != nil {
		t.Fatal(err)
	}
	if a := f.look(control.WaitRequest{Idle: true}); a.Done || !strings.HasPrefix(a.Detail, "source app cannot be read to its end: ") {
		t.Errorf("wait: %+v", a)
	}
	s, err := f.Status(t.Context())
	if err != nil || s.Healthy || len(s.Problems) != 1 || s.Problems[0].Code != "source_failed" || s.Sources[0].State != "failed" ||
		s.Sources[0].Reason == "" {
		t.Errorf("status %+v, %v", s, err)
	}
}
