package control

import "time"

// The statuses of a delivery.
const (
	StatusPending   = "pending"
	StatusSucceeded = "succeeded"
	StatusFailed    = "failed"
	StatusDead      = "dead"
)

// Delivery is one event for one subscription.
type Delivery struct {
	// ID is NAME/SEQ.
	ID             string `json:"id"`
	Subscription   string `json:"subscription"`
	SubscriptionID string `json:"subscription_id"`
	Seq            int64  `json:"seq"`
	// EventID and Type are there as long as the event is in the log.
	EventID  string `json:"event_id,omitempty"`
	Type     string `json:"type,omitempty"`
	Status   string `json:"status"`
	Attempts int    `json:"attempts"`
	// ResponseCode is the last attempt's, where a response came.
	ResponseCode   *int       `json:"response_code,omitempty"`
	LastError      string     `json:"last_error,omitempty"`
	FirstAttemptAt *time.Time `json:"first_attempt_at,omitempty"`
	FinishedAt     *time.Time `json:"finished_at,omitempty"`
	// DurationMS is how long the last attempt took, where there was one.
	DurationMS    *int64     `json:"duration_ms,omitempty"`
	NextAttemptAt *time.Time `json:"next_attempt_at,omitempty"`
	// History is the last 20 attempts, oldest first; only from show.
	History List[Attempt] `json:"history,omitzero"`
}

// Attempt is one HTTP request of a delivery.
type Attempt struct {
	At            time.Time  `json:"at"`
	Attempt       int        `json:"attempt"`
	ResponseCode  *int       `json:"response_code,omitempty"`
	LastError     string     `json:"last_error,omitempty"`
	DurationMS    *int64     `json:"duration_ms,omitempty"`
	NextAttemptAt *time.Time `json:"next_attempt_at,omitempty"`
}
