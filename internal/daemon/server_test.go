package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"hookd/internal/control"
	"hookd/internal/delivery"
	"hookd/internal/egress"
	"hookd/internal/store"
)

func TestBadRequests(t *testing.T) {
	f := start(t)
	f.create(control.CreateSubscription{Name: "crm"})
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	for name, tt := range map[string]struct {
		method, path, body string
		change             func(*http.Request)
		code               control.Code
		pointer            string
	}{
		"origin":          {"GET", "/v1/status", "", header("Origin", "https://evil.example"), control.CodeForeignRequest, ""},
		"empty origin":    {"GET", "/v1/status", "", header("Origin", ""), control.CodeForeignRequest, ""},
		"referer":         {"POST", "/v1/subscriptions", "{}", header("Referer", "x"), control.CodeForeignRequest, ""},
		"host":            {"GET", "/v1/status", "", func(r *http.Request) { r.Host = "localhost" }, control.CodeForeignRequest, ""},
		"host, no route":  {"GET", "/v9", "", func(r *http.Request) { r.Host = "localhost" }, control.CodeForeignRequest, ""},
		"host, no method": {"PUT", "/v1/status", "", func(r *http.Request) { r.Host = "localhost" }, control.CodeForeignRequest, ""},
		"route":           {"GET", "/v1/nothing", "", nil, control.CodeUnknownRoute, ""},
		"method":          {"DELETE", "/v1/status", "", nil, control.CodeMethodNotAllowed, ""},
		"parameter":       {"GET", "/v1/status?verbose=1", "", nil, control.CodeUnknownMember, "/verbose"},
		"twice":           {"GET", "/v1/events?limit=1&limit=2", "", nil, control.CodeInvalidRequest, "/limit"},
		"limit":           {"GET", "/v1/events?limit=1001", "", nil, control.CodeInvalidRequest, "/limit"},
		"since":           {"GET", "/v1/events?since=now", "", nil, control.CodeInvalidRequest, "/since"},
		"query":           {"GET", "/v1/events?type=%zz", "", nil, control.CodeInvalidRequest, ""},
		"member":          {"POST", "/v1/subscriptions", `{"url":"https://example.com/","colour":"red"}`, nil, control.CodeUnknownMember, "/colour"},
		"inner member":    {"POST", "/v1/subscriptions", `{"types":["a",1]}`, nil, control.CodeInvalidRequest, "/types/1"},
		"no types":        {"POST", "/v1/subscriptions", `{"url":"https://example.com/","types":[]}`, nil, control.CodeInvalidRequest, "/types"},
		"no object":       {"POST", "/v1/subscriptions", `[]`, nil, control.CodeInvalidRequest, ""},
		"repeated":        {"POST", "/v1/subscriptions", `{"name":"a","name":"b"}`, nil, control.CodeInvalidRequest, "/name"},
		"no JSON":         {"POST", "/v1/wait", `{`, nil, control.CodeInvalidRequest, ""},
		"body":            {"POST", "/v1/subscriptions/crm/pause", `{"for":"1h"}`, nil, control.CodeUnknownMember, "/for"},
		"delete body":     {"DELETE", "/v1/subscriptions/crm", `{"force":true}`, nil, control.CodeUnknownMember, "/force"},
		"large":           {"POST", "/v1/subscriptions", `{"name":"` + strings.Repeat("x", control.MaxRequestBytes) + `"}`, nil, control.CodeBodyTooLarge, ""},
	} {
		t.Run(name, func(t *testing.T) {
			status, body, header := f.raw(tt.method, tt.path, tt.body, tt.change)
			var p control.Problem
			if err := json.Unmarshal([]byte(body), &p); err != nil {
				t.Fatalf("%d %s: %v", status, body, err)
			}
			if p.Code != tt.code || p.Pointer != tt.pointer || status != tt.code.HTTPStatus() || p.Status != status ||
				header.Get("Content-Type") != control.ProblemMediaType || p.Detail == "" || p.ExitCode != tt.code.ExitCode() {
				t.Errorf("answer %d %s", status, body)
			}
		})
	}
	if _, _, header := f.raw("PUT", "/v1/subscriptions", "", nil); header.Get("Allow") != "GET, POST" {
		t.Errorf("Allow is %q", header.Get("Allow"))
	}
	if _, err := f.Subscription(t.Context(), "crm"); err != nil {
		t.Errorf("after all that: %v", err)
	}
}

