package egress

import (
	"encoding/pem"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestNewPolicyErrors(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	block := func(kind string) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: []byte("no certificate")}))
	}
	hosts := func(entry string) Rules { return Rules{AllowedHosts: []string{"example.com", entry}} }
	private := func(entry string) Rules { return Rules{AllowPrivate: []string{"10.0.0.0/8", entry}} }
	for _, c := range []struct {
		rules      Rules
		key, entry string
		rule       string
	}{
		{Rules{AllowedHosts: []string{}}, keyAllowedHosts, "", "empty list"},
		{hosts(""), keyAllowedHosts, "", "empty"},
		{hosts("*:443"), keyAllowedHosts, "*:443", "takes no port"},
		{hosts("*example.com"), keyAllowedHosts, "*example.com", "stands alone"},
		{hosts("a.*.example.com"), keyAllowedHosts, "a.*.example.com", "stands alone"},
		{hosts("*.*.example.com"), keyAllowedHosts, "*.*.example.com", "stands alone"},
		{hosts("*.10.0.0.1"), keyAllowedHosts, "*.10.0.0.1", "stands alone"},
		{hosts("*."), keyAllowedHosts, "*.", "empty"},
		{hosts("https://user:secret@example.com/secret?secret"), keyAllowedHosts, "https://example.com/...", "not a URL"},
		{hosts("example.com/secret"), keyAllowedHosts, "example.com/secret", "not a URL"},
		{hosts("example.com:0"), keyAllowedHosts, "example.com:0", "1 to 65535"},
		{hosts("example.com:"), keyAllowedHosts, "example.com:", "1 to 65535"},
		{hosts("example.com:https"), keyAllowedHosts, "example.com:https", "1 to 65535"},
		{hosts("example.com:65536"), keyAllowedHosts, "example.com:65536", "1 to 65535"},
		{hosts("exa mple.com"), keyAllowedHosts, "exa mple.com", "label"},
		{hosts("127.1"), keyAllowedHosts, "127.1", "plain dotted"},
		{hosts("fe80::1%eth0"), keyAllowedHosts, "fe80::1%eth0", "zone"},
		{hosts("1:2:443"), keyAllowedHosts, "1:2:443", "[address]:port"},
		{hosts("[::1"), keyAllowedHosts, "[::1", "brackets"},
		{hosts("[::1]x"), keyAllowedHosts, "[::1]x", "brackets"},
		{hosts("[example.com]:443"), keyAllowedHosts, "[example.com]:443", "brackets"},
		{private(""), keyAllowPrivate, "", "empty"},
		{private("*"), keyAllowPrivate, "*", "stands alone"},
		{private("*.internal"), keyAllowPrivate, "*.internal", "stands alone"},
		{private("10.0.0.5/8"), keyAllowPrivate, "10.0.0.5/8", "beyond its prefix"},
		{private("10.0.0.0/33"), keyAllowPrivate, "10.0.0.0/33", "CIDR"},
		{private("10.0.0.0/8:443"), keyAllowPrivate, "10.0.0.0/8:443", "CIDR"},
		{private("fe80::%eth0/10"), keyAllowPrivate, "fe80::%eth0/10", "CIDR"},
		{private("http://127.0.0.1:9000/hook"), keyAllowPrivate, "http://127.0.0.1:9000/...", "not a URL"},
		{private("0177.0.0.1"), keyAllowPrivate, "0177.0.0.1", "plain dotted"},
		{Rules{CAFile: filepath.Join(dir, "absent")}, keyCAFile, "", "no such file"},
		{Rules{CAFile: write("empty", "")}, keyCAFile, "", "no certificate"},
		{Rules{CAFile: write("text", "hello")}, keyCAFile, "", "no certificate"},
		{Rules{CAFile: write("key", block("PRIVATE KEY"))}, keyCAFile, "", "not a certificate"},
		{Rules{CAFile: write("broken", block("CERTIFICATE"))}, keyCAFile, "", "cannot be parsed"},
	} {
		_, err := NewPolicy(c.rules)
		var got *RuleError
		if !errors.As(err, &got) {
			t.Errorf("%+v: %v, want a rule error", c.rules, err)
			continue
		}
		if got.Key != c.key || got.Entry != c.entry || !strings.Contains(got.Rule, c.rule) {
			t.Errorf("%+v: %q %q %q, want %q %q %q", c.rules, got.Key, got.Entry, got.Rule, c.key, c.entry, c.rule)
		}
		text := err.Error()
		if !strings.HasPrefix(text, c.key+": ") || !strings.Contains(text, c.entry) || strings.Contains(text, "user:") {
			t.Errorf("%+v: text %q", c.rules, text)
		}
	}
}

// A name in egress.allow_private is trusted wherever it leads, at its port; an address at its port under any name.
func TestAllowPrivateNamesAndAddresses(t *testing.T) {
	p := newPolicy(t, Rules{AllowPrivate: []string{"svc.internal:8443", "any.internal", "10.0.0.5:8443", "127.0.0.0/8"}})
	for _, c := range []struct {
		name, address string
		port          uint16
		want          bool
	}{
		{"svc.internal", "192.168.1.1", 8443, true},
		{"svc.internal", "192.168.1.1", 443, false},
		{"any.internal", "192.168.1.1", 443, true},
		{"any.internal", "fd00::1", 1, true},
		{"other.internal", "192.168.1.1", 443, false},
		{"other.internal", "10.0.0.5", 8443, true},
		{"other.internal", "10.0.0.5", 8444, false},
		{"other.internal", "10.0.0.6", 8443, false},
		{"", "10.0.0.5", 8443, true},
		{"", "192.168.1.1", 443, false},
		{"other.internal", "127.9.9.9", 1, true},
		{"other.internal", "::ffff:127.9.9.9", 1, true},
		{"other.internal", "::1", 1, false},
		{"other.internal", "1.1.1.1", 1, true},
	} {
		if got := p.admitAddress(c.name, mustAddr(t, c.address), c.port) == nil; got != c.want {
			t.Errorf("%s at %s:%d: allowed %t", c.name, c.address, c.port, got)
		}
	}
}
