package control

import (
	"math"
	"time"
)

// Seconds is a duration on the wire: a JSON number of seconds, with a fraction where there is one. Members of this
// type end in "_s".
type Seconds float64

// SecondsOf turns a duration into seconds.
func SecondsOf(d time.Duration) Seconds { return Seconds(d.Seconds()) }

// Duration turns seconds into a duration, rounded to a nanosecond. What a duration cannot hold is cut to the longest
// one of its sign.
func (s Seconds) Duration() time.Duration {
	ns := math.Round(float64(s) * float64(time.Second))
	switch {
	case ns >= math.MaxInt64:
		return math.MaxInt64
	case ns <= math.MinInt64:
		return math.MinInt64
	}
	return time.Duration(ns)
}
