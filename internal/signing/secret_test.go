package signing

import (
	"bytes"
	"encoding/base64"
	"strings"
	"testing"
)

// counting returns n bytes 0xf0, 0xf1, ... whose base64 holds + and /.
func counting(n int) []byte {
	key := make([]byte, n)
	for i := range key {
		key[i] = byte(0xf0 + i)
	}
	return key
}

func encoded(n int) string {
	return base64.StdEncoding.EncodeToString(counting(n))
}

func TestParseSecretTakes(t *testing.T) {
	for _, size := range []int{24, 25, 26, 32, 63, 64} {
		for _, prefix := range []string{"", "whsec_"} {
			secret, err := ParseSecret(prefix + encoded(size))
			if err != nil {
				t.Errorf("%d bytes, prefix %q: %v", size, prefix, err)
				continue
			}
			if !bytes.Equal(secret, counting(size)) {
				t.Errorf("%d bytes, prefix %q: other bytes came out", size, prefix)
			}
			if got, want := secret.Text(), "whsec_"+encoded(size); got != want {
				t.Errorf("text is %q, want %q", got, want)
			}
		}
	}
}

func TestParseSecretRefuses(t *testing.T) {
	valid := encoded(32) // 43 characters and one =
	tests := []struct {
		name string
		text string
		rule string // must stand in the error
	}{
		{"empty", "", "empty"},
		{"prefix alone", "whsec_", "nothing follows whsec_"},
		{"no base64", "whsec_!!!!", "outside standard base64"},
		{"no base64 at the end", "whsec_xyz!", "outside standard base64"},
		{"0 bytes by padding", "whsec_====", "does not end"},
		{"16 bytes", "whsec_" + encoded(16), "16 bytes, fewer than 24"},
		{"23 bytes", encoded(23), "23 bytes, fewer than 24"},
		{"65 bytes", "whsec_" + encoded(65), "65 bytes, more than 64"},
		{"signature scheme before it", "v1,whsec_" + valid, "begins with v1"},
		{"signature scheme without prefix", "v1," + valid, "begins with v1"},
		{"other signature scheme", "v1a,whsec_" + valid, "begins with v1a"},
		{"private key", "whsk_" + valid, "whsk_"},
		{"public key", "whpk_" + valid, "whpk_"},
		{"other prefix", "other_" + valid, "prefix other than whsec_"},
		{"prefix in capitals", "WHSEC_" + valid, "prefix other than whsec_"},
		{"prefix twice", "whsec_whsec_" + valid, "twice"},
		{"URL alphabet", base64.URLEncoding.EncodeToString(counting(32)), "URL alphabet"},
		{"not padded", strings.TrimRight(valid, "="), "not padded"},
		{"not padded, 25 bytes", base64.RawStdEncoding.EncodeToString(counting(25)), "not padded"},
		{"padded too much", valid + "=", "not padded"},
		{"padding inside", valid + valid, "does not end"},
		{"bits after the key", valid[:42] + string(valid[42]+1) + "=", "does not end"},
		{"quotes", `"whsec_` + valid + `"`, "outside standard base64"},
		{"LF at the end", "whsec_" + valid + "\n", "line break"},
		{"CR LF at the end", "whsec_" + valid + "\r\n", "line break"},
		{"CR at the end", "whsec_" + valid + "\r", "line break"},
		{"LF inside", "whsec_" + valid[:8] + "\n" + valid[8:], "line break"},
		{"space before", " whsec_" + valid, "white space"},
		{"space after", "whsec_" + valid + " ", "white space"},
		{"space inside", "whsec_ " + valid, "white space"},
		{"tab", "whsec_" + valid + "\t", "white space"},
		{"NUL", "whsec_" + valid + "\x00", "visible ASCII"},
		{"byte order mark", "\ufeffwhsec_" + valid, "visible ASCII"},
		{"no-break space", "whsec_" + valid + "\u00a0", "visible ASCII"},
		{"no UTF-8", "whsec_" + valid + "\xff", "visible ASCII"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			secret, err := ParseSecret(tt.text)
			if err == nil || secret != nil {
				t.Fatalf("it was taken: error %v", err)
			}
			if !strings.Contains(err.Error(), tt.rule) {
				t.Errorf("error %q does not name the rule %q", err, tt.rule)
			}
			for at := 0; at+4 <= len(valid); at++ {
				if strings.Contains(err.Error(), valid[at:at+4]) {
					t.Fatalf("error %q shows the value", err)
				}
			}
		})
	}
}

func TestParseSecretFile(t *testing.T) {
	valid := "whsec_" + encoded(32)
	tests := []struct {
		name    string
		content string
		taken   bool
	}{
		{"no line end", valid, true},
		{"LF", valid + "\n", true},
		{"CR LF", valid + "\r\n", true},
		{"two LF", valid + "\n\n", false},
		{"two CR LF", valid + "\r\n\r\n", false},
		{"CR CR LF", valid + "\r\r\n", false},
		{"LF CR", valid + "\n\r", false},
		{"CR alone", valid + "\r", false},
		{"LF before", "\n" + valid, false},
		{"space before", " " + valid, false},
		{"space before LF", valid + " \n", false},
		{"line end alone", "\n", false},
		{"nothing", "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			secret, err := ParseSecretFile([]byte(tt.content))
			if (err == nil) != tt.taken {
				t.Fatalf("error %v, want it taken: %t", err, tt.taken)
			}
			if tt.taken && secret.Text() != valid {
				t.Error("another secret came out")
			}
		})
	}
}

func FuzzParseSecret(f *testing.F) {
	for _, seed := range []string{
		"", "whsec_", "whsec_!!!!", "whsec_xyz!", "whsec_" + encoded(16), "whsec_" + encoded(65), "v1,whsec_" + encoded(32),
		"other_" + encoded(32), encoded(24), "whsec_" + encoded(32) + "\n", "whsec_" + encoded(64), "whsk_" + encoded(32),
		"\xff\x00", encoded(25), base64.RawStdEncoding.EncodeToString(counting(25)), strings.Repeat("=", 44),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		secret, err := ParseSecret(text)
		if err != nil {
			if secret != nil {
				t.Fatal("a secret beside an error")
			}
			return
		}
		if len(secret) < MinSecretBytes || len(secret) > MaxSecretBytes {
			t.Fatalf("a key of %d bytes was taken", len(secret))
		}
		// There is one text for a key, so a receiver's copy is the same text.
		if text != secret.Text() && "whsec_"+text != secret.Text() {
			t.Fatalf("%q was taken as another text", text)
		}
	})
}
