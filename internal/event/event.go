package event

import (
	"math"
	"time"
	"unicode/utf8"
)

// DefaultMaxBytes is the default bound, in bytes, of a line and of its envelope: receivers commonly stop there.
const DefaultMaxBytes = 65536

// An Event is one line that was understood. Copies share Line.
//
// ID, Type, App, Resource, Key and Time may be set by the caller after Parse; AppendEnvelope follows them. Line must not be
// changed: the event remembers where in it the members stand.
type Event struct {
	// ID is "" when the line has none: the caller then sets one before it appends or sends the event.
	ID string
	// Type is what patterns are matched against.
	Type string
	// App is the app whose subscriptions alone may match; "" is every app.
	App string
	// Resource is the path that the rights check looks at; "" is no check.
	Resource string
	// Key is the ordering key; "" is none.
	Key string
	// Time is when it happened, in UTC; zero when the line has no timestamp.
	Time time.Time
	// Line is the line as it came, without its line end.
	Line []byte

	data   span  // the value of data
	others spans // the members that are passed on, from the name's quote to the end of the value
	timed  bool  // the line has a timestamp: a producer may well write the zero time
}

// Parse reads one line: a JSON object in UTF-8, without LF or CRLF, of which at most maxBytes bytes are allowed. It returns
// the event, or an error that is always a *Refusal.
//
// The envelope is held to maxBytes as well, reckoned with a seq of 16 digits, an epoch of 36 characters and, where the line
// lacks them, an id of 36 and a timestamp of 24 characters. A maxBytes below 1 stands for DefaultMaxBytes; math.MaxInt
// bounds nothing but what 31 bits can count.
//
// The line is not copied: it belongs to the event from then on, and the caller must not change it. When a line breaks several
// rules, those of the line go first (length, UTF-8, JSON, object, repeated member), then those of type, id, timestamp, app,
// resource and key, and the envelope's length last.
func Parse(line []byte, maxBytes int) (Event, error) {
	if maxBytes < 1 {
		maxBytes = DefaultMaxBytes
	}
	maxBytes = min(maxBytes, math.MaxInt32) // spans are 32 bits wide
	if len(line) > maxBytes {
		return Event{}, refuse(TooLarge, "line has %d bytes, at most %d are allowed", len(line), maxBytes)
	}
	if !utf8.Valid(line) {
		return Event{}, refuse(NotUTF8, "line is not UTF-8 at byte %d", firstInvalid(line))
	}
	e := Event{Line: line}
	var found members
	if r := scan(&e, &found); r != nil {
		return Event{}, r
	}
	if r := e.take(&found); r != nil {
		return Event{}, r
	}
	if n := e.reckonedLen(); n > maxBytes {
		return Event{}, refuse(TooLarge, "envelope would have %d bytes, at most %d are allowed", n, maxBytes)
	}
	return e, nil
}

// Data returns the value of data as it was written, or nil when the line has none; a JSON null is the four bytes of null. The
// slice is part of Line.
func (e *Event) Data() []byte {
	if e.data.none() {
		return nil
	}
	return e.data.of(e.Line)
}

// take fills the event from the values of the members that hookd knows.
func (e *Event) take(found *members) (r *Refusal) {
	if e.Type, r = takeType(found[memberType].of(e.Line)); r != nil {
		return r
	}
	if raw := found[memberID].of(e.Line); len(raw) > 0 {
		if e.ID, r = takeString(raw, IDInvalid, "id", checkID); r != nil {
			return r
		}
	}
	if raw := found[memberTimestamp].of(e.Line); len(raw) > 0 {
		if e.Time, r = takeTimestamp(raw); r != nil {
			return r
		}
		e.timed = true
	}
	if raw := found[memberApp].of(e.Line); len(raw) > 0 {
		if e.App, r = takeString(raw, AppInvalid, "app", checkApp); r != nil {
			return r
		}
	}
	if raw := found[memberResource].of(e.Line); len(raw) > 0 {
		if e.Resource, r = takeString(raw, ResourceInvalid, "resource", checkResource); r != nil {
			return r
		}
	}
	if raw := found[memberKey].of(e.Line); len(raw) > 0 {
		if e.Key, r = takeString(raw, KeyInvalid, "key", checkKey); r != nil {
			return r
		}
	}
	e.data = found[memberData]
	return nil
}

// firstInvalid returns the offset of the first byte that is not UTF-8.
func firstInvalid(line []byte) int {
	for i := 0; i < len(line); {
		c, n := utf8.DecodeRune(line[i:])
		if c == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(line)
}
