package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"hookd/internal/event"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// play runs a role beside the test and returns it as a child.
func play(t *testing.T, role string) *child {
	t.Helper()
	jobs, jobsIn := io.Pipe()
	answersOut, answers := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- roles[role](jobs, answers) }()
	t.Cleanup(func() {
		jobsIn.Close()
		if err := <-ended; err != nil {
			t.Errorf("%s: %v", role, err)
		}
	})
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	return &child{role: role, cmd: &exec.Cmd{Process: self}, jobs: json.NewEncoder(jobsIn), answers: json.NewDecoder(answersOut)}
}

func TestBareSenderIsCounted(t *testing.T) {
	ctx := t.Context()
	b := &bench{receiver: play(t, roleReceiver), sender: play(t, roleSender)}
	a, err := ask[arrivals](ctx, b.receiver, receiverJob{Expect: &expectation{}})
	if err != nil {
		t.Fatal(err)
	}
	b.url = a.URL
	got, err := b.bareSend(ctx, 3, 100)
	if err != nil {
		t.Fatal(err)
	}
	if got.Total != 100 || got.WarmTotal != 10 || got.First > got.Warm || got.Warm > got.Last || got.rate() <= 0 {
		t.Errorf("counted %+v", got)
	}
	if size := got.Bytes / got.Total; size != bodyBytes {
		t.Errorf("bodies have %d bytes, want %d", size, bodyBytes)
	}

	// More than what comes is not waited for without end.
	if err := b.expect(ctx, expectation{Streams: 1, Total: 5}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.arrived(ctx, time.Millisecond); err == nil {
		t.Error("nothing came, and nothing was said")
	}
}

func TestRepeatsAreSeen(t *testing.T) {
	tally := newTally(expectation{Streams: 2, Total: 4, Ordered: true})
	for _, came := range []struct {
		stream int
		seq    int64
	}{{0, 1}, {1, 1}, {0, 2}, {0, 2}, {1, 7}, {1, 6}} {
		tally.take(&tally.streams[came.stream], "id", came.seq, 10, 1)
	}
	if tally.Total != 4 || tally.Repeats != 2 {
		t.Errorf("counted %d and %d repeats, want 4 and 2", tally.Total, tally.Repeats)
	}
	select {
	case <-tally.full:
	default:
		t.Error("all came, and nobody is told")
	}
}

func TestBareInserterKeepsEveryLine(t *testing.T) {
	ctx := t.Context()
	dir := t.TempDir()
	for _, random := range []bool{false, true} {
		c := play(t, roleInserter)
		name := filepath.Join(dir, map[bool]string{false: "rising", true: "random"}[random])
		if _, err := ask[inserted](ctx, c, inserterJob{Open: name + ".db"}); err != nil {
			t.Fatal(err)
		}
		b := &bareInserter{child: c, dir: dir, lines: newLineMaker(random, bodyBytes)}
		for range 2 {
			if rate, err := b.insert(ctx, insertGroup+1); err != nil || rate <= 0 {
				t.Fatalf("inserted %f/s, %v", rate, err)
			}
		}
	}
}

func TestLinesAreEvents(t *testing.T) {
	for _, random := range []bool{false, true} {
		seen, before := map[string]bool{}, ""
		m := newLineMaker(random, lineBytes)
		for range 1000 {
			line := bytes.TrimSuffix(m.next(), []byte("\n"))
			e, err := event.Parse(line, event.DefaultMaxBytes)
			if err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			body := e.AppendEnvelope(nil, event.Stamp{Seq: 123456, Epoch: m.last})
			if len(line) != lineBytes || len(body) != bodyBytes || e.ID != m.last || seen[e.ID] {
				t.Fatalf("line of %d bytes, body of %d, id %s, seen before: %t", len(line), len(body), e.ID, seen[e.ID])
			}
			if seq := seqOf(body); seq != 123456 {
				t.Fatalf("read seq %d", seq)
			}
			if !random && e.ID <= before {
				t.Fatalf("%s comes after %s", e.ID, before)
			}
			seen[e.ID], before = true, e.ID
		}
	}
}

func TestFiguresAreJudged(t *testing.T) {
	three := []float64{30, 10, 20}
	for _, c := range []struct {
		f     figure
		value float64
		want  bool
	}{
		{figure{Rule: ratioAtLeast, Wanted: 0.75, Hookd: []float64{15}, Limit: three}, 0.75, true},
		{figure{Rule: ratioAtLeast, Wanted: 0.76, Hookd: []float64{15}, Limit: three}, 0.75, false},
		{figure{Rule: ratioAtMost, Wanted: 2, Hookd: []float64{40, 20}, Limit: three}, 1.5, true},
		{figure{Rule: ratioAtMost, Wanted: 1.4, Hookd: []float64{40, 20}, Limit: three}, 1.5, false},
		{figure{Rule: valueAtMost, Wanted: 20, Hookd: three}, 20, true},
		{figure{Rule: valueAtMost, Wanted: 19, Hookd: three}, 20, false},
	} {
		if got := c.f.value(); got != c.value || c.f.reached() != c.want {
			t.Errorf("%+v: %f, reached %t", c.f, got, c.f.reached())
		}
	}
	took := []time.Duration{3 * time.Millisecond, time.Millisecond, 2 * time.Millisecond}
	if half, most := percentile(took, 50), percentile(took, 99); half != 2 || most != 3 {
		t.Errorf("p50 %f, p99 %f", half, most)
	}
}

func TestProcessIsRead(t *testing.T) {
	before, err := cpuTime(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	for began := time.Now(); time.Since(began) < 10*clockTick; {
		_ = sha256.Sum256([]byte(padding)) // something to do
	}
	after, err := cpuTime(os.Getpid())
	if err != nil || after <= before {
		t.Errorf("processor time went from %s to %s, %v", before, after, err)
	}
	if resident, err := residentMiB(os.Getpid()); err != nil || resident < 1 || resident > 10_000 {
		t.Errorf("%f MiB of memory, %v", resident, err)
	}
}

func TestFlags(t *testing.T) {
	for _, c := range []struct {
		args []string
		code int
	}{
		{[]string{"-h"}, 0},
		{[]string{"-run", "nothing-of-this-name"}, 2},
		{[]string{"-run", "("}, 2},
		{[]string{"-count", "0"}, 2},
		{[]string{"-events", "10"}, 2},
		{[]string{"-preload", "-1"}, 2},
		{[]string{"-timeout", "0s"}, 2},
		{[]string{"-unknown"}, 2},
		{[]string{"argument"}, 2},
	} {
		var stdout, stderr bytes.Buffer
		if code := run(c.args, &stdout, &stderr); code != c.code || stderr.Len() == 0 || stdout.Len() != 0 {
			t.Errorf("%v: exit %d, want %d; said %q", c.args, code, c.code, stderr.String())
		}
	}
}

func TestPollEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	never := func() (bool, error) { return false, nil }
	if err := poll(ctx, time.Millisecond, time.Minute, "nothing", never); err == nil {
		t.Error("a cancelled wait went on")
	}
	if err := poll(t.Context(), time.Millisecond, 3*time.Millisecond, "nothing", never); err == nil {
		t.Error("a wait did not end")
	}
}
