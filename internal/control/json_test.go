package control

import (
	"encoding/json"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

func members(t *testing.T, v any) []string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]json.RawMessage
	if err := json.Unmarshal(raw, &m); err != nil {
		t.Fatal(err)
	}
	var names []string
	for name, value := range m {
		if string(value) == "null" {
			t.Errorf("member %s is null", name)
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// What is always there must be there in the zero value too, and what does not exist must be absent: these are the
// names of the specification's table.
func TestMembers(t *testing.T) {
	now, code, took, line := time.Now().UTC(), 200, int64(3), "x"
	tests := []struct {
		name          string
		zero, full    any
		always, other string
	}{
		{
			"subscription",
			Subscription{},
			Subscription{
				URL: "u", Secret: "s", Cause: "c", DisabledAt: &now, OldestPendingAt: &now, Head: &Head{},
				Gaps: List[Gap]{}, Warnings: List[string]{},
			},
			"id name app host types filters state cursor last_delivered_seq pending pending_exact consecutive_failures order " +
				"sign profile payload retry timeout_s max_consecutive_failures created_at",
			"url secret cause disabled_at oldest_pending_at head gaps warnings",
		},
		{
			"head",
			Head{},
			Head{LastError: "x", ResponseCode: &code, BlockedSince: &now, NextAttemptAt: &now},
			"seq event_id attempt", "last_error response_code blocked_since next_attempt_at",
		},
		{"gap", Gap{}, Gap{}, "from_seq to_seq count exact cause at", ""},
		{
			"delivery",
			Delivery{},
			Delivery{
				EventID: "e", Type: "t", ResponseCode: &code, LastError: "x", FirstAttemptAt: &now, FinishedAt: &now,
				DurationMS: &took, NextAttemptAt: &now, History: List[Attempt]{},
			},
			"id subscription subscription_id seq status attempts",
			"event_id type response_code last_error first_attempt_at finished_at duration_ms next_attempt_at history",
		},
		{
			"attempt",
			Attempt{},
			Attempt{ResponseCode: &code, LastError: "x", DurationMS: &took, NextAttemptAt: &now},
			"at attempt", "response_code last_error duration_ms next_attempt_at",
		},
		{
			"dead letter",
			DeadLetter{},
			DeadLetter{LastStatus: &code, LastError: "x", ReplayedAt: &now, ReplayStatus: "pending", Payload: json.RawMessage("{}")},
			"id subscription app event_id seq type attempts dead_at",
			"last_status last_error replayed_at replay_status payload",
		},
		{
			"event",
			Event{},
			Event{App: "a", Key: "k", Body: json.RawMessage("{}"), Deliveries: List[EventDelivery]{}},
			"seq id type timestamp received_at source", "app key body deliveries",
		},
		{
			"source",
			Source{},
			Source{Reason: "r", Path: "p", Listen: "l"},
			"name kind state offset lag_bytes accepted duplicates rejected", "reason path listen",
		},
		{
			"quarantine entry",
			QuarantineEntry{},
			QuarantineEntry{Line: &line, LineBase64: "eA=="},
			"id source reason message offset length at", "line line_base64",
		},
		{
			"status",
			Status{},
			Status{},
			"version uptime_s healthy problems sources log pending oldest_pending_age_s in_flight dead_letters subscriptions " +
				"store_bytes wal_bytes socket disabled blocked", "",
		},
		{
			"replay",
			Replay{},
			Replay{EndedAt: &now},
			"id subscription origin state total done dead expired rate created_at", "ended_at",
		},
		{
			"rotated secret",
			RotatedSecret{},
			RotatedSecret{Secret: "s", OverlapUntil: &now},
			"subscription generation rotated ended_early", "secret overlap_until",
		},
		{"replayed dead letters", ReplayedDeadLetters{}, ReplayedDeadLetters{}, "replays replayed skipped", ""},
		{"ready file", ReadyFile{}, ReadyFile{Public: "p"}, "pid socket sources", "public"},
		{"page", Page[Event]{}, Page[Event]{Next: "n"}, "items", "next"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			always := strings.Fields(tt.always)
			all := append(strings.Fields(tt.other), always...)
			slices.Sort(always)
			slices.Sort(all)
			if got := members(t, tt.zero); !reflect.DeepEqual(got, always) {
				t.Errorf("zero value has\n%v, want\n%v", got, always)
			}
			if got := members(t, tt.full); !reflect.DeepEqual(got, all) {
				t.Errorf("full value has\n%v, want\n%v", got, all)
			}
		})
	}
}

func TestBytesOfAPayloadStay(t *testing.T) {
	const body = `{"n":9007199254740993,"big":1e400,"one":1.0,"zero":-0,"u":"<a&b>"}`
	w := httptest.NewRecorder()
	WriteJSON(w, 200, Event{Body: json.RawMessage(body)})
	if !strings.Contains(w.Body.String(), body) {
		t.Fatalf("written as %s", w.Body)
	}
	var back Event
	if err := json.Unmarshal(w.Body.Bytes(), &back); err != nil {
		t.Fatal(err)
	}
	if string(back.Body) != body {
		t.Errorf("read as %s", back.Body)
	}
}

func TestReadRequest(t *testing.T) {
	tests := []struct {
		name, body string
		code       Code
		pointer    string
	}{
		{"empty", ``, "", ""},
		{"good", `{"url":"https://example.com/","types":["a.*"],"timeout_s":1.5}`, "", ""},
		{"unknown", `{"url":"https://example.com/","colour":"red"}`, CodeUnknownMember, "/colour"},
		{"other case", `{"URL":"https://example.com/"}`, CodeUnknownMember, "/URL"},
		{"repeated", `{"url":"a","url":"b"}`, CodeInvalidRequest, "/url"},
		{"wrong type", `{"types":"a"}`, CodeInvalidRequest, "/types"},
		{"wrong type inside", `{"types":["a",1]}`, CodeInvalidRequest, "/types/1"},
		{"list", `[]`, CodeInvalidRequest, ""},
		{"two values", `{} {}`, CodeInvalidRequest, ""},
		{"cut", `{"url":`, CodeInvalidRequest, ""},
		{"too large", `{"url":"` + strings.Repeat("x", MaxRequestBytes) + `"}`, CodeBodyTooLarge, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var in CreateSubscription
			p := ReadRequest(strings.NewReader(tt.body), &in)
			if tt.code == "" {
				if p != nil {
					t.Fatalf("refused: %v", p)
				}
				return
			}
			if p == nil {
				t.Fatal("taken")
			}
			if p.Code != tt.code || p.Pointer != tt.pointer {
				t.Errorf("got %s at %q (%s)", p.Code, p.Pointer, p.Detail)
			}
		})
	}
}

func FuzzReadRequest(f *testing.F) {
	for _, s := range []string{``, `{}`, `{"url":"x"}`, `{"lease":true,"timeout_s":1e999}`, `{"a`, "\xff", `null`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body string) {
		var in CreateSubscription
		if p := ReadRequest(strings.NewReader(body), &in); p != nil && (p.Detail == "" || p.ExitCode == 0) {
			t.Errorf("problem without a text or an exit code: %+v", p)
		}
	})
}

func TestSeconds(t *testing.T) {
	for _, d := range []time.Duration{0, time.Millisecond, 1500 * time.Millisecond, 15 * time.Second, 24 * time.Hour, -time.Second} {
		if got := SecondsOf(d).Duration(); got != d {
			t.Errorf("%v came back as %v", d, got)
		}
	}
	if got := Seconds(1e300).Duration(); got <= 0 {
		t.Errorf("a huge number became %v", got)
	}
	if got := Seconds(-1e300).Duration(); got >= 0 {
		t.Errorf("a huge negative number became %v", got)
	}
	raw, err := json.Marshal(SecondsOf(15 * time.Second))
	if err != nil || string(raw) != "15" {
		t.Errorf("written as %s, %v", raw, err)
	}
}
