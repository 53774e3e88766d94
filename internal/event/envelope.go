package event

import (
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// A Stamp is what the log adds to an event.
type Stamp struct {
	// Seq is the event's number in the log.
	Seq int64
	// Epoch is the UUID of the log's numbering (sync_epoch), in text.
	Epoch string
	// Received stands for the time of an event without a timestamp. Rounded to milliseconds it fits what Parse reckons with.
	Received time.Time
}

// What Parse reckons with where it cannot know yet: digits of seq, characters of a UUID, and of a timestamp in milliseconds.
const (
	reckonedSeq  = 16
	reckonedUUID = 36
	reckonedTime = len("2006-01-02T15:04:05.000Z")
)

// AppendEnvelope appends the body that is delivered to dst and returns the extended slice. The body is one JSON object without
// a line end: id, type, timestamp, seq, sync_epoch, then data as it was written, if there is one, then the line's other
// members as they were written and in their order. The line's app, resource, key, seq and sync_epoch are left out.
//
// id and type are those of the event's fields, not of the line. The timestamp is the event's, else s.Received, in UTC, as RFC
// 3339 with as many digits of a second as it has. The same event and stamp give the same bytes. The ID must be set.
func (e *Event) AppendEnvelope(dst []byte, s Stamp) []byte {
	dst = slices.Grow(dst, e.reckonedLen()+len("000000")) // Received may be as fine as a nanosecond
	dst = appendString(append(dst, `{"id":`...), e.ID)
	dst = appendString(append(dst, `,"type":`...), e.Type)
	at := e.Time
	if at.IsZero() && !e.timed {
		at = s.Received
	}
	dst = append(dst, `,"timestamp":"`...)
	dst = at.UTC().AppendFormat(dst, time.RFC3339Nano)
	dst = append(dst, `","seq":`...)
	dst = strconv.AppendInt(dst, s.Seq, 10)
	dst = appendString(append(dst, `,"sync_epoch":`...), s.Epoch)
	if data := e.Data(); data != nil {
		dst = append(append(dst, `,"data":`...), data...)
	}
	dst = e.others.appendTo(dst, e.Line)
	return append(dst, '}')
}

// reckonedLen returns the length of the envelope before its stamp is known.
func (e *Event) reckonedLen() int {
	n := len(`{"id":"","type":"","timestamp":"","seq":,"sync_epoch":""}`) + reckonedSeq + reckonedUUID
	n += quotedLen(e.Type)
	if e.ID == "" {
		n += reckonedUUID
	} else {
		n += quotedLen(e.ID)
	}
	if e.Time.IsZero() && !e.timed {
		n += reckonedTime
	} else {
		n += timeLen(e.Time)
	}
	if !e.data.none() {
		n += len(`,"data":`) + int(e.data.to-e.data.from)
	}
	return n + e.others.size()
}

// appendString appends s as a JSON string. What is not UTF-8 in it, which no id or type is, becomes U+FFFD.
func appendString(dst []byte, s string) []byte {
	dst, _ = jsontext.AppendQuote(dst, s) // complains of nothing else
	return dst
}

// quotedLen returns how long a valid id or type is between its quotes: of all their characters only the backslash is escaped.
func quotedLen(s string) int {
	n := len(s)
	for i := range len(s) {
		if s[i] == '\\' {
			n++
		}
	}
	return n
}

// timeLen returns the length of a time of the years 1 to 9999 as AppendEnvelope writes it.
func timeLen(t time.Time) int {
	n := len("2006-01-02T15:04:05Z")
	if nanos := t.Nanosecond(); nanos != 0 {
		n += len(".000000000")
		for ; nanos%10 == 0; nanos /= 10 {
			n--
		}
	}
	return n
}
