package keyring

import (
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"strings"

	"golang.org/x/crypto/chacha20poly1305"

	"hookd/internal/signing"
)

const (
	masterBytes  = 32
	masterDigits = 2 * masterBytes
	// redacted stands for the key wherever it is printed, logged or encoded.
	redacted = "[master key]"

	hkdfSalt  = "hookd"
	infoSeal  = "hookd/seal/v1"
	infoCheck = "hookd/check/v1"
	checkSize = 32
)

// Master is the master key: 32 bytes from which subscription secrets are
// derived and under which values are sealed. It is made by Create, Load or
// FromHex, does not change, and may be used by several goroutines. Printed,
// logged or encoded it shows a placeholder.
type Master struct {
	// Both are functions, the one kind of field that fmt prints as an address
	// always: in an unexported field of another struct it calls no methods, and
	// for some verbs it follows pointers.
	key  func() []byte
	seal func() cipher.AEAD
}

// FromHex makes a Master from 64 hex digits in either letter case, with
// nothing around them. The error names the broken rule and holds no part of
// the text.
func FromHex(text string) (*Master, error) {
	if len(text) != masterDigits {
		return nil, fmt.Errorf("parse master key: it has %d characters, not %d hex digits", len(text), masterDigits)
	}
	var key [masterBytes]byte
	if _, err := hex.Decode(key[:], []byte(text)); err != nil {
		// The library's error shows the character that it did not like.
		return nil, errors.New("parse master key: it holds a character that is not a hex digit")
	}
	return newMaster(key)
}

func newMaster(key [masterBytes]byte) (*Master, error) {
	m := &Master{key: func() []byte { return key[:] }}
	sealKey, err := m.expand(infoSeal, chacha20poly1305.KeySize)
	if err != nil {
		return nil, fmt.Errorf("derive sealing key: %w", err)
	}
	aead, err := chacha20poly1305.NewX(sealKey)
	if err != nil {
		return nil, fmt.Errorf("prepare sealing: %w", err)
	}
	m.seal = func() cipher.AEAD { return aead }
	return m, nil
}

// Derive returns the v1 secret of a subscription's generation: HMAC-SHA256 with
// the master key over "webhook-v1:", the id, ":" and the generation in decimal.
// The id is a UUID in its hyphenated form; its letter case does not matter.
// The same arguments give the same 32 bytes for ever, so nothing is stored.
func (m *Master) Derive(subscriptionID string, generation int64) signing.Secret {
	mac := hmac.New(sha256.New, m.key())
	// A hash takes every write.
	_, _ = io.WriteString(mac, "webhook-v1:"+strings.ToLower(subscriptionID)+":"+strconv.FormatInt(generation, 10))
	return mac.Sum(nil)
}

// CheckValue returns 32 bytes that tell this master key from any other and
// give nothing of it away (HKDF-SHA256, RFC 5869). The database keeps them, so
// that a start with another key is refused before anything is sent.
func (m *Master) CheckValue() []byte {
	value, err := m.expand(infoCheck, checkSize)
	if err != nil {
		// Only a length that no caller can choose makes HKDF fail, and the
		// sealing key went the same way when m was made.
		panic("keyring: derive check value: " + err.Error())
	}
	return value
}

func (m *Master) expand(info string, size int) ([]byte, error) {
	return hkdf.Key(sha256.New, m.key(), []byte(hkdfSalt), info, size)
}

// Format implements fmt.Formatter with the placeholder for every verb.
func (m Master) Format(state fmt.State, _ rune) {
	// A Formatter has no way to report a failed write; fmt keeps it.
	_, _ = io.WriteString(state, redacted)
}

// LogValue implements slog.LogValuer with the placeholder.
func (m Master) LogValue() slog.Value {
	return slog.StringValue(redacted)
}

// MarshalText implements encoding.TextMarshaler, and so covers encoding/json,
// with the placeholder.
func (m Master) MarshalText() ([]byte, error) {
	return []byte(redacted), nil
}
