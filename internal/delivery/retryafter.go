package delivery

import (
	"net/http"
	"strconv"
	"time"
)

// parseRetryAfter reads a Retry-After field (RFC 9110, 10.2.3): whole seconds or an HTTP-date, relative to now. A past
// date is zero. What is larger than limit, also a number of more digits than an integer holds, is cut to limit. It
// reports false for anything else.
func parseRetryAfter(value string, now time.Time, limit time.Duration) (time.Duration, bool) {
	if value == "" {
		return 0, false
	}
	if isDigits(value) {
		seconds, err := strconv.ParseUint(value, 10, 64)
		// Compared before it is multiplied: seconds as a time.Duration wrap above 9223372036.
		if err != nil || seconds > uint64(limit/time.Second) {
			return limit, true
		}
		return time.Duration(seconds) * time.Second, true
	}
	date, err := http.ParseTime(value)
	if err != nil {
		return 0, false
	}
	// Sub saturates, so a date in another age cannot wrap either.
	return min(max(date.Sub(now), 0), limit), true
}

func isDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}
