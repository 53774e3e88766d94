package egress

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// What stands on the wire: names as given, each once, and nothing that was not given but Host and Content-Length.
func TestRequestOnTheWire(t *testing.T) {
	wire := make(chan string, 1)
	r := serve(t, func(_ *receiver, conn net.Conn) {
		in := bufio.NewReader(conn)
		for {
			var text strings.Builder
			for !strings.HasSuffix(text.String(), "\r\n\r\n{}") {
				b, err := in.ReadByte()
				if err != nil {
					return
				}
				text.WriteByte(b)
			}
			wire <- text.String()
			_, _ = io.WriteString(conn, noContent)
		}
	})
	c := newClient(t, Rules{Dev: true})
	header := http.Header{
		"Content-Type": {"application/json"}, "webhook-id": {"evt_1"}, "idempotency-key": {"evt_1"}, "hookd-attempt": {"1"},
		"X-Own": {"a", "b"},
	}
	send := func() []string {
		got := c.Do(context.Background(), &Request{
			Target: target(t, c, "http://"+r.addr+"/a%20b/c?x=1&y"), Header: header, Body: []byte("{}"), Timeout: longTime,
		})
		if got.Status != 204 {
			t.Fatalf("%+v", got)
		}
		lines := strings.Split(strings.TrimSuffix(<-wire, "\r\n\r\n{}"), "\r\n")
		slices.Sort(lines[1:])
		return lines
	}
	want := []string{
		"POST /a%20b/c?x=1&y HTTP/1.1", "Content-Length: 2", "Content-Type: application/json", "Host: " + r.addr,
		"X-Own: a", "X-Own: b", "hookd-attempt: 1", "idempotency-key: evt_1", "webhook-id: evt_1",
	}
	if got := send(); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	header["User-Agent"] = []string{"hookd/1"}
	if got := send(); !slices.Contains(got, "User-Agent: hookd/1") || len(got) != len(want)+1 {
		t.Errorf("with a User-Agent: %q", got)
	}
	if len(header) != 6 || len(header["X-Own"]) != 2 {
		t.Errorf("the header was changed: %q", header)
	}
}

