package delivery

import (
	"time"

	"hookd/internal/egress"
	"hookd/internal/store"
)

// rules is what is in force for one subscription when a verdict is made.
type rules struct {
	schedule      Schedule
	jitter        float64       // at most this share is added to a delay
	retryAfterCap time.Duration // a longer Retry-After is cut to it
	maxFailures   int           // counted failures in a row that disable; 0 = never
}

// headState is the place of a head in its schedule when an attempt of it ended.
type headState struct {
	step     int  // index into the schedule of the attempt that ended
	counted  bool // an earlier attempt of this head counted as a failure
	repeated bool // the attempt that ended was itself the immediate repeat after a stale connection
	failures int  // counted failures of the subscription in a row so far
}

// outcome is what one attempt came to.
type outcome struct {
	code       store.Code // CodeNone: a 2xx
	httpStatus int        // 0: no answer
	retryAfter string
	stale      bool // a reused connection ended before the first byte of the answer
}

// verdict is what follows from an outcome.
type verdict struct {
	status   store.Status // 0: the head goes on
	delay    time.Duration
	step     int  // index into the schedule of the next attempt
	fresh    bool // the next attempt goes at once on a new connection
	counted  bool // an attempt of this head has counted as a failure
	failures int  // counted failures in a row after this
	disable  store.Cause
}

// judge turns what the way out reported into an outcome (spec 3.4).
func judge(r egress.Result) outcome {
	o := outcome{httpStatus: r.Status, retryAfter: r.RetryAfter, stale: r.Stale}
	switch r.Failure {
	case egress.None:
		o.code = judgeStatus(r.Status)
	case egress.Timeout:
		o.code = store.CodeTimeout
	case egress.TLSFailed:
		o.code = store.CodeTLSFailed
	case egress.AddressBlocked:
		o.code = store.CodeAddressBlocked
	case egress.HostNotAllowed:
		o.code = store.CodeHostNotAllowed
	default:
		o.code = store.CodeConnectionFailed
	}
	return o
}

func judgeStatus(status int) store.Code {
	switch {
	case status >= 200 && status <= 299:
		return store.CodeNone
	case status == 410:
		return store.CodeGone
	case status == 429, status == 502, status == 503, status == 504:
		return store.CodeThrottled
	default:
		return store.CodeHTTPStatus
	}
}

// decide makes the verdict on an attempt that ended at now; random is in [0, 1). The order is that of spec 3.4: 410,
// then the exhausted schedule, then the failure count.
func decide(r rules, h headState, o outcome, now time.Time, random float64) verdict {
	v := verdict{failures: h.failures, counted: h.counted}
	switch {
	case o.code == store.CodeNone:
		v.status, v.failures = store.Succeeded, 0
		return v
	case o.code == store.CodeGone:
		v.status, v.disable = store.Failed, store.CauseGone
		return v
	case o.stale && !h.repeated:
		// The receiver closed an idle connection while the request was on its way: neither its fault nor a use of
		// the schedule. Once in a row, so that a receiver that always does it is still seen.
		v.step, v.fresh = h.step, true
		return v
	}
	if o.code != store.CodeThrottled {
		v.counted = true
		v.failures++
	}
	v.step = h.step + 1
	if v.step >= r.schedule.Attempts() {
		v.status = store.Dead
		if !v.counted {
			// Nothing of this schedule counted (a receiver that answers 502 for ever): it counts once.
			v.failures++
		}
	} else {
		v.delay = retryDelay(r, v.step, o, now, random)
	}
	if r.maxFailures > 0 && v.failures > h.failures && v.failures >= r.maxFailures {
		v.disable = store.CauseMaxFailures
	}
	return v
}

// retryDelay stretches the tier by the jitter, never shortens it, and takes the receiver's wish where that is longer.
func retryDelay(r rules, step int, o outcome, now time.Time, random float64) time.Duration {
	delay := r.schedule.tiers[step]
	delay += time.Duration(float64(delay) * r.jitter * random)
	if o.code == store.CodeThrottled {
		if wish, ok := parseRetryAfter(o.retryAfter, now, r.retryAfterCap); ok {
			delay = max(delay, wish)
		}
	}
	return delay
}
