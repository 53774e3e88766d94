package e2e

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// TestKilledUnderLoad: kill -9 five times within 10,000 events. All arrive, in order, at most one twice per kill, and
// the file is read exactly once.
func TestKilledUnderLoad(t *testing.T) {
	t.Parallel()
	const events, kills = 10_000, 5
	r := newReceiver(t, nil)
	p := newPlace(t, "--dev")
	log := p.path("events.ndjson")
	source := "file:" + log
	d := p.start("--source", source)
	p.subscribe("crm", r.url)
	p.appendLines(log, sample(1, events)...)
	for kill := 1; kill <= kills; kill++ {
		// Somewhere in the next part of the events, in the middle of whatever hookd does.
		at := len(r.got()) + 1 + rand.IntN(events/kills/2)
		r.await("events before a kill", func(all []request) bool { return len(all) >= at })
		d.kill()
		d = p.start("--source", source)
	}
	p.must("wait", "--idle", "--timeout", "60s")

	ids, repeats := accepted(r.got())
	if !slices.Equal(ids, sampleIDs(1, events)) {
		t.Errorf("%d of %d events arrived, or in another order", len(ids), events)
	}
	if repeats > kills {
		t.Errorf("%d events came twice in %d kills", repeats, kills)
	}
	var status struct {
		Log struct {
			LastSeq int64 `json:"last_seq"`
		}
	}
	said := p.ctl("status", "-o", "json") // exit 9: --dev is a degraded state
	if err := json.Unmarshal([]byte(said.stdout), &status); err != nil {
		t.Fatal(err)
	}
	if status.Log.LastSeq != events {
		t.Errorf("the log has %d events, want %d", status.Log.LastSeq, events)
	}
}

// TestKilledByItsReceiver: the receiver kills hookd inside its handler, before and after it answers.
func TestKilledByItsReceiver(t *testing.T) {
	t.Parallel()
	const rounds = 10
	var victim atomic.Pointer[daemon]
	kill := func() {
		if d := victim.Swap(nil); d != nil {
			d.cmd.Process.Signal(syscall.SIGKILL)
		}
	}
	r := newReceiver(t, func(w http.ResponseWriter, q request) int {
		if q.Seq%2 == 0 {
			kill()
			return http.StatusOK
		}
		w.WriteHeader(http.StatusOK)
		http.NewResponseController(w).Flush()
		kill()
		return 0 // written above
	})
	p := newPlace(t, "--dev")
	log := p.path("events.ndjson")
	source := "file:" + log
	d := p.start("--source", source)
	p.subscribe("crm", r.url)
	for round := 1; round <= rounds; round++ {
		victim.Store(d)
		p.appendLines(log, sample(round, 1)...)
		<-d.exited
		victim.Store(nil)
		d = p.start("--source", source)
		p.must("wait", "--delivered", fmt.Sprintf("e%d", round), "--timeout", "60s")
	}
	copies := map[string]int{}
	bodies := map[string]string{}
	for _, q := range r.got() {
		copies[q.ID]++
		if body, ok := bodies[q.ID]; ok && body != string(q.Body) {
			t.Errorf("%s came with two bodies", q.ID)
		}
		bodies[q.ID] = string(q.Body)
	}
	for id, n := range copies {
		if n > 2 {
			t.Errorf("%s came %d times in one kill", id, n)
		}
	}
	if len(copies) != rounds {
		t.Errorf("%d of %d events came", len(copies), rounds)
	}
}

// TestStopSpendsNoAttempt: SIGTERM during a long answer, again and again, uses no attempt of the schedule.
func TestStopSpendsNoAttempt(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	entered := make(chan struct{}, 100)
	var open atomic.Bool
	r := newReceiver(t, func(_ http.ResponseWriter, q request) int {
		entered <- struct{}{}
		if !open.Load() {
			<-hold
		}
		return http.StatusOK
	})
	t.Cleanup(func() {
		if !open.Load() {
			close(hold)
		}
	})
	p := newPlace(t, "--dev")
	p.config("[delivery]\nshutdown_timeout = \"50ms\"\n")
	log := p.path("events.ndjson")
	source := "file:" + log
	d := p.start("--source", source)
	p.subscribe("crm", r.url, "--retry", "tiers:0s,1h")
	p.appendLines(log, sample(1, 1)...)
	for range 3 {
		<-entered
		started := time.Now()
		if code := d.stop(); code != 0 {
			t.Fatalf("hookd ended with %d after SIGTERM", code)
		}
		if took := time.Since(started); took > patience/2 {
			t.Fatalf("hookd took %s to stop", took)
		}
		d = p.start("--source", source)
	}
	<-entered
	open.Store(true)
	close(hold)
	p.must("wait", "--delivered", "e1", "--timeout", "60s")
	for _, q := range r.got() {
		if q.Attempt != 1 {
			t.Errorf("attempt %d was made: a stop used one up", q.Attempt)
		}
	}
}
