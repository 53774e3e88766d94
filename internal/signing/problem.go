package signing

// Codes of a Problem.
const (
	CodeHeaderMissing     = "header_missing"     // a webhook-* header is absent
	CodeHeaderMalformed   = "header_malformed"   // a header is there, but not in its form, or more than once
	CodeTimestampTooOld   = "timestamp_too_old"  // signed longer ago than the tolerance
	CodeTimestampTooNew   = "timestamp_too_new"  // signed further ahead than the tolerance
	CodeSignatureMismatch = "signature_mismatch" // no v1 entry fits any given secret
	CodeIDMismatch        = "id_mismatch"        // idempotency-key differs from webhook-id
)

// Problem says why a request does not verify: the first check that failed.
type Problem struct {
	Code    string // one of the codes above, for programs
	Message string // the same for people; holds no header value, body or secret
}

// Error implements error.
func (p *Problem) Error() string {
	return "verify webhook: " + p.Message
}
