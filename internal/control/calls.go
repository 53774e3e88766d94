package control

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"
)

// Status asks how the daemon is.
func (c *Client) Status(ctx context.Context) (*Status, error) {
	return get[Status](ctx, c, "/v1/status", Filter{})
}

// Version asks what the daemon was built from.
func (c *Client) Version(ctx context.Context) (*BuildInfo, error) {
	return get[BuildInfo](ctx, c, "/v1/version", Filter{})
}

// CreateSubscription makes a subscription. The answer has its URL and, where it was made now, its secret.
func (c *Client) CreateSubscription(ctx context.Context, in CreateSubscription) (*Subscription, error) {
	return post[Subscription](ctx, c, "/v1/subscriptions", in)
}

// Subscriptions lists subscriptions.
func (c *Client) Subscriptions(ctx context.Context, f Filter) (*Page[Subscription], error) {
	return get[Page[Subscription]](ctx, c, "/v1/subscriptions", f)
}

// Subscription shows one, by its name, its id, or 8 or more characters of the id's end.
func (c *Client) Subscription(ctx context.Context, ref string) (*Subscription, error) {
	path, err := subscriptionPath(ref, "")
	if err != nil {
		return nil, err
	}
	return get[Subscription](ctx, c, path, Filter{})
}

// The changes of state that an owner can ask for.
const (
	ActionPause   = "pause"
	ActionResume  = "resume"
	ActionEnable  = "enable"
	ActionDisable = "disable"
)

// ChangeSubscription asks for one of the actions above and returns the subscription as it is then.
func (c *Client) ChangeSubscription(ctx context.Context, ref, action string) (*Subscription, error) {
	path, err := subscriptionPath(ref, "/"+action)
	if err != nil {
		return nil, err
	}
	return post[Subscription](ctx, c, path, nil)
}

// DeleteSubscription deletes a subscription.
func (c *Client) DeleteSubscription(ctx context.Context, ref string) error {
	path, err := subscriptionPath(ref, "")
	if err != nil {
		return err
	}
	return c.call(ctx, http.MethodDelete, path, nil, nil, nil)
}

// RotateSecret gives a subscription a new secret.
func (c *Client) RotateSecret(ctx context.Context, ref string, in RotateSecret) (*RotatedSecret, error) {
	path, err := subscriptionPath(ref, "/secret/rotate")
	if err != nil {
		return nil, err
	}
	return post[RotatedSecret](ctx, c, path, in)
}

// HoldLease keeps a leased subscription alive for as long as it runs. It returns when the stream ends: with the
// context's cause, a *[Problem] (not_found: the subscription is gone), or an *[UnreachableError] after which the lease
// can be taken up again within [LeaseGrace]. It never returns nil.
func (c *Client) HoldLease(ctx context.Context, ref string) error {
	path, err := subscriptionPath(ref, "/lease")
	if err != nil {
		return err
	}
	resp, err := c.send(ctx, http.MethodGet, path, nil, nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		raw, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswerBytes))
		if err != nil {
			return c.failed(ctx, err)
		}
		return readProblem(resp.StatusCode, raw)
	}
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return c.failed(ctx, err)
	}
	return c.failed(ctx, errors.New("the lease stream ended"))
}

// Events lists events.
func (c *Client) Events(ctx context.Context, f Filter) (*Page[Event], error) {
	return get[Page[Event]](ctx, c, "/v1/events", f)
}

// Event shows one event: digits are a seq, anything else an id, "id:X" is the id X whatever it looks like.
func (c *Client) Event(ctx context.Context, ref string) (*Event, error) {
	s, err := segment("event", ref)
	if err != nil {
		return nil, err
	}
	return get[Event](ctx, c, "/v1/events/"+s, Filter{})
}

// Deliveries lists deliveries.
func (c *Client) Deliveries(ctx context.Context, f Filter) (*Page[Delivery], error) {
	return get[Page[Delivery]](ctx, c, "/v1/deliveries", f)
}

// Delivery shows the delivery of the event seq to a subscription.
func (c *Client) Delivery(ctx context.Context, sub string, seq int64) (*Delivery, error) {
	s, err := segment("subscription", sub)
	if err != nil {
		return nil, err
	}
	return get[Delivery](ctx, c, "/v1/deliveries/"+s+"/"+strconv.FormatInt(seq, 10), Filter{})
}

// DeadLetters lists dead letters.
func (c *Client) DeadLetters(ctx context.Context, f Filter) (*Page[DeadLetter], error) {
	return get[Page[DeadLetter]](ctx, c, "/v1/dead-letters", f)
}

// DeadLetter shows one dead letter with its payload.
func (c *Client) DeadLetter(ctx context.Context, id int64) (*DeadLetter, error) {
	return get[DeadLetter](ctx, c, "/v1/dead-letters/"+strconv.FormatInt(id, 10), Filter{})
}

// ReplayDeadLetters sends dead letters again.
func (c *Client) ReplayDeadLetters(ctx context.Context, in ReplayDeadLetters) (*ReplayedDeadLetters, error) {
	return post[ReplayedDeadLetters](ctx, c, "/v1/dead-letters/replay", in)
}

// Sources lists every source; there is one page.
func (c *Client) Sources(ctx context.Context) (*Page[Source], error) {
	return get[Page[Source]](ctx, c, "/v1/sources", Filter{})
}

// Quarantine lists quarantined lines.
func (c *Client) Quarantine(ctx context.Context, f Filter) (*Page[QuarantineEntry], error) {
	return get[Page[QuarantineEntry]](ctx, c, "/v1/quarantine", f)
}

// QuarantineEntry shows one quarantined line.
func (c *Client) QuarantineEntry(ctx context.Context, id int64) (*QuarantineEntry, error) {
	return get[QuarantineEntry](ctx, c, "/v1/quarantine/"+strconv.FormatInt(id, 10), Filter{})
}

// Wait waits until what in asks for is reached or timeout is over; a negative timeout waits without end, 0 looks
// once. In.TimeoutS is filled in here: a long wait is several requests.
func (c *Client) Wait(ctx context.Context, in WaitRequest, timeout time.Duration) (*WaitAnswer, error) {
	start := time.Now()
	for {
		asked := time.Now()
		slice := MaxWaitRequest
		if timeout >= 0 {
			slice = min(slice, max(0, timeout-time.Since(start)))
		}
		in.TimeoutS = SecondsOf(slice)
		answer, err := post[WaitAnswer](ctx, c, "/v1/wait", in)
		if err != nil {
			return nil, err
		}
		if answer.Done || (timeout >= 0 && time.Since(start) >= timeout) {
			return answer, nil
		}
		// A daemon that answers sooner than it was asked to must not be asked in a busy loop.
		if err := pause(ctx, min(slice, minWaitRound)-time.Since(asked)); err != nil {
			return nil, err
		}
	}
}

const minWaitRound = 100 * time.Millisecond

func pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

func subscriptionPath(ref, rest string) (string, error) {
	s, err := segment("subscription", ref)
	if err != nil {
		return "", err
	}
	return "/v1/subscriptions/" + s + rest, nil
}

func get[T any](ctx context.Context, c *Client, path string, f Filter) (*T, error) {
	out := new(T)
	if err := c.call(ctx, http.MethodGet, path, f.Values(), nil, out); err != nil {
		return nil, err
	}
	return out, nil
}

func post[T any](ctx context.Context, c *Client, path string, in any) (*T, error) {
	out := new(T)
	if err := c.call(ctx, http.MethodPost, path, nil, in, out); err != nil {
		return nil, err
	}
	return out, nil
}
