package delivery

import (
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

func TestParseSchedule(t *testing.T) {
	s := mustSchedule(t, "tiers:0s,1s,5s,30s,5m,30m,2h")
	if s.Attempts() != 7 || s.Length() != 2*time.Hour+35*time.Minute+36*time.Second {
		t.Errorf("got %d attempts over %s", s.Attempts(), s.Length())
	}
	for text, rule := range map[string]string{
		"":                "begins with",
		"0s,1s":           "begins with",
		"tiers:":          "at least one",
		"tiers: ":         "at least one",
		"tiers:0s,,1s":    "delay 2 is not a duration",
		"tiers:5":         "delay 1 is not a duration",
		"tiers:0s,-1s":    "delay 2 is negative",
		"tiers:0s,10000h": "delay 2 is over",
		"tiers:" + strings.Repeat("0s,", 100) + "0s": "at most 100",
	} {
		if _, err := ParseSchedule(text); err == nil || !strings.Contains(err.Error(), rule) {
			t.Errorf("%q: got %v, want a text with %q", text, err, rule)
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
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	const day = 24 * time.Hour
	for _, c := range []struct {
		value string
		want  time.Duration
		ok    bool
	}{
		{"0", 0, true},
		{"300", 5 * time.Minute, true},
		{"86400", day, true},
		{"86401", day, true},
		{"9223372037", day, true},
		{"9223372036854775807", day, true},
		{"99999999999999999999999", day, true},
		{"Mon, 30 Nov 2026 12:01:00 GMT", time.Minute, true},
		{"Mon, 30 Nov 2026 11:59:00 GMT", 0, true},
		{"Mon, 30 Nov 9999 11:59:00 GMT", day, true},
		{"", 0, false},
		{"-1", 0, false},
		{"1.5", 0, false},
		{" 5", 0, false},
		{"soon", 0, false},
	} {
		got, ok := parseRetryAfter(c.value, now, day)
		if got != c.want || ok != c.ok {
			t.Errorf("%q: got %s %v, want %s %v", c.value, got, ok, c.want, c.ok)
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
	for _, c := range []struct {
		result egress.Result
		want   store.Code
	}{
		{egress.Result{Status: 200}, store.CodeNone},
		{egress.Result{Status: 299}, store.CodeNone},
		{egress.Result{Status: 101}, store.CodeHTTPStatus},
		{egress.Result{Status: 301}, store.CodeHTTPStatus},
		{egress.Result{Status: 404}, store.CodeHTTPStatus},
		{egress.Result{Status: 410}, store.CodeGone},
		{egress.Result{Status: 429}, store.CodeThrottled},
		{egress.Result{Status: 500}, store.CodeHTTPStatus},
		{egress.Result{Status: 502}, store.CodeThrottled},
		{egress.Result{Status: 503}, store.CodeThrottled},
		{egress.Result{Status: 504}, store.CodeThrottled},
		{egress.Result{Status: 999}, store.CodeHTTPStatus},
		{egress.Result{Failure: egress.Timeout}, store.CodeTimeout},
		{egress.Result{Failure: egress.TLSFailed}, store.CodeTLSFailed},
		{egress.Result{Failure: egress.ConnectionFailed}, store.CodeConnectionFailed},
		{egress.Result{Failure: egress.AddressBlocked}, store.CodeAddressBlocked},
		{egress.Result{Failure: egress.HostNotAllowed}, store.CodeHostNotAllowed},
	} {
		if got := judge(c.result); got.code != c.want {
			t.Errorf("%+v: got %s, want %s", c.result, got.code, c.want)
		}
	}
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
