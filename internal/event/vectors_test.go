package event

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"
)

type lineVectors struct {
	About string
	Stamp struct {
		Seq      int64
		Epoch    string `json:"sync_epoch"`
		Received time.Time
	}
	Cases []lineCase
}

type lineCase struct {
	Name       string
	Line       string
	LineBase64 []byte  `json:"line_base64"`
	MaxBytes   int     `json:"max_bytes"`
	GivenID    string  `json:"given_id"`
	Code       Code    `json:"code"`
	MessageHas string  `json:"message_has"`
	Envelope   string  `json:"envelope"`
	Data       *string `json:"data"`
	ID         string  `json:"id"`
	App        string  `json:"app"`
	Resource   string  `json:"resource"`
	Key        string  `json:"key"`
}

func (c *lineCase) line() []byte {
	if c.LineBase64 != nil {
		return c.LineBase64
	}
	return []byte(c.Line)
}

func (v *lineVectors) stamp() Stamp {
	return Stamp{Seq: v.Stamp.Seq, Epoch: v.Stamp.Epoch, Received: v.Stamp.Received}
}

func readVectors(tb testing.TB, name string, into any) {
	tb.Helper()
	text, err := os.ReadFile("../../testvectors/" + name)
	if err != nil {
		tb.Fatal(err)
	}
	dec := json.NewDecoder(strings.NewReader(string(text)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		tb.Fatalf("read %s: %v", name, err)
	}
}

func readLines(tb testing.TB) *lineVectors {
	v := new(lineVectors)
	readVectors(tb, "lines.json", v)
	if len(v.Cases) == 0 {
		tb.Fatal("lines.json has no cases")
	}
	return v
}

func TestLineVectors(t *testing.T) {
	v := readLines(t)
	for i := range v.Cases {
		c := &v.Cases[i]
		t.Run(c.Name, func(t *testing.T) {
			e, err := Parse(c.line(), c.MaxBytes)
			if c.Code != "" {
				checkRefused(t, c, err)
				return
			}
			if err != nil {
				t.Fatalf("refused: %v", err)
			}
			checkTaken(t, c, &e, v.stamp())
		})
	}
}

func checkRefused(t *testing.T, c *lineCase, err error) {
	t.Helper()
	var r *Refusal
	if !errors.As(err, &r) {
		t.Fatalf("got %v, want a refusal with %s", err, c.Code)
	}
	if r.Code != c.Code {
		t.Errorf("refused with %v, want %s", r, c.Code)
	}
	if !strings.Contains(r.Message, c.MessageHas) {
		t.Errorf("message %q does not contain %q", r.Message, c.MessageHas)
	}
	checkMessage(t, r)
}

// checkMessage holds what every message promises: one line of printable ASCII of bounded length.
func checkMessage(t *testing.T, r *Refusal) {
	t.Helper()
	if r.Message == "" || len(r.Message) > 700 {
		t.Errorf("message has %d bytes", len(r.Message))
	}
	for _, c := range []byte(r.Message) {
		if c < ' ' || c > '~' {
			t.Errorf("message %q is not printable ASCII", r.Message)
			break
		}
	}
}

func checkTaken(t *testing.T, c *lineCase, e *Event, s Stamp) {
	t.Helper()
	if c.GivenID != "" {
		if e.ID != "" {
			t.Errorf("id %q, want none", e.ID)
		}
		e.ID = c.GivenID
	}
	if got := string(e.AppendEnvelope(nil, s)); got != c.Envelope {
		t.Errorf("envelope\n got %s\nwant %s", got, c.Envelope)
	}
	if c.Data != nil && string(e.Data()) != *c.Data {
		t.Errorf("data %s, want %s", e.Data(), *c.Data)
	}
	if c.ID != "" && e.ID != c.ID {
		t.Errorf("id %q, want %q", e.ID, c.ID)
	}
	if e.App != c.App || e.Resource != c.Resource || e.Key != c.Key {
		t.Errorf("app %q, resource %q, key %q; want %q, %q, %q", e.App, e.Resource, e.Key, c.App, c.Resource, c.Key)
	}
	if string(e.Line) != string(c.line()) {
		t.Errorf("line was changed: %q", e.Line)
	}
}

func TestPatternVectors(t *testing.T) {
	v := readPatterns(t)
	for _, c := range v.Matches {
		p, err := ParsePatterns(c.Types)
		if err != nil {
			t.Errorf("%q: %v", c.Types, err)
			continue
		}
		for _, typ := range c.Match {
			if !p.Match(typ) {
				t.Errorf("%q does not match %q", c.Types, typ)
			}
		}
		for _, typ := range c.NoMatch {
			if p.Match(typ) {
				t.Errorf("%q matches %q", c.Types, typ)
			}
		}
	}
	for _, c := range v.Refused {
		_, err := ParsePatterns(c.Types)
		if err == nil || !strings.Contains(err.Error(), c.ErrorHas) {
			t.Errorf("%q: got error %v, want one that contains %q", c.Types, err, c.ErrorHas)
		}
	}
}

type patternVectors struct {
	About   string
	Matches []struct {
		Types   []string
		Match   []string
		NoMatch []string `json:"no_match"`
	}
	Refused []struct {
		Types    []string
		ErrorHas string `json:"error_has"`
	}
}

func readPatterns(tb testing.TB) *patternVectors {
	v := new(patternVectors)
	readVectors(tb, "patterns.json", v)
	if len(v.Matches) == 0 || len(v.Refused) == 0 {
		tb.Fatal("patterns.json has no cases")
	}
	return v
}