func TestProblemOf(t *testing.T) {
	own := control.NewProblem(control.CodeLimitReached, "full")
	for _, tt := range []struct {
		err  error
		code control.Code
	}{
		{own, control.CodeLimitReached},
		{fmt.Errorf("wrapped: %w", own), control.CodeLimitReached},
		{fmt.Errorf("%w: x", delivery.ErrNotFound), control.CodeNotFound},
		{fmt.Errorf("x: %w", store.ErrNotFound), control.CodeNotFound},
		{fmt.Errorf("%w: x", delivery.ErrAmbiguous), control.CodeAmbiguous},
		{fmt.Errorf("%w: x", delivery.ErrConflict), control.CodeConflict},
		{fmt.Errorf("x: %w: y", delivery.ErrInvalid), control.CodeInvalidRequest},
		{fmt.Errorf("x: %w", store.ErrNameTaken), control.CodeNameTaken},
		{fmt.Errorf("x: %w", store.ErrFull), control.CodeStoreFull},
		{&egress.Refusal{Reason: egress.AddressBlocked, Message: "m", Setting: "s"}, control.CodeAddressBlocked},
		{&egress.Refusal{Reason: egress.HostNotAllowed, Message: "m", Setting: "s"}, control.CodeHostNotAllowed},
		{&egress.Refusal{Reason: egress.HostNotAllowed, Message: "m"}, control.CodeURLInvalid},
		{fmt.Errorf("x: %w", context.Canceled), control.CodeUnavailable},
		{errStopping, control.CodeUnavailable},
		{store.ErrCorrupt, control.CodeInternal},
		{errors.New("secret"), control.CodeInternal},
	} {
		p := problemOf(tt.err)
		if p.Code != tt.code {
			t.Errorf("%v: %s, want %s", tt.err, p.Code, tt.code)
		}
		if strings.Contains(p.Detail, "secret") {
			t.Errorf("%v: the answer is %q", tt.err, p.Detail)
		}
	}
}

func TestPanicIsAnswered(t *testing.T) {
	f := start(t)
	broken := served{api: f.api, route: route{path: "/x", handle: func(*api, *request) (reply, error) { panic("lost") }}}
	recorder := httptest.NewRecorder()
	req, err := http.NewRequestWithContext(t.Context(), "GET", "http://hookd/x", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	broken.ServeHTTP(recorder, req)
	if recorder.Code != 500 || !strings.Contains(recorder.Body.String(), `"code":"internal"`) || strings.Contains(recorder.Body.String(), "lost") {
		t.Errorf("answer %d %s", recorder.Code, recorder.Body)
	}
	if !strings.Contains(f.log.String(), "panic=lost") {
		t.Error("the log does not say it")
	}
}

// The handlers log routes, not what is in a path or a body.
func TestRequestLog(t *testing.T) {
	f := start(t)
	f.create(control.CreateSubscription{Name: "crm"})
	refused(t, second(f.Event(t.Context(), "canary")), control.CodeNotFound, "")
	if log := f.log.String(); !strings.Contains(log, "route=/v1/events/{ref}") || strings.Contains(log, "canary") {
		t.Errorf("log: %s", log)
	}
}

func TestLease(t *testing.T) {
	f := start(t)
	ctx := t.Context()
	f.create(control.CreateSubscription{Name: "stays"})
	refused(t, f.HoldLease(ctx, "stays"), control.CodeConflict, "")
	leased := f.create(control.CreateSubscription{Name: "leased", Lease: true})

	conn, err := new(net.Dialer).DialContext(ctx, "unix", f.socket)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "GET /v1/subscriptions/%s/lease HTTP/1.1\r\nHost: hookd\r\n\r\n", leased.ID)
	head := make([]byte, 256)
	n, err := io.ReadAtLeast(conn, head, len("HTTP/1.1 200 OK\r\n"))
	if err != nil || !strings.HasPrefix(string(head[:n]), "HTTP/1.1 200 OK\r\n") {
		t.Fatalf("the stream begins with %q (%v)", head[:n], err)
	}
	if err := conn.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	f.stop()
	if rest, err := io.ReadAll(conn); err != nil {
		t.Errorf("at the stop the stream does not end in order: %q, %v", rest, err)
	}
	if _, err := f.api.engine.Subscription(ctx, "leased"); err != nil {
		t.Errorf("the stop of the server ended the lease: %v", err)
	}
}

func TestLeaseEndsWithClient(t *testing.T) {
	f := start(t)
	f.create(control.CreateSubscription{Name: "leased", Lease: true})
	ctx, cancel := context.WithCancelCause(t.Context())
	mine := errors.New("done listening")
	cancel(mine)
	if err := f.HoldLease(ctx, "leased"); !errors.Is(err, mine) {
		t.Errorf("error %v", err)
	}
}

// TestCrowd: beyond the bound a connection is told so, and when the others are gone there is room again.
func TestCrowd(t *testing.T) {
	f := start(t)
	var silent []net.Conn
	for range maxConnections {
		conn, err := net.Dial("unix", f.Socket())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		silent = append(silent, conn)
	}
	late := control.NewClient(f.Socket())
	defer late.Close()
	var p *control.Problem
	if _, err := late.Status(t.Context()); !errors.As(err, &p) || p.Code != control.CodeUnavailable || p.Hint == "" {
		t.Errorf("beyond the bound: %v", err)
	}
	for _, conn := range silent {
		conn.Close()
	}
	// The server notices each in its own time; every answer until then is the same refusal.
	for {
		_, err := late.Status(t.Context())
		if err == nil {
			break
		}
		if !errors.As(err, &p) || p.Code != control.CodeUnavailable {
			t.Fatalf("after the crowd has gone: %v", err)
		}
	}
}
