package signing

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// maxTimestampDigits leaves room for every time that time.Time can hold in a
// comparison, and for milliseconds by mistake, which are then told as too new.
const maxTimestampDigits = 15

// Verify checks a request as its receiver sees it against Standard Webhooks:
// header forms, the timestamp within tolerance of now in both directions, one
// v1 signature that fits one of the secrets, and idempotency-key, where
// present, equal to webhook-id. Entries of other schemes are passed over.
//
// Header names are found in any letter case. body must be the bytes as they
// arrived. tolerance must not be negative. Secrets of a length that
// ParseSecret refuses fit nothing. Nothing is kept or changed. The result is
// nil or a *Problem.
func Verify(h http.Header, body []byte, secrets []Secret, now time.Time, tolerance time.Duration) error {
	// The early returns are of *Problem; a nil one must not become an error.
	if problem := verify(h, body, secrets, now, tolerance); problem != nil {
		return problem
	}
	return nil
}

func verify(h http.Header, body []byte, secrets []Secret, now time.Time, tolerance time.Duration) *Problem {
	id, problem := required(h, HeaderID)
	if problem != nil {
		return problem
	}
	stamp, problem := required(h, HeaderTimestamp)
	if problem != nil {
		return problem
	}
	signature, problem := required(h, HeaderSignature)
	if problem != nil {
		return problem
	}
	if problem := checkID(id); problem != nil {
		return problem
	}
	timestamp, problem := parseTimestamp(stamp)
	if problem != nil {
		return problem
	}
	if problem := checkAge(time.Unix(timestamp, 0), now, tolerance); problem != nil {
		return problem
	}
	if problem := checkSignature(signature, id, timestamp, body, secrets); problem != nil {
		return problem
	}
	return checkIdempotencyKey(h, id)
}

// required returns the only value of a header that must be there.
func required(h http.Header, name string) (string, *Problem) {
	values := valuesOf(h, name)
	switch {
	case len(values) == 0:
		return "", problemf(CodeHeaderMissing, "there is no %s", name)
	case len(values) > 1:
		return "", problemf(CodeHeaderMalformed, "%s is there %d times", name, len(values))
	case values[0] == "":
		return "", problemf(CodeHeaderMalformed, "%s is empty", name)
	}
	return values[0], nil
}

// valuesOf gathers the values of every spelling of name. Receivers keep names
// canonical (net/http) or as they were on the wire, and a map can hold both.
func valuesOf(h http.Header, name string) []string {
	canonical := http.CanonicalHeaderKey(name)
	var values []string
	for key, found := range h {
		if http.CanonicalHeaderKey(key) == canonical {
			values = append(values, found...)
		}
	}
	return values
}

// checkID refuses what would make the signed content ambiguous (a dot) or what
// no sender of sound mind puts into a header.
func checkID(id string) *Problem {
	if len(id) > MaxIDBytes {
		return problemf(CodeHeaderMalformed, "%s has %d bytes, more than %d", HeaderID, len(id), MaxIDBytes)
	}
	for i := range len(id) {
		if id[i] == '.' {
			return problemf(CodeHeaderMalformed, "%s holds a dot, which separates the parts of the signed content", HeaderID)
		}
		if id[i] < 0x21 || id[i] > 0x7e {
			return problemf(CodeHeaderMalformed, "%s holds a character outside visible ASCII", HeaderID)
		}
	}
	return nil
}

// parseTimestamp reads Unix seconds in their one decimal form: with a sign or
// leading zeros the number would be signed as another text than the one sent.
func parseTimestamp(text string) (int64, *Problem) {
	if len(text) > maxTimestampDigits || strings.Trim(text, "0123456789") != "" || (text[0] == '0' && text != "0") {
		return 0, malformedTimestamp()
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, malformedTimestamp()
	}
	return seconds, nil
}

