package egress

import (
	"bufio"
	"compress/gzip"
	"context"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

const (
	longTime  = 10 * time.Second       // never reached
	shortTime = 150 * time.Millisecond // waited for
)

// floodWith writes text over and over after the first request, until the connection is closed.
func floodWith(head, text string) func(*receiver, net.Conn) {
	return func(r *receiver, conn net.Conn) {
		if _, err := r.readRequest(bufio.NewReader(conn)); err != nil {
			return
		}
		_, err := io.WriteString(conn, head)
		for err == nil {
			_, err = io.WriteString(conn, text)
		}
	}
}

func TestHostileReceivers(t *testing.T) {
	const noResponse, broken = "connection closed before the response", "the response is broken, too large in its headers, or cut"
	for _, c := range []struct {
		name    string
		handle  func(*receiver, net.Conn)
		timeout time.Duration
		status  int
		failure Failure
		detail  string
	}{
		{"hangs", answerAndHold(""), shortTime, 0, Timeout, "no response in time"},
		{"hangs in the headers", answerAndHold("HTTP/1.1 200 OK\r\nX-A: b\r\n"), shortTime, 0, Timeout, "response headers not complete in time"},
		{"endless headers", floodWith("HTTP/1.1 200 OK\r\n", "X-A: "+strings.Repeat("b", 1000)+"\r\n"), longTime, 0, ConnectionFailed, broken},
		{"one endless header", floodWith("HTTP/1.1 200 OK\r\nX-A: ", strings.Repeat("b", 1000)), longTime, 0, ConnectionFailed, broken},
		{"50 KiB of headers", answerAll("HTTP/1.1 200 OK\r\nX-A: " + strings.Repeat("b", 50<<10) + "\r\nContent-Length: 0\r\n\r\n"), longTime, 200, None, ""},
		{"70 KiB of headers", answerAll("HTTP/1.1 200 OK\r\nX-A: " + strings.Repeat("b", 70<<10) + "\r\nContent-Length: 0\r\n\r\n"), longTime, 0, ConnectionFailed, broken},
		{"endless 1xx", floodWith("", "HTTP/1.1 103 Early Hints\r\n\r\n"), longTime, 0, ConnectionFailed, broken},
		{"three 100 then 200", answerAll(strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", 3) + "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), longTime, 200, None, ""},
		{"101", answerAndHold("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\nbytes"), longTime, 101, None, ""},
		{"101 without upgrade", answerAndHold("HTTP/1.1 101 Switching Protocols\r\n\r\n"), longTime, 101, None, ""},
		{"closes at once", func(_ *receiver, conn net.Conn) {}, longTime, 0, ConnectionFailed, "*"},
		{"closes after the request", answerOnce(""), longTime, 0, ConnectionFailed, noResponse},
		{"resets", func(r *receiver, conn net.Conn) {
			_, _ = r.readRequest(bufio.NewReader(conn))
			_ = conn.(*net.TCPConn).SetLinger(0)
		}, longTime, 0, ConnectionFailed, "connection reset"},
		{"closes in the status line", answerOnce("HTTP/1.1 2"), longTime, 0, ConnectionFailed, broken},
		{"closes in the headers", answerOnce("HTTP/1.1 200 OK\r\nX-"), longTime, 0, ConnectionFailed, broken},
		{"ssh", answerOnce("SSH-2.0-OpenSSH_9.6\r\n"), longTime, 0, ConnectionFailed, broken},
		{"binary", answerOnce("\x00\x16\x03\x01\xff\xfe\r\n\r\n"), longTime, 0, ConnectionFailed, broken},

		{"999", answerOnce("HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n"), longTime, 999, None, ""},
		{"000", answerOnce("HTTP/1.1 000 Odd\r\nContent-Length: 0\r\n\r\n"), longTime, 0, ConnectionFailed, "the response has no valid status"},
		{"099", answerOnce("HTTP/1.1 099 Odd\r\nContent-Length: 0\r\n\r\n"), longTime, 0, ConnectionFailed, "the response has no valid status"},
		{"no reason", answerOnce("HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n"), longTime, 200, None, ""},
		{"HTTP/0.9", answerOnce("HTTP/0.9 200 OK\r\n\r\n"), longTime, 200, None, ""},
		{"HTTP/1.0", answerOnce("HTTP/1.0 200 OK\r\n\r\nbody"), longTime, 200, None, ""},
		{"ICY", answerOnce("ICY 200 OK\r\n\r\n"), longTime, 0, ConnectionFailed, broken},
		{"20x", answerOnce("HTTP/1.1 20x\r\n\r\n"), longTime, 0, ConnectionFailed, broken},
		{"header without colon", answerOnce("HTTP/1.1 200 OK\r\nnocolon\r\n\r\n"), longTime, 0, ConnectionFailed, broken},
		{"negative length", answerOnce("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n"), longTime, 0, ConnectionFailed, broken},
		{"204 with a body", answerAndHold("HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nbytes"), longTime, 204, None, ""},

		{"endless body", floodWith("HTTP/1.1 200 OK\r\n\r\n", strings.Repeat("b", 1000)), longTime, 200, None, ""},
		{"body never comes", answerAndHold("HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n"), longTime, 200, None, ""},
		{"body cut short", answerOnce("HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nbytes"), longTime, 200, None, ""},
		{"huge length", answerAndHold("HTTP/1.1 200 OK\r\nContent-Length: 4294967296\r\n\r\nbytes"), longTime, 200, None, ""},
		{"broken chunks", answerOnce("HTTP/1.1 500 Oops\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"), longTime, 500, None, ""},
		{"1 MiB page", answerOnce("HTTP/1.1 500 Oops\r\nContent-Length: 1048576\r\n\r\n" + strings.Repeat("b", 1<<20)), longTime, 500, None, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel() // bodies that never come hold the end of each test for a second
			r := serve(t, c.handle)
			got := post(t, newClient(t, Rules{Dev: true}), "http://"+r.addr+"/hook/TOKEN", c.timeout)
			if got.Status != c.status || got.Failure != c.failure || got.Detail != c.detail && c.detail != "*" || got.Stale || got.Interrupted {
				t.Errorf("%+v, want %d %q %q", got, c.status, c.failure, c.detail)
			}
			if got.Duration <= 0 || got.Duration >= c.timeout+3*time.Second {
				t.Errorf("took %v", got.Duration)
			}
			if n := r.accepted.Load(); n != 1 {
				t.Errorf("%d connections", n)
			}
		})
	}
}

