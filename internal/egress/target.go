package egress

import (
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// maxURL bounds a URL, as given and in canonical form, in bytes.
const maxURL = 2048

// Target is a URL that passed [Policy.Check], in canonical form. It must not be changed; it may be used by many
// goroutines and for many requests. Only URL holds the path and the query: a Target prints as [Target.Display].
type Target struct {
	URL    *url.URL // canonical; its String is what is kept (sealed), and Check takes it unchanged
	Scheme string   // https or http
	Name   string   // the host alone: a name, or an address without brackets
	Port   uint16   // always set
	Host   string   // for records and lists: host, or host:port where the port is not the scheme's own

	policy       *Policy // that checked it
	origin       string  // scheme://host[:port]
	scheme, host string  // what URL must still say for the check to hold
}

// Display returns scheme://host[:port], the only part of a URL that may be shown or logged.
func (t *Target) Display() string { return t.origin }

// String is Display, so that a Target that is printed by mistake shows no path.
func (t *Target) String() string { return t.origin }

// LogValue is Display.
func (t *Target) LogValue() slog.Value { return slog.StringValue(t.origin) }

// Check judges a URL by its form, the allowed hosts and, where its host is an address, an attempt at one or a name of
// this machine, the address. Other names are not resolved: their addresses are judged when a connection is made. The
// error is a *Refusal and repeats no path, query or user name of the URL.
func (p *Policy) Check(rawURL string) (*Target, error) {
	t, refusal := p.check(rawURL)
	if refusal != nil {
		return nil, refusal
	}
	return t, nil
}

func (p *Policy) check(rawURL string) (*Target, *Refusal) {
	u, refusal := parseURL(rawURL)
	if refusal != nil {
		return nil, refusal
	}
	name, addr, err := canonicalHost(u.Hostname(), strings.HasPrefix(u.Host, "["))
	if err != nil {
		refusal := malformed("URL is not valid: " + err.Error())
		if errors.Is(err, errNumericHost) {
			refusal = &Refusal{Reason: AddressBlocked, Message: "URL is refused: " + err.Error()}
		}
		return nil, refusal
	}
	defaultPort := uint16(443)
	if u.Scheme == "http" {
		defaultPort = 80
	}
	port := defaultPort
	if text := u.Port(); text != "" {
		if port, err = parsePort(text); err != nil {
			return nil, malformed("URL is not valid: " + err.Error())
		}
	}

	if u.Scheme == "http" && !p.http {
		return nil, &Refusal{
			Reason:  HostNotAllowed,
			Message: "scheme http is not allowed",
			Setting: keyAllowHTTP + " = true",
			dev:     true,
		}
	}
	if refusal := p.admitHost(name, port); refusal != nil {
		return nil, refusal
	}
	switch {
	case addr.IsValid():
		refusal = p.admitAddress("", addr, port)
	case local(name):
		refusal = p.admitLocal(name, port)
	}
	if refusal != nil {
		return nil, refusal
	}

	u.Host = authority(name, addr, port, defaultPort)
	u.RawQuery = escapeQuery(u.RawQuery)
	if len(u.String()) > maxURL {
		return nil, malformed("URL is longer than 2048 bytes")
	}
	return &Target{
		URL: u, Scheme: u.Scheme, Name: name, Port: port, Host: u.Host,
		policy: p, origin: u.Scheme + "://" + u.Host, scheme: u.Scheme, host: u.Host,
	}, nil
}

// again judges a target before each request. One that this policy checked and that still says the same is not judged
// anew: a policy never changes.
func (p *Policy) again(t *Target) (*Target, *Refusal) {
	if t == nil || t.URL == nil {
		return nil, malformed("there is no target")
	}
	u := t.URL
	if t.policy == p && u.Scheme == t.scheme && u.Host == t.host && u.Opaque == "" && u.User == nil {
		return t, nil
	}
	return p.check(u.String())
}

// parseURL reads a URL whose scheme and host remain to be judged.
func parseURL(raw string) (*url.URL, *Refusal) {
	if len(raw) > maxURL {
		return nil, malformed("URL is longer than 2048 bytes")
	}
	for i := range len(raw) {
		if raw[i] <= ' ' || raw[i] == 0x7f {
			return nil, malformed("URL is not valid: it has a space or a control character")
		}
	}
	if strings.Contains(raw, "#") {
		return nil, malformed("URL is not valid: a fragment is refused")
	}
	u, err := url.Parse(raw)
	if err != nil {
		// The error of the library repeats the URL.
		return nil, malformed("URL is not valid: it must be https://host[:port][/path][?query]")
	}
	switch {
	case u.Scheme != "https" && u.Scheme != "http":
		return nil, malformed("URL is not valid: the scheme must be https")
	case u.User != nil:
		return nil, malformed("URL is not valid: user information is refused")
	case u.Opaque != "" || u.Host == "":
		return nil, malformed("URL is not valid: " + errNoHost.Error())
	}
	return u, nil
}

// authority writes the host part of a canonical URL.
func authority(name string, addr netip.Addr, port, defaultPort uint16) string {
	if port != defaultPort {
		return net.JoinHostPort(name, strconv.Itoa(int(port)))
	}
	if addr.Is6() {
		return "[" + name + "]"
	}
	return name
}

// escapeQuery percent-encodes the bytes of a query that are not ASCII, which the library does for a path only.
func escapeQuery(query string) string {
	if ascii(query) {
		return query
	}
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(query) {
		if c := query[i]; c >= 0x80 {
			b.WriteByte('%')
			b.WriteByte(hex[c>>4])
			b.WriteByte(hex[c&15])
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}
