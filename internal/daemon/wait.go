package daemon

import (
	"context"
	"errors"
	"time"

	"hookd/internal/control"
)

// goal looks whether what a request waits for is reached; detail says what is, or what is still missing.
type goal func(ctx context.Context) (reached bool, detail string, err error)

// wait holds a request until its goal is reached or its time is up. It looks again when anything changed: an event
// was appended, a delivery ended, a subscription got another state.
func (a *api) wait(r *request) (reply, error) {
	in, err := decode[control.WaitRequest](r)
	if err != nil {
		return reply{}, err
	}
	timeout := in.TimeoutS.Duration()
	if timeout < 0 || timeout > control.MaxWaitRequest {
		return reply{}, invalid("/timeout_s", "one request waits from 0s to %s", control.MaxWaitRequest)
	}
	ctx, end := a.untilStop(r.Context())
	defer end()
	reached, err := a.goal(ctx, in)
	if err != nil {
		return reply{}, err
	}
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	out, err := a.reach(ctx, reached, timer.C)
	if ctx.Err() != nil && errors.Is(context.Cause(ctx), errStopping) {
		return reply{}, control.NewProblem(control.CodeUnavailable, "hookd is stopping")
	}
	return answer(out), err
}

// goal reads what a request waits for.
func (a *api) goal(ctx context.Context, in control.WaitRequest) (goal, error) {
	given := 0
	for _, set := range []bool{in.Idle, in.Delivered != "", in.State != ""} {
		if set {
			given++
		}
	}
	if given != 1 {
		return nil, invalid("", "one of idle, delivered and state is needed")
	}
	if err := checkState(in.State); err != nil {
		return nil, err
	}
	who := subscriptions{api: a}
	if in.Sub != "" {
		v, err := a.engine.Subscription(ctx, in.Sub)
		if err != nil {
			return nil, err
		}
		// By its id: another may get the name while this request waits.
		who.only = v.UUID
	}
	switch {
	case in.Idle:
		return a.idle(who, time.Now().Add(max(in.TimeoutS.Duration(), leastLook))), nil
	case in.Delivered != "":
		return a.delivered(who, in.Delivered)
	default:
		return inState(who, in.State), nil
	}
}

// settle is how long a change is let to be followed by others before the goal is looked at again. Under load the pause
// is as long as a look takes, so that waiting requests take half of one core at most.
const settle = 2 * time.Millisecond

// leastLook is what a look at the end of a file may take even where the time to wait is less.
const leastLook = 100 * time.Millisecond

// reach looks for the goal after every change until the time is up.
func (a *api) reach(ctx context.Context, reached goal, timeUp <-chan time.Time) (control.WaitAnswer, error) {
	for {
		changed, done := a.engine.Changed()
		looked := time.Now()
		ok, detail, err := reached(ctx)
		if err != nil || ok {
			done()
			return control.WaitAnswer{Done: ok, Detail: detail}, err
		}
		pause := time.NewTimer(max(settle, time.Since(looked)))
		select {
		case <-changed:
		case <-timeUp:
			err = errTimeUp
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
		done()
		if err == nil {
			select {
			case <-pause.C:
			case <-ctx.Done():
				err = context.Cause(ctx)
			}
		}
		pause.Stop()
		switch {
		case errors.Is(err, errTimeUp):
			return control.WaitAnswer{Detail: detail}, nil
		case err != nil:
			return control.WaitAnswer{}, err
		}
	}
}

// errTimeUp ends a wait whose goal was not reached.
var errTimeUp = errors.New("time is up")
