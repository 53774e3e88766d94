package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
)

// TestSignedBytesAreTheSentBytes: an HMAC over what came over TCP equals the header, on every attempt, whatever is in
// the data (SIG-04); the names are lower case on HTTP/1.1 too, each once (SIG-05).
func TestSignedBytesAreTheSentBytes(t *testing.T) {
	t.Parallel()
	url, came := newRawReceiver(t, func(n int) (string, bool) {
		if n == 1 {
			return "HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n", false
		}
		return rawOK, false
	})
	p := newPlace(t, "--dev")
	log := p.path("events.ndjson")
	p.start("--source", "file:"+log)
	secret := p.subscribe("crm", url, "--retry", "tiers:0s,10ms")
	data := "{ \"b\":1, \"a\":\"<&> é \\u00e9 😀 \u2028\", \"n\":9007199254740993, \"z\":1e400, \"n\":2 }"
	p.appendLines(log, `{"id":"e1", "type":"t","other" : [ 1 ],"data": `+data+`}`)
	p.must("wait", "--delivered", "e1", "--timeout", "60s")

	var bodies []string
	for attempt := 1; attempt <= 2; attempt++ {
		r := <-came
		for _, name := range []string{"webhook-id", "webhook-timestamp", "webhook-signature", "idempotency-key", "hookd-attempt", "Content-Type", "User-Agent"} {
			if len(r.values(name)) != 1 {
				t.Errorf("attempt %d: %q stands %d times in %q", attempt, name, len(r.values(name)), r.lines)
			}
		}
		q := request{ID: r.value("webhook-id"), Timestamp: r.value("webhook-timestamp"), Signature: r.value("webhook-signature"), Body: []byte(r.body)}
		if signedBy(secret, q) != 1 {
			t.Errorf("attempt %d is not signed over the bytes that came", attempt)
		}
		if !strings.Contains(r.body, data) || !strings.Contains(r.body, `"other" : [ 1 ]`) {
			t.Errorf("attempt %d: the bytes were changed: %s", attempt, r.body)
		}
		bodies = append(bodies, r.body)
	}
	if bodies[0] != bodies[1] {
		t.Error("the attempts have different bodies")
	}
}

// TestStaleConnectionBurnsNoTier: a receiver closes a kept connection under the second POST. It is made again at once on
// a new connection, as another attempt, and each attempt is one request on the wire (HTTP-04).
func TestStaleConnectionBurnsNoTier(t *testing.T) {
	t.Parallel()
	url, came := newRawReceiver(t, func(n int) (string, bool) {
		if n == 2 {
			return "", true
		}
		return rawOK, false
	})
	p := newPlace(t, "--dev")
	log := p.path("events.ndjson")
	p.start("--source", "file:"+log)
	p.subscribe("crm", url, "--retry", "tiers:0s,1h")
	p.appendLines(log, sample(1, 1)...)
	p.must("wait", "--delivered", "e1", "--timeout", "60s")
	p.appendLines(log, sample(2, 1)...)
	p.must("wait", "--delivered", "e2", "--timeout", "60s") // with a tier of an hour burnt this would be late
	var got []string
	for len(came) > 0 {
		r := <-came
		got = append(got, fmt.Sprintf("%s/%s on %d", r.value("webhook-id"), r.value("hookd-attempt"), r.conn))
	}
	if want := []string{"e1/1 on 1", "e2/1 on 1", "e2/2 on 2"}; !slices.Equal(got, want) {
		t.Errorf("on the wire came %v, want %v", got, want)
	}
	var sub struct {
		Failures int `json:"consecutive_failures"`
	}
	p.ask(&sub, "sub", "show", "crm")
	if sub.Failures != 0 {
		t.Errorf("%d failures were counted", sub.Failures)
	}
}

