package egress

import (
	"bufio"
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	log.SetOutput(io.Discard) // as the daemon does: the HTTP library prints bytes of receivers there
	goleak.VerifyTestMain(m)
}

// receiver is a raw server on loopback: what it answers is up to the test, byte by byte.
type receiver struct {
	addr     string
	accepted atomic.Int64 // connections
	requests atomic.Int64 // whole requests read by readRequest
	stop     chan struct{}
}

// serve starts a receiver that runs handle for each connection and closes the connection after it. It ends with the
// test: its connections are closed and its goroutines waited for.
func serve(tb testing.TB, handle func(*receiver, net.Conn)) *receiver {
	tb.Helper()
	return serveAt(tb, "127.0.0.1:0", handle)
}

func serveAt(tb testing.TB, addr string, handle func(*receiver, net.Conn)) *receiver {
	tb.Helper()
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		tb.Fatal(err)
	}
	r := &receiver{addr: listener.Addr().String(), stop: make(chan struct{})}
	var mu sync.Mutex
	conns := map[net.Conn]bool{}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			r.accepted.Add(1)
			mu.Lock()
			conns[conn] = true
			mu.Unlock()
			running.Go(func() {
				defer conn.Close()
				handle(r, conn)
			})
		}
	})
	tb.Cleanup(func() {
		close(r.stop)
		listener.Close()
		mu.Lock()
		for conn := range conns {
			conn.Close()
		}
		mu.Unlock()
		running.Wait()
	})
	return r
}

// readRequest reads one whole request.
func (r *receiver) readRequest(in *bufio.Reader) (*http.Request, error) {
	req, err := http.ReadRequest(in)
	if err != nil {
		return nil, err
	}
	if _, err := io.Copy(io.Discard, req.Body); err != nil {
		return nil, err
	}
	r.requests.Add(1)
	return req, nil
}

// answerAll answers every request of a connection with the same bytes.
func answerAll(text string) func(*receiver, net.Conn) {
	return func(r *receiver, conn net.Conn) {
		in := bufio.NewReader(conn)
		for {
			if _, err := r.readRequest(in); err != nil {
				return
			}
			if _, err := io.WriteString(conn, text); err != nil {
				return
			}
		}
	}
}

// answerOnce answers the first request of a connection, then closes it.
func answerOnce(text string) func(*receiver, net.Conn) {
	return func(r *receiver, conn net.Conn) {
		if _, err := r.readRequest(bufio.NewReader(conn)); err != nil {
			return
		}
		_, _ = io.WriteString(conn, text)
	}
}

// answerAndHold answers the first request of a connection and leaves the connection open.
func answerAndHold(text string) func(*receiver, net.Conn) {
	return func(r *receiver, conn net.Conn) {
		in := bufio.NewReader(conn)
		if _, err := r.readRequest(in); err != nil {
			return
		}
		_, _ = io.WriteString(conn, text)
		_, _ = io.Copy(io.Discard, in)
	}
}

func newPolicy(tb testing.TB, rules Rules) *Policy {
	tb.Helper()
	p, err := NewPolicy(rules)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

func newClient(tb testing.TB, rules Rules) *Client {
	tb.Helper()
	return newClientWith(tb, rules, Options{})
}

func newClientWith(tb testing.TB, rules Rules, o Options) *Client {
	tb.Helper()
	c, err := NewClient(newPolicy(tb, rules), o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(c.Close)
	return c
}

func target(tb testing.TB, c *Client, url string) *Target {
	tb.Helper()
	t, err := c.policy.Check(url)
	if err != nil {
		tb.Fatal(err)
	}
	return t
}

// post sends a small request and returns how it ended.
func post(tb testing.TB, c *Client, url string, timeout time.Duration) Result {
	tb.Helper()
	return c.Do(context.Background(), &Request{
		Target: target(tb, c, url), Header: http.Header{"webhook-id": {"evt_1"}}, Body: []byte(`{"id":"evt_1"}`), Timeout: timeout,
	})
}
