package signing

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
)

// Bounds of a secret's key, in bytes, from Standard Webhooks.
const (
	MinSecretBytes = 24
	MaxSecretBytes = 64
)

const (
	secretPrefix = "whsec_"
	// redacted stands for a secret wherever one is printed, logged or encoded.
	redacted = "[secret]"
)

// Secret is the HMAC key of scheme v1: the decoded bytes, not their text.
//
// Every general way to show a value (fmt verbs, slog, JSON and other text
// encodings) shows a placeholder; Text is the only way to the real one. One
// hole cannot be closed from here: fmt does not call methods on the unexported
// fields of a struct, so a struct that keeps a Secret in such a field must not
// be printed whole.
type Secret []byte

// ParseSecret reads the text of a secret: padded standard base64 (RFC 4648,
// section 4) of MinSecretBytes to MaxSecretBytes bytes, with or without
// "whsec_" in front. Nothing is repaired, because the receiver holds the same
// text and would keep the mistake: white space, another alphabet, missing
// padding, stray bits at the end and other prefixes are refused. The error
// names the broken rule and holds no part of the text.
func ParseSecret(text string) (Secret, error) {
	key, err := decodeSecret(text)
	if err != nil {
		return nil, fmt.Errorf("parse secret: %w", err)
	}
	return key, nil
}

// ParseSecretFile reads a secret from the content of a file or of standard
// input. Editors and shells end a line there, so exactly one trailing LF or
// CR LF is dropped; all else is as in ParseSecret.
func ParseSecretFile(content []byte) (Secret, error) {
	text := string(content)
	if line, found := strings.CutSuffix(text, "\n"); found {
		text = strings.TrimSuffix(line, "\r")
	}
	return ParseSecret(text)
}

// Text returns the secret as its owner sees it: "whsec_" and standard base64.
// The result is the secret in the clear.
func (s Secret) Text() string {
	return secretPrefix + base64.StdEncoding.EncodeToString(s)
}

// Format implements fmt.Formatter with the placeholder for every verb.
func (s Secret) Format(state fmt.State, _ rune) {
	// A Formatter has no way to report a failed write; fmt keeps it.
	_, _ = io.WriteString(state, redacted)
}

// LogValue implements slog.LogValuer with the placeholder.
func (s Secret) LogValue() slog.Value {
	return slog.StringValue(redacted)
}

// MarshalText implements encoding.TextMarshaler, and so covers encoding/json,
// with the placeholder. Without it JSON would carry the key as base64.
func (s Secret) MarshalText() ([]byte, error) {
	return []byte(redacted), nil
}

// sized tells whether the key has an allowed length. A shorter one, above all
// an empty one, could be guessed.
func (s Secret) sized() bool {
	return len(s) >= MinSecretBytes && len(s) <= MaxSecretBytes
}

func decodeSecret(text string) (Secret, error) {
	if text == "" {
		return nil, errors.New("it is empty")
	}
	if err := checkCharacters(text); err != nil {
		return nil, err
	}
	if err := checkPrefix(text); err != nil {
		return nil, err
	}
	encoded := strings.TrimPrefix(text, secretPrefix)
	if encoded == "" {
		return nil, errors.New("nothing follows whsec_")
	}
	if err := checkAlphabet(encoded); err != nil {
		return nil, err
	}
	if len(encoded)%4 != 0 {
		return nil, errors.New("its base64 is cut short or not padded with =")
	}
	key, err := base64.StdEncoding.Strict().DecodeString(encoded)
	if err != nil {
		// The library's error holds a position only, but says less than this.
		return nil, errors.New("its base64 does not end as padded standard base64 ends")
	}
	if len(key) < MinSecretBytes {
		return nil, fmt.Errorf("its key has %d bytes, fewer than %d", len(key), MinSecretBytes)
	}
	if len(key) > MaxSecretBytes {
		return nil, fmt.Errorf("its key has %d bytes, more than %d", len(key), MaxSecretBytes)
	}
	return key, nil
}

// checkCharacters refuses what the base64 decoder would skip (CR and LF) and
// what hides in a terminal.
func checkCharacters(text string) error {
	for _, r := range text {
		switch {
		case r == '\n' || r == '\r':
			return errors.New("it holds a line break")
		case r == ' ' || r == '\t':
			return errors.New("it holds white space")
		case r < 0x21 || r > 0x7e:
			return errors.New("it holds a character outside visible ASCII")
		}
	}
	return nil
}

// foreignPrefixes are beginnings that people take for a part of the secret, or
// that mark another kind of key.
var foreignPrefixes = []struct{ prefix, rule string }{
	{"v1,", "it begins with v1, which marks a signature; give the secret without it"},
	{"v1a,", "it begins with v1a, which marks a signature; give the secret without it"},
	{"whsk_", "it begins with whsk_, a private key of v1a; v1 takes whsec_"},
	{"whpk_", "it begins with whpk_, a public key of v1a; v1 takes whsec_"},
	{"whsec_whsec_", "it begins with whsec_ twice"},
}

func checkPrefix(text string) error {
	for _, foreign := range foreignPrefixes {
		if strings.HasPrefix(text, foreign.prefix) {
			return errors.New(foreign.rule)
		}
	}
	return nil
}

func checkAlphabet(encoded string) error {
	for i := range len(encoded) {
		c := encoded[i]
		switch {
		case c >= 'A' && c <= 'Z', c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '+', c == '/', c == '=':
		case c == '-' || c == '_':
			// Which of the two it is cannot be told without showing some of it.
			return errors.New("it holds - or _: a prefix other than whsec_, or the URL alphabet of base64 where the standard one is wanted")
		default:
			return errors.New("it holds a character outside standard base64")
		}
	}
	return nil
}
