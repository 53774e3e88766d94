package egress

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"
)

const (
	maxHeaderBytes = 64 << 10        // of a response, informational ones before it included
	idleTime       = 4 * time.Second // shorter than the keep-alive of common servers
	defaultIdle    = 64              // idle connections a host
	maxRetryAfter  = 128             // bytes of the header that are handed on
)

var (
	errTimedOut    = errors.New("time is over")
	errInterrupted = errors.New("interrupted by the caller")
	errDone        = errors.New("request is done")
)

// Options are the parts of a Client that are not policy.
type Options struct {
	MaxIdlePerHost int           // idle connections kept for a host; 0 means 64
	Resolver       *net.Resolver // resolves names; nil means the system's
}

// Client sends requests under one policy. It is made by NewClient only; a zero Client refuses every request. When the
// rules change, a new Client is made and the old one closed, so that no connection outlives the rule it was opened
// under. It may be used from many goroutines at once.
type Client struct {
	policy *Policy
	warm   *http.Transport // keeps connections
	fresh  *http.Transport // one connection a request
	guard  *guard
	pools  *pools
}

// NewClient returns a client that can reach what p allows and nothing else. A nil policy is an error: there is no
// client without a guard.
func NewClient(p *Policy, o Options) (*Client, error) {
	if p == nil {
		return nil, errors.New("make egress client: a policy is required")
	}
	if o.MaxIdlePerHost < 0 {
		return nil, errors.New("make egress client: the number of idle connections must not be negative")
	}
	if o.MaxIdlePerHost == 0 {
		o.MaxIdlePerHost = defaultIdle
	}
	if o.Resolver == nil {
		o.Resolver = net.DefaultResolver
	}
	g := newGuard(p, o.Resolver)

	warm := newTransport()
	warm.DialContext = g.dial
	warm.DialTLSContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
		return g.dialTLS(ctx, network, addr, "h2", "http/1.1")
	}
	warm.MaxIdleConnsPerHost = o.MaxIdlePerHost
	warm.ForceAttemptHTTP2 = true
	// A busy HTTP/2 connection never becomes idle; these end it when the other side has gone or stopped reading.
	warm.HTTP2 = &http.HTTP2Config{
		SendPingTimeout: 10 * time.Second, PingTimeout: 5 * time.Second, WriteByteTimeout: 10 * time.Second,
	}

	fresh := newTransport()
	fresh.DialContext = g.dial
	// HTTP/1.1 only: an HTTP/2 connection could be shared by requests that each asked for their own.
	fresh.DialTLSContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
		return g.dialTLS(ctx, network, addr, "http/1.1")
	}
	fresh.DisableKeepAlives = true

	return &Client{policy: p, warm: warm, fresh: fresh, guard: g, pools: newPools()}, nil
}

// newTransport sets what both transports share. RoundTrip is called directly, so no redirect is ever followed.
func newTransport() *http.Transport {
	return &http.Transport{
		Proxy:                  nil, // not http.ProxyFromEnvironment
		DisableCompression:     true,
		MaxResponseHeaderBytes: maxHeaderBytes,
		IdleConnTimeout:        idleTime,
	}
}

// Do sends one request and returns when the status line and the headers of the response have come, the time is over,
// or ctx is cancelled. The target is judged again by the policy of this client before anything is dialled. At most one
// request is written to the wire, whatever happens to it. The rest of the response is drained beside (64 KiB, 1 s), so
// that the connection can be used again; cancelling ctx after Do has returned changes nothing.
func (c *Client) Do(ctx context.Context, r *Request) Result {
	start := time.Now()
	result := c.do(ctx, r, start)
	result.Duration = time.Since(start)
	return result
}

func (c *Client) do(ctx context.Context, r *Request, start time.Time) Result {
	if c == nil || c.policy == nil {
		return Result{Failure: HostNotAllowed, Detail: "the client was not made by NewClient"}
	}
	target, refusal := c.policy.again(r.Target)
	if refusal != nil {
		return Result{Failure: refusal.Reason, Detail: refusal.Error()}
	}
	if ctx.Err() != nil {
		return Result{Interrupted: true, Detail: errInterrupted.Error()}
	}

	a, actx := newAttempt(ctx, r, start)
	fresh := r.Fresh || repeatable(r)
	pool, expects := c.pools.enter(actx, target.origin, fresh)
	if pool == nil {
		a.finish()
		a.leave(false)
		return Result{Interrupted: true, Detail: "the client is closed"}
	}
	a.expects = expects

	transport := c.warm
	if fresh {
		transport = c.fresh
	}
	response, err := transport.RoundTrip(a.request(actx, target))
	if err != nil {
		cause := context.Cause(actx)
		a.finish()
		a.leave(false)
		c.pools.leave(pool, a.misled(), false)
		return a.failed(err, cause)
	}
	a.leave(true)
	result := Result{Status: response.StatusCode}
	if result.Status < 100 {
		result = Result{Failure: ConnectionFailed, Detail: "the response has no valid status"}
	}
	if after := response.Header.Get("Retry-After"); after != "" && result.Failure == None {
		result.RetryAfter = after[:min(len(after), maxRetryAfter)]
	}
	c.settle(response, a, pool, fresh)
	return result
}

// repeatable tells whether the HTTP library would take it upon itself to send the request again after a kept
// connection broke: these names in canonical form, and no body. On a fresh connection it never does.
func repeatable(r *Request) bool {
	if len(r.Body) > 0 {
		return false
	}
	_, key := r.Header["Idempotency-Key"]
	_, xKey := r.Header["X-Idempotency-Key"]
	return key || xKey
}

// CloseIdle closes the connections that no request uses, and ends dials that no request waits for.
func (c *Client) CloseIdle() {
	if c == nil || c.policy == nil {
		return
	}
	c.pools.forget()
	c.warm.CloseIdleConnections()
	c.fresh.CloseIdleConnections()
}

// Close makes every later Do answer Interrupted, waits for the requests, drains and dials in flight, and closes all
// connections. A request in flight is not cut: its own time or its caller's context ends it.
func (c *Client) Close() {
	if c == nil || c.policy == nil {
		return
	}
	c.pools.close()
	c.CloseIdle()
	c.guard.dials.Wait()
	c.CloseIdle()
}
