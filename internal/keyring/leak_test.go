package keyring

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

// hidden keeps a Master as the rest of the program does: in an unexported
// field, where fmt calls no methods.
type hidden struct{ master *Master }

func TestMasterIsNeverShown(t *testing.T) {
	m := testMaster(t, "f0f1f2f3f4f5f6f7"+testHex[16:])
	head := m.key()[:6]
	decimal := strings.Trim(fmt.Sprint(head), "[]")
	traces := []string{
		string(head),
		"f0f1f2f3", "F0F1F2F3", "f0 f1 f2 f3", "0xf0, 0xf1, 0xf2",
		decimal, strings.ReplaceAll(decimal, " ", ","),
		base64.StdEncoding.EncodeToString(head),
		strings.Trim(fmt.Sprintf("%q", head), `"`),
	}
	check := func(how, text string) {
		t.Helper()
		for _, trace := range traces {
			if strings.Contains(text, trace) {
				t.Errorf("%s shows the key: %q", how, text)
			}
		}
	}
	values := map[string]any{
		"pointer":         m,
		"value":           *m,
		"exported field":  struct{ M *Master }{m},
		"hidden field":    hidden{m},
		"pointer to it":   &hidden{m},
		"list":            []*Master{m},
		"list of values":  []Master{*m},
		"hidden in value": struct{ master Master }{*m},
	}
	for name, value := range values {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "% x", "%d"} {
			check(name+" "+verb, fmt.Sprintf(verb, value))
		}
		encoded, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		check(name+" json", string(encoded))
		var text, lines bytes.Buffer
		slog.New(slog.NewTextHandler(&text, nil)).Info("shown", "value", value)
		slog.New(slog.NewJSONHandler(&lines, nil)).Info("shown", "value", value)
		check(name+" slog text", text.String())
		check(name+" slog json", lines.String())
	}
	// The search must be able to find: plain bytes show in each of these.
	for _, verb := range []string{"%v", "%#v", "%s", "%q", "%x", "%X", "% x"} {
		found, text := false, fmt.Sprintf(verb, m.key())
		for _, trace := range traces {
			found = found || strings.Contains(text, trace)
		}
		if !found {
			t.Errorf("the search misses plain bytes with %s: %q", verb, text)
		}
	}
}

func TestDerivedSecretIsNeverShown(t *testing.T) {
	secret := testMaster(t, testHex).Derive("01932c07-91a0-7000-8000-000000000001", 1)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x"} {
		if text := fmt.Sprintf(verb, secret); text != "[secret]" {
			t.Errorf("%s shows %q", verb, text)
		}
	}
}
