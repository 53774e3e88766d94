package daemon

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"hookd/internal/control"
	"hookd/internal/delivery"
	"hookd/internal/egress"
)

func TestWaitRefuses(t *testing.T) {
	f := start(t)
	for name, tt := range map[string]struct {
		in      control.WaitRequest
		code    control.Code
		pointer string
	}{
		"nothing":  {control.WaitRequest{}, control.CodeInvalidRequest, ""},
		"two":      {control.WaitRequest{Idle: true, State: "active"}, control.CodeInvalidRequest, ""},
		"state":    {control.WaitRequest{State: "asleep"}, control.CodeInvalidRequest, "/state"},
		"sub":      {control.WaitRequest{Sub: "nobody", Idle: true}, control.CodeNotFound, ""},
		"bad id":   {control.WaitRequest{Delivered: "a b"}, control.CodeNotFound, ""},
		"seq of 0": {control.WaitRequest{Delivered: "0"}, control.CodeNotFound, ""},
	} {
		t.Run(name, func(t *testing.T) {
			refused(t, second(f.Wait(t.Context(), tt.in, 0)), tt.code, tt.pointer)
		})
	}
	for _, seconds := range []string{"-1", "31", "1e300"} {
		code, body, _ := f.raw("POST", "/v1/wait", `{"idle":true,"timeout_s":`+seconds+`}`, nil)
		if code != 400 || !strings.Contains(body, `"pointer":"/timeout_s"`) {
			t.Errorf("timeout_s %s: %d %s", seconds, code, body)
		}
	}
}

// waiting starts a wait and returns its answer when it comes.
func (f *fixture) waiting(in control.WaitRequest) <-chan *control.WaitAnswer {
	answers := make(chan *control.WaitAnswer, 1)
	go func() {
		answer, err := f.Wait(f.t.Context(), in, time.Minute)
		if err != nil {
			f.t.Errorf("wait %+v: %v", in, err)
		}
		answers <- answer
	}()
	return answers
}

func (f *fixture) look(in control.WaitRequest) *control.WaitAnswer {
	f.t.Helper()
	answer, err := f.Wait(f.t.Context(), in, 0)
	if err != nil {
		f.t.Fatal(err)
	}
	return answer
}

func TestWaitIdle(t *testing.T) {
	f := start(t)
	if a := f.look(control.WaitRequest{Idle: true}); !a.Done || a.Detail != "nothing is pending" {
		t.Errorf("of nothing: %+v", a)
	}
	out, held := make(chan struct{}), make(chan struct{})
	f.receivers.answers(func(context.Context, *egress.Request) egress.Result {
		out <- struct{}{}
		<-held
		return egress.Result{Status: 200}
	})
	f.create(control.CreateSubscription{Name: "crm"})
	f.create(control.CreateSubscription{Name: "other", Types: []string{"nothing"}})
	f.write(events("a", "order.paid", 1)...)
	<-out
	if a := f.look(control.WaitRequest{Idle: true}); a.Done || a.Detail != "crm: 1 pending" {
		t.Errorf("while one is out: %+v", a)
	}
	if a := f.look(control.WaitRequest{Sub: "other", Idle: true}); !a.Done {
		t.Errorf("of another one: %+v", a)
	}
	answers := f.waiting(control.WaitRequest{Idle: true})
	close(held)
	if a := <-answers; !a.Done {
		t.Errorf("after it: %+v", a)
	}
	if _, err := f.ChangeSubscription(t.Context(), "crm", control.ActionPause); err != nil {
		t.Fatal(err)
	}
	f.write(events("b", "order.paid", 2)...)
	if a := f.look(control.WaitRequest{Idle: true}); a.Done || a.Detail != "crm: 2 pending, it is paused" {
		t.Errorf("while it is paused: %+v", a)
	}
	f.receivers.answers(status(200))
	answers = f.waiting(control.WaitRequest{Sub: "crm", Idle: true})
	if _, err := f.ChangeSubscription(t.Context(), "crm", control.ActionResume); err != nil {
		t.Fatal(err)
	}
	if a := <-answers; !a.Done {
		t.Errorf("resumed: %+v", a)
	}
}

