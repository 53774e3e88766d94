package control

import (
	"encoding/json"
	"time"
)

// DeadLetter is the record of a delivery that was given up.
type DeadLetter struct {
	ID int64 `json:"id"`
	// Subscription is the name.
	Subscription string `json:"subscription"`
	App          string `json:"app"`
	EventID      string `json:"event_id"`
	Seq          int64  `json:"seq"`
	Type         string `json:"type"`
	Attempts     int    `json:"attempts"`
	// LastStatus is the last HTTP status, where a response came.
	LastStatus *int       `json:"last_status,omitempty"`
	LastError  string     `json:"last_error,omitempty"`
	DeadAt     time.Time  `json:"dead_at"`
	ReplayedAt *time.Time `json:"replayed_at,omitempty"`
	// ReplayStatus is the status of the delivery's last replay, pending while it goes on.
	ReplayStatus string `json:"replay_status,omitempty"`
	// Payload is the line as it came; only from show.
	Payload json.RawMessage `json:"payload,omitempty"`
}

// ReplayDeadLetters is the body of POST /v1/dead-letters/replay. Either IDs, or All, or Sub and Since (one of them or
// both). Sub, Since and All take only those that were not replayed with success since.
type ReplayDeadLetters struct {
	IDs []int64 `json:"ids,omitempty"`
	// Sub is a reference to a subscription.
	Sub string `json:"sub,omitempty"`
	// Since takes those that died at that time or later.
	Since *time.Time `json:"since,omitempty"`
	All   bool       `json:"all,omitempty"`
}

// ReplayedDeadLetters is the answer to [ReplayDeadLetters].
type ReplayedDeadLetters struct {
	// Replays has one replay for each subscription that is concerned.
	Replays  List[Replay] `json:"replays"`
	Replayed int64        `json:"replayed"`
	// Skipped are those that were named and not taken.
	Skipped List[SkippedDeadLetter] `json:"skipped"`
}

// SkippedDeadLetter says why a dead letter is not replayed.
type SkippedDeadLetter struct {
	ID     int64  `json:"id"`
	Reason string `json:"reason"`
}

// Replay is a set of earlier deliveries that are sent again.
type Replay struct {
	ID           int64  `json:"id"`
	Subscription string `json:"subscription"`
	Origin       string `json:"origin"`
	State        string `json:"state"`
	Total        int64  `json:"total"`
	Done         int64  `json:"done"`
	Dead         int64  `json:"dead"`
	Expired      int64  `json:"expired"`
	// Rate is the bound in deliveries a second, 0 for none.
	Rate      float64    `json:"rate"`
	CreatedAt time.Time  `json:"created_at"`
	EndedAt   *time.Time `json:"ended_at,omitempty"`
}
