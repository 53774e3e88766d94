package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// tree is a JSON value that keeps what encoding/json would lose: the order of members, and numbers as they were
// written.
type tree struct{ raw json.RawMessage }

// member is one member of an object.
type member struct {
	name  string
	value tree
}

// treeOf encodes a value. Payloads in it keep their bytes but for white space.
func treeOf(v any) (tree, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return tree{}, fmt.Errorf("encode result: %w", err)
	}
	return tree{raw: bytes.TrimRight(buf.Bytes(), "\n")}, nil
}

func (t tree) isObject() bool { return len(t.raw) > 0 && t.raw[0] == '{' }
func (t tree) isList() bool   { return len(t.raw) > 0 && t.raw[0] == '[' }
func (t tree) isString() bool { return len(t.raw) > 0 && t.raw[0] == '"' }

// members lists an object's members in their order.
func (t tree) members() ([]member, error) {
	dec := json.NewDecoder(bytes.NewReader(t.raw))
	if _, err := dec.Token(); err != nil {
		return nil, fmt.Errorf("read object: %w", err)
	}
	var all []member
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, fmt.Errorf("read member name: %w", err)
		}
		m := member{name: name.(string)} // inside an object the decoder gives a string here, or an error above
		if err := dec.Decode(&m.value.raw); err != nil {
			return nil, fmt.Errorf("read member: %w", err)
		}
		all = append(all, m)
	}
	return all, nil
}

// items lists a list's items.
func (t tree) items() ([]tree, error) {
	var raws []json.RawMessage
	if err := json.Unmarshal(t.raw, &raws); err != nil {
		return nil, fmt.Errorf("read list: %w", err)
	}
	all := make([]tree, len(raws))
	for i, raw := range raws {
		all[i] = tree{raw: raw}
	}
	return all, nil
}

// text is a string's value, and the literal of anything else.
func (t tree) text() string {
	if t.isString() {
		var s string
		if json.Unmarshal(t.raw, &s) == nil {
			return s
		}
	}
	return string(t.raw)
}

// indented writes the value over several lines.
func (t tree) indented() []byte {
	var buf bytes.Buffer
	if json.Indent(&buf, t.raw, "", "  ") != nil {
		return t.raw
	}
	return buf.Bytes()
}
