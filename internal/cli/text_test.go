package cli

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestSafe(t *testing.T) {
	tests := []struct{ in, safe, tsv string }{
		{"plain", "plain", "plain"},
		{"日本語 👩‍👩‍👧 e\u0301", "日本語 👩‍👩‍👧 e\u0301", "日本語 👩‍👩‍👧 e\u0301"},
		{"a\x1b[2J", `a\x1b[2J`, `a\x1b[2J`},
		{"a\tb\nc\rd", `a\x09b\x0ac\x0dd`, `a\tb\nc\rd`},
		{`a\b`, `a\b`, `a\\b`},
		{"\x7f", `\x7f`, `\x7f`},
		{"\u009b31m", `\u009b31m`, `\u009b31m`},
		{"a\u202eb\u2066c\u200fd", `a\u202eb\u2066c\u200fd`, `a\u202eb\u2066c\u200fd`},
		{"\xff\xfe", `\xff\xfe`, `\xff\xfe`},
		{"\u2028", `\u2028`, `\u2028`},
	}
	for _, tt := range tests {
		if got := safe(tt.in); got != tt.safe {
			t.Errorf("safe(%q) = %q, want %q", tt.in, got, tt.safe)
		}
		if got := tsvField(tt.in); got != tt.tsv {
			t.Errorf("tsvField(%q) = %q, want %q", tt.in, got, tt.tsv)
		}
	}
}

func FuzzEscape(f *testing.F) {
	for _, s := range []string{"", "a", "\x1b]0;x\a", "\u202e", "\xff", `\`, "日本"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, got := range []string{safe(s), tsvField(s)} {
			if !utf8.ValidString(got) || strings.ContainsFunc(got, func(r rune) bool { return r < 0x20 || r == 0x7f || steers(r) }) {
				t.Errorf("%q became %q", s, got)
			}
		}
	})
}

func TestRelative(t *testing.T) {
	tests := []struct {
		d    time.Duration
		want string
	}{
		{0, "now"},
		{-900 * time.Millisecond, "now"},
		{-5 * time.Second, "5s ago"},
		{90 * time.Second, "in 1m30s"},
		{-15*time.Minute - 20*time.Second, "15m ago"},
		{-90 * time.Minute, "1h30m ago"},
		{25 * time.Hour, "in 1d1h"},
		{-400 * 24 * time.Hour, "400d ago"},
	}
	for _, tt := range tests {
		if got := relative(testNow.Add(tt.d), testNow); got != tt.want {
			t.Errorf("%v is %q, want %q", tt.d, got, tt.want)
		}
	}
}

func TestSize(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 12 << 20: "12.0 MiB", 1 << 50: "1024.0 TiB"} {
		if got := size(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
}
