package event

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
)

var testStamp = Stamp{
	Seq:      1234567890123456,
	Epoch:    "01932c07-91a0-4000-8000-000000000001",
	Received: time.Date(2026, 11, 30, 12, 0, 0, 123_000_000, time.UTC),
}

func mustParse(tb testing.TB, line string) Event {
	tb.Helper()
	e, err := Parse([]byte(line), 0)
	if err != nil {
		tb.Fatalf("parse %.100s: %v", line, err)
	}
	return e
}

// refusalOf returns the refusal that err must be.
func refusalOf(tb testing.TB, err error) *Refusal {
	tb.Helper()
	var r *Refusal
	if !errors.As(err, &r) {
		tb.Fatalf("got %T %v, want a *Refusal", err, err)
	}
	return r
}

func TestEnvelopeFollowsTheFields(t *testing.T) {
	e := mustParse(t, `{"type":"placeholder","data":{"a":1},"x":2}`)
	e.ID, e.Type, e.App = `back\slash and "quote"`+"\n", "hookd.test", "shop"
	e.Time = time.Date(2026, 1, 2, 3, 4, 5, 600, time.FixedZone("", 3600))
	got := string(e.AppendEnvelope([]byte("before "), Stamp{Seq: 7, Epoch: "ep"}))
	want := `before {"id":"back\\slash and \"quote\"\n","type":"hookd.test","timestamp":"2026-01-02T02:04:05.0000006Z",` +
		`"seq":7,"sync_epoch":"ep","data":{"a":1},"x":2}`
	if got != want {
		t.Errorf("envelope\n got %s\nwant %s", got, want)
	}
}

func TestEnvelopeOfAnEventWithoutLine(t *testing.T) {
	e := Event{ID: "e", Type: "hookd.test"}
	want := `{"id":"e","type":"hookd.test","timestamp":"2026-11-30T12:00:00.123Z","seq":1234567890123456,` +
		`"sync_epoch":"01932c07-91a0-4000-8000-000000000001"}`
	if got := string(e.AppendEnvelope(nil, testStamp)); got != want {
		t.Errorf("envelope\n got %s\nwant %s", got, want)
	}
}

func TestEnvelopeWritesReceiptInUTC(t *testing.T) {
	e := mustParse(t, `{"id":"e","type":"t"}`)
	s := testStamp
	s.Received = s.Received.In(time.FixedZone("", -9*3600))
	if got := string(e.AppendEnvelope(nil, s)); !strings.Contains(got, `"timestamp":"2026-11-30T12:00:00.123Z"`) {
		t.Errorf("envelope %s", got)
	}
}

func TestTimeIsUTCOrZero(t *testing.T) {
	e := mustParse(t, `{"id":"e","type":"t","timestamp":"2026-11-30T12:00:00+05:30"}`)
	if want := time.Date(2026, 11, 30, 6, 30, 0, 0, time.UTC); e.Time != want {
		t.Errorf("time %v, want %v", e.Time, want)
	}
	if e = mustParse(t, `{"id":"e","type":"t","timestamp":1796040000}`); e.Time.Location() != time.UTC {
		t.Errorf("time %v is not UTC", e.Time)
	}
	if e = mustParse(t, `{"id":"e","type":"t"}`); !e.Time.IsZero() {
		t.Errorf("time %v, want none", e.Time)
	}
}

func TestDataIsNotGrownIntoTheLine(t *testing.T) {
	line := `{"id":"e","type":"t","data":1,"x":2}`
	e := mustParse(t, line)
	_ = append(e.Data(), "000000"...)
	if string(e.Line) != line {
		t.Errorf("line became %s", e.Line)
	}
	if e = mustParse(t, `{"type":"t"}`); e.Data() != nil {
		t.Errorf("data %q, want nil", e.Data())
	}
}

func TestCopiesOfAnEventDoNotShareSpans(t *testing.T) {
	var line strings.Builder
	line.WriteString(`{"id":"e","type":"t"`)
	for i := range 40 {
		fmt.Fprintf(&line, ` , "m%d":%d`, i, i)
	}
	line.WriteString("}")
	e := mustParse(t, line.String())
	first := string(e.AppendEnvelope(nil, testStamp))
	other := e
	other.ID = "other"
	if got := string(other.AppendEnvelope(nil, testStamp)); got != strings.Replace(first, `"e"`, `"other"`, 1) {
		t.Errorf("envelope of the copy %s", got)
	}
	if again := string(e.AppendEnvelope(nil, testStamp)); again != first {
		t.Errorf("envelope changed to %s", again)
	}
}

func TestDefaultAndNoBound(t *testing.T) {
	const frame = `{"type":"t","key":""}` // key is left out, so the line is what reaches the bound, by its white space
	line := frame + strings.Repeat(" ", DefaultMaxBytes-len(frame))
	line = strings.Replace(line, `""`, `"k"`, 1)[:DefaultMaxBytes]
	for _, maxBytes := range []int{0, -1, DefaultMaxBytes} {
		if _, err := Parse([]byte(line), maxBytes); err != nil {
			t.Errorf("at most %d: %v", maxBytes, err)
		}
		_, err := Parse([]byte(line+" "), maxBytes)
		if r := refusalOf(t, err); r.Code != TooLarge {
			t.Errorf("at most %d: got %v, want %s", maxBytes, r, TooLarge)
		}
	}
	if _, err := Parse([]byte(line+" "), math.MaxInt); err != nil {
		t.Errorf("without bound: %v", err)
	}
}