// TestOddStatusesFail: no redirect is followed (HTTP-03), a 101 ends like any other answer (HTTP-06), 404 is an ordinary
// failure (HTTP-15); the stream goes on behind each.
func TestOddStatusesFail(t *testing.T) {
	t.Parallel()
	var followed atomic.Int64
	other := newReceiver(t, func(http.ResponseWriter, request) int { followed.Add(1); return 200 })
	answers := []string{
		"301 Moved\r\nLocation: " + other.url, "302 Found\r\nLocation: http://169.254.169.254/", "303 See Other\r\nLocation: /login",
		"307 Temporary Redirect\r\nLocation: " + other.url, "308 Permanent Redirect", "101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade", "404 Not Found",
	}
	url, came := newRawReceiver(t, func(n int) (string, bool) {
		if n > len(answers) {
			return rawOK, false
		}
		return "HTTP/1.1 " + answers[n-1] + "\r\nContent-Length: 0\r\n\r\n", false
	})
	p := newPlace(t, "--dev")
	log := p.path("events.ndjson")
	p.start("--source", "file:"+log)
	p.subscribe("crm", url, "--retry", "tiers:0s", "--timeout", "10s")
	p.appendLines(log, sample(1, len(answers)+1)...)
	p.must("wait", "--delivered", fmt.Sprintf("e%d", len(answers)+1), "--timeout", "60s")
	var dead []struct {
		LastError  string `json:"last_error"`
		LastStatus int    `json:"last_status"`
	}
	p.ask(&dead, "dlq", "list")
	slices.Reverse(dead)
	if len(dead) != len(answers) {
		t.Fatalf("%d dead letters, want %d", len(dead), len(answers))
	}
	for i, d := range dead {
		if d.LastError != "http_status" || !strings.HasPrefix(answers[i], fmt.Sprint(d.LastStatus)) {
			t.Errorf("%q: %+v", answers[i], d)
		}
	}
	if len(came) != len(answers)+1 || followed.Load() != 0 {
		t.Errorf("%d requests came, %d were led elsewhere", len(came), followed.Load())
	}
}

// TestGoneSwitchesOff: five events, the first answer is 410: one request, the rest waits, also over a restart; enabling
// goes on with the next one (HTTP-15).
func TestGoneSwitchesOff(t *testing.T) {
	t.Parallel()
	var mended atomic.Bool
	r := newReceiver(t, func(http.ResponseWriter, request) int {
		if mended.Load() {
			return http.StatusOK
		}
		return http.StatusGone
	})
	p := newPlace(t, "--dev")
	log := p.path("events.ndjson")
	d := p.start("--source", "file:"+log)
	p.subscribe("crm", r.url)
	p.appendLines(log, sample(1, 5)...)
	p.must("wait", "--sub", "crm", "--state", "disabled", "--timeout", "60s")
	d.stop()
	p.start("--source", "file:"+log)
	var sub struct {
		State, Cause string
		Pending      int
		Head         struct {
			EventID string `json:"event_id"`
		}
	}
	p.ask(&sub, "sub", "show", "crm")
	if sub.State != "disabled" || sub.Cause != "gone" || sub.Pending != 4 || sub.Head.EventID != "e2" || len(r.got()) != 1 {
		t.Errorf("after a 410: %+v, %d requests", sub, len(r.got()))
	}
	var first struct{ Status string }
	p.ask(&first, "delivery", "show", "crm/1")
	if first.Status != "failed" {
		t.Errorf("the one that got the 410 is %q", first.Status)
	}
	mended.Store(true)
	p.must("sub", "enable", "crm")
	p.must("wait", "--idle", "--timeout", "60s")
	ids, _ := accepted(r.got())
	if !slices.Equal(ids, sampleIDs(2, 4)) {
		t.Errorf("after enable came %v", ids)
	}
}

// TestOddIDs: ids that would break a header or the signed content are refused by name, and reading goes on (SIG-09).
func TestOddIDs(t *testing.T) {
	t.Parallel()
	r := newReceiver(t, nil)
	p := newPlace(t, "--dev")
	log := p.path("events.ndjson")
	p.start("--source", "file:"+log)
	p.subscribe("crm", r.url)
	odd := []any{"a.1700000000", "x\r\nEvil: 1", "", strings.Repeat("a", 10_000), "é", "abc ", 42}
	for _, id := range odd {
		text, err := json.Marshal(map[string]any{"id": id, "type": "t"})
		if err != nil {
			t.Fatal(err)
		}
		p.appendLines(log, string(text))
	}
	p.appendLines(log, sample(1, 1)...)
	p.must("wait", "--delivered", "e1", "--timeout", "60s")
	var entries []struct{ Reason string }
	p.ask(&entries, "quarantine", "list")
	if len(entries) != len(odd) {
		t.Fatalf("%d entries in quarantine, want %d", len(entries), len(odd))
	}
	for _, e := range entries {
		if e.Reason != "id_invalid" {
			t.Errorf("reason %q", e.Reason)
		}
	}
	if got := r.got(); len(got) != 1 || got[0].ID != "e1" {
		t.Errorf("%d requests came", len(got))
	}
}
