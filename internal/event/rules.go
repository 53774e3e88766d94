package event

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Bounds of the members, in characters.
const (
	maxID       = 256
	maxType     = 128
	maxApp      = 64
	maxResource = 512
	maxKey      = 256
)

// ownPrefix begins the types of hookd's own operational events: no producer may use them, and a pattern has to ask for them
// by name.
const ownPrefix = "hookd."

// ValidID says whether an id may name an event: 1 to 256 visible ASCII characters without dot, comma and the quotes ' and ".
// It becomes a header's value and a part of the signed content, where dots separate (Standard Webhooks). The error is a
// *Refusal with code IDInvalid.
func ValidID(id string) error {
	if r := checkID(id); r != nil {
		return r
	}
	return nil
}

// ValidType says whether a producer may use a type: 1 to 128 characters of A-Z a-z 0-9 _ . : / - that do not begin with
// "hookd.". The error is a *Refusal with code TypeInvalid.
func ValidType(typ string) error {
	if r := checkType(typ); r != nil {
		return r
	}
	return nil
}

func checkID(id string) *Refusal {
	if id == "" || len(id) > maxID {
		return badLength(IDInvalid, "id", id, maxID)
	}
	for i := range len(id) {
		if c := id[i]; c <= ' ' || c > '~' || c == '.' || c == ',' || c == '"' || c == '\'' {
			return refuse(IDInvalid, "id has a bad character at position %d, "+
				"allowed is visible ASCII without dot, comma, space and quotes", i+1)
		}
	}
	return nil
}

func checkType(typ string) *Refusal {
	if typ == "" || len(typ) > maxType {
		return badLength(TypeInvalid, "type", typ, maxType)
	}
	for i := range len(typ) {
		if !typeChar(typ[i]) {
			return refuse(TypeInvalid, "type has a bad character at position %d, allowed are A-Z a-z 0-9 _ . : / -", i+1)
		}
	}
	if strings.HasPrefix(typ, ownPrefix) {
		return refuse(TypeInvalid, `type begins with "hookd.", which hookd keeps for its own events`)
	}
	return nil
}

func checkApp(app string) *Refusal {
	if app == "" || len(app) > maxApp {
		return badLength(AppInvalid, "app", app, maxApp)
	}
	for i := range len(app) {
		c := app[i]
		if letterOrDigit(c) || i > 0 && (c == '.' || c == '_' || c == '-') {
			continue
		}
		return refuse(AppInvalid, "app has a bad character at position %d, "+
			"a name is letters, digits, dot, _ and -, beginning with a letter or digit", i+1)
	}
	return nil
}

func checkResource(resource string) *Refusal {
	if n := utf8.RuneCountInString(resource); n == 0 || n > maxResource {
		return badLength(ResourceInvalid, "resource", resource, maxResource)
	}
	position := 0
	for _, c := range resource {
		position++
		if unicode.IsControl(c) {
			return refuse(ResourceInvalid, "resource has a control character at position %d, a path has none", position)
		}
	}
	if resource[0] == '/' || resource[len(resource)-1] == '/' || strings.Contains(resource, "//") {
		return refuse(ResourceInvalid, "resource has an empty segment, "+
			"a path is segments with one slash between two and none at its ends")
	}
	return nil
}

func checkKey(key string) *Refusal {
	if n := utf8.RuneCountInString(key); n == 0 || n > maxKey {
		return badLength(KeyInvalid, "key", key, maxKey)
	}
	return nil
}

func badLength(code Code, name, value string, most int) *Refusal {
	if value == "" {
		return refuse(code, "%s is empty, it must have 1 to %d characters", name, most)
	}
	return refuse(code, "%s has %d characters, at most %d are allowed", name, utf8.RuneCountInString(value), most)
}

func letterOrDigit(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || isDigit(c)
}

func typeChar(c byte) bool {
	return letterOrDigit(c) || c == '_' || c == '.' || c == ':' || c == '/' || c == '-'
}

func takeType(raw []byte) (string, *Refusal) {
	if len(raw) == 0 {
		return "", refuse(TypeMissing, "line has no member type, every event needs one")
	}
	return takeString(raw, TypeInvalid, "type", checkType)
}

// takeString decodes the raw JSON value of a member that must be a string and holds it to the member's rule.
func takeString(raw []byte, code Code, name string, check func(string) *Refusal) (string, *Refusal) {
	if raw[0] != '"' {
		return "", refuse(code, "%s must be a string, here it is %s", name, kindName(raw))
	}
	var value string
	if bytes.IndexByte(raw, '\\') < 0 {
		value = string(raw[1 : len(raw)-1])
	} else {
		decoded, err := jsontext.AppendUnquote(nil, raw)
		if err != nil {
			// Two such values could not be told apart any more, and rights and order hang on them.
			return "", refuse(code, "%s has an escape that is half of a surrogate pair, which is no character", name)
		}
		value = string(decoded)
	}
	if r := check(value); r != nil {
		return "", r
	}
	return value, nil
}
