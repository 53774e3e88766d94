package daemon

import (
	"strings"
	"testing"
	"time"

	"hookd/internal/control"
)

func ptr[T any](v T) *T { return &v }

func TestSubscriptionLife(t *testing.T) {
	f := start(t)
	ctx := t.Context()
	made := f.create(control.CreateSubscription{
		Name: "crm", Types: []string{"order.*", "!order.draft"}, Retry: "tiers:0s,5s", TimeoutS: ptr(control.Seconds(2.5)),
		MaxConsecutiveFailures: ptr(0),
	})
	if made.URL != testURL || !strings.HasPrefix(made.Secret, "whsec_") || made.Warnings == nil {
		t.Errorf("create answers %+v", made)
	}
	if made.Retry != "tiers:0s,5s" || made.TimeoutS != 2.5 || made.MaxConsecutiveFailures != 0 || made.State != control.StateActive {
		t.Errorf("create answers %+v", made)
	}

	page, err := f.Subscriptions(ctx, control.Filter{})
	if err != nil || len(page.Items) != 1 {
		t.Fatalf("list: %+v, %v", page, err)
	}
	if s := page.Items[0]; s.URL != "" || s.Secret != "" || s.Host != "hooks.example.com" || s.Gaps != nil {
		t.Errorf("list shows %+v", s)
	}
	for _, ref := range []string{"crm", made.ID, made.ID[len(made.ID)-8:]} {
		s, err := f.Subscription(ctx, ref)
		if err != nil {
			t.Fatalf("show %s: %v", ref, err)
		}
		if s.ID != made.ID || s.URL != testURL || s.Secret != "" || s.Gaps == nil {
			t.Errorf("show %s: %+v", ref, s)
		}
	}
	_, err = f.Subscription(ctx, made.ID[len(made.ID)-7:])
	refused(t, err, control.CodeNotFound, "")

	for _, step := range []struct{ action, state, cause string }{
		{control.ActionPause, control.StatePaused, ""},
		{control.ActionPause, control.StatePaused, ""},
		{control.ActionResume, control.StateActive, ""},
		{control.ActionDisable, control.StateDisabled, "owner"},
		{control.ActionEnable, control.StateActive, ""},
		{control.ActionDisable, control.StateDisabled, "owner"},
	} {
		s, err := f.ChangeSubscription(ctx, "crm", step.action)
		if err != nil {
			t.Fatalf("%s: %v", step.action, err)
		}
		if s.State != step.state || s.Cause != step.cause || (s.DisabledAt != nil) != (step.state == control.StateDisabled) || s.URL != "" {
			t.Errorf("%s answers %+v", step.action, s)
		}
	}
	_, err = f.ChangeSubscription(ctx, "crm", control.ActionResume)
	if p := refused(t, err, control.CodeConflict, ""); !strings.Contains(p.Hint, "sub enable crm") {
		t.Errorf("hint is %q", p.Hint)
	}

	if err := f.DeleteSubscription(ctx, "crm"); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{
		f.DeleteSubscription(ctx, "crm"),
		second(f.Subscription(ctx, "crm")),
		second(f.ChangeSubscription(ctx, "crm", control.ActionPause)),
		second(f.RotateSecret(ctx, "crm", control.RotateSecret{})),
		f.HoldLease(ctx, "crm"),
	} {
		refused(t, err, control.CodeNotFound, "")
	}
	if again := f.create(control.CreateSubscription{Name: "crm"}); again.ID == made.ID {
		t.Error("the name gave the old id")
	}
}

func second[T any](_ T, err error) error { return err }