func malformedTimestamp() *Problem {
	return problemf(CodeHeaderMalformed, "%s is not a time in whole Unix seconds", HeaderTimestamp)
}

func checkAge(sent, now time.Time, tolerance time.Duration) *Problem {
	// Sub stops at the ends of Duration instead of wrapping.
	if age := now.Sub(sent); age > tolerance {
		return problemf(CodeTimestampTooOld, "%s is %s before this clock; the tolerance is %s",
			HeaderTimestamp, age.Truncate(time.Millisecond), tolerance)
	}
	if ahead := sent.Sub(now); ahead > tolerance {
		return problemf(CodeTimestampTooNew, "%s is %s ahead of this clock; the tolerance is %s",
			HeaderTimestamp, ahead.Truncate(time.Millisecond), tolerance)
	}
	return nil
}

// checkSignature looks for one entry that fits. An entry in an unknown form
// does not spoil one that fits; it is named only when none does.
func checkSignature(header, id string, timestamp int64, body []byte, secrets []Secret) *Problem {
	entries, malformed := parseEntries(header)
	usable := make([]Secret, 0, len(secrets))
	for _, secret := range secrets {
		if secret.sized() {
			usable = append(usable, secret)
		}
	}
	wanted := bytes.Fields(NewSigner(usable...).Sign(nil, id, timestamp, body))
	for _, entry := range entries {
		for _, want := range wanted {
			if subtle.ConstantTimeCompare([]byte(entry), want) == 1 {
				return nil
			}
		}
	}
	switch {
	case malformed != nil:
		return malformed
	case len(usable) == 0:
		return problemf(CodeSignatureMismatch, "there is no secret to check %s with", HeaderSignature)
	case len(entries) == 0:
		return problemf(CodeSignatureMismatch, "%s holds no entry of scheme %s", HeaderSignature, schemeV1)
	}
	return problemf(CodeSignatureMismatch, "no %s entry of %s fits: another secret, or the id, time or body was changed",
		schemeV1, HeaderSignature)
}

// parseEntries returns the well-formed v1 entries of webhook-signature whole,
// scheme included, and the first thing that is wrong with the header's form.
func parseEntries(header string) (entries []string, malformed *Problem) {
	note := func(number int, rule string) {
		if malformed == nil {
			malformed = problemf(CodeHeaderMalformed, "entry %d of %s %s", number, HeaderSignature, rule)
		}
	}
	number := 0
	for entry := range strings.SplitSeq(header, " ") {
		number++
		scheme, value, found := strings.Cut(entry, ",")
		switch {
		case entry == "":
			note(number, "is empty")
		case !found || scheme == "" || value == "":
			note(number, "is not a scheme, a comma and a signature")
		case scheme != schemeV1:
		case !isDigest(value):
			note(number, "is not padded standard base64 of 32 bytes")
		default:
			entries = append(entries, entry)
		}
	}
	return entries, malformed
}

// isDigest tells whether value is the base64 of one SHA-256 digest. The length
// comes first: it bounds the work and leaves no room for the line breaks that
// the decoder skips.
func isDigest(value string) bool {
	if len(value) != base64.StdEncoding.EncodedLen(sha256.Size) {
		return false
	}
	digest, err := base64.StdEncoding.Strict().DecodeString(value)
	return err == nil && len(digest) == sha256.Size
}

func checkIdempotencyKey(h http.Header, id string) *Problem {
	values := valuesOf(h, HeaderIdempotencyKey)
	switch {
	case len(values) == 0:
		return nil
	case len(values) > 1:
		return problemf(CodeHeaderMalformed, "%s is there %d times", HeaderIdempotencyKey, len(values))
	case values[0] != id:
		return problemf(CodeIDMismatch, "%s differs from %s", HeaderIdempotencyKey, HeaderID)
	}
	return nil
}

func problemf(code, format string, args ...any) *Problem {
	return &Problem{Code: code, Message: fmt.Sprintf(format, args...)}
}
