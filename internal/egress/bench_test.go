package egress

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"testing"
	"time"
)

// The two benchmarks differ by what this package adds to the HTTP library: compare their times and allocations.

func benchHeader() http.Header {
	return http.Header{
		"Content-Type": {"application/json"}, "User-Agent": {"hookd/test"},
		"webhook-id": {"evt_1"}, "webhook-timestamp": {"1700000000"}, "webhook-signature": {"v1,c2lnbmF0dXJl"},
		"idempotency-key": {"evt_1"}, "hookd-attempt": {"1"},
	}
}

func benchAnswers(b *testing.B, run func(b *testing.B, url string)) {
	for _, answer := range []struct{ name, text string }{
		{"empty", "HTTP/1.1 204 No Content\r\n\r\n"},
		{"body", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"},
	} {
		b.Run(answer.name, func(b *testing.B) {
			r := serve(b, answerAll(answer.text))
			run(b, "http://"+r.addr+"/hook")
		})
	}
}

func BenchmarkDo(b *testing.B) {
	benchAnswers(b, func(b *testing.B, url string) {
		c := newClient(b, Rules{Dev: true})
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		req := &Request{Target: target(b, c, url), Header: benchHeader(), Body: bytes.Repeat([]byte("x"), 512), Timeout: 15 * time.Second}
		b.ReportAllocs()
		for b.Loop() {
			if got := c.Do(ctx, req); got.Status/100 != 2 {
				b.Fatalf("%+v", got)
			}
		}
	})
}

func BenchmarkBareRoundTrip(b *testing.B) {
	benchAnswers(b, func(b *testing.B, url string) {
		transport := &http.Transport{DisableCompression: true}
		b.Cleanup(transport.CloseIdleConnections)
		header, body := benchHeader(), bytes.Repeat([]byte("x"), 512)
		b.ReportAllocs()
		for b.Loop() {
			ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
			if err != nil {
				b.Fatal(err)
			}
			req.Header = header
			resp, err := transport.RoundTrip(req)
			if err != nil {
				b.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
			cancel()
		}
	})
}

// BenchmarkOwnShare measures what Do does around RoundTrip, without the network's noise.
func BenchmarkOwnShare(b *testing.B) {
	c := newClient(b, Rules{Dev: true})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	req := &Request{
		Target: target(b, c, "http://127.0.0.1:1/hook"), Header: benchHeader(), Body: make([]byte, 512), Timeout: 15 * time.Second,
	}
	b.ReportAllocs()
	for b.Loop() {
		t, _ := c.policy.again(req.Target)
		a, actx := newAttempt(ctx, req, time.Now())
		p, _ := c.pools.enter(actx, t.origin, false)
		_ = a.request(actx, t)
		a.sent.Store(true)
		a.finish()
		c.pools.leave(p, a.misled(), true)
		a.leave(true)
	}
}
