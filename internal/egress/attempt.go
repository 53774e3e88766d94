package egress

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"
)

// attempt is what one request needs beside the request itself, in one piece, because it is made for every delivery.
type attempt struct {
	deadline time.Time
	cancel   context.CancelCauseFunc
	timer    *time.Timer
	unhook   func() bool // ends the listening to the caller's context
	payload  *payload
	trace    httptrace.ClientTrace
	expects  bool // a free connection was believed to be there

	// Set by the transport's goroutines.
	connected, reused, sent, answered atomic.Bool
	secure                            atomic.Pointer[tls.Conn] // new HTTP/1.1 connection over TLS
}

// attemptKey leads from the context of a dial to its attempt. The transport dials under a context of its own, which
// keeps our values and neither our deadline nor our cancellation.
type attemptKey struct{}

// newAttempt starts the clock. The context it returns ends with the time and with the caller's context, until leave is
// called: what the response's body needs after that must not depend on the caller.
func newAttempt(caller context.Context, r *Request, start time.Time) (*attempt, context.Context) {
	a := &attempt{deadline: start.Add(r.Timeout), payload: newPayload(r)}
	ctx, cancel := context.WithCancelCause(context.Background())
	a.cancel = cancel
	a.timer = time.AfterFunc(r.Timeout, func() { cancel(errTimedOut) })
	if caller.Done() != nil {
		a.unhook = context.AfterFunc(caller, func() { cancel(errInterrupted) })
	}
	a.trace.GotConn = a.gotConn
	a.trace.GotFirstResponseByte = a.gotFirstByte
	a.trace.WroteRequest = a.wroteRequest
	return a, httptrace.WithClientTrace(context.WithValue(ctx, attemptKey{}, a), &a.trace)
}

// leave cuts the tie to the caller's context, and gives the payload back where a response came after the transport had
// written all of it.
func (a *attempt) leave(answered bool) {
	if a.unhook != nil {
		a.unhook()
	}
	if answered && a.sent.Load() {
		a.payload.release()
	}
}

// finish ends the context of an attempt; a connection that is still busy with it is closed.
func (a *attempt) finish() {
	a.timer.Stop()
	a.cancel(errDone)
}

func (a *attempt) gotConn(info httptrace.GotConnInfo) {
	a.sent.Store(false) // the transport may get a second connection where it wrote nothing to the first
	a.reused.Store(info.Reused)
	if conn, ok := info.Conn.(*tls.Conn); ok && !info.Reused && conn.ConnectionState().NegotiatedProtocol != "h2" {
		a.secure.Store(conn)
	}
	a.connected.Store(true)
}

func (a *attempt) gotFirstByte() { a.answered.Store(true) }

func (a *attempt) wroteRequest(httptrace.WroteRequestInfo) { a.sent.Store(true) }

// misled tells whether the request got a new connection where a free one was expected.
func (a *attempt) misled() bool { return a.expects && a.connected.Load() && !a.reused.Load() }

// request makes the request for the transport. GetBody stays nil: with it the transport could send a request again.
func (a *attempt) request(ctx context.Context, t *Target) *http.Request {
	out := http.Request{
		Method: http.MethodPost, URL: t.URL, Header: a.payload.header,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Body: a.payload.reading(), ContentLength: int64(len(a.payload.body)),
	}
	return out.WithContext(ctx)
}

// failed turns the end of an attempt without a response into a result. The cause is why its context ended, if it did.
func (a *attempt) failed(err, cause error) Result {
	if errors.Is(cause, errInterrupted) {
		return Result{Interrupted: true, Detail: errInterrupted.Error()}
	}
	phase := connecting
	switch {
	case a.answered.Load():
		phase = reading
	case a.connected.Load():
		phase = waiting
	}
	late := errors.Is(cause, errTimedOut) || !time.Now().Before(a.deadline)
	failure, detail := classify(err, phase, late)
	if failure == ConnectionFailed && phase == waiting && a.handshakeRefused() {
		failure, detail = TLSFailed, refusedHandshake
	}
	stale := failure == ConnectionFailed && phase == waiting && a.reused.Load() && !refusedStream(err)
	return Result{Failure: failure, Detail: detail, Stale: stale}
}

// handshakeRefused tells whether a connection that failed before the response had got an alert. In TLS 1.3 the other side
// may refuse a finished handshake (it wants a certificate of the client), and the transport loses that error where the
// alert came before the request was written. The connection keeps it; the past deadline makes sure that nothing is waited for.
func (a *attempt) handshakeRefused() bool {
	conn := a.secure.Load()
	if conn == nil {
		return false
	}
	_ = conn.SetReadDeadline(time.Unix(1, 0))
	_, err := conn.Read(make([]byte, 1))
	return alert(err)
}
