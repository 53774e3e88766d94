package control

import (
	"encoding/json"
	"time"
)

// Event is one event of the log.
type Event struct {
	Seq        int64     `json:"seq"`
	ID         string    `json:"id"`
	Type       string    `json:"type"`
	App        string    `json:"app,omitempty"`
	Key        string    `json:"key,omitempty"`
	Timestamp  time.Time `json:"timestamp"`
	ReceivedAt time.Time `json:"received_at"`
	Source     string    `json:"source"`
	// Body is the envelope that is delivered; only from show. Its numbers keep their digits.
	Body json.RawMessage `json:"body,omitempty"`
	// Deliveries says how each subscription stands with it; only from show.
	Deliveries List[EventDelivery] `json:"deliveries,omitzero"`
}

// EventDelivery is a subscription's status for one event.
type EventDelivery struct {
	Subscription   string `json:"subscription"`
	SubscriptionID string `json:"subscription_id"`
	Status         string `json:"status"`
}