func TestNestingIsBounded(t *testing.T) {
	nested := func(n int) string {
		return `{"id":"e","type":"t","data":` + strings.Repeat("[", n) + strings.Repeat("]", n) + "}"
	}
	mustParse(t, nested(9000))
	for _, n := range []int{10001, 30000} {
		_, err := Parse([]byte(nested(n)), 0)
		if r := refusalOf(t, err); r.Code != NotJSON {
			t.Errorf("%d deep: %v, want %s", n, r, NotJSON)
		}
	}
}

// A line may hold thousands of members: names past the first few are kept in another way, and a repeated one is found there too.
func TestManyMembers(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"id":"e","type":"t"`)
	n := 0
	for ; b.Len() < DefaultMaxBytes-300; n++ {
		fmt.Fprintf(&b, `,"%x":0`, n)
	}
	mustParse(t, b.String()+"}")
	_, err := Parse([]byte(b.String()+fmt.Sprintf(`,"%x":1}`, n-1)), 0)
	if r := refusalOf(t, err); r.Code != MemberRepeated {
		t.Errorf("got %v, want %s", r, MemberRepeated)
	}
}

func TestRefusalsQuoteNoPayload(t *testing.T) {
	const canary = "CANARY"
	lines := []string{
		`CANARY`, `{"a":CANARY}`, `{"a":"\CANARY"}`, `{"type":"t"} CANARY`, `"CANARY"`, `["CANARY"]`, `{"data":"CANARY"`,
		`{"data":"CANARY"}`, `{"type":" CANARY"}`, `{"type":["CANARY"]}`, `{"type":"hookd.CANARY"}`,
		`{"type":"t","id":"CANARY."}`, `{"type":"t","id":{"CANARY":1}}`, `{"type":"t","timestamp":"CANARY"}`,
		`{"type":"t","timestamp":"CANARY2026-11-30T12:00:00Z"}`, `{"type":"t","timestamp":{"CANARY":1}}`,
		`{"type":"t","app":"CANARY!"}`, `{"type":"t","resource":"/CANARY"}`, `{"type":"t","key":["CANARY"]}`,
		`{"type":"t","key":"CANARY\ud800"}`, `{"a":"CANARY","a":"CANARY"}`, "{\"a\":\"CANARY\xff\"}",
		`{"CANARY":1,"type":"t","key":""}`,
	}
	for _, line := range lines {
		_, err := Parse([]byte(line), 0)
		r := refusalOf(t, err)
		if strings.Contains(r.Error(), canary) {
			t.Errorf("%s: %v", line, r)
		}
		checkMessage(t, r)
	}
}

func TestHintOfARepeatedNameIsBounded(t *testing.T) {
	for _, name := range []string{strings.Repeat("\U0001F600", 5000), strings.Repeat(`\u0000`, 5000), strings.Repeat("é", 33)} {
		_, err := Parse([]byte(`{"`+name+`":1,"`+name+`":1}`), 0)
		r := refusalOf(t, err)
		if r.Code != MemberRepeated {
			t.Errorf("got %.200v, want %s", r, MemberRepeated)
		}
		checkMessage(t, r)
	}
	if got := hint(strings.Repeat("\x80", 100)); got != `""...` {
		t.Errorf("hint of bytes that are no text: %s", got)
	}
}

func TestRefusalError(t *testing.T) {
	r := &Refusal{Code: TypeMissing, Message: "line has no member type"}
	if got := r.Error(); got != "type_missing: line has no member type" {
		t.Errorf("got %q", got)
	}
}

func TestValidIDAndType(t *testing.T) {
	if err := ValidID("evt-7"); err != nil {
		t.Errorf("id: %v", err)
	}
	if err := ValidType("order.paid"); err != nil {
		t.Errorf("type: %v", err)
	}
	for _, id := range []string{"", "a.b", "a b", strings.Repeat("a", 257)} {
		if r := refusalOf(t, ValidID(id)); r.Code != IDInvalid {
			t.Errorf("id: %v", r)
		}
	}
	for _, typ := range []string{"", "a b", "hookd.x", strings.Repeat("a", 129)} {
		if r := refusalOf(t, ValidType(typ)); r.Code != TypeInvalid {
			t.Errorf("type: %v", r)
		}
	}
}

func TestPatternsAreCopied(t *testing.T) {
	types := []string{"order.*", "!order.gone"}
	p, err := ParsePatterns(types)
	if err != nil {
		t.Fatal(err)
	}
	types[0] = "changed"
	got := p.Strings()
	if strings.Join(got, " ") != "order.* !order.gone" {
		t.Errorf("strings %q", got)
	}
	got[0] = "changed"
	if p.Strings()[0] != "order.*" || !p.Match("order.paid") {
		t.Error("the caller's slice is shared")
	}
	if (Patterns{}).Match("order.paid") {
		t.Error("the zero value matches")
	}
}
