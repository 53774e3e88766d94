package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// sample makes n event lines with ids e1 to en.
func sample(from, n int) []string {
	lines := make([]string, n)
	for i := range lines {
		lines[i] = fmt.Sprintf(`{"id":"e%d","type":"order.paid","data":{"n":%d}}`, from+i, from+i)
	}
	return lines
}

func sampleIDs(from, n int) []string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = fmt.Sprintf("e%d", from+i)
	}
	return ids
}

// TestRealEvents sends 273 real events of 163 types to three subscriptions.
func TestRealEvents(t *testing.T) {
	t.Parallel()
	input, err := os.ReadFile("testdata/github-events.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	type line struct{ ID, Type string }
	var lines []line
	for text := range strings.Lines(string(input)) {
		var l line
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, l)
	}
	subscriptions := map[string]struct {
		types []string
		wants func(string) bool
	}{
		"everything": {[]string{"*"}, func(string) bool { return true }},
		"issues": {[]string{"github.issues.*", "github.pull_request*"}, func(typ string) bool {
			issue, _ := path.Match("github.issues.*", typ)
			return issue || strings.HasPrefix(typ, "github.pull_request")
		}},
		"no-push": {[]string{"github.*", "!github.push"}, func(typ string) bool {
			return strings.HasPrefix(typ, "github.") && typ != "github.push"
		}},
	}

	p := newPlace(t, "--dev")
	log := p.path("events.ndjson")
	p.start("--source", "file:"+log)
	secrets, receivers := map[string]string{}, map[string]*receiver{}
	for name, s := range subscriptions {
		receivers[name] = newReceiver(t, nil)
		args := []string{}
		for _, typ := range s.types {
			args = append(args, "--type", typ)
		}
		secrets[name] = p.subscribe(name, receivers[name].url, args...)
	}
	if err := os.WriteFile(log, input, 0o600); err != nil {
		t.Fatal(err)
	}
	p.must("wait", "--idle", "--timeout", "60s")

	var captured []capture
	for name, s := range subscriptions {
		var want []string
		for _, l := range lines {
			if s.wants(l.Type) {
				want = append(want, l.ID)
			}
		}
		got := receivers[name].got()
		ids, repeats := accepted(got)
		if repeats != 0 || len(got) != len(ids) {
			t.Errorf("%s: %d requests, %d repeats", name, len(got), repeats)
		}
		if !slices.Equal(ids, want) {
			t.Errorf("%s: got %d events, want %d, or another order", name, len(ids), len(want))
		}
		for _, q := range got {
			if signedBy(secrets[name], q) != 1 {
				t.Fatalf("%s: %s is not signed by its secret", name, q.ID)
			}
			captured = append(captured, captureOf(secrets[name], q))
		}
	}
	verifyElsewhere(t, captured)
}

// TestHeadHoldsItsStream: a receiver answers 500 twice; what comes after waits for the first's 2xx.
func TestHeadHoldsItsStream(t *testing.T) {
	t.Parallel()
	var tries atomic.Int64
	r := newReceiver(t, func(_ http.ResponseWriter, q request) int {
		if q.ID == "e1" && tries.Add(1) <= 2 {
			return http.StatusInternalServerError
		}
		return http.StatusOK
	})
	p := newPlace(t, "--dev")
	log := p.path("events.ndjson")
	p.start("--source", "file:"+log)
	p.subscribe("crm", r.url, "--retry", "tiers:0s,10ms,20ms,50ms")
	p.appendLines(log, sample(1, 3)...)
	p.must("wait", "--idle", "--timeout", "60s")
	var order []string
	for _, q := range r.got() {
		order = append(order, fmt.Sprintf("%s/%d=%d", q.ID, q.Attempt, q.Status))
	}
	want := []string{"e1/1=500", "e1/2=500", "e1/3=200", "e2/1=200", "e3/1=200"}
	if !slices.Equal(order, want) {
		t.Errorf("got %v, want %v", order, want)
	}
}

