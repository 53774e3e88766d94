package event

import (
	"fmt"
	"strconv"
	"unicode/utf8"
)

// A Code names why a line did not become an event. It is part of the interface: it is answered to producers and kept
// with quarantined lines, so the texts never change.
type Code string

// The closed list of codes.
const (
	NotJSON          Code = "not_json"          // not one whole JSON value (RFC 8259), or something follows it
	NotObject        Code = "not_object"        // JSON, but not an object
	NotUTF8          Code = "not_utf8"          // bytes that are not UTF-8
	MemberRepeated   Code = "member_repeated"   // a name twice at the top level
	TooLarge         Code = "too_large"         // longer than allowed, as a line or as the envelope
	TypeMissing      Code = "type_missing"      // no member type
	TypeInvalid      Code = "type_invalid"      // see ValidType
	IDInvalid        Code = "id_invalid"        // see ValidID
	IDConflict       Code = "id_conflict"       // the id is in the log with other bytes; given by the store
	TimestampInvalid Code = "timestamp_invalid" // neither RFC 3339 nor Unix time within the years 1 to 9999
	AppInvalid       Code = "app_invalid"       // not a name
	ResourceInvalid  Code = "resource_invalid"  // not a path
	KeyInvalid       Code = "key_invalid"       // not 1 to 256 characters
	SeqInvalid       Code = "seq_invalid"       // the producer's number; given where a source says seq = true
	StoreFull        Code = "store_full"        // the store takes no writes; given by the store
)

// A Refusal is the error for a line that did not become an event. Only pointers to it are errors.
//
// Message says what is wrong, where, and which rule it breaks, in one line of printable ASCII. It holds nothing of the line
// but, for a repeated member, the escaped beginning of that member's name, so it may be logged, answered and stored.
type Refusal struct {
	Code    Code
	Message string
}

// Error returns "CODE: MESSAGE".
func (r *Refusal) Error() string { return string(r.Code) + ": " + r.Message }

func refuse(code Code, format string, args ...any) *Refusal {
	return &Refusal{Code: code, Message: fmt.Sprintf(format, args...)}
}

// maxHint bounds, in bytes, what a message shows of a name.
const maxHint = 64

// hint shows the beginning of a name: quoted, in ASCII, never more than a few hundred bytes.
func hint(name string) string {
	if len(name) <= maxHint {
		return strconv.QuoteToASCII(name)
	}
	cut := maxHint
	for cut > 0 && !utf8.RuneStart(name[cut]) {
		cut--
	}
	return strconv.QuoteToASCII(name[:cut]) + "..."
}