// The connection of a 101 is closed by hookd, with no byte of the other protocol sent or awaited.
func TestProtocolSwitchIsClosed(t *testing.T) {
	closed := make(chan error, 1)
	r := serve(t, func(r *receiver, conn net.Conn) {
		in := bufio.NewReader(conn)
		_, _ = r.readRequest(in)
		_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n")
		n, err := io.Copy(io.Discard, in)
		if n > 0 {
			t.Errorf("%d bytes after the request", n)
		}
		closed <- err
	})
	c := newClient(t, Rules{Dev: true})
	if got := post(t, c, "http://"+r.addr, longTime); got.Status != 101 {
		t.Fatalf("%+v", got)
	}
	<-closed // the test hangs where the connection stays open
}

// A receiver whose body drips or never ends delays neither the answer nor the next request, and loses its connection.
func TestDrippingBodyDelaysNothing(t *testing.T) {
	closed := make(chan struct{}, 10)
	r := serve(t, func(r *receiver, conn net.Conn) {
		in := bufio.NewReader(conn)
		_, _ = r.readRequest(in)
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n")
		_, _ = io.Copy(io.Discard, in) // until hookd gives it up
		closed <- struct{}{}
	})
	c := newClient(t, Rules{Dev: true})
	start := time.Now()
	for range 5 {
		if got := post(t, c, "http://"+r.addr, longTime); got.Status != 200 {
			t.Fatalf("%+v", got)
		}
	}
	if took := time.Since(start); took > drainTime/2 {
		t.Errorf("five requests took %v", took)
	}
	c.Close() // waits for the drains
	for range 5 {
		<-closed
	}
	if took := time.Since(start); took < drainTime || took > drainTime+3*time.Second {
		t.Errorf("the bodies were given up after %v", took)
	}
}

