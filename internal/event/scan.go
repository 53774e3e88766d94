package event

import (
	"bytes"
	"errors"
	"io"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// A member is a top-level member that hookd knows.
type member int

const (
	memberOther member = iota
	memberID
	memberType
	memberTimestamp
	memberData
	memberApp
	memberResource
	memberKey
	memberSeq       // dropped: the envelope has its own
	memberSyncEpoch // dropped likewise
	memberCount
)

// members holds the spans of the values of the members that hookd knows.
type members [memberCount]span

func memberOf(name []byte) member {
	switch string(name) {
	case "id":
		return memberID
	case "type":
		return memberType
	case "timestamp":
		return memberTimestamp
	case "data":
		return memberData
	case "app":
		return memberApp
	case "resource":
		return memberResource
	case "key":
		return memberKey
	case "seq":
		return memberSeq
	case "sync_epoch":
		return memberSyncEpoch
	}
	return memberOther
}

// A scanner is a decoder with the buffer that it reads from, kept together so that a scan allocates nothing. One in the
// pool still refers to the last line it read; the garbage collector empties the pool.
type scanner struct {
	buf bytes.Buffer
	dec jsontext.Decoder
}

var scanners = sync.Pool{New: func() any { return new(scanner) }}

// What is inside values is the producer's: names repeated there and lone surrogate escapes pass. The line itself is known
// to be UTF-8 already.
var (
	repeatsInside    = jsontext.AllowDuplicateNames(true)
	surrogatesInside = jsontext.AllowInvalidUTF8(true)
)

// scan finds the members of the one object that e.Line must be: the spans of the known ones in found, the others in e.
func scan(e *Event, found *members) *Refusal {
	s := scanners.Get().(*scanner)
	defer scanners.Put(s)
	// The decoder takes the bytes of a bytes.Buffer without copying or changing them.
	s.buf = *bytes.NewBuffer(e.Line)
	s.dec.Reset(&s.buf, repeatsInside, surrogatesInside)

	if s.dec.PeekKind() != '{' {
		return s.notAnObject(e.Line)
	}
	if _, err := s.dec.ReadToken(); err != nil {
		return notJSON(e.Line, err)
	}
	var seen names
	repeated := span{}
	for s.dec.PeekKind() != '}' {
		name, err := s.dec.ReadValue()
		if err != nil {
			return notJSON(e.Line, err)
		}
		nameEnd := int32(s.dec.InputOffset())
		nameSpan := span{nameEnd - int32(len(name)), nameEnd}
		decoded := unquoteName(name)
		value, err := s.dec.ReadValue()
		if err != nil {
			return notJSON(e.Line, err)
		}
		end := int32(s.dec.InputOffset())
		if m := memberOf(decoded); m != memberOther {
			if !found[m].none() && repeated.none() {
				repeated = nameSpan
			}
			found[m] = span{end - int32(len(value)), end}
			continue
		}
		if !seen.add(decoded) && repeated.none() {
			repeated = nameSpan
		}
		pass(e, span{nameSpan.from, end})
	}
	if _, err := s.dec.ReadToken(); err != nil {
		return notJSON(e.Line, err)
	}
	if r := s.atEnd(e.Line); r != nil {
		return r
	}
	if !repeated.none() {
		name := unquoteName(repeated.of(e.Line))
		return refuse(MemberRepeated, "member %s stands a second time at byte %d, a name may stand once at the top level",
			hint(string(name)), repeated.from)
	}
	return nil
}

// pass notes a member that is delivered as it stands. Neighbours with nothing but a comma between them become one span,
// which is written as the two would be.
func pass(e *Event, s span) {
	if l := e.others.last(); l != nil && l.to+1 == s.from && e.Line[l.to] == ',' {
		l.to = s.to
		return
	}
	e.others.add(s)
}

// notAnObject tells JSON that is no object from what is no JSON.
func (s *scanner) notAnObject(line []byte) *Refusal {
	value, err := s.dec.ReadValue()
	if err != nil {
		return notJSON(line, err)
	}
	kind := kindName(value)
	if r := s.atEnd(line); r != nil {
		return r
	}
	return refuse(NotObject, "line is %s, it must be one JSON object", kind)
}

// atEnd makes sure that nothing but white space follows: of two records glued together neither is taken.
func (s *scanner) atEnd(line []byte) *Refusal {
	end := s.dec.InputOffset()
	if _, err := s.dec.ReadToken(); !errors.Is(err, io.EOF) {
		return refuse(NotJSON, "more follows after the JSON value that ends at byte %d of %d, a line holds one object", end, len(line))
	}
	return nil
}

// notJSON says where the syntax breaks. The decoder's own message is not used: it quotes the line.
func notJSON(line []byte, err error) *Refusal {
	at := int64(len(line))
	if syntax, ok := errors.AsType[*jsontext.SyntacticError](err); ok && !errors.Is(err, io.ErrUnexpectedEOF) {
		at = min(syntax.ByteOffset, at)
	}
	rest := line[at:]
	switch {
	case len(line) == 0:
		return refuse(NotJSON, "line is empty, it must be one JSON object")
	case len(rest) == 0:
		return refuse(NotJSON, "line ends at byte %d before its JSON value does", len(line))
	case rest[0] == 0:
		return refuse(NotJSON, "NUL byte at byte %d, JSON allows none", at)
	case bytes.HasPrefix(rest, []byte("\ufeff")):
		return refuse(NotJSON, "byte order mark at byte %d, it may only begin a file", at)
	}
	return refuse(NotJSON, "JSON syntax is broken at byte %d (RFC 8259, nested at most 10000 deep)", at)
}

// kindName names the kind of a JSON value for a message.
func kindName(value []byte) string {
	switch jsontext.Value(value).Kind() {
	case '"':
		return "a string"
	case '0':
		return "a number"
	case '[':
		return "an array"
	case '{':
		return "an object"
	case 'n':
		return "null"
	}
	return "a boolean"
}
