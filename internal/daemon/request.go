package daemon

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"runtime/debug"
	"time"

	"hookd/internal/control"
)

// Bounds of one exchange on the control socket.
const (
	headerTimeout = 5 * time.Second
	bodyTimeout   = 10 * time.Second
	// answerTimeout bounds how long a client may take to read an answer.
	answerTimeout = 30 * time.Second
)

// request is what a handler gets: it was made by a control client, its query is read and its body is whole.
type request struct {
	*http.Request
	filter control.Filter
	body   []byte
}

// reply is what a handler answers; a zero status is 200, and 204 where there is no value.
type reply struct {
	status int
	value  any
}

func answer(v any) reply { return reply{status: http.StatusOK, value: v} }

// route is one line of the table in routes.go. Either handle or stream is set.
type route struct {
	method, path string
	params       []string // query parameters that it takes
	handle       func(*api, *request) (reply, error)
	stream       func(*api, http.ResponseWriter, *request) error
}

// served is a route of one api as an http.Handler.
type served struct {
	api   *api
	route route
}

// ServeHTTP answers one request and logs, at debug, that it did.
func (s served) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	started := time.Now()
	recorder := &statusRecorder{ResponseWriter: w, status: http.StatusOK}
	s.serve(recorder, r)
	// The path of the request may name things; the route's does not.
	s.api.log.Debug("control request", "method", r.Method, "route", s.route.path, "status", recorder.status,
		"duration_ms", time.Since(started).Milliseconds())
}

func (s served) serve(w http.ResponseWriter, r *http.Request) {
	defer func() {
		if v := recover(); v != nil {
			if err, ok := v.(error); ok && errors.Is(err, http.ErrAbortHandler) {
				panic(v)
			}
			s.api.log.Error("control request panicked", "route", s.route.path, "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
			control.WriteProblem(w, control.NewProblem(control.CodeInternal, "hookd could not do it").WithHint("the log of hookd says why"))
		}
	}()
	req, problem := readRequest(w, r, s.route.params)
	if problem != nil {
		control.WriteProblem(w, problem)
		return
	}
	if s.route.stream != nil {
		if err := s.route.stream(s.api, w, req); err != nil {
			s.refuse(w, err)
		}
		return
	}
	out, err := s.route.handle(s.api, req)
	// From here on the client's reading is bounded; what was done may have taken its time.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(answerTimeout))
	switch {
	case err != nil:
		s.refuse(w, err)
	case out.value == nil:
		w.WriteHeader(http.StatusNoContent)
	default:
		control.WriteJSON(w, out.status, out.value)
	}
}

func (s served) refuse(w http.ResponseWriter, err error) {
	problem := problemOf(err)
	if problem.Code == control.CodeInternal {
		s.api.log.Error("control request failed", "route", s.route.path, "error", err)
	}
	control.WriteProblem(w, problem)
}

// readRequest refuses what no control client sends and reads query and body.
func readRequest(w http.ResponseWriter, r *http.Request, params []string) (*request, *control.Problem) {
	if p := foreign(r); p != nil {
		return nil, p
	}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, control.NewProblem(control.CodeInvalidRequest, "the query of the request cannot be read")
	}
	filter, problem := control.ParseFilter(query, params)
	if problem != nil {
		return nil, problem
	}
	conn := http.NewResponseController(w)
	// Where a deadline cannot be set the bounds of the server still hold.
	_ = conn.SetReadDeadline(time.Now().Add(bodyTimeout))
	body, err := io.ReadAll(io.LimitReader(r.Body, control.MaxRequestBytes+1))
	if err != nil {
		return nil, control.NewProblem(control.CodeInvalidRequest, "the body of the request ended early")
	}
	_ = conn.SetReadDeadline(time.Time{})
	return &request{Request: r, filter: filter, body: body}, nil
}

// foreign refuses what a browser was made to send: a control client names no origin and calls the host by its name.
func foreign(r *http.Request) *control.Problem {
	for _, name := range []string{"Origin", "Referer"} {
		if _, set := r.Header[name]; set {
			return control.NewProblem(control.CodeForeignRequest, "a request with the header %s is refused", name)
		}
	}
	if r.Host != control.Host {
		return control.NewProblem(control.CodeForeignRequest, "the Host of a request must be %q", control.Host)
	}
	return nil
}

// decode reads the body into a request type of the control API.
func decode[T any](r *request) (T, error) {
	var in T
	// A nil *Problem in an error would be no nil error.
	if p := control.ReadRequest(bytes.NewReader(r.body), &in); p != nil {
		return in, p
	}
	return in, nil
}

// noBody refuses members where there are none to give.
func (r *request) noBody() error {
	_, err := decode[struct{}](r)
	return err
}

// statusRecorder remembers the status of an answer for the log.
type statusRecorder struct {
	http.ResponseWriter
	status int
}

func (r *statusRecorder) WriteHeader(status int) {
	r.status = status
	r.ResponseWriter.WriteHeader(status)
}

// Unwrap lets http.ResponseController reach the connection.
func (r *statusRecorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }
