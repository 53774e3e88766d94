package event

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// names remembers the names of the other members of one line, decoded, to find one that stands twice. A few are compared one by
// one; beyond that a map keeps a line of thousands of members from costing their square.
type names struct {
	few  [16][]byte
	n    int
	more map[string]struct{}
}

// add reports whether the name is new.
func (s *names) add(name []byte) bool {
	for _, known := range s.few[:s.n] {
		if bytes.Equal(known, name) {
			return false
		}
	}
	if s.n < len(s.few) {
		s.few[s.n] = name
		s.n++
		return true
	}
	if _, ok := s.more[string(name)]; ok {
		return false
	}
	if s.more == nil {
		s.more = make(map[string]struct{})
	}
	s.more[string(name)] = struct{}{}
	return true
}

// unquoteName decodes a JSON string that was checked already. Without escapes it is a part of raw. A lone surrogate
// becomes U+FFFD, as it does in most receivers, so two names that differ only there count as the same.
func unquoteName(raw []byte) []byte {
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1]
	}
	name, _ := jsontext.AppendUnquote(nil, raw) // only lone surrogates are left to complain about
	return name
}