func TestCreateRefuses(t *testing.T) {
	f := start(t)
	f.create(control.CreateSubscription{Name: "taken"})
	for name, tt := range map[string]struct {
		in      control.CreateSubscription
		code    control.Code
		pointer string
		hint    string
	}{
		"no URL":        {control.CreateSubscription{}, control.CodeURLInvalid, "/url", ""},
		"URL form":      {control.CreateSubscription{URL: "https://u:p@example.com/"}, control.CodeURLInvalid, "/url", ""},
		"http":          {control.CreateSubscription{URL: "http://example.com/"}, control.CodeHostNotAllowed, "/url", "egress.allow_http"},
		"loopback":      {control.CreateSubscription{URL: "https://127.0.0.1/"}, control.CodeAddressBlocked, "/url", "egress.allow_private"},
		"numeric":       {control.CreateSubscription{URL: "https://2130706433/"}, control.CodeAddressBlocked, "/url", ""},
		"name":          {control.CreateSubscription{URL: testURL, Name: "-x"}, control.CodeInvalidRequest, "/name", ""},
		"long name":     {control.CreateSubscription{URL: testURL, Name: strings.Repeat("x", 65)}, control.CodeInvalidRequest, "/name", ""},
		"taken":         {control.CreateSubscription{URL: testURL, Name: "taken"}, control.CodeNameTaken, "/name", ""},
		"no name":       {control.CreateSubscription{URL: testURL, IfNotExists: true}, control.CodeInvalidRequest, "/name", ""},
		"app":           {control.CreateSubscription{URL: testURL, App: "shop"}, control.CodeNotFound, "/app", ""},
		"types":         {control.CreateSubscription{URL: testURL, Types: []string{"a b"}}, control.CodeInvalidRequest, "/types", ""},
		"only negative": {control.CreateSubscription{URL: testURL, Types: []string{"!a"}}, control.CodeInvalidRequest, "/types", ""},
		"retry":         {control.CreateSubscription{URL: testURL, Retry: "tiers:"}, control.CodeInvalidRequest, "/retry", ""},
		"timeout 0":     {control.CreateSubscription{URL: testURL, TimeoutS: ptr(control.Seconds(0))}, control.CodeInvalidRequest, "/timeout_s", ""},
		"timeout long":  {control.CreateSubscription{URL: testURL, TimeoutS: ptr(control.Seconds(301))}, control.CodeInvalidRequest, "/timeout_s", ""},
		"failures":      {control.CreateSubscription{URL: testURL, MaxConsecutiveFailures: ptr(-1)}, control.CodeInvalidRequest, "/max_consecutive_failures", ""},
		"from":          {control.CreateSubscription{URL: testURL, From: "yesterday"}, control.CodeInvalidRequest, "/from", ""},
		"from ahead":    {control.CreateSubscription{URL: testURL, From: "2"}, control.CodeInvalidRequest, "/from", ""},
		"from negative": {control.CreateSubscription{URL: testURL, From: "-1"}, control.CodeInvalidRequest, "/from", ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := f.CreateSubscription(t.Context(), tt.in)
			p := refused(t, err, tt.code, tt.pointer)
			if !strings.Contains(p.Hint, tt.hint) || tt.hint == "" && p.Hint != "" {
				t.Errorf("hint is %q, want %q in it", p.Hint, tt.hint)
			}
			if strings.Contains(p.Detail+p.Hint, "canary") {
				t.Errorf("the answer repeats the URL: %+v", p)
			}
		})
	}
	page, err := f.Subscriptions(t.Context(), control.Filter{})
	if err != nil || len(page.Items) != 1 {
		t.Errorf("something was made: %+v, %v", page, err)
	}
}

func TestCreateIfNotExists(t *testing.T) {
	f := start(t)
	in := control.CreateSubscription{URL: testURL, Name: "crm", IfNotExists: true}
	first, again := f.create(in), f.create(in)
	if first.Secret == "" || again.Secret != "" || again.ID != first.ID || again.URL != testURL {
		t.Errorf("first %+v, again %+v", first, again)
	}
	// The end of an id is no name.
	in.Name = first.ID[len(first.ID)-12:]
	if other := f.create(in); other.ID == first.ID || other.Secret == "" {
		t.Errorf("made %+v", other)
	}
}

func TestCreateFrom(t *testing.T) {
	f := start(t)
	if s := f.create(control.CreateSubscription{From: "beginning"}); s.Cursor != 0 {
		t.Errorf("an empty log begins after %d", s.Cursor)
	}
	f.write(events("a", "order.paid", 3)...)
	third, err := f.Event(t.Context(), "3")
	if err != nil {
		t.Fatal(err)
	}
	for from, want := range map[string]int64{
		"":          3,
		"end":       3,
		"beginning": 0,
		"0":         0,
		"1":         0,
		"3":         2,
		"4":         3,
		third.ReceivedAt.Add(time.Millisecond).Format(time.RFC3339Nano): 3,
		third.ReceivedAt.Add(time.Nanosecond).Format(time.RFC3339Nano):  3,
		third.ReceivedAt.Add(-time.Hour).Format(time.RFC3339Nano):       0,
		"2999-01-01T00:00:00+02:00":                                     3,
	} {
		// The cursor as it was made: nothing matches, so nothing moves it.
		n, err := f.api.startAfter(t.Context(), from)
		if err != nil || n != want {
			t.Errorf("from %q: starts after %d (%v), want %d", from, n, err, want)
		}
	}
	n, err := f.api.startAfter(t.Context(), third.ReceivedAt.Format(time.RFC3339Nano))
	if err != nil {
		t.Fatal(err)
	}
	e, err := f.api.store.EventBySeq(t.Context(), n+1)
	if err != nil || at(e.ReceivedAt).Before(third.ReceivedAt) {
		t.Errorf("starts after %d, whose next was received at %s (%v)", n, at(e.ReceivedAt), err)
	}
	f.create(control.CreateSubscription{Name: "late", From: "2"})
	f.waitFor(control.WaitRequest{Sub: "late", Delivered: "a-3"})
	page, err := f.Deliveries(t.Context(), control.Filter{Sub: "late"})
	if err != nil || len(page.Items) != 2 {
		t.Errorf("deliveries %+v, %v", page, err)
	}
}

