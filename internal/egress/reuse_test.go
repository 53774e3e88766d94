package egress

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"testing"
)

func TestStaleConnection(t *testing.T) {
	for _, c := range []struct {
		name string
		key  string
		body string
	}{
		{"lower case", "idempotency-key", "{}"},
		{"canonical", "Idempotency-Key", "{}"},
		{"canonical X", "X-Idempotency-Key", "{}"},
		{"no body", "idempotency-key", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := serve(t, func(r *receiver, conn net.Conn) {
				in := bufio.NewReader(conn)
				if _, err := r.readRequest(in); err != nil {
					return
				}
				_, _ = io.WriteString(conn, noContent)
				_, _ = r.readRequest(in)
			})
			client := newClient(t, Rules{Dev: true})
			req := &Request{
				Target: target(t, client, "http://"+r.addr), Header: http.Header{c.key: {"evt_1"}}, Body: []byte(c.body), Timeout: longTime,
			}
			if got := client.Do(context.Background(), req); got.Status != 204 {
				t.Fatalf("%+v", got)
			}
			got := client.Do(context.Background(), req)
			if got.Status != 0 || got.Failure != ConnectionFailed || !got.Stale || got.Detail == "" {
				t.Errorf("%+v, want it stale", got)
			}
			if r.requests.Load() != 2 || r.accepted.Load() != 1 {
				t.Errorf("%d requests on %d connections", r.requests.Load(), r.accepted.Load())
			}
			req.Fresh = true
			if got := client.Do(context.Background(), req); got.Status != 204 {
				t.Errorf("fresh: %+v", got)
			}
			if r.requests.Load() != 3 || r.accepted.Load() != 2 {
				t.Errorf("%d requests on %d connections", r.requests.Load(), r.accepted.Load())
			}
		})
	}
}

func TestRepeatableRequestIsNotRepeated(t *testing.T) {
	r := serve(t, func(r *receiver, conn net.Conn) {
		in := bufio.NewReader(conn)
		_, _ = r.readRequest(in)
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok") // does not close by itself
		_, _ = r.readRequest(in)
	})
	c := newClient(t, Rules{Dev: true})
	for i := range 3 {
		got := c.Do(context.Background(), &Request{
			Target: target(t, c, "http://"+r.addr), Header: http.Header{"Idempotency-Key": {"evt_1"}}, Timeout: longTime,
		})
		if got.Status != 200 || r.requests.Load() != int64(i+1) || r.accepted.Load() != int64(i+1) {
			t.Errorf("%+v, %d requests on %d connections", got, r.requests.Load(), r.accepted.Load())
		}
	}
}

func TestFreshConnections(t *testing.T) {
	r := serve(t, answerAll("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"))
	c := newClient(t, Rules{Dev: true})
	for i := range 4 {
		got := c.Do(context.Background(), &Request{Target: target(t, c, "http://"+r.addr), Body: []byte("{}"), Timeout: longTime, Fresh: i > 0})
		if got.Status != 200 || r.accepted.Load() != int64(i+1) {
			t.Errorf("%+v on %d connections", got, r.accepted.Load())
		}
	}
}

func TestFastLoopReusesTheConnection(t *testing.T) {
	for name, handle := range map[string]func(*receiver, net.Conn){
		"no body": answerAll(noContent),
		"body":    answerAll("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
		"chunks":  answerAll("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"),
		"body after the headers": func(r *receiver, conn net.Conn) {
			in := bufio.NewReader(conn)
			for {
				if _, err := r.readRequest(in); err != nil {
					return
				}
				for _, part := range []string{"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n", "o", "k"} {
					_, _ = io.WriteString(conn, part)
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := serve(t, handle)
			c := newClient(t, Rules{Dev: true})
			const loops = 300
			for range loops {
				ctx, cancel := context.WithCancel(context.Background())
				got := c.Do(ctx, &Request{Target: target(t, c, "http://"+r.addr), Body: []byte("{}"), Timeout: longTime})
				cancel() // changes nothing any more
				if got.Status/100 != 2 {
					t.Fatalf("%+v", got)
				}
			}
			// A busy machine may leave a drain without its turn for 2 ms now and then.
			if n := r.accepted.Load(); n > loops/10 {
				t.Errorf("%d connections for %d requests", n, loops)
			}
		})
	}
}

func TestCloseIdle(t *testing.T) {
	r := serve(t, answerAll(noContent))
	c := newClient(t, Rules{Dev: true})
	for i := range 3 {
		if got := post(t, c, "http://"+r.addr, longTime); got.Status != 204 || r.accepted.Load() != int64(i+1) {
			t.Errorf("%+v on %d connections", got, r.accepted.Load())
		}
		c.CloseIdle()
	}
}

// A broken answer on a kept connection is an answer: the receiver is at fault, and the connection was not stale.
func TestBrokenAnswerIsNotStale(t *testing.T) {
	for _, answer := range []string{"garbage\r\n\r\n", "HTTP/1.1 2"} {
		r := serve(t, func(r *receiver, conn net.Conn) {
			in := bufio.NewReader(conn)
			for _, text := range []string{noContent, answer} {
				if _, err := r.readRequest(in); err != nil {
					return
				}
				_, _ = io.WriteString(conn, text)
			}
		})
		c := newClient(t, Rules{Dev: true})
		if got := post(t, c, "http://"+r.addr, longTime); got.Status != 204 {
			t.Fatalf("%+v", got)
		}
		if got := post(t, c, "http://"+r.addr, longTime); got.Failure != ConnectionFailed || got.Stale || r.accepted.Load() != 1 {
			t.Errorf("%q: %+v on %d connections", answer, got, r.accepted.Load())
		}
	}
}