// A compressed body is neither asked for nor inflated: the bound counts bytes of the wire.
func TestGzipBombIsNotInflated(t *testing.T) {
	var bomb strings.Builder
	w := gzip.NewWriter(&bomb)
	zeros := make([]byte, 1<<20)
	for range 50 {
		if _, err := w.Write(zeros); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if bomb.Len() > drainBytes {
		t.Fatalf("the bomb has %d bytes", bomb.Len())
	}
	encodings := make(chan []string, 2)
	r := serve(t, func(r *receiver, conn net.Conn) {
		in := bufio.NewReader(conn)
		for {
			req, err := r.readRequest(in)
			if err != nil {
				return
			}
			encodings <- req.Header["Accept-Encoding"]
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n")
			chunks := io.MultiReader(strings.NewReader(chunk(bomb.String())), strings.NewReader("0\r\n\r\n"))
			_, _ = io.Copy(conn, chunks)
		}
	})
	c := newClient(t, Rules{Dev: true})
	if got := post(t, c, "http://"+r.addr, longTime); got.Status != 200 {
		t.Fatalf("%+v", got)
	}
	if asked := <-encodings; asked != nil {
		t.Errorf("Accept-Encoding %q", asked)
	}
	c.pools.close() // the drain has ended: 50 kB are within its bound, 50 MB are not
	if p := c.pools.origins["http://"+r.addr]; p.idle != 1 {
		t.Errorf("the connection was not kept: the body was inflated")
	}
}

func chunk(s string) string {
	const hex = "0123456789abcdef"
	n, size := len(s), ""
	for ; n > 0; n /= 16 {
		size = string(hex[n%16]) + size
	}
	return size + "\r\n" + s + "\r\n"
}

// Whatever the other side does before a request, it cannot make hookd spend more than the time of the request.
func TestHostileHandshakes(t *testing.T) {
	for _, c := range []struct {
		name    string
		handle  func(*receiver, net.Conn)
		timeout time.Duration
		failure Failure
		detail  string
	}{
		{"hangs", func(_ *receiver, conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }, shortTime, Timeout, "no connection in time"},
		{"plain HTTP", func(_ *receiver, conn net.Conn) {
			_, _ = io.WriteString(conn, "HTTP/1.1 400 Bad Request\r\n\r\n")
			_, _ = io.Copy(io.Discard, conn)
		}, longTime, TLSFailed, "tls: the answer is not TLS"},
		{"half a record", func(_ *receiver, conn net.Conn) {
			_, _ = conn.Read(make([]byte, 1024))
			_, _ = io.WriteString(conn, "\x16\x03\x03\x40")
		}, longTime, TLSFailed, "tls: the connection ended in the handshake"},
		{"closes", func(_ *receiver, conn net.Conn) {
			_, _ = conn.Read(make([]byte, 1024))
		}, longTime, TLSFailed, "tls: the connection ended in the handshake"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := serve(t, c.handle)
			got := post(t, newClient(t, Rules{Dev: true}), "https://"+r.addr+"/hook/TOKEN", c.timeout)
			if got.Failure != c.failure || got.Detail != c.detail || got.Status != 0 || got.Stale {
				t.Errorf("%+v, want %s %q", got, c.failure, c.detail)
			}
		})
	}
}

func TestTimeoutOfZero(t *testing.T) {
	r := serve(t, answerAll(noContent))
	c := newClient(t, Rules{Dev: true})
	got := c.Do(context.Background(), &Request{Target: target(t, c, "http://"+r.addr), Body: []byte("{}")})
	if got.Failure != Timeout || r.requests.Load() != 0 {
		t.Errorf("%+v, %d requests", got, r.requests.Load())
	}
}
