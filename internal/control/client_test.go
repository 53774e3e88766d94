package control

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// serve runs a handler on a unix socket and returns a client for it.
func serve(t *testing.T, h http.Handler) *Client {
	t.Helper()
	dir, err := os.MkdirTemp("", "h")
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(h)
	s.Listener.Close()
	s.Listener = l
	s.Start()
	c := NewClient(filepath.Join(dir, "s"))
	t.Cleanup(func() {
		c.Close()
		s.Close()
		os.RemoveAll(dir)
	})
	return c
}

func TestClientRequests(t *testing.T) {
	type seen struct{ method, uri, body string }
	var got seen
	c := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		got = seen{r.Method, r.RequestURI, string(raw)}
		if r.Host != "hookd" || r.Header.Get("Origin") != "" || r.Header.Get("Referer") != "" {
			t.Errorf("Host %q, Origin %q, Referer %q", r.Host, r.Header.Get("Origin"), r.Header.Get("Referer"))
		}
		if r.Method == http.MethodDelete {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		WriteJSON(w, http.StatusOK, struct{}{})
	}))
	overlap := Seconds(0)
	tests := []struct {
		name string
		call func(ctx context.Context) error
		want seen
	}{
		{"status", func(ctx context.Context) error { _, err := c.Status(ctx); return err }, seen{"GET", "/v1/status", ""}},
		{"version", func(ctx context.Context) error { _, err := c.Version(ctx); return err }, seen{"GET", "/v1/version", ""}},
		{
			"create", func(ctx context.Context) error {
				_, err := c.CreateSubscription(ctx, CreateSubscription{URL: "https://example.com/?a=1&b", Types: []string{"a.*"}})
				return err
			},
			seen{"POST", "/v1/subscriptions", `{"url":"https://example.com/?a=1&b","types":["a.*"]}` + "\n"},
		},
		{
			"list", func(ctx context.Context) error {
				_, err := c.Subscriptions(ctx, Filter{State: "paused", Limit: 3})
				return err
			},
			seen{"GET", "/v1/subscriptions?limit=3&state=paused", ""},
		},
		{
			"show", func(ctx context.Context) error { _, err := c.Subscription(ctx, "a/b?"); return err },
			seen{"GET", "/v1/subscriptions/a%2Fb%3F", ""},
		},
		{
			"pause", func(ctx context.Context) error { _, err := c.ChangeSubscription(ctx, "s", ActionPause); return err },
			seen{"POST", "/v1/subscriptions/s/pause", ""},
		},
		{"delete", func(ctx context.Context) error { return c.DeleteSubscription(ctx, "s") }, seen{"DELETE", "/v1/subscriptions/s", ""}},
		{
			"rotate", func(ctx context.Context) error {
				_, err := c.RotateSecret(ctx, "s", RotateSecret{OverlapS: &overlap})
				return err
			},
			seen{"POST", "/v1/subscriptions/s/secret/rotate", `{"overlap_s":0}` + "\n"},
		},
		{
			"event", func(ctx context.Context) error { _, err := c.Event(ctx, "id:7"); return err },
			seen{"GET", "/v1/events/id:7", ""},
		},
		{
			"delivery", func(ctx context.Context) error { _, err := c.Delivery(ctx, "s", 42); return err },
			seen{"GET", "/v1/deliveries/s/42", ""},
		},
		{
			"replay", func(ctx context.Context) error {
				_, err := c.ReplayDeadLetters(ctx, ReplayDeadLetters{IDs: []int64{1, 2}})
				return err
			},
			seen{"POST", "/v1/dead-letters/replay", `{"ids":[1,2]}` + "\n"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := tt.call(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got != tt.want {
				t.Errorf("sent %+v, want %+v", got, tt.want)
			}
		})
	}
	for _, ref := range []string{"", ".", ".."} {
		if _, err := c.Subscription(t.Context(), ref); err == nil {
			t.Errorf("reference %q was sent", ref)
		}
	}
}

