package egress

import (
	"net/http"
	"time"
)

// Request is one POST. Do changes nothing in it and keeps nothing of it: once Do has returned, the caller may change
// and reuse all of it, also where the receiver answered before it took the whole body.
type Request struct {
	Target *Target
	// Header names are written as they are given: lower-case ones stay so on HTTP/1.1. The caller keeps names that frame
	// the message (Host, Content-Length, Transfer-Encoding, Connection ...) out of it. Without a User-Agent none is sent.
	Header http.Header
	Body   []byte
	// Timeout bounds the request from the look-up of the name to the end of the response's headers. Without a positive
	// one the request times out at once.
	Timeout time.Duration
	// Fresh asks for a connection of its own, which is HTTP/1.1 and is closed after the response.
	Fresh bool
}

// Result is how a request ended. Exactly one of these holds: Status is set; Failure is set; Interrupted is set.
type Result struct {
	Status      int           // 100 to 999, where a status line and headers came within the time; else 0
	RetryAfter  string        // the first Retry-After header as it came, cut to 128 bytes; "" where there is none
	Failure     Failure       // None where a status came or the request was interrupted
	Stale       bool          // a reused connection ended before the first byte of the response: worth an attempt on a fresh one
	Interrupted bool          // the caller cancelled, or the client is closed: no trouble of the receiver
	Detail      string        // why, for people: no path, no query, no byte of the receiver; "" where a status came
	Duration    time.Duration // from the call to the end of the headers or to the failure
}
