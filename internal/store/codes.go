package store

import "fmt"

// State is what a subscription is in.
type State int

// The states. The numbers are stored.
const (
	Active State = iota + 1
	Paused
	Disabled
)

func (s State) String() string { return name(int(s), "", "active", "paused", "disabled") }

// Cause is why a subscription is not active.
type Cause int

// The causes: a closed list. The numbers are stored.
const (
	CauseNone Cause = iota
	CauseOwner
	CauseGone
	CauseMaxFailures
	CauseRetryExhausted
	CauseGap
	CauseSourceLoss
	CauseAppRemoved
	CauseMaxPending
)

func (c Cause) String() string {
	return name(int(c), "", "owner", "gone", "max_consecutive_failures", "retry_exhausted", "gap", "source_loss",
		"app_removed", "max_pending")
}

// Status is what a delivery is.
type Status int

// The statuses. The numbers are stored.
const (
	Pending Status = iota + 1
	Succeeded
	Failed
	Dead
)

func (s Status) String() string { return name(int(s), "", "pending", "succeeded", "failed", "dead") }

// ParseStatus reads what String writes.
func ParseStatus(text string) (Status, bool) {
	for s := Pending; s <= Dead; s++ {
		if s.String() == text {
			return s, true
		}
	}
	return 0, false
}

// Code is the last error of a delivery.
type Code int

// The codes: a closed list. The numbers are stored.
const (
	CodeNone Code = iota
	CodeGone
	CodeThrottled
	CodeHTTPStatus
	CodeTimeout
	CodeTLSFailed
	CodeConnectionFailed
	CodeAddressBlocked
	CodeHostNotAllowed
	CodeNotSubscribed
	CodeNotAuthorized
	CodeEventExpired
	CodeSkipped
)

func (c Code) String() string {
	return name(int(c), "", "gone", "throttled", "http_status", "timeout", "tls_failed", "connection_failed",
		"address_blocked", "host_not_allowed", "not_subscribed", "not_authorized", "event_expired", "skipped")
}

func name(i int, names ...string) string {
	if i < 0 || i >= len(names) {
		return fmt.Sprintf("unknown(%d)", i)
	}
	return names[i]
}
