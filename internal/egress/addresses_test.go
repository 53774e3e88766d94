package egress

import (
	"encoding/json"
	"net/netip"
	"os"
	"strings"
	"testing"
)

func readVectors(tb testing.TB, file string, into any) {
	tb.Helper()
	text, err := os.ReadFile("../../testvectors/" + file)
	if err != nil {
		tb.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		tb.Fatalf("%s: %v", file, err)
	}
}

type addressVectors struct {
	Ranges []struct {
		Range, Kind     string
		Inside, Outside []string
	}
	Cases []struct{ Address, Kind, Inner string }
}

// judged gives the refusal of a literal at port 443, as the dialer would.
func judged(tb testing.TB, p *Policy, address string) *Refusal {
	tb.Helper()
	addr, err := netip.ParseAddr(address)
	if err != nil {
		tb.Fatal(err)
	}
	return p.admitAddress("", addr, 443)
}

func TestAddressRanges(t *testing.T) {
	var vectors addressVectors
	readVectors(t, "addresses.json", &vectors)
	p := newPolicy(t, Rules{})
	if len(vectors.Ranges) < 30 {
		t.Fatalf("%d ranges", len(vectors.Ranges))
	}
	for _, r := range vectors.Ranges {
		allowed := newPolicy(t, Rules{AllowPrivate: []string{r.Range}})
		for _, address := range r.Inside {
			refusal := judged(t, p, address)
			if refusal == nil || refusal.Reason != AddressBlocked || !strings.Contains(refusal.Message, "("+r.Kind+")") {
				t.Errorf("%s of %s: %v, want a refusal as %s", address, r.Range, refusal, r.Kind)
			}
			if refusal := judged(t, allowed, address); refusal != nil {
				t.Errorf("%s with %s allowed: %v", address, r.Range, refusal)
			}
		}
		for _, address := range r.Outside {
			if refusal := judged(t, p, address); refusal != nil {
				t.Errorf("%s beside %s: %v", address, r.Range, refusal)
			}
		}
	}
}

func TestAddressCases(t *testing.T) {
	var vectors addressVectors
	readVectors(t, "addresses.json", &vectors)
	p := newPolicy(t, Rules{})
	for _, c := range vectors.Cases {
		refusal := judged(t, p, c.Address)
		if c.Kind == "" {
			if refusal != nil {
				t.Errorf("%s: %v, want it public", c.Address, refusal)
			}
			continue
		}
		if refusal == nil || !strings.Contains(refusal.Message, "("+c.Kind+")") || !strings.Contains(refusal.Message, c.Inner) {
			t.Errorf("%s: %v, want a refusal as %s %s", c.Address, refusal, c.Inner, c.Kind)
			continue
		}
		// What the refusal proposes must help, and must not open more than this address and port.
		entry := strings.TrimSuffix(strings.TrimPrefix(refusal.Setting, `egress.allow_private = ["`), `"]`)
		allowed := newPolicy(t, Rules{AllowPrivate: []string{entry}})
		if refusal := judged(t, allowed, c.Address); refusal != nil {
			t.Errorf("%s with %s allowed: %v", c.Address, entry, refusal)
		}
		if allowed.admitAddress("", netip.MustParseAddr(c.Address), 444) == nil {
			t.Errorf("%s with %s allowed: another port is open too", c.Address, entry)
		}
	}
}

// --dev allows loopback proper and no other form of it.
func TestDevAllowsLoopbackOnly(t *testing.T) {
	var vectors addressVectors
	readVectors(t, "addresses.json", &vectors)
	p := newPolicy(t, Rules{Dev: true})
	want := map[string]bool{"::1": true, "::1%lo": true, "::ffff:127.0.0.1": true, "::ffff:127.0.0.1%lo": true}
	for _, c := range vectors.Cases {
		if got := judged(t, p, c.Address) == nil; got != (c.Kind == "" || want[c.Address]) {
			t.Errorf("%s: allowed %t", c.Address, got)
		}
	}
	for _, address := range []string{"127.0.0.0", "127.0.0.1", "127.255.255.255", "::1"} {
		if refusal := judged(t, p, address); refusal != nil {
			t.Errorf("%s: %v", address, refusal)
		}
	}
}

func FuzzAddress(f *testing.F) {
	var vectors addressVectors
	readVectors(f, "addresses.json", &vectors)
	for _, c := range vectors.Cases {
		f.Add(c.Address)
	}
	p, err := NewPolicy(Rules{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		addr, err := netip.ParseAddr(text)
		if err != nil {
			return
		}
		refusal := p.admitAddress("", addr, 443)
		if again := p.admitAddress("", bare(addr), 443); (refusal == nil) != (again == nil) {
			t.Fatalf("%s: %v, without zone and mapping: %v", text, refusal, again)
		}
		if refusal != nil {
			return
		}
		plain := bare(addr)
		if plain.IsLoopback() || plain.IsPrivate() || plain.IsMulticast() || plain.IsUnspecified() || plain.IsLinkLocalUnicast() {
			t.Fatalf("%s is admitted", text)
		}
		for _, inner := range carried(plain) {
			if p.admitAddress("", inner, 443) != nil {
				t.Fatalf("%s is admitted and carries %s", text, inner)
			}
		}
	})
}
