package delivery

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hookd/internal/egress"
	"hookd/internal/store"
)

func mustSchedule(t interface{ Fatal(...any) }, text string) Schedule {
	s, err := ParseSchedule(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// vectors reads a file of testvectors.
func vectors(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile("../../testvectors/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}

func TestParseSchedule(t *testing.T) {
	var file struct {
		Cases []struct {
			Text, Rule string
			Attempts   int
			LengthS    int64 `json:"length_s"`
		}
	}
	vectors(t, "schedules.json", &file)
	for _, c := range file.Cases {
		s, err := ParseSchedule(c.Text)
		switch {
		case c.Rule != "":
			if err == nil || !strings.Contains(err.Error(), c.Rule) {
				t.Errorf("%q: got %v, want a text with %q", c.Text, err, c.Rule)
			}
		case err != nil:
			t.Errorf("%q: %v", c.Text, err)
		case s.Attempts() != c.Attempts || s.Length() != time.Duration(c.LengthS)*time.Second:
			t.Errorf("%q: got %d attempts over %s", c.Text, s.Attempts(), s.Length())
		}
	}
}

func FuzzParseSchedule(f *testing.F) {
	for _, seed := range []string{"tiers:0s,1s,5s", "tiers:", "tiers:1h30m", "tiers:9223372036854775807ns,1s", "x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseSchedule(text)
		if err != nil {
			return
		}
		if s.Attempts() < 1 || s.Length() < 0 || s.String() != text {
			t.Errorf("%q: %d attempts, %s", text, s.Attempts(), s.Length())
		}
	})
}

func TestParseRetryAfter(t *testing.T) {
	var file struct {
		Now   time.Time
		CapS  int64 `json:"cap_s"`
		Cases []struct {
			Value   string
			DelayS  int64 `json:"delay_s"`
			Ignored bool
		}
	}
	vectors(t, "retry-after.json", &file)
	for _, c := range file.Cases {
		got, ok := parseRetryAfter(c.Value, file.Now, time.Duration(file.CapS)*time.Second)
		if want := time.Duration(c.DelayS) * time.Second; got != want || ok == c.Ignored {
			t.Errorf("%q: got %s %v, want %s %v", c.Value, got, ok, want, !c.Ignored)
		}
	}
}

func FuzzParseRetryAfter(f *testing.F) {
	f.Add("5", int64(0))
	f.Add("Mon, 30 Nov 2026 12:01:00 GMT", int64(1764504000))
	f.Fuzz(func(t *testing.T, value string, now int64) {
		if got, _ := parseRetryAfter(value, time.Unix(now, 0), time.Hour); got < 0 || got > time.Hour {
			t.Errorf("%q gives %s", value, got)
		}
	})
}

func TestJudge(t *testing.T) {
	var file struct {
		Cases []struct {
			Status        int
			Failure, Code string
			Counts        bool
		}
	}
	vectors(t, "outcomes.json", &file)
	failures := map[string]egress.Failure{}
	for _, f := range []egress.Failure{egress.Timeout, egress.TLSFailed, egress.ConnectionFailed, egress.AddressBlocked, egress.HostNotAllowed} {
		failures[f.String()] = f
	}
	r := rules{schedule: mustSchedule(t, "tiers:0s,1s"), retryAfterCap: time.Hour}
	for _, c := range file.Cases {
		o := judge(egress.Result{Status: c.Status, Failure: failures[c.Failure]})
		if o.code.String() != c.Code {
			t.Errorf("%+v: got %q", c, o.code)
		}
		if v := decide(r, headState{}, o, time.Unix(0, 0), 0); v.counted != c.Counts || v.failures != btoi(c.Counts) {
			t.Errorf("%+v: counted %v, failures %d", c, v.counted, v.failures)
		}
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func TestDecide(t *testing.T) {
	r := rules{schedule: mustSchedule(t, "tiers:0s,1s,10s"), jitter: 0.1, retryAfterCap: time.Hour, maxFailures: 3}
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	failed := outcome{code: store.CodeHTTPStatus, httpStatus: 500}
	throttled := outcome{code: store.CodeThrottled, httpStatus: 503}
	for name, c := range map[string]struct {
		head headState
		out  outcome
		want verdict
	}{
		"success resets the count": {
			headState{step: 1, counted: true, failures: 2},
			outcome{httpStatus: 204},
			verdict{status: store.Succeeded, counted: true},
		},
		"410 disables and does not count": {
			headState{failures: 2},
			outcome{code: store.CodeGone, httpStatus: 410},
			verdict{status: store.Failed, failures: 2, disable: store.CauseGone},
		},
		"a failure counts and waits its tier with jitter": {
			headState{},
			failed,
			verdict{delay: 1050 * time.Millisecond, step: 1, counted: true, failures: 1},
		},
		"throttled waits and does not count": {
			headState{},
			throttled,
			verdict{delay: 1050 * time.Millisecond, step: 1},
		},
		"Retry-After wins where it is longer": {
			headState{},
			outcome{code: store.CodeThrottled, httpStatus: 429, retryAfter: "30"},
			verdict{delay: 30 * time.Second, step: 1},
		},
		"Retry-After never shortens": {
			headState{step: 1},
			outcome{code: store.CodeThrottled, httpStatus: 429, retryAfter: "1"},
			verdict{delay: 10500 * time.Millisecond, step: 2},
		},
		"Retry-After of another status is ignored": {
			headState{},
			outcome{code: store.CodeHTTPStatus, httpStatus: 500, retryAfter: "3000"},
			verdict{delay: 1050 * time.Millisecond, step: 1, counted: true, failures: 1},
		},
		"the last tier: dead": {
			headState{step: 2, counted: true, failures: 1},
			failed,
			verdict{status: store.Dead, step: 3, counted: true, failures: 2},
		},
		"a schedule of which nothing counted counts once": {
			headState{step: 2},
			throttled,
			verdict{status: store.Dead, step: 3, failures: 1},
		},
		"the last of the schedule and of the count: dead, and disabled": {
			headState{step: 2, counted: true, failures: 2},
			failed,
			verdict{status: store.Dead, step: 3, counted: true, failures: 3, disable: store.CauseMaxFailures},
		},
		"the last of the count: disabled, the head stays": {
			headState{step: 0, failures: 2},
			failed,
			verdict{delay: 1050 * time.Millisecond, step: 1, counted: true, failures: 3, disable: store.CauseMaxFailures},
		},
		"a stale connection is repeated at once at the same place": {
			headState{step: 1, failures: 2},
			outcome{code: store.CodeConnectionFailed, stale: true},
			verdict{step: 1, fresh: true, failures: 2},
		},
		"only once in a row": {
			headState{step: 1, repeated: true},
			outcome{code: store.CodeConnectionFailed, stale: true},
			verdict{delay: 10500 * time.Millisecond, step: 2, counted: true, failures: 1},
		},
		"a schedule that was shortened is exhausted": {
			headState{step: 7, counted: true, failures: 1},
			failed,
			verdict{status: store.Dead, step: 8, counted: true, failures: 2},
		},
	} {
		if got := decide(r, c.head, c.out, now, 0.5); got != c.want {
			t.Errorf("%s:\n got %+v\nwant %+v", name, got, c.want)
		}
	}
}

// TestDecideBounds: whatever happens, a delay is within the schedule's bounds and the count moves by one at most.
func TestDecideBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tiers := rapid.SliceOfN(rapid.Int64Range(0, int64(maxDelay)), 1, 8).Draw(t, "tiers")
		r := rules{
			jitter:        rapid.Float64Range(0, 1).Draw(t, "jitter"),
			retryAfterCap: time.Duration(rapid.Int64Range(0, int64(48*time.Hour)).Draw(t, "cap")),
			maxFailures:   rapid.IntRange(0, 5).Draw(t, "max"),
		}
		for _, d := range tiers {
			r.schedule.tiers = append(r.schedule.tiers, time.Duration(d))
		}
		h := headState{
			step: rapid.IntRange(0, 9).Draw(t, "step"), counted: rapid.Bool().Draw(t, "counted"),
			repeated: rapid.Bool().Draw(t, "repeated"), failures: rapid.IntRange(0, 10).Draw(t, "failures"),
		}
		o := outcome{
			code:       rapid.SampledFrom([]store.Code{store.CodeNone, store.CodeGone, store.CodeThrottled, store.CodeHTTPStatus, store.CodeTimeout}).Draw(t, "code"),
			retryAfter: rapid.OneOf(rapid.String(), rapid.StringMatching(`[0-9]{1,25}`)).Draw(t, "retry-after"),
		}
		o.stale = o.code == store.CodeTimeout && rapid.Bool().Draw(t, "stale")
		v := decide(r, h, o, time.Unix(1764504000, 0), rapid.Float64Range(0, 0.999).Draw(t, "random"))
		if v.failures > h.failures+1 {
			t.Errorf("the count rose from %d to %d", h.failures, v.failures)
		}
		if v.status != 0 || v.fresh {
			return
		}
		tier := r.schedule.tiers[v.step]
		most := tier + time.Duration(float64(tier)*r.jitter)
		if o.code == store.CodeThrottled {
			most = max(most, r.retryAfterCap)
		}
		if v.delay < tier || v.delay > most {
			t.Errorf("delay %s is not within %s and %s", v.delay, tier, most)
		}
	})
}