// A receiver reads the request, and closes the kept connection instead of answering: one request on the wire, and the
// result says that a fresh connection is worth an attempt, whichever names could make the HTTP library repeat it.
// The one kind of request that the HTTP library would repeat by itself gets a connection on which it does not.
// A fast loop stays on one connection, also where each response has a body, which is drained after Do has returned.
// A redirect is an answer like any other: its target sees nothing.
func TestRedirectIsNotFollowed(t *testing.T) {
	for _, status := range []string{"301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"} {
		elsewhere := serve(t, answerAll(noContent))
		for _, location := range []string{"Location: http://" + elsewhere.addr + "/\r\n", "Location: /loop\r\n", "Location: http://169.254.169.254/\r\n", ""} {
			r := serve(t, answerAll("HTTP/1.1 "+status+"\r\n"+location+"Content-Length: 0\r\n\r\n"))
			got := post(t, newClient(t, Rules{Dev: true}), "http://"+r.addr, longTime)
			if got.Failure != None || strconv.Itoa(got.Status) != status[:3] || r.requests.Load() != 1 {
				t.Errorf("%s: %+v, %d requests", status, got, r.requests.Load())
			}
		}
		if n := elsewhere.accepted.Load(); n != 0 {
			t.Errorf("%s: %d connections to its target", status, n)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	long := strings.Repeat("9", 300)
	for header, want := range map[string]string{
		"":                                     "",
		"Retry-After: 120\r\n":                 "120",
		"retry-after: 7\r\nRetry-After: 8\r\n": "7",
		"Retry-After: Wed, 21 Oct 2026 07:28:00 GMT\r\n": "Wed, 21 Oct 2026 07:28:00 GMT",
		"Retry-After: " + long + "\r\n":                  long[:128],
	} {
		r := serve(t, answerAll("HTTP/1.1 503 Busy\r\n"+header+"Content-Length: 0\r\n\r\n"))
		if got := post(t, newClient(t, Rules{Dev: true}), "http://"+r.addr, longTime); got.Status != 503 || got.RetryAfter != want {
			t.Errorf("%q: %+v", header, got)
		}
	}
}

func TestCallerInterrupts(t *testing.T) {
	arrived := make(chan struct{}, 1)
	r := serve(t, func(r *receiver, conn net.Conn) {
		in := bufio.NewReader(conn)
		_, _ = r.readRequest(in)
		arrived <- struct{}{}
		_, _ = io.Copy(io.Discard, in)
	})
	c := newClient(t, Rules{Dev: true})
	ctx, cancel := context.WithCancel(context.Background())
	go func() { <-arrived; cancel() }()
	req := &Request{Target: target(t, c, "http://"+r.addr), Body: []byte("{}"), Timeout: longTime}
	for _, when := range []string{"in flight", "before"} {
		got := c.Do(ctx, req)
		if !got.Interrupted || got.Failure != None || got.Status != 0 || got.Stale || got.Detail == "" {
			t.Errorf("%s: %+v", when, got)
		}
	}
	if n := r.requests.Load(); n != 1 {
		t.Errorf("%d requests", n)
	}
}

// The receiver answers before it took the request. The caller may use its memory at once and send the next request; what
// the receiver reads later is what was sent.
func TestCallerOwnsTheRequestAfterDo(t *testing.T) {
	const size = maxKept // more than the buffers of a connection, and small enough to be kept for the next request
	answered, taken := make(chan struct{}), make(chan int, 1)
	early := serve(t, func(_ *receiver, conn net.Conn) {
		in := bufio.NewReader(conn)
		_, _ = in.Peek(1)
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n")
		<-answered
		req, err := http.ReadRequest(in)
		if err != nil {
			taken <- -1
			return
		}
		body, _ := io.ReadAll(req.Body)
		if req.Header.Get("webhook-id") != "evt_1" {
			t.Errorf("header %q", req.Header)
		}
		taken <- bytes.Count(body, []byte("x"))
		_, _ = io.WriteString(conn, "ok")
	})
	other := serve(t, answerAll(noContent))
	c := newClient(t, Rules{Dev: true})
	id := []string{"evt_1"}
	req := &Request{
		Target: target(t, c, "http://"+early.addr), Header: http.Header{"webhook-id": id},
		Body: bytes.Repeat([]byte("x"), size), Timeout: longTime,
	}
	if got := c.Do(context.Background(), req); got.Status != 200 {
		t.Errorf("%+v", got)
	}
	for i := range req.Body {
		req.Body[i] = 'y'
	}
	id[0] = "evt_2"
	req.Target = target(t, c, "http://"+other.addr)
	if got := c.Do(context.Background(), req); got.Status != 204 {
		t.Errorf("%+v", got)
	}
	close(answered)
	if n := <-taken; n != size {
		t.Errorf("the receiver got %d of %d bytes", n, size)
	}
}

func TestClientCannotBeMadeWithoutGuard(t *testing.T) {
	if c, err := NewClient(nil, Options{}); c != nil || err == nil {
		t.Errorf("%v %v", c, err)
	}
	if c, err := NewClient(newPolicy(t, Rules{}), Options{MaxIdlePerHost: -1}); c != nil || err == nil {
		t.Errorf("%v %v", c, err)
	}
	r := serve(t, answerAll(noContent))
	wide := newClient(t, Rules{Dev: true})
	req := &Request{Target: target(t, wide, "http://"+r.addr), Body: []byte("{}"), Timeout: longTime}
	for name, c := range map[string]*Client{"nil": nil, "zero": {}} {
		if got := c.Do(context.Background(), req); got.Failure != HostNotAllowed || got.Detail == "" {
			t.Errorf("%s: %+v", name, got)
		}
		c.CloseIdle()
		c.Close()
	}
	// A target that a wider policy accepted is judged again, before anything is dialled.
	narrow := newClient(t, Rules{AllowHTTP: true})
	if got := narrow.Do(context.Background(), req); got.Failure != AddressBlocked || !strings.Contains(got.Detail, keyAllowPrivate) {
		t.Errorf("%+v", got)
	}
	closed := newClient(t, Rules{Dev: true})
	closed.Close()
	if got := closed.Do(context.Background(), req); !got.Interrupted || got.Failure != None {
		t.Errorf("closed: %+v", got)
	}
	if n := r.accepted.Load(); n != 0 {
		t.Errorf("%d connections", n)
	}
}

// CloseIdle ends what is idle; the next request opens a connection.
func TestFailureNames(t *testing.T) {
	for f, want := range map[Failure]string{
		None: "", Timeout: "timeout", TLSFailed: "tls_failed", ConnectionFailed: "connection_failed",
		AddressBlocked: "address_blocked", HostNotAllowed: "host_not_allowed",
	} {
		if f.String() != want {
			t.Errorf("%d: %q, want %q", f, f, want)
		}
	}
}

// Close waits for a request in flight, which ends by its own time.
func TestCloseWaits(t *testing.T) {
	arrived := make(chan struct{})
	r := serve(t, func(r *receiver, conn net.Conn) {
		in := bufio.NewReader(conn)
		_, _ = r.readRequest(in)
		close(arrived)
		_, _ = io.Copy(io.Discard, in)
	})
	c := newClient(t, Rules{Dev: true})
	start := time.Now()
	done := make(chan Result, 1)
	go func() { done <- post(t, c, "http://"+r.addr, shortTime) }()
	<-arrived
	c.Close()
	if took := time.Since(start); took < shortTime {
		t.Errorf("Close returned after %v", took)
	}
	if got := <-done; got.Failure != Timeout {
		t.Errorf("%+v", got)
	}
}

// A connection that is being opened when its caller goes is cut by Close, long before its time is over.
func TestCloseCutsDials(t *testing.T) {
	arrived, cut := make(chan struct{}), make(chan struct{})
	r := serve(t, func(_ *receiver, conn net.Conn) {
		close(arrived)
		_, _ = io.Copy(io.Discard, conn) // a handshake that never ends
		close(cut)
	})
	c := newClient(t, Rules{Dev: true})
	ctx, cancel := context.WithCancel(context.Background())
	go func() { <-arrived; cancel() }()
	start := time.Now()
	got := c.Do(ctx, &Request{Target: target(t, c, "https://"+r.addr), Body: []byte("{}"), Timeout: longTime})
	if !got.Interrupted {
		t.Errorf("%+v", got)
	}
	c.Close()
	<-cut
	if took := time.Since(start); took > longTime/2 {
		t.Errorf("the dial was cut after %v", took)
	}
}