func TestListSubscriptions(t *testing.T) {
	f := start(t)
	ctx := t.Context()
	for _, name := range []string{"a", "b", "c"} {
		f.create(control.CreateSubscription{Name: name})
	}
	if _, err := f.ChangeSubscription(ctx, "b", control.ActionPause); err != nil {
		t.Fatal(err)
	}
	names := func(filter control.Filter) (string, string) {
		t.Helper()
		page, err := f.Subscriptions(ctx, filter)
		if err != nil {
			t.Fatal(err)
		}
		var list []string
		for _, s := range page.Items {
			list = append(list, s.Name)
		}
		return strings.Join(list, " "), page.Next
	}
	if got, next := names(control.Filter{}); got != "c b a" || next != "" {
		t.Errorf("all: %s, next %q", got, next)
	}
	first, next := names(control.Filter{Limit: 2})
	rest, end := names(control.Filter{Limit: 2, After: next})
	if first != "c b" || rest != "a" || end != "" {
		t.Errorf("pages: %s | %s, next %q", first, rest, end)
	}
	if got, _ := names(control.Filter{State: control.StatePaused}); got != "b" {
		t.Errorf("paused: %s", got)
	}
	if got, _ := names(control.Filter{App: "shop"}); got != "" {
		t.Errorf("of another app: %s", got)
	}
	refused(t, second(f.Subscriptions(ctx, control.Filter{State: "asleep"})), control.CodeInvalidRequest, "/state")
	refused(t, second(f.Subscriptions(ctx, control.Filter{After: "x"})), control.CodeInvalidRequest, "/after")
	refused(t, second(f.Subscriptions(ctx, control.Filter{Type: "x"})), control.CodeUnknownMember, "/type")
}

func TestRotateSecret(t *testing.T) {
	f := start(t)
	ctx := t.Context()
	made := f.create(control.CreateSubscription{Name: "crm"})
	r, err := f.RotateSecret(ctx, "crm", control.RotateSecret{})
	if err != nil {
		t.Fatal(err)
	}
	if !r.Rotated || r.Generation != 2 || r.Secret == made.Secret || r.Secret == "" || r.EndedEarly || r.OverlapUntil == nil {
		t.Errorf("first rotation: %+v", r)
	} else if d := time.Until(*r.OverlapUntil); d < 59*time.Minute || d > time.Hour {
		t.Errorf("the overlap ends in %s", d)
	}
	r, err = f.RotateSecret(ctx, "crm", control.RotateSecret{IfOlderThanS: ptr(control.Seconds(3600))})
	if err != nil || r.Rotated || r.Secret != "" || r.Generation != 2 {
		t.Errorf("held back: %+v, %v", r, err)
	}
	r, err = f.RotateSecret(ctx, "crm", control.RotateSecret{OverlapS: ptr(control.Seconds(0))})
	if err != nil || !r.Rotated || !r.EndedEarly || r.OverlapUntil != nil {
		t.Errorf("without overlap: %+v, %v", r, err)
	}
	for pointer, in := range map[string]control.RotateSecret{
		"/overlap_s":       {OverlapS: ptr(control.Seconds(-1))},
		"/if_older_than_s": {IfOlderThanS: ptr(control.Seconds(-1))},
	} {
		refused(t, second(f.RotateSecret(ctx, "crm", in)), control.CodeInvalidRequest, pointer)
	}
	refused(t, second(f.RotateSecret(ctx, "crm", control.RotateSecret{OverlapS: ptr(control.Seconds(1e12))})), control.CodeInvalidRequest, "/overlap_s")
}
