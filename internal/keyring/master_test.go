package keyring

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"strings"
	"testing"
)

const testHex = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"

func testMaster(t testing.TB, text string) *Master {
	t.Helper()
	m, err := FromHex(text)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// The derived keys in the file were computed with openssl and Python, not with
// this package.
func TestDeriveVectors(t *testing.T) {
	content, err := os.ReadFile("../../testvectors/webhook-test-vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Derivation []struct {
			MasterHex      string `json:"master_hex"`
			SubscriptionID string `json:"subscription_id"`
			Generation     int64  `json:"generation"`
			DerivedHex     string `json:"derived_hex"`
		} `json:"derivation"`
	}
	if err := json.Unmarshal(content, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Derivation) < 2 {
		t.Fatalf("%d derivations", len(file.Derivation))
	}
	for _, v := range file.Derivation {
		m := testMaster(t, v.MasterHex)
		for _, id := range []string{v.SubscriptionID, strings.ToUpper(v.SubscriptionID)} {
			if got := hex.EncodeToString(m.Derive(id, v.Generation)); got != v.DerivedHex {
				t.Errorf("%s generation %d: got %s, want %s", id, v.Generation, got, v.DerivedHex)
			}
		}
	}
}

func TestDeriveTellsArgumentsApart(t *testing.T) {
	m, other := testMaster(t, testHex), testMaster(t, strings.Repeat("ab", 32))
	const id = "01932c07-91a0-7000-8000-000000000001"
	seen := map[string]bool{}
	for _, key := range [][]byte{
		m.Derive(id, 1), m.Derive(id, 2), m.Derive(id, 11), m.Derive(id[:len(id)-1]+"2", 1), other.Derive(id, 1),
	} {
		seen[string(key)] = true
	}
	if len(seen) != 5 {
		t.Errorf("%d of 5 keys differ", len(seen))
	}
}

func TestCheckValue(t *testing.T) {
	// HKDF-SHA256 of testHex, salt "hookd", info "hookd/check/v1", by Python.
	const want = "85dc36791015f9f0787aa9cb1b603f79c173c795f78f7173b9c1924a23c7ec00"
	m := testMaster(t, testHex)
	if got := hex.EncodeToString(m.CheckValue()); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if bytes.Equal(m.CheckValue(), testMaster(t, strings.Repeat("ab", 32)).CheckValue()) {
		t.Error("two keys have one check value")
	}
}

func TestFromHex(t *testing.T) {
	if !bytes.Equal(testMaster(t, strings.ToUpper(testHex)).CheckValue(), testMaster(t, testHex).CheckValue()) {
		t.Error("letter case changes the key")
	}
	tests := []struct{ name, text, rule string }{
		{"empty", "", "0 characters, not 64"},
		{"too short", testHex[2:], "62 characters, not 64"},
		{"too long", testHex + "00", "66 characters, not 64"},
		{"line end", testHex + "\n", "65 characters, not 64"},
		{"no hex", "zz" + testHex[2:], "not a hex digit"},
		{"space inside", testHex[:62] + " f", "not a hex digit"},
		{"base64", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=", "44 characters, not 64"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, err := FromHex(tt.text)
			if err == nil || m != nil {
				t.Fatal("it was taken")
			}
			if !strings.Contains(err.Error(), tt.rule) {
				t.Errorf("error %q does not name the rule %q", err, tt.rule)
			}
			if strings.Contains(err.Error(), "0405") || strings.Contains(err.Error(), "zz") {
				t.Errorf("error %q shows the value", err)
			}
		})
	}
}

func BenchmarkDerive(b *testing.B) {
	m := testMaster(b, testHex)
	b.ReportAllocs()
	for b.Loop() {
		m.Derive("01932c07-91a0-7000-8000-000000000001", 3)
	}
}
