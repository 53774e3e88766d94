package event

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzParse holds Parse and AppendEnvelope to what another JSON package reads.
func FuzzParse(f *testing.F) {
	v := readLines(f)
	for i := range v.Cases {
		f.Add(v.Cases[i].line(), v.Cases[i].MaxBytes)
	}
	f.Fuzz(func(t *testing.T, line []byte, maxBytes int) {
		before := bytes.Clone(line)
		e, err := Parse(line, maxBytes)
		if !bytes.Equal(line, before) {
			t.Fatal("Parse changed the line")
		}
		if err != nil {
			r := refusalOf(t, err)
			checkMessage(t, r)
			if whole := utf8.Valid(line) && json.Valid(line); whole != (r.Code != NotJSON && r.Code != NotUTF8) && r.Code != TooLarge {
				t.Fatalf("refused with %v, but valid JSON is %v", r, whole)
			}
			return
		}
		if ValidType(e.Type) != nil || e.ID != "" && ValidID(e.ID) != nil {
			t.Fatalf("took type %q, id %q", e.Type, e.ID)
		}
		if e.ID == "" {
			e.ID = "01932c07-91a1-7000-8000-00000000000a"
		}
		body := e.AppendEnvelope(nil, testStamp)
		if maxBytes > 0 && len(body) > maxBytes || len(body) != e.reckonedLen() {
			t.Fatalf("envelope has %d bytes, at most %d are allowed, %d were reckoned", len(body), maxBytes, e.reckonedLen())
		}
		checkEnvelope(t, &e, body)
		checkAgain(t, &e, body)
	})
}

// checkEnvelope compares the members of the line and of the body, both as encoding/json reads them.
func checkEnvelope(t *testing.T, e *Event, body []byte) {
	t.Helper()
	var in, out map[string]json.RawMessage
	if err := json.Unmarshal(e.Line, &in); err != nil {
		t.Fatalf("took a line that is not JSON: %v", err)
	}
	if err := json.Unmarshal(body, &out); err != nil {
		t.Fatalf("envelope is not an object: %v\n%s", err, body)
	}
	var id, typ string
	if err := json.Unmarshal(out["id"], &id); err != nil || id != e.ID {
		t.Errorf("id %s, want %q", out["id"], e.ID)
	}
	if err := json.Unmarshal(out["type"], &typ); err != nil || typ != e.Type {
		t.Errorf("type %s, want %q", out["type"], e.Type)
	}
	if got := string(out["seq"]); got != strconv.FormatInt(testStamp.Seq, 10) {
		t.Errorf("seq %s", got)
	}
	if got := string(out["sync_epoch"]); got != `"`+testStamp.Epoch+`"` {
		t.Errorf("sync_epoch %s", got)
	}
	if !bytes.Equal(out["data"], in["data"]) || !bytes.Equal(e.Data(), in["data"]) {
		t.Errorf("data %q, in the line %q, of the event %q", out["data"], in["data"], e.Data())
	}
	for _, name := range []string{"id", "type", "timestamp", "seq", "sync_epoch", "data", "app", "resource", "key"} {
		delete(in, name)
	}
	for _, name := range []string{"id", "type", "timestamp", "seq", "sync_epoch", "data"} {
		delete(out, name)
	}
	if len(in) != len(out) {
		t.Errorf("%d other members became %d", len(in), len(out))
	}
	for name, value := range in {
		if !bytes.Equal(out[name], value) {
			t.Errorf("member %q is %q, want %q", name, out[name], value)
		}
	}
}

// checkAgain feeds the body back: an envelope is a line that makes the same envelope.
func checkAgain(t *testing.T, e *Event, body []byte) {
	t.Helper()
	again, err := Parse(body, len(body))
	if err != nil {
		t.Fatalf("envelope is refused as a line: %v\n%s", err, body)
	}
	if again.ID != e.ID || again.Type != e.Type || !bytes.Equal(again.Data(), e.Data()) {
		t.Errorf("event became %+v", again)
	}
	if twice := again.AppendEnvelope(nil, testStamp); !bytes.Equal(twice, body) {
		t.Errorf("envelope\n was %s\n is  %s", body, twice)
	}
}

var patternForm = regexp.MustCompile(`\A!?[A-Za-z0-9_.:/*-]{1,128}\z`)

// FuzzPatterns compares with the definition, written as plainly as it can be. Patterns are parted by spaces.
func FuzzPatterns(f *testing.F) {
	v := readPatterns(f)
	for _, c := range v.Matches {
		for _, typ := range append(c.Match, c.NoMatch...) {
			f.Add(strings.Join(c.Types, " "), typ)
		}
	}
	for _, c := range v.Refused {
		f.Add(strings.Join(c.Types, " "), "t")
	}
	f.Fuzz(func(t *testing.T, list, typ string) {
		types := strings.Split(list, " ")
		if len(types) > 20 || len(typ) > 200 {
			return
		}
		sound, takes := true, false
		for _, pattern := range types {
			sound = sound && patternForm.MatchString(pattern)
			takes = takes || !strings.HasPrefix(pattern, "!")
		}
		p, err := ParsePatterns(types)
		if (err == nil) != (sound && takes) {
			t.Fatalf("%q: error %v", types, err)
		}
		if err != nil {
			return
		}
		if got, want := p.Match(typ), slowMatch(types, typ); got != want {
			t.Errorf("%q, %q: match is %v, want %v", types, typ, got, want)
		}
	})
}

func slowMatch(types []string, typ string) bool {
	taken, dropped := false, false
	for _, pattern := range types {
		body, drops := strings.CutPrefix(pattern, "!")
		if strings.HasPrefix(typ, "hookd.") && !strings.HasPrefix(body, "hookd.") || !slowGlob(body, typ) {
			continue
		}
		taken, dropped = taken || !drops, dropped || drops
	}
	return taken && !dropped
}

// slowGlob keeps, for every beginning of the pattern, the set of beginnings of the type that it matches.
func slowGlob(body, typ string) bool {
	reach := make([]bool, len(typ)+1)
	reach[0] = true
	for _, c := range []byte(body) {
		next := make([]bool, len(typ)+1)
		for i := range reach {
			switch {
			case c == '*':
				next[i] = reach[i] || i > 0 && next[i-1]
			case i > 0:
				next[i] = reach[i-1] && typ[i-1] == c
			}
		}
		reach = next
	}
	return reach[len(typ)]
}
