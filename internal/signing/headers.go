package signing

// Header names of a request, in the lower case in which they are sent on every
// version of HTTP. Setting one with http.Header.Set would change its letter
// case; a sender writes them into the map.
const (
	HeaderID             = "webhook-id"        // the event's id, the same at every attempt
	HeaderTimestamp      = "webhook-timestamp" // when the attempt was signed, Unix seconds in decimal
	HeaderSignature      = "webhook-signature" // what Signer.Sign appends
	HeaderIdempotencyKey = "idempotency-key"   // equal to HeaderID
	HeaderAttempt        = "hookd-attempt"     // number of the attempt, 1 and up
	HeaderReplay         = "hookd-replay"      // number of the replay, absent on a first delivery
)

// MaxIDBytes is the longest webhook-id that Verify accepts.
const MaxIDBytes = 256

// schemeV1 marks an HMAC-SHA256 entry in webhook-signature.
const schemeV1 = "v1"
