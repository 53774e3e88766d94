package daemon

import (
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"hookd/internal/control"
)

// boundedListener admits so many connections at once. Whoever comes beyond that is told so and closed: left in the
// socket's queue, hookctl would wait without a word.
type boundedListener struct {
	net.Listener
	places chan struct{}
}

func newBoundedListener(l net.Listener, most int) *boundedListener {
	return &boundedListener{Listener: l, places: make(chan struct{}, most)}
}

// Accept returns the next connection that has a place.
func (l *boundedListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		select {
		case l.places <- struct{}{}:
			return &placedConn{Conn: conn, leave: func() { <-l.places }}, nil
		default:
			turnAway(conn)
		}
	}
}

// turnAway answers without having read anything. The answer fits the socket's buffer, so nobody is waited for.
func turnAway(conn net.Conn) {
	p := control.NewProblem(control.CodeUnavailable, "hookd has %d control connections, which is all it takes", maxConnections).
		WithHint("end other hookctl commands, or wait a few seconds until idle ones are closed")
	var body heldAnswer
	control.WriteProblem(&body, p)
	_ = conn.SetDeadline(time.Now().Add(time.Second))
	fmt.Fprintf(conn, "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/problem+json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", len(body.text), body.text)
	_ = conn.Close()
}

// placedConn gives its place back when it is closed.
type placedConn struct {
	net.Conn
	once  sync.Once
	leave func()
}

// Close closes the connection.
func (c *placedConn) Close() error {
	c.once.Do(c.leave)
	return c.Conn.Close()
}

// heldAnswer keeps the body of an answer that is not written by the server.
type heldAnswer struct {
	header http.Header
	text   []byte
}

func (a *heldAnswer) Header() http.Header {
	if a.header == nil {
		a.header = http.Header{}
	}
	return a.header
}

func (a *heldAnswer) Write(p []byte) (int, error) {
	a.text = append(a.text, p...)
	return len(p), nil
}

func (a *heldAnswer) WriteHeader(int) {}
