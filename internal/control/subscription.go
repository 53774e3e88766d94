package control

import "time"

// The states of a subscription.
const (
	StateActive   = "active"
	StatePaused   = "paused"
	StateDisabled = "disabled"
)

// Subscription is a URL, what it wants, and how it stands. Values that the subscription inherits from the
// configuration are given as they are in force.
type Subscription struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	App  string `json:"app"`
	// URL can be a credential: it is there only in the answers of create and show.
	URL  string `json:"url,omitempty"`
	Host string `json:"host"`
	// Secret is shown once, in the answer of create.
	Secret  string       `json:"secret,omitempty"`
	Types   List[string] `json:"types"`
	Filters List[string] `json:"filters"`

	State string `json:"state"`
	// Cause says why it is disabled, or why the system paused it.
	Cause      string     `json:"cause,omitempty"`
	DisabledAt *time.Time `json:"disabled_at,omitempty"`

	Cursor           int64 `json:"cursor"`
	LastDeliveredSeq int64 `json:"last_delivered_seq"`
	Pending          int64 `json:"pending"`
	// PendingExact is false where Pending is an upper bound.
	PendingExact    bool       `json:"pending_exact"`
	OldestPendingAt *time.Time `json:"oldest_pending_at,omitempty"`
	// Head is the lowest pending event, absent where nothing is pending.
	Head                *Head `json:"head,omitempty"`
	ConsecutiveFailures int   `json:"consecutive_failures"`

	Order                  string       `json:"order"`
	Sign                   List[string] `json:"sign"`
	Profile                string       `json:"profile"`
	Payload                string       `json:"payload"`
	Retry                  string       `json:"retry"`
	TimeoutS               Seconds      `json:"timeout_s"`
	MaxConsecutiveFailures int          `json:"max_consecutive_failures"`
	CreatedAt              time.Time    `json:"created_at"`

	// Gaps is there only in the answer of show.
	Gaps List[Gap] `json:"gaps,omitzero"`
	// Warnings is there only in the answer of create: what the owner should know and what is no error.
	Warnings List[string] `json:"warnings,omitzero"`
}

// Head is the event that a subscription's stream stands at. BlockedSince, LastError and ResponseCode are there once
// an attempt failed.
type Head struct {
	Seq     int64  `json:"seq"`
	EventID string `json:"event_id"`
	// Attempt is the number of the next attempt, 1 and up.
	Attempt   int    `json:"attempt"`
	LastError string `json:"last_error,omitempty"`
	// ResponseCode is there where a response came.
	ResponseCode  *int       `json:"response_code,omitempty"`
	BlockedSince  *time.Time `json:"blocked_since,omitempty"`
	NextAttemptAt *time.Time `json:"next_attempt_at,omitempty"`
}

// Gap is a range of the log that a subscription did not get. Both ends are part of it.
type Gap struct {
	FromSeq int64     `json:"from_seq"`
	ToSeq   int64     `json:"to_seq"`
	Count   int64     `json:"count"`
	Exact   bool      `json:"exact"`
	Cause   string    `json:"cause"`
	At      time.Time `json:"at"`
}

// CreateSubscription is the body of POST /v1/subscriptions. What is left out follows the configuration.
type CreateSubscription struct {
	URL string `json:"url"`
	// Name is 1 to 64 letters, digits, ".", "_", "-", beginning with a letter or digit; made from the host if empty.
	Name string `json:"name,omitempty"`
	// App is "default" if empty.
	App string `json:"app,omitempty"`
	// Types are patterns; ["*"] if empty.
	Types []string `json:"types,omitempty"`
	Retry string   `json:"retry,omitempty"`
	// TimeoutS bounds an attempt; above 0.
	TimeoutS *Seconds `json:"timeout_s,omitempty"`
	// MaxConsecutiveFailures is 0 for never.
	MaxConsecutiveFailures *int `json:"max_consecutive_failures,omitempty"`
	// From is "beginning", "end" (if empty), a seq, or an RFC 3339 time.
	From string `json:"from,omitempty"`
	// IfNotExists answers the subscription of that name, without its secret, where there is one.
	IfNotExists bool `json:"if_not_exists,omitempty"`
	// Lease makes a temporary subscription: it is gone [LeaseGrace] after its lease stream ended, or was not opened.
	Lease bool `json:"lease,omitempty"`
}

// LeaseGrace is how long a leased subscription outlives its stream. A holder that lost the stream can take it up
// again within it.
const LeaseGrace = 10 * time.Second

// RotateSecret is the body of POST /v1/subscriptions/{ref}/secret/rotate.
type RotateSecret struct {
	// OverlapS is how long the old secret signs beside the new one; 0 cuts it off at once; the configuration's if
	// absent.
	OverlapS *Seconds `json:"overlap_s,omitempty"`
	// IfOlderThanS rotates only where the newest generation is older.
	IfOlderThanS *Seconds `json:"if_older_than_s,omitempty"`
}

// RotatedSecret is the answer to [RotateSecret].
type RotatedSecret struct {
	// Subscription is the name.
	Subscription string `json:"subscription"`
	Generation   int64  `json:"generation"`
	// Rotated is false where if_older_than_s held it back; then there is no secret.
	Rotated bool   `json:"rotated"`
	Secret  string `json:"secret,omitempty"`
	// OverlapUntil is when the previous generation stops signing; absent where none signs beside the new one.
	OverlapUntil *time.Time `json:"overlap_until,omitempty"`
	// EndedEarly says that an overlap was running and that its oldest secret was cut off.
	EndedEarly bool `json:"ended_early"`
}
