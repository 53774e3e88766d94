package keyring

import (
	"bytes"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"golang.org/x/crypto/chacha20poly1305"
	"pgregory.net/rapid"
)

var testPlace = Place{Table: "subs", Row: "7", Column: "url", Master: 1}

func TestSealOpens(t *testing.T) {
	m := testMaster(t, testHex)
	for _, plain := range [][]byte{nil, []byte("x"), []byte("https://example.com/hook?token=abc"), bytes.Repeat([]byte{0}, 70_000)} {
		sealed := m.Seal(testPlace, plain)
		if len(sealed) != len(plain)+40 {
			t.Errorf("%d bytes sealed in %d", len(plain), len(sealed))
		}
		got, err := m.Open(testPlace, sealed)
		if err != nil || !bytes.Equal(got, plain) {
			t.Errorf("%d bytes: error %v, equal %t", len(plain), err, bytes.Equal(got, plain))
		}
	}
}

// What Seal writes must be what the specification says, so that another
// program could read a database: the key is computed apart, the associated
// data spelled out.
func TestSealIsWhatWasAgreed(t *testing.T) {
	// HKDF-SHA256 of testHex, salt "hookd", info "hookd/seal/v1", by Python.
	key, err := hex.DecodeString("c1b4308fa00a6af4b2d60b6e31aacedb4590fa14287da289796906861cf74585")
	if err != nil {
		t.Fatal(err)
	}
	aead, err := chacha20poly1305.NewX(key)
	if err != nil {
		t.Fatal(err)
	}
	associated := "\x00\x00\x00\x00\x00\x00\x00\x04subs" + "\x00\x00\x00\x00\x00\x00\x00\x017" +
		"\x00\x00\x00\x00\x00\x00\x00\x03url" + "\x00\x00\x00\x00\x00\x00\x00\x01"
	sealed := testMaster(t, testHex).Seal(testPlace, []byte("plain"))
	got, err := aead.Open(nil, sealed[:24], sealed[24:], []byte(associated))
	if err != nil || string(got) != "plain" {
		t.Errorf("got %q, error %v", got, err)
	}
}

func TestSealTakesAFreshNonce(t *testing.T) {
	m := testMaster(t, testHex)
	one, two := m.Seal(testPlace, []byte("plain")), m.Seal(testPlace, []byte("plain"))
	if bytes.Equal(one[:24], two[:24]) || bytes.Equal(one[24:], two[24:]) {
		t.Error("the same plain text was sealed the same way")
	}
	if bytes.Contains(one, []byte("plain")) {
		t.Error("the plain text is there")
	}
}

func TestOpenOnlyInItsPlace(t *testing.T) {
	m := testMaster(t, testHex)
	sealed := m.Seal(testPlace, []byte("plain"))
	for _, place := range []Place{
		{},
		{Table: "secrets", Row: "7", Column: "url", Master: 1},
		{Table: "subs", Row: "8", Column: "url", Master: 1},
		{Table: "subs", Row: "7", Column: "headers", Master: 1},
		{Table: "subs", Row: "7", Column: "url", Master: 2},
		{Table: "subs7", Row: "", Column: "url", Master: 1}, // the same letters, cut elsewhere
		{Table: "sub", Row: "s7", Column: "url", Master: 1},
		{Table: "subs", Row: "7u", Column: "rl", Master: 1},
	} {
		if plain, err := m.Open(place, sealed); !errors.Is(err, ErrSealed) || plain != nil {
			t.Errorf("%+v: error %v", place, err)
		}
	}
	if _, err := testMaster(t, strings.Repeat("ab", 32)).Open(testPlace, sealed); !errors.Is(err, ErrSealed) {
		t.Errorf("another master: %v", err)
	}
}

func TestOpenRefusesChangedBytes(t *testing.T) {
	m := testMaster(t, testHex)
	sealed := m.Seal(testPlace, []byte("https://example.com/hook"))
	for i := range sealed {
		changed := bytes.Clone(sealed)
		changed[i] ^= 1
		if _, err := m.Open(testPlace, changed); !errors.Is(err, ErrSealed) {
			t.Fatalf("byte %d changed: %v", i, err)
		}
	}
	for size := range sealed {
		if _, err := m.Open(testPlace, sealed[:size]); !errors.Is(err, ErrSealed) {
			t.Fatalf("cut to %d bytes: %v", size, err)
		}
	}
	if _, err := m.Open(testPlace, append(bytes.Clone(sealed), 0)); !errors.Is(err, ErrSealed) {
		t.Errorf("one byte more: %v", err)
	}
}

func TestPlacesAreEncodedApart(t *testing.T) {
	place := rapid.Custom(func(t *rapid.T) Place {
		text := rapid.StringOfN(rapid.RuneFrom([]rune("a\x00\x01")), 0, 10, -1)
		return Place{text.Draw(t, "table"), text.Draw(t, "row"), text.Draw(t, "column"), rapid.Int64Range(-1, 2).Draw(t, "master")}
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := place.Draw(t, "a"), place.Draw(t, "b")
		if same := bytes.Equal(a.associated(), b.associated()); same != (a == b) {
			t.Fatalf("%+v and %+v: same bytes %t", a, b, same)
		}
	})
}
