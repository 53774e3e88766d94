package control

import (
	"encoding/json"
	"net/http/httptest"
	"testing"
)

func TestEveryCodeHasOneMeaning(t *testing.T) {
	titles := map[string]Code{}
	for code, row := range codeTable {
		if row.title == "" {
			t.Errorf("%s has no title", code)
		}
		if other, ok := titles[row.title]; ok {
			t.Errorf("%s and %s have the same title", code, other)
		}
		titles[row.title] = code
		if row.exit == ExitDone {
			t.Errorf("%s would end hookctl as if all went well", code)
		}
		if row.status != statusClientOnly && (row.status < 400 || row.status > 599) {
			t.Errorf("%s has HTTP status %d", code, row.status)
		}
	}
}

func TestCodeMeanings(t *testing.T) {
	tests := []struct {
		code         Code
		status, exit int
	}{
		{CodeInvalidRequest, 400, 2},
		{CodeUnknownMember, 400, 2},
		{CodeNotFound, 404, 4},
		{CodeConflict, 409, 5},
		{CodeNameTaken, 409, 5},
		{CodeAmbiguous, 409, 5},
		{CodeRefused, 422, 5},
		{CodeHostNotAllowed, 422, 5},
		{CodeAddressBlocked, 422, 5},
		{CodeUnavailable, 503, 1},
		{CodeInternal, 500, 1},
		{CodeUnreachable, 500, 3},
		{CodeTimedOut, 500, 6},
		{CodeNotVerified, 500, 7},
		{CodeDegraded, 500, 9},
		{CodeInterrupted, 500, 130},
		{"of_a_newer_daemon", 500, 1},
	}
	for _, tt := range tests {
		if got := tt.code.HTTPStatus(); got != tt.status {
			t.Errorf("%s: HTTP status %d, want %d", tt.code, got, tt.status)
		}
		if got := tt.code.ExitCode(); got != tt.exit {
			t.Errorf("%s: exit code %d, want %d", tt.code, got, tt.exit)
		}
	}
}

func TestWriteProblem(t *testing.T) {
	w := httptest.NewRecorder()
	WriteProblem(w, NewProblem(CodeHostNotAllowed, "port %d is not allowed", 81).At("/url").WithHint("set egress.allowed_hosts"))
	if w.Code != 422 || w.Header().Get("Content-Type") != "application/problem+json" {
		t.Fatalf("status %d, type %q", w.Code, w.Header().Get("Content-Type"))
	}
	var got map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"type": "urn:hookd:problem:host_not_allowed", "title": "the host is not allowed", "status": 422.0,
		"detail": "port 81 is not allowed", "code": "host_not_allowed", "pointer": "/url",
		"hint": "set egress.allowed_hosts", "exit_code": 5.0,
	}
	for name, value := range want {
		if got[name] != value {
			t.Errorf("%s is %v, want %v", name, got[name], value)
		}
	}
	if len(got) != len(want) {
		t.Errorf("members %v", got)
	}
}

func TestProblemDetailWithPercentStaysAsItIs(t *testing.T) {
	if got := NewProblem(CodeRefused, "type \"a%d\" is refused").Error(); got != "type \"a%d\" is refused" {
		t.Errorf("got %q", got)
	}
}

func TestReadProblem(t *testing.T) {
	tests := []struct {
		name, body string
		code       Code
		exit       int
	}{
		{"known code keeps this build's exit code", `{"code":"not_found","detail":"x","exit_code":99}`, CodeNotFound, 4},
		{"newer code brings its own", `{"code":"too_new","detail":"x","exit_code":5}`, "too_new", 5},
		{"newer code with a silly exit code", `{"code":"too_new","detail":"x","exit_code":0}`, "too_new", 1},
		{"not a problem", `<html>nginx</html>`, CodeFailed, 1},
		{"JSON of somebody else", `{"error":"x"}`, CodeFailed, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := readProblem(404, []byte(tt.body))
			if p.Code != tt.code || p.ExitCode != tt.exit {
				t.Errorf("got %s, exit %d", p.Code, p.ExitCode)
			}
		})
	}
}
