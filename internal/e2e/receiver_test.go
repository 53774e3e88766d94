package e2e

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// request is one delivery attempt as a receiver saw it.
type request struct {
	ID, Timestamp, Signature string
	Attempt                  int
	Seq                      int64
	Header                   http.Header
	Body                     []byte
	At                       time.Time
	Status                   int // what it was answered
}

// receiver is an HTTP server on loopback that keeps what it gets, in order.
type receiver struct {
	t   *testing.T
	url string

	mu       sync.Mutex
	requests []request
	came     chan struct{} // closed and made anew at each request
}

// newReceiver answers with what answer says; nil says 204.
func newReceiver(t *testing.T, answer func(http.ResponseWriter, request) int) *receiver {
	t.Helper()
	r := &receiver{t: t, came: make(chan struct{})}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, err := io.ReadAll(q.Body)
		if err != nil {
			return // the sender was killed in the middle of the request
		}
		got := request{
			ID: q.Header.Get("webhook-id"), Timestamp: q.Header.Get("webhook-timestamp"),
			Signature: q.Header.Get("webhook-signature"), Header: q.Header, Body: body, At: time.Now(),
		}
		got.Attempt, _ = strconv.Atoi(q.Header.Get("hookd-attempt"))
		var envelope struct{ Seq int64 }
		if err := json.Unmarshal(body, &envelope); err != nil {
			t.Errorf("body is not JSON: %v", err)
		}
		got.Seq = envelope.Seq
		got.Status = http.StatusNoContent
		if answer != nil {
			got.Status = answer(w, got)
		}
		r.keep(got)
		if got.Status != 0 {
			w.WriteHeader(got.Status)
		}
	}))
	t.Cleanup(server.Close)
	r.url = server.URL + "/hook"
	return r
}

func (r *receiver) keep(q request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests = append(r.requests, q)
	close(r.came)
	r.came = make(chan struct{})
}

// got returns what came so far.
func (r *receiver) got() []request {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]request(nil), r.requests...)
}

// await returns what came as soon as enough says so.
func (r *receiver) await(what string, enough func([]request) bool) []request {
	r.t.Helper()
	deadline := time.After(patience)
	for {
		r.mu.Lock()
		came, all := r.came, append([]request(nil), r.requests...)
		r.mu.Unlock()
		if enough(all) {
			return all
		}
		select {
		case <-came:
		case <-deadline:
			r.t.Fatalf("%s: %d requests came", what, len(all))
		}
	}
}

// accepted returns the ids that were answered with a 2xx, each once, in the order of their first such answer, and how
// many were answered so more than once.
func accepted(all []request) (ids []string, repeats int) {
	seen := map[string]bool{}
	for _, q := range all {
		switch {
		case q.Status < 200 || q.Status > 299:
		case seen[q.ID]:
			repeats++
		default:
			seen[q.ID] = true
			ids = append(ids, q.ID)
		}
	}
	return ids, repeats
}

// signedBy reports how many of the signatures of a request are those of secret, over the bytes that came. It is
// written from the standard's text, not from hookd's code.
func signedBy(secret string, q request) int {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		return 0
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(q.ID + "." + q.Timestamp + "."))
	mac.Write(q.Body)
	want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	n := 0
	for entry := range strings.SplitSeq(q.Signature, " ") {
		if entry == want {
			n++
		}
	}
	return n
}
