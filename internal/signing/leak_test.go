package signing

import (
	"bytes"
	"crypto/sha256"
	"encoding"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

// keyed returns the two states of SHA-256 that HMAC (RFC 2104) makes of a key
// and keeps: who has them can sign.
func keyed(t *testing.T, key []byte) [][]byte {
	t.Helper()
	var states [][]byte
	for _, pad := range []byte{0x36, 0x5c} {
		block := bytes.Repeat([]byte{pad}, sha256.BlockSize)
		for i := range key {
			block[i] ^= key[i]
		}
		h := sha256.New()
		h.Write(block)
		state, err := h.(encoding.BinaryMarshaler).MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		states = append(states, block, state[len("sha\x03"):])
	}
	return states
}

// traces are the ways in which the beginning of a key would show in a text.
func traces(key []byte) []string {
	head := key[:6]
	decimal := strings.Trim(fmt.Sprint(head), "[]")
	goSyntax := strings.TrimSuffix(strings.TrimPrefix(fmt.Sprintf("%#v", head), "[]byte{"), "}")
	return []string{
		string(head),
		base64.StdEncoding.EncodeToString(head),
		hex.EncodeToString(head),
		strings.ToUpper(hex.EncodeToString(head)),
		fmt.Sprintf("% x", head),
		decimal,
		strings.ReplaceAll(decimal, " ", ","),
		goSyntax,
		strings.Trim(fmt.Sprintf("%q", head), `"`),
	}
}

// shown are all general ways to turn a value into text.
func shown(t *testing.T, value any) map[string]string {
	t.Helper()
	texts := map[string]string{}
	holder := struct{ Inner any }{value}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "% x", "%d", "%b", "%o"} {
		texts[verb] = fmt.Sprintf(verb, value)
		texts["holder "+verb] = fmt.Sprintf(verb, holder)
	}
	texts["error"] = fmt.Errorf("wrapped: %v", value).Error()
	for name, v := range map[string]any{"json": value, "json holder": holder, "json list": []any{value}} {
		encoded, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		texts[name] = string(encoded)
	}
	for name, handler := range map[string]func(*bytes.Buffer) slog.Handler{
		"slog text": func(b *bytes.Buffer) slog.Handler { return slog.NewTextHandler(b, nil) },
		"slog json": func(b *bytes.Buffer) slog.Handler { return slog.NewJSONHandler(b, nil) },
	} {
		var out bytes.Buffer
		slog.New(handler(&out)).Info("shown", "value", value, "holder", holder)
		texts[name] = out.String()
	}
	return texts
}

func TestSecretIsNeverShown(t *testing.T) {
	secret := Secret(counting(32))
	signer := NewSigner(secret)
	signer.Sign(nil, "evt-1", 1, nil)
	var keys []string
	for _, key := range append(keyed(t, secret), secret) {
		keys = append(keys, traces(key)...)
	}
	for name, value := range map[string]any{
		"secret":  secret,
		"pointer": &secret,
		"list":    []Secret{secret},
		"map":     map[string]Secret{"a": secret},
		"signer":  signer,
		"struct":  *signer,
		"hidden":  struct{ signer *Signer }{signer},
		"copied":  struct{ signer Signer }{*signer},
	} {
		for how, text := range shown(t, value) {
			for _, trace := range keys {
				if strings.Contains(text, trace) {
					t.Errorf("%s with %s shows the key: %q", name, how, text)
				}
			}
		}
	}
}

// The test above must be able to fail: the same bytes without the methods of
// Secret are found.
func TestLeakSearchFindsPlainBytes(t *testing.T) {
	key := counting(32)
	for how, text := range shown(t, key) {
		found := false
		for _, trace := range traces(key) {
			found = found || strings.Contains(text, trace)
		}
		if !found && !strings.Contains(how, "%b") && !strings.Contains(how, "%o") {
			t.Errorf("%s hides plain bytes from the search: %q", how, text)
		}
	}
}