func TestClientErrors(t *testing.T) {
	answers := map[string]func(w http.ResponseWriter, r *http.Request){
		"/v1/subscriptions/problem": func(w http.ResponseWriter, _ *http.Request) {
			WriteProblem(w, NewProblem(CodeNotFound, "no subscription \"problem\""))
		},
		"/v1/subscriptions/redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/v1/status", http.StatusFound)
		},
		"/v1/subscriptions/foreign": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "welcome")
		},
		"/v1/subscriptions/broken": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	}
	c := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { answers[r.URL.Path](w, r) }))
	tests := []struct {
		ref  string
		exit int
	}{{"problem", ExitNotFound}, {"redirect", ExitFailed}, {"foreign", ExitFailed}}
	for _, tt := range tests {
		_, err := c.Subscription(t.Context(), tt.ref)
		var p *Problem
		if !errors.As(err, &p) || p.ExitCode != tt.exit {
			t.Errorf("%s: got %v", tt.ref, err)
		}
	}
	var gone *UnreachableError
	if _, err := c.Subscription(t.Context(), "broken"); !errors.As(err, &gone) {
		t.Errorf("broken: got %v", err)
	}

	nobody := NewClient(filepath.Join(os.TempDir(), "h-nobody-listens-here"))
	defer nobody.Close()
	if _, err := nobody.Status(t.Context()); !errors.As(err, &gone) || gone.Socket != nobody.Socket() {
		t.Errorf("nobody: got %v", err)
	}
}

func TestClientCancelled(t *testing.T) {
	entered := make(chan struct{})
	c := serve(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(entered)
		<-r.Context().Done()
	}))
	reason := errors.New("the user went home")
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		<-entered
		cancel(reason)
	}()
	if _, err := c.Status(ctx); !errors.Is(err, reason) {
		t.Errorf("got %v", err)
	}
}

func TestWaitAsksAgain(t *testing.T) {
	var asked []Seconds
	c := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in WaitRequest
		if p := ReadRequest(r.Body, &in); p != nil {
			WriteProblem(w, p)
			return
		}
		asked = append(asked, in.TimeoutS)
		WriteJSON(w, http.StatusOK, WaitAnswer{Done: len(asked) == 3, Detail: "d"})
	}))
	answer, err := c.Wait(t.Context(), WaitRequest{Idle: true}, -1)
	if err != nil || !answer.Done || len(asked) != 3 || asked[0] != SecondsOf(MaxWaitRequest) {
		t.Errorf("answer %+v, %v, asked %v", answer, err, asked)
	}
	asked = nil
	answer, err = c.Wait(t.Context(), WaitRequest{Idle: true}, 0)
	if err != nil || answer.Done || len(asked) != 1 || asked[0] != 0 {
		t.Errorf("one look: answer %+v, %v, asked %v", answer, err, asked)
	}
	asked = nil
	answer, err = c.Wait(t.Context(), WaitRequest{Idle: true}, time.Millisecond)
	if err != nil || answer.Done || len(asked) == 0 || len(asked) > 2 {
		t.Errorf("short: answer %+v, %v, asked %v", answer, err, asked)
	}
}

func TestHoldLease(t *testing.T) {
	opened, finish := make(chan struct{}), make(chan struct{})
	c := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/subscriptions/gone/lease" {
			WriteProblem(w, NewProblem(CodeNotFound, "no subscription \"gone\""))
			return
		}
		_, _ = io.WriteString(w, "\n")
		_ = http.NewResponseController(w).Flush()
		opened <- struct{}{}
		select {
		case <-finish:
		case <-r.Context().Done():
		}
	}))
	var p *Problem
	if err := c.HoldLease(t.Context(), "gone"); !errors.As(err, &p) || p.Code != CodeNotFound {
		t.Errorf("gone: got %v", err)
	}

	ended := make(chan error, 1)
	go func() { ended <- c.HoldLease(t.Context(), "s") }()
	<-opened
	close(finish)
	var gone *UnreachableError
	if err := <-ended; !errors.As(err, &gone) {
		t.Errorf("daemon ended it: got %v", err)
	}

	finish = make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	go func() { ended <- c.HoldLease(ctx, "s") }()
	<-opened
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: got %v", err)
	}
}

func TestNewerMembersAreIgnored(t *testing.T) {
	c := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		WriteJSON(w, http.StatusOK, json.RawMessage(`{"version":"9","brand_new":[1]}`))
	}))
	s, err := c.Status(t.Context())
	if err != nil || s.Version != "9" {
		t.Errorf("got %+v, %v", s, err)
	}
}