// TestScheduleDeadLetterReplay: a receiver that always fails gets its attempts at the tiers' times, the event becomes a
// dead letter, the next one goes on; once the receiver is mended, the replay delivers it under the same id.
func TestScheduleDeadLetterReplay(t *testing.T) {
	t.Parallel()
	var mended atomic.Bool
	r := newReceiver(t, func(_ http.ResponseWriter, q request) int {
		if q.ID == "e1" && !mended.Load() {
			return http.StatusInternalServerError
		}
		return http.StatusOK
	})
	p := newPlace(t, "--dev")
	log := p.path("events.ndjson")
	p.start("--source", "file:"+log)
	p.subscribe("crm", r.url, "--retry", "tiers:0s,100ms,300ms")
	p.appendLines(log, sample(1, 2)...)
	all := r.await("the event behind the dead letter", func(all []request) bool { return len(all) == 4 })
	for i, least := range []time.Duration{100 * time.Millisecond, 300 * time.Millisecond} {
		if gap := all[i+1].At.Sub(all[i].At); gap < least {
			t.Errorf("attempt %d came %s after the one before, before its time of %s", i+2, gap, least)
		}
	}
	if all[3].ID != "e2" {
		t.Fatalf("after the dead letter came %s, not e2", all[3].ID)
	}
	p.must("wait", "--idle", "--timeout", "60s")

	type deadLetter struct {
		ID           int64
		EventID      string `json:"event_id"`
		Attempts     int
		LastError    string `json:"last_error"`
		LastStatus   int    `json:"last_status"`
		ReplayStatus string `json:"replay_status"`
	}
	var dead []deadLetter
	p.ask(&dead, "dlq", "list")
	if len(dead) != 1 || dead[0].EventID != "e1" || dead[0].Attempts != 3 || dead[0].LastError != "http_status" || dead[0].LastStatus != 500 {
		t.Fatalf("dead letters: %+v", dead)
	}

	// A replay that fails does not hold live events, and makes a new dead letter.
	p.must("dlq", "replay", fmt.Sprint(dead[0].ID))
	p.appendLines(log, sample(3, 1)...)
	p.must("wait", "--delivered", "e3", "--timeout", "60s")
	r.await("the replay to run out", func(all []request) bool { return len(all) == 8 })
	p.must("wait", "--idle", "--timeout", "60s")
	for deadline := time.After(patience); ; {
		p.ask(&dead, "dlq", "list")
		if len(dead) == 2 {
			break
		}
		select {
		case <-deadline:
			t.Fatalf("dead letters after a failed replay: %+v", dead)
		default:
		}
	}

	mended.Store(true)
	p.must("dlq", "replay", fmt.Sprint(dead[0].ID))
	all = r.await("the replayed event", func(all []request) bool { return len(all) == 9 })
	last := all[8]
	if last.ID != "e1" || last.Attempt != 1 || last.Header.Get("hookd-replay") == "" || !slices.Equal(last.Body, all[0].Body) {
		t.Errorf("replay sent %s attempt %d with replay %q", last.ID, last.Attempt, last.Header.Get("hookd-replay"))
	}
}

// TestRotatedSecretsOverlap: after a rotation both secrets sign; after the overlap only the new one does.
func TestRotatedSecretsOverlap(t *testing.T) {
	t.Parallel()
	r := newReceiver(t, nil)
	p := newPlace(t, "--dev")
	log := p.path("events.ndjson")
	p.start("--source", "file:"+log)
	old := p.subscribe("crm", r.url)
	send := func(n int) request {
		p.appendLines(log, sample(n, 1)...)
		p.must("wait", "--delivered", fmt.Sprintf("e%d", n), "--timeout", "60s")
		all := r.got()
		return all[len(all)-1]
	}
	rotate := func(args ...string) string {
		var made struct{ Secret string }
		p.ask(&made, append([]string{"secret", "rotate", "crm", "--yes"}, args...)...)
		return made.Secret
	}
	check := func(step string, q request, entries int, by ...string) {
		t.Helper()
		if n := len(strings.Fields(q.Signature)); n != entries {
			t.Errorf("%s: %d signatures, want %d", step, n, entries)
		}
		for _, secret := range by {
			if signedBy(secret, q) != 1 {
				t.Errorf("%s: a secret that must sign does not", step)
			}
		}
	}
	check("before", send(1), 1, old)
	second := rotate()
	check("inside the overlap", send(2), 2, old, second)
	third := rotate("--overlap", "24h")
	q := send(3)
	check("after a second rotation", q, 2, second, third)
	if signedBy(old, q) != 0 {
		t.Error("a third secret still signs")
	}
	fourth := rotate("--overlap", "0s")
	check("cut off at once", send(4), 1, fourth)

	// An overlap that ends by its time: event after event carries both, until one carries the new one's alone.
	fifth := rotate("--overlap", "300ms")
	q = send(5)
	check("inside a short overlap", q, 2, fourth, fifth)
	for n, over := 6, time.Now().Add(patience); len(strings.Fields(q.Signature)) > 1; n++ {
		if time.Now().After(over) {
			t.Fatal("an overlap of 300 ms does not end")
		}
		q = send(n)
	}
	check("after the overlap", q, 1, fifth)
}
