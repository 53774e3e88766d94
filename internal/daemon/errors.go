package daemon

import (
	"context"
	"errors"
	"strings"

	"hookd/internal/control"
	"hookd/internal/delivery"
	"hookd/internal/egress"
	"hookd/internal/store"
)

// errStopping is why a request ends that waits for something while hookd stops.
var errStopping = errors.New("hookd is stopping")

// problemOf turns what a room returned into the answer of the control API. Texts of errors that no row here knows stay
// in the log.
func problemOf(err error) *control.Problem {
	var (
		problem *control.Problem
		refusal *egress.Refusal
	)
	switch {
	case errors.As(err, &problem):
		return problem
	case errors.As(err, &refusal):
		return refusedTarget(refusal)
	case errors.Is(err, delivery.ErrNotFound), errors.Is(err, store.ErrNotFound):
		return control.NewProblem(control.CodeNotFound, "%v", err)
	case errors.Is(err, delivery.ErrAmbiguous):
		return control.NewProblem(control.CodeAmbiguous, "%v", err).WithHint("give more of the id, or the name")
	case errors.Is(err, delivery.ErrConflict):
		return control.NewProblem(control.CodeConflict, "%v", err)
	case errors.Is(err, delivery.ErrInvalid):
		return control.NewProblem(control.CodeInvalidRequest, "%v", err)
	case errors.Is(err, store.ErrNameTaken):
		return control.NewProblem(control.CodeNameTaken, "another subscription has this name").At("/name")
	case errors.Is(err, store.ErrFull):
		return control.NewProblem(control.CodeStoreFull, "the store takes no writes now").
			WithHint("free space where data_dir is; hookd goes on by itself")
	case errors.Is(err, errStopping), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return control.NewProblem(control.CodeUnavailable, "the request was broken off")
	}
	return control.NewProblem(control.CodeInternal, "hookd could not do it").WithHint("the log of hookd says why")
}

// refusedTarget is the answer for a URL that the rules of egress refuse. One that no setting would allow is wrong in
// its form, unless it is an address in disguise.
func refusedTarget(r *egress.Refusal) *control.Problem {
	code := control.CodeHostNotAllowed
	switch {
	case r.Reason == egress.AddressBlocked:
		code = control.CodeAddressBlocked
	case r.Setting == "":
		code = control.CodeURLInvalid
	}
	p := control.NewProblem(code, "%s", r.Message).At("/url")
	if r.Setting != "" {
		p.WithHint("%s", strings.TrimPrefix(r.Error(), r.Message+"; "))
	}
	return p
}

// invalid is the answer for a value that breaks a rule; pointer names its member.
func invalid(pointer, detail string, args ...any) *control.Problem {
	return control.NewProblem(control.CodeInvalidRequest, detail, args...).At(pointer)
}
