package control

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// ProblemMediaType is the content type of a [Problem] (RFC 9457).
const ProblemMediaType = "application/problem+json"

const problemTypePrefix = "urn:hookd:problem:"

// Problem is an error of the control API as RFC 9457 problem details. It is an error itself, so that a room of the
// daemon can return it and hookctl can look at it with errors.As.
type Problem struct {
	// Type is a URI made from the code.
	Type string `json:"type"`
	// Title is the code's text, the same for each occurrence.
	Title string `json:"title"`
	// Status repeats the HTTP status.
	Status int `json:"status"`
	// Detail says what is wrong this time, in lower case and without a full stop. It never has a secret, a payload,
	// a header's value or a URL's path in it.
	Detail string `json:"detail"`
	// Code is one of the closed list.
	Code Code `json:"code"`
	// Pointer is the JSON Pointer (RFC 6901) of the member at fault; for a query parameter, "/" and its name.
	Pointer string `json:"pointer,omitempty"`
	// Hint says what would help, where something does.
	Hint string `json:"hint,omitempty"`
	// ExitCode is what hookctl ends with.
	ExitCode int `json:"exit_code"`
}

// NewProblem makes a problem of a code; detail is formatted as by fmt.Sprintf.
func NewProblem(code Code, detail string, args ...any) *Problem {
	if len(args) > 0 {
		detail = fmt.Sprintf(detail, args...)
	}
	return &Problem{
		Type:     problemTypePrefix + string(code),
		Title:    code.Title(),
		Status:   code.HTTPStatus(),
		Detail:   detail,
		Code:     code,
		ExitCode: code.ExitCode(),
	}
}

// At sets the pointer of the member at fault and returns the problem.
func (p *Problem) At(pointer string) *Problem {
	p.Pointer = pointer
	return p
}

// WithHint sets the hint and returns the problem; hint is formatted as by fmt.Sprintf.
func (p *Problem) WithHint(hint string, args ...any) *Problem {
	if len(args) > 0 {
		hint = fmt.Sprintf(hint, args...)
	}
	p.Hint = hint
	return p
}

// Error is the detail, or the title where there is none.
func (p *Problem) Error() string {
	if p.Detail != "" {
		return p.Detail
	}
	return p.Title
}

// WriteProblem answers a request with a problem.
func WriteProblem(w http.ResponseWriter, p *Problem) {
	w.Header().Set("Content-Type", ProblemMediaType)
	w.WriteHeader(p.Status)
	// A client that went away is no news to anybody.
	_ = encodeJSON(w, p)
}

// readProblem takes the problem out of an answer. An answer that is none still becomes one, so that a foreign server
// on the socket is told from hookd.
func readProblem(status int, body []byte) *Problem {
	var p Problem
	if err := json.Unmarshal(body, &p); err != nil || p.Code == "" {
		return NewProblem(CodeFailed, "answer with HTTP status %d and no problem details", status).
			WithHint("check that the socket is hookd's and that both programs have the same version")
	}
	// The table of this build decides where it knows the code; a newer daemon's code brings its own exit code.
	if _, known := codeTable[p.Code]; known {
		p.ExitCode = p.Code.ExitCode()
	} else if p.ExitCode <= 0 || p.ExitCode > 255 {
		p.ExitCode = ExitFailed
	}
	return &p
}
