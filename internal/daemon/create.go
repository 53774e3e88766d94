package daemon

import (
	"context"
	"errors"
	"net/http"
	"regexp"
	"strconv"
	"time"

	"hookd/internal/control"
	"hookd/internal/delivery"
	"hookd/internal/event"
	"hookd/internal/store"
)

// Bounds of what a subscription may say of itself; those of the configuration are the same.
const (
	minTimeout     = time.Millisecond
	maxTimeout     = 5 * time.Minute
	mostFailures   = 1_000_000
	longestOverlap = 365 * 24 * time.Hour
)

var namePattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

func (a *api) createSubscription(r *request) (reply, error) {
	in, err := decode[control.CreateSubscription](r)
	if err != nil {
		return reply{}, err
	}
	n, err := newSubscription(in)
	if err != nil {
		return reply{}, err
	}
	if in.IfNotExists {
		if v, found, err := a.named(r.Context(), in.Name); err != nil || found {
			return answer(created(v, "")), err
		}
	}
	if n.After, err = a.startAfter(r.Context(), in.From); err != nil {
		return reply{}, err
	}
	v, secret, err := a.engine.Create(r.Context(), n)
	if in.IfNotExists && errors.Is(err, store.ErrNameTaken) {
		// Somebody else made it since.
		if v, found, err := a.named(r.Context(), in.Name); err != nil || found {
			return answer(created(v, "")), err
		}
	}
	if err != nil {
		return reply{}, err
	}
	return reply{status: http.StatusCreated, value: created(v, secret)}, nil
}

// named finds the subscription that has this name; one whose id has it as its end is another thing.
func (a *api) named(ctx context.Context, name string) (delivery.View, bool, error) {
	v, err := a.engine.Subscription(ctx, name)
	switch {
	case errors.Is(err, delivery.ErrNotFound), errors.Is(err, delivery.ErrAmbiguous):
		return delivery.View{}, false, nil
	case err != nil:
		return delivery.View{}, false, err
	}
	return v, v.Name == name, nil
}

func created(v delivery.View, secret string) control.Subscription {
	s := subscription(v)
	s.URL, s.Secret = v.URL, secret
	s.Warnings = control.List[string]{}
	return s
}

// newSubscription checks what the owner gave, member by member; the URL is judged by the engine.
func newSubscription(in control.CreateSubscription) (delivery.NewSubscription, error) {
	n := delivery.NewSubscription{
		URL: in.URL, Name: in.Name, Types: in.Types, Retry: in.Retry, MaxFailures: in.MaxConsecutiveFailures, Lease: in.Lease,
	}
	switch {
	case in.URL == "":
		return n, control.NewProblem(control.CodeURLInvalid, "a URL is needed").At("/url")
	case in.Name == "" && in.IfNotExists:
		return n, invalid("/name", "if_not_exists needs a name")
	case in.Name != "" && !namePattern.MatchString(in.Name):
		return n, invalid("/name", `a name is 1 to 64 letters, digits, ".", "_", "-", beginning with a letter or digit`)
	case in.App != "" && in.App != delivery.DefaultApp:
		return n, control.NewProblem(control.CodeNotFound, "there is no app %q", in.App).At("/app")
	}
	if in.Types != nil {
		if _, err := event.ParsePatterns(in.Types); err != nil {
			return n, invalid("/types", "%v", err)
		}
	}
	if in.Retry != "" {
		if _, err := delivery.ParseSchedule(in.Retry); err != nil {
			return n, invalid("/retry", "%v", err)
		}
	}
	if in.TimeoutS != nil {
		n.Timeout = in.TimeoutS.Duration()
		if n.Timeout < minTimeout || n.Timeout > maxTimeout {
			return n, invalid("/timeout_s", "a timeout is from %s to %s", minTimeout, maxTimeout)
		}
	}
	if f := in.MaxConsecutiveFailures; f != nil && (*f < 0 || *f > mostFailures) {
		return n, invalid("/max_consecutive_failures", "it is from 0 (never) to %d", mostFailures)
	}
	return n, nil
}

// startAfter reads where in the log a subscription starts: it returns the seq before its first event.
func (a *api) startAfter(ctx context.Context, from string) (int64, error) {
	first, last := a.store.Bounds()
	switch from {
	case "", "end":
		return last, nil
	case "beginning":
		return first - 1, nil
	}
	if seq, err := strconv.ParseInt(from, 10, 64); err == nil {
		if seq < 0 || seq > last+1 {
			return 0, invalid("/from", "the log ends at seq %d", last)
		}
		return max(seq, first) - 1, nil
	}
	t, err := time.Parse(time.RFC3339Nano, from)
	if err != nil {
		return 0, invalid("/from", "it is beginning, end, a seq, or an RFC 3339 time")
	}
	seq, err := a.firstSince(ctx, t)
	return seq - 1, err
}

// firstSince finds the first event that was received at t or later; the seq after the log's end where there is none.
// Receipt times never fall within the log.
func (a *api) firstSince(ctx context.Context, t time.Time) (int64, error) {
	low, last := a.store.Bounds()
	high := last + 1
	for low < high {
		middle := low + (high-low)/2
		e, err := a.store.EventBySeq(ctx, middle)
		switch {
		case errors.Is(err, store.ErrNotFound):
			low = middle + 1 // it left the log meanwhile, and all before it
		case err != nil:
			return 0, err
		case at(e.ReceivedAt).Before(t):
			low = middle + 1
		default:
			high = middle
		}
	}
	return low, nil
}

func (a *api) rotateSecret(r *request) (reply, error) {
	in, err := decode[control.RotateSecret](r)
	if err != nil {
		return reply{}, err
	}
	overlap, ifOlder := a.overlap, time.Duration(0)
	if in.OverlapS != nil {
		overlap = in.OverlapS.Duration()
		if overlap < 0 || overlap > longestOverlap {
			return reply{}, invalid("/overlap_s", "an overlap is from 0s to %s", longestOverlap)
		}
	}
	if in.IfOlderThanS != nil {
		if ifOlder = in.IfOlderThanS.Duration(); ifOlder < 0 {
			return reply{}, invalid("/if_older_than_s", "it must not be negative")
		}
	}
	rotation, err := a.engine.Rotate(r.Context(), r.PathValue("ref"), overlap, ifOlder)
	if err != nil {
		return reply{}, err
	}
	out := control.RotatedSecret{
		Subscription: rotation.Name, Generation: rotation.Generation, Rotated: rotation.Rotated,
		Secret: rotation.Secret, EndedEarly: rotation.EndedEarly,
	}
	if !rotation.OverlapUntil.IsZero() {
		until := rotation.OverlapUntil.UTC()
		out.OverlapUntil = &until
	}
	return answer(out), nil
}