func TestWaitDelivered(t *testing.T) {
	f := start(t)
	f.create(control.CreateSubscription{Name: "crm"})
	f.create(control.CreateSubscription{Name: "users", Types: []string{"user.*"}})
	bySeq, byID := f.waiting(control.WaitRequest{Delivered: "2"}), f.waiting(control.WaitRequest{Sub: "crm", Delivered: "a-2"})
	if a := f.look(control.WaitRequest{Delivered: "a-2"}); a.Done || a.Detail != "event a-2 is not in the log yet" {
		t.Errorf("unknown: %+v", a)
	}
	f.write(events("a", "order.paid", 2)...)
	if a := <-bySeq; !a.Done || a.Detail != "delivered to crm" {
		t.Errorf("by seq: %+v", a)
	}
	if a := <-byID; !a.Done {
		t.Errorf("by id: %+v", a)
	}
	if a := f.look(control.WaitRequest{Sub: "users", Delivered: "1"}); a.Done || a.Detail != "users: it does not get the event" {
		t.Errorf("of another type: %+v", a)
	}

	f.receivers.answers(failing("b-1", 3))
	f.write(events("b", "order.paid", 1)...)
	f.idle()
	if a := f.look(control.WaitRequest{Delivered: "b-1"}); a.Done || a.Detail != "crm: dead" {
		t.Errorf("dead: %+v", a)
	}
	answers := f.waiting(control.WaitRequest{Delivered: "b-1"})
	if _, err := f.ReplayDeadLetters(t.Context(), control.ReplayDeadLetters{All: true}); err != nil {
		t.Fatal(err)
	}
	if a := <-answers; !a.Done {
		t.Errorf("replayed: %+v", a)
	}

	for _, action := range []string{control.ActionPause, control.ActionDisable} {
		if _, err := f.ChangeSubscription(t.Context(), "crm", action); err != nil {
			t.Fatal(err)
		}
	}
	f.write(events("c", "order.paid", 1)...)
	if a := f.look(control.WaitRequest{Delivered: "c-1"}); a.Done || a.Detail != "crm: pending, it is disabled" {
		t.Errorf("disabled: %+v", a)
	}
	if err := f.DeleteSubscription(t.Context(), "crm"); err != nil {
		t.Fatal(err)
	}
	if a := f.look(control.WaitRequest{Delivered: "c-1"}); a.Done || a.Detail != "no subscription gets the event" {
		t.Errorf("nobody: %+v", a)
	}
}

func TestWaitState(t *testing.T) {
	f := start(t)
	if a := f.look(control.WaitRequest{State: "active"}); a.Done || a.Detail != "there is no subscription" {
		t.Errorf("of none: %+v", a)
	}
	f.create(control.CreateSubscription{Name: "crm"})
	f.create(control.CreateSubscription{Name: "other"})
	if a := f.look(control.WaitRequest{State: "active"}); !a.Done {
		t.Errorf("both: %+v", a)
	}
	answers := f.waiting(control.WaitRequest{Sub: "crm", State: "disabled"})
	f.receivers.answers(status(410))
	f.write(events("a", "order.paid", 1)...)
	if a := <-answers; !a.Done || a.Detail != "crm is disabled" {
		t.Errorf("gone: %+v", a)
	}
	f.waitFor(control.WaitRequest{State: "disabled"})
	if a := f.look(control.WaitRequest{State: "active"}); a.Done || !strings.Contains(a.Detail, "crm is disabled") {
		t.Errorf("not active: %+v", a)
	}
}

// A subscription that goes away while it is waited for is not found, and does not keep the request.
func TestWaitForDeleted(t *testing.T) {
	f := start(t)
	crm := f.create(control.CreateSubscription{Name: "crm"})
	reached := inState(subscriptions{api: f.api, only: crm.ID}, control.StateDisabled)
	looked := make(chan struct{}, 1)
	errs := make(chan error, 1)
	go func() {
		_, err := f.api.reach(t.Context(), func(ctx context.Context) (bool, string, error) {
			ok, detail, err := reached(ctx)
			select {
			case looked <- struct{}{}:
			default:
			}
			return ok, detail, err
		}, time.After(time.Minute))
		errs <- err
	}()
	<-looked
	if err := f.DeleteSubscription(t.Context(), "crm"); err != nil {
		t.Fatal(err)
	}
	if err := <-errs; !errors.Is(err, delivery.ErrNotFound) {
		t.Errorf("error %v", err)
	}
}

func TestWaitEndsWithClientAndDaemon(t *testing.T) {
	f := start(t)
	f.create(control.CreateSubscription{Name: "crm"})
	in := control.WaitRequest{Sub: "crm", State: "disabled"}
	ctx, cancel := context.WithCancel(t.Context())
	errs := make(chan error, 1)
	go func() { errs <- second(f.Wait(ctx, in, time.Minute)) }()
	cancel()
	if err := <-errs; !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	go func() { errs <- second(f.Wait(t.Context(), in, time.Minute)) }()
	f.stop()
	var gone *control.UnreachableError
	if err := <-errs; !errors.As(err, &gone) {
		// The request was there before the stop.
		refused(t, err, control.CodeUnavailable, "")
	}
}
