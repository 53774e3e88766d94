package control

import (
	stdjson "encoding/json"
	"errors"
	"io"
	"net/http"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// MaxRequestBytes bounds the body of a request.
const MaxRequestBytes = 1 << 20

// List is a slice that is written as [] when it is empty or nil: a list of the API is never null. With the omitzero
// tag a nil list is left out, which is how a member that only some answers have is told from an empty one.
type List[T any] []T

// MarshalJSON writes the list, [] for a nil one.
func (l List[T]) MarshalJSON() ([]byte, error) {
	if l == nil {
		return []byte("[]"), nil
	}
	return stdjson.Marshal([]T(l))
}

// Page is one page of a list.
type Page[T any] struct {
	Items List[T] `json:"items"`
	// Next is the cursor of the page after this one, to be given as "after"; empty on the last page. Its content is
	// the daemon's business.
	Next string `json:"next,omitempty"`
}

// WriteJSON answers a request with a value. The bytes of a json.RawMessage keep their digits.
func WriteJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// A client that went away is no news to anybody.
	_ = encodeJSON(w, v)
}

func encodeJSON(w io.Writer, v any) error {
	enc := stdjson.NewEncoder(w)
	// Payloads hold URLs and markup: they stay as their producer wrote them.
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// ReadRequest decodes the body of a request into v, a pointer to a request type of this package. A body over
// [MaxRequestBytes], a member that v does not have, a repeated member and a value of another type are problems that
// name the member. An empty body is an empty object.
func ReadRequest(body io.Reader, v any) *Problem {
	raw, err := io.ReadAll(io.LimitReader(body, MaxRequestBytes+1))
	if err != nil {
		return NewProblem(CodeInvalidRequest, "read request body: it ended early")
	}
	if len(raw) > MaxRequestBytes {
		return NewProblem(CodeBodyTooLarge, "request body is over %d bytes", MaxRequestBytes)
	}
	if len(raw) == 0 {
		return nil
	}
	err = json.Unmarshal(raw, v, json.RejectUnknownMembers(true))
	if err == nil {
		return nil
	}
	var semantic *json.SemanticError
	if errors.As(err, &semantic) {
		pointer := string(semantic.JSONPointer)
		if errors.Is(err, json.ErrUnknownName) {
			return NewProblem(CodeUnknownMember, "member %q is not known here", semantic.JSONPointer.LastToken()).At(pointer)
		}
		if pointer == "" {
			return NewProblem(CodeInvalidRequest, "the request body must be a JSON object")
		}
		return NewProblem(CodeInvalidRequest, "member %q has a value of a wrong type", semantic.JSONPointer.LastToken()).At(pointer)
	}
	var syntactic *jsontext.SyntacticError
	if errors.As(err, &syntactic) && errors.Is(err, jsontext.ErrDuplicateName) {
		pointer := syntactic.JSONPointer
		return NewProblem(CodeInvalidRequest, "member %q is there twice", pointer.LastToken()).At(string(pointer))
	}
	return NewProblem(CodeInvalidRequest, "request body is not valid JSON")
}
