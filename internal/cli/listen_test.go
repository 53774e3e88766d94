package cli

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"hookd/internal/control"
	"hookd/internal/receiver"
	"hookd/internal/signing"
)

// sender is a daemon that makes leased subscriptions and sends what a test says to their URL.
type sender struct {
	*fake
	url     chan string   // the URL of the subscription, once its lease is held
	release chan struct{} // ends every lease stream
	created control.CreateSubscription

	mu       sync.Mutex
	statuses []int
}

func newSender(t *testing.T) *sender {
	t.Helper()
	s := &sender{url: make(chan string, 1), release: make(chan struct{})}
	url := ""
	s.fake = serve(t, map[string]http.HandlerFunc{
		"POST /v1/subscriptions": func(w http.ResponseWriter, r *http.Request) {
			if p := control.ReadRequest(r.Body, &s.created); p != nil {
				control.WriteProblem(w, p)
				return
			}
			url = s.created.URL
			made := healthySub
			made.Name, made.URL, made.Secret = s.created.Name, url, testSecret
			control.WriteJSON(w, http.StatusCreated, made)
		},
		"GET /v1/subscriptions/{ref}/lease": func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, "\n")
			_ = http.NewResponseController(w).Flush()
			select {
			case s.url <- url:
			case <-r.Context().Done():
			}
			select {
			case <-r.Context().Done():
			case <-s.release:
			}
		},
		"DELETE /v1/subscriptions/{ref}": noContent,
	})
	return s
}

// post sends a delivery, signed with a secret, and keeps the status of the answer.
func (s *sender) post(t *testing.T, url, id string, attempt int, body, secret string) {
	key, err := signing.ParseSecret(secret)
	if err != nil {
		t.Error(err)
		return
	}
	req, err := http.NewRequestWithContext(context.WithoutCancel(t.Context()), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return
	}
	now := testNow.Unix() // the clock of listen in these tests
	req.Header["webhook-id"] = []string{id}
	req.Header["webhook-timestamp"] = []string{strconv.FormatInt(now, 10)}
	req.Header["webhook-signature"] = []string{string(signing.NewSigner(key).Sign(nil, id, now, []byte(body)))}
	req.Header["hookd-attempt"] = []string{strconv.Itoa(attempt)}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		return // the listener ended meanwhile
	}
	resp.Body.Close()
	s.mu.Lock()
	s.statuses = append(s.statuses, resp.StatusCode)
	s.mu.Unlock()
}

const otherSecret = "whsec_T1RIRVItb3RoZXItT1RIRVItb3RoZXItT1RIRVItMDE="

func TestListen(t *testing.T) {
	const body = `{"id":"e","type":"order.paid","n":9007199254740993}`
	tests := []struct {
		name     string
		args     string
		secrets  []string // of the deliveries that come, one after another
		code     int
		lines    int
		statuses []int
	}{
		{"enough", "--count 2", []string{testSecret, testSecret, testSecret}, 0, 2, []int{204, 204}},
		{"fails first", "--count 3 --fail 2 --status 503", []string{testSecret, testSecret, testSecret}, 0, 3, []int{503, 503, 204}},
		{"fails always", "--count 2 --status 410", []string{testSecret, testSecret}, 0, 2, []int{410, 410}},
		{"default failure", "--count 1 --fail 1", []string{testSecret}, 0, 1, []int{500}},
		{"not verified", "--count 2", []string{testSecret, otherSecret, testSecret}, control.ExitNotVerified, 2, []int{204, 401}},
		{"time is up", "--count 2 --within 1s", []string{testSecret}, control.ExitTimedOut, 1, []int{204}},
		{"not verified without a count goes on", "--within 1s", []string{otherSecret, testSecret}, control.ExitTimedOut, 2, []int{401, 204}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			var sending sync.WaitGroup
			sending.Go(func() {
				url := <-s.url
				for i, secret := range tt.secrets {
					if i < len(tt.statuses) { // what comes after the end is not answered
						s.post(t, url, "evt-"+strconv.Itoa(i), i+1, body, secret)
					}
				}
			})
			r := s.run(pipe, append([]string{"listen", "--type", "order.*", "--sub", "here"}, strings.Fields(tt.args)...)...)
			sending.Wait()
			if r.code != tt.code {
				t.Errorf("exit %d, want %d: %s", r.code, tt.code, r.stderr)
			}
			lines := strings.Split(strings.TrimRight(r.stdout, "\n"), "\n")
			if len(lines) != tt.lines {
				t.Fatalf("%d lines, want %d:\n%s", len(lines), tt.lines, r.stdout)
			}
			for i, line := range lines {
				var d receiver.Delivery
				if err := json.Unmarshal([]byte(line), &d); err != nil {
					t.Fatal(err)
				}
				want := tt.secrets[i] == testSecret
				if d.Verified != want || (d.Problem == "") != want || d.Attempt != i+1 || d.Status != tt.statuses[i] || d.Body != body || d.Type != "order.paid" {
					t.Errorf("line %d: %+v", i, d)
				}
			}
			for i, status := range s.statuses {
				if status != tt.statuses[i] {
					t.Errorf("delivery %d was answered %d, want %d", i, status, tt.statuses[i])
				}
			}
			if !s.created.Lease || s.created.Name != "here" || s.created.Types[0] != "order.*" || !strings.HasPrefix(s.created.URL, "http://127.0.0.1:") {
				t.Errorf("created %+v", s.created)
			}
			if !did(s.fake, "DELETE /v1/subscriptions/"+healthySub.ID) {
				t.Error("the subscription was not removed")
			}
		})
	}
}

func TestListenInterrupted(t *testing.T) {
	s := newSender(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		<-s.url
		cancel(errInterrupted)
	}()
	r := runIn(ctx, pipe, "listen", "--socket", s.socket)
	if r.code != control.ExitInterrupted || r.stdout != "" {
		t.Errorf("exit %d, %q", r.code, r.stdout)
	}
	if !did(s.fake, "DELETE /v1/subscriptions/"+healthySub.ID) {
		t.Error("the subscription was not removed")
	}
	if !strings.HasPrefix(s.created.Name, "listen-") {
		t.Errorf("name %q", s.created.Name)
	}
}

func TestListenOnATerminal(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	var sending sync.WaitGroup
	sending.Go(func() {
		url := <-s.url
		s.post(t, url, "evt-1", 1, "{\"type\":\"a.b\",\"evil\":\"\u202e\"}", testSecret)
		s.post(t, url, "evt-2", 2, "\x1b[2Jplain", otherSecret)
	})
	r := s.run(terminal, "listen", "--within", "1s")
	sending.Wait()
	want := "evt-1  a.b  attempt 1  verified  answered 204\n" +
		"  {\n    \"type\": \"a.b\",\n    \"evil\": \"\\u202e\"\n  }\n" +
		"evt-2  -  attempt 2  not verified: signature_mismatch: "
	if !strings.HasPrefix(r.stdout, want) || !strings.HasSuffix(r.stdout, "  answered 401\n  \\x1b[2Jplain\n") {
		t.Errorf("got\n%s", r.stdout)
	}
}

func TestListenRefused(t *testing.T) {
	problem := control.NewProblem(control.CodeAddressBlocked, "127.0.0.1 is a loopback address").WithHint("run hookd with --dev")
	f := serve(t, map[string]http.HandlerFunc{"POST /v1/subscriptions": refuse(problem)})
	r := f.run(pipe, "listen")
	if r.code != control.ExitRefused || !strings.Contains(r.stderr, "loopback address\nhookctl: hint: run hookd with --dev") {
		t.Errorf("exit %d, %q", r.code, r.stderr)
	}
}

func TestListenTakesTheLeaseUpAgain(t *testing.T) {
	s := newSender(t)
	var sending sync.WaitGroup
	sending.Go(func() {
		<-s.url
		close(s.release) // every stream ends at once from here on
		url := <-s.url   // and was opened again
		s.post(t, url, "evt-1", 1, `{}`, testSecret)
	})
	r := s.run(pipe, "listen", "--count", "1")
	sending.Wait()
	if r.code != 0 {
		t.Errorf("exit %d, %s", r.code, r.stderr)
	}
}

func TestListenEndsWithItsSubscription(t *testing.T) {
	made := healthySub
	made.Secret = testSecret
	f := serve(t, map[string]http.HandlerFunc{
		"POST /v1/subscriptions":            answer(made),
		"GET /v1/subscriptions/{ref}/lease": refuse(control.NewProblem(control.CodeNotFound, "no subscription \"orders\"")),
		"DELETE /v1/subscriptions/{ref}":    refuse(control.NewProblem(control.CodeNotFound, "no subscription \"orders\"")),
	})
	start := time.Now()
	r := f.run(pipe, "listen")
	if r.code != control.ExitNotFound || time.Since(start) > 5*time.Second {
		t.Errorf("exit %d after %s, %s", r.code, time.Since(start), r.stderr)
	}
}
