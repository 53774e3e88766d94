package egress

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"testing"
)

type urlVectors struct {
	Cases []struct {
		URL   string
		Rules struct {
			AllowHTTP    bool     `json:"allow_http"`
			AllowedHosts []string `json:"allowed_hosts"`
			AllowPrivate []string `json:"allow_private"`
			Dev          bool
		}
		Canonical, Host        string
		Refused, Says, Setting string
	}
}

func TestCheckVectors(t *testing.T) {
	var vectors urlVectors
	readVectors(t, "urls.json", &vectors)
	for i, c := range vectors.Cases {
		name := fmt.Sprintf("%d %.60q", i, c.URL)
		p := newPolicy(t, Rules{
			AllowHTTP: c.Rules.AllowHTTP, AllowedHosts: c.Rules.AllowedHosts, AllowPrivate: c.Rules.AllowPrivate, Dev: c.Rules.Dev,
		})
		got, err := p.Check(c.URL)
		if c.Refused == "" {
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if got.URL.String() != c.Canonical || got.Host != c.Host {
				t.Errorf("%s: %s, host %s; want %s, host %s", name, got.URL, got.Host, c.Canonical, c.Host)
			}
			checkCanonical(t, p, got)
			continue
		}
		var refusal *Refusal
		if !errors.As(err, &refusal) {
			t.Errorf("%s: %v, want a refusal", name, err)
			continue
		}
		if refusal.Reason.String() != c.Refused || !strings.Contains(refusal.Error(), c.Says) || refusal.Setting != c.Setting {
			t.Errorf("%s: %s %q with setting %q; want %s %q with setting %q",
				name, refusal.Reason, refusal, refusal.Setting, c.Refused, c.Says, c.Setting)
		}
		if c.Setting != "" && !strings.Contains(refusal.Error(), c.Setting) {
			t.Errorf("%s: %q does not name the setting", name, refusal)
		}
		if strings.Contains(refusal.Error(), "TOKEN") || strings.Contains(refusal.Error(), "user:") {
			t.Errorf("%s: %q tells a secret", name, refusal)
		}
	}
}

// checkCanonical checks that the canonical form is accepted unchanged, and that the parts of a target agree.
func checkCanonical(t *testing.T, p *Policy, got *Target) {
	t.Helper()
	again, err := p.Check(got.URL.String())
	if err != nil {
		t.Errorf("canonical %s: %v", got.URL, err)
		return
	}
	if again.URL.String() != got.URL.String() || again.Host != got.Host || again.Name != got.Name || again.Port != got.Port {
		t.Errorf("canonical %s becomes %s", got.URL, again.URL)
	}
	if got.Scheme != got.URL.Scheme || got.Host != got.URL.Host || got.Name != got.URL.Hostname() || got.Port == 0 {
		t.Errorf("%s: parts %+v", got.URL, *got)
	}
	if want := got.Scheme + "://" + got.Host; got.Display() != want || got.String() != want || got.LogValue().String() != want {
		t.Errorf("%s: display %s", got.URL, got.Display())
	}
}

// The refusal of a loopback target says that --dev would allow it; that of a private one does not.
func TestRefusalNamesDev(t *testing.T) {
	p := newPolicy(t, Rules{})
	for url, dev := range map[string]bool{
		"https://127.0.0.1:9000/": true, "https://localhost/": true, "https://[::1]/": true, "http://example.com/": true,
		"https://10.0.0.5/": false, "https://[64:ff9b::127.0.0.1]/": false, "https://127.1/": false, "https://example.com/#": false,
	} {
		_, err := p.Check(url)
		if err == nil || strings.Contains(err.Error(), "--dev") != dev {
			t.Errorf("%s: %v", url, err)
		}
	}
}

// A target is judged again by the policy it is used under, and by what its URL says now.
func TestTargetIsJudgedAgain(t *testing.T) {
	wide := newPolicy(t, Rules{Dev: true})
	narrow := newPolicy(t, Rules{AllowedHosts: []string{"example.com"}})
	check := func(raw string) *Target {
		target, err := wide.Check(raw)
		if err != nil {
			t.Fatal(err)
		}
		return target
	}
	same := check("http://127.0.0.1:9000/")
	if got, refusal := wide.again(same); got != same || refusal != nil {
		t.Errorf("own target: %v %v", got, refusal)
	}
	if got, refusal := narrow.again(check("https://example.com/")); refusal != nil || got.policy != narrow {
		t.Errorf("target of another policy: %v %v", got, refusal)
	}
	for name, c := range map[string]struct {
		policy *Policy
		target *Target
		reason Failure
	}{
		"none":           {wide, nil, HostNotAllowed},
		"without URL":    {wide, &Target{}, HostNotAllowed},
		"made by hand":   {wide, &Target{URL: &url.URL{Scheme: "https", Host: "10.0.0.5"}, Scheme: "https", Host: "10.0.0.5"}, AddressBlocked},
		"other scheme":   {narrow, check("http://example.com/"), HostNotAllowed},
		"other host":     {narrow, check("https://example.org/"), HostNotAllowed},
		"changed host":   {wide, changed(check("https://example.com/"), func(u *url.URL) { u.Host = "10.0.0.5" }), AddressBlocked},
		"changed user":   {wide, changed(check("https://example.com/"), func(u *url.URL) { u.User = url.User("x") }), HostNotAllowed},
		"changed scheme": {wide, changed(check("https://example.com/"), func(u *url.URL) { u.Scheme = "ftp" }), HostNotAllowed},
	} {
		if _, refusal := c.policy.again(c.target); refusal == nil || refusal.Reason != c.reason {
			t.Errorf("%s: %v", name, refusal)
		}
	}
}

func changed(t *Target, change func(*url.URL)) *Target {
	change(t.URL)
	return t
}

func FuzzCheckURL(f *testing.F) {
	var vectors urlVectors
	readVectors(f, "urls.json", &vectors)
	for _, c := range vectors.Cases {
		f.Add(c.URL)
	}
	p, err := NewPolicy(Rules{AllowHTTP: true})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		got, err := p.Check(raw)
		if err != nil {
			var refusal *Refusal
			if !errors.As(err, &refusal) || refusal.Message == "" {
				t.Fatalf("%q: %v", raw, err)
			}
			return
		}
		checkCanonical(t, p, got)
		if len(got.URL.String()) > maxURL || !ascii(got.URL.String()) {
			t.Fatalf("%q becomes %q", raw, got.URL)
		}
		if addr, err := netip.ParseAddr(got.Name); err == nil && kind(bare(addr)) != "" && len(carried(addr)) == 0 {
			t.Fatalf("%q is admitted", raw)
		}
		if local(got.Name) {
			t.Fatalf("%q is admitted", raw)
		}
	})
}
