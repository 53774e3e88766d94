package receiver

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
)

// Delivery is one request as it came, and what was said to it.
type Delivery struct {
	WebhookID string `json:"webhook_id,omitempty"`
	// Timestamp is the webhook-timestamp in Unix seconds, 0 where there is none that can be read.
	Timestamp int64 `json:"timestamp"`
	// Attempt is the hookd-attempt, 0 where there is none that can be read.
	Attempt  int  `json:"attempt"`
	Verified bool `json:"verified"`
	// Problem says why it is not verified: a code, a colon and the same in words.
	Problem string `json:"problem,omitempty"`
	// Status is the HTTP status that it was answered with.
	Status int `json:"status"`
	// Type is the member "type" of the body, where the body is an object that has one.
	Type string `json:"type,omitempty"`
	// Headers has the names in lower case; several values of one name are joined by a comma and a space.
	Headers map[string]string `json:"headers"`
	// Body is the text as received.
	Body string `json:"body"`
}

func newDelivery(h http.Header, body []byte) Delivery {
	d := Delivery{
		WebhookID: h.Get("webhook-id"),
		Headers:   make(map[string]string, len(h)),
		Body:      string(body),
	}
	for name, values := range h {
		d.Headers[strings.ToLower(name)] = strings.Join(values, ", ")
	}
	// What cannot be read stays zero: verifying names the fault.
	if n, err := strconv.ParseInt(h.Get("webhook-timestamp"), 10, 64); err == nil {
		d.Timestamp = n
	}
	if n, err := strconv.Atoi(h.Get("hookd-attempt")); err == nil {
		d.Attempt = n
	}
	var envelope struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(body, &envelope); err == nil {
		d.Type = envelope.Type
	}
	return d
}
