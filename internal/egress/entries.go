package egress

import (
	"errors"
	"net/netip"
	"strconv"
	"strings"
)

// The keys of the configuration that this package names in errors.
const (
	keyAllowedHosts = "egress.allowed_hosts"
	keyAllowPrivate = "egress.allow_private"
	keyAllowHTTP    = "egress.allow_http"
	keyCAFile       = "egress.ca_file"
)

var (
	errEmptyEntry   = errors.New("an entry must not be empty")
	errEntryURL     = errors.New("an entry is a host with or without a port, not a URL")
	errEntryPort    = errors.New("a port must be a number from 1 to 65535")
	errEntryColons  = errors.New("an IPv6 address with a port is written [address]:port")
	errWildcard     = errors.New("a * stands alone, or for the labels before a domain: *.example.com")
	errWildcardPort = errors.New("* means every host on every port and takes no port")
	errCIDR         = errors.New("a CIDR is an address, a slash and a prefix length")
	errCIDRBits     = errors.New("the address has bits set beyond its prefix length")
)

// hostEntry is an entry of egress.allowed_hosts.
type hostEntry struct {
	every bool   // "*"
	under bool   // *.name: names under it, not itself
	name  string // canonical
	port  uint16 // 0: 443, and 80 where http is allowed
}

func (e hostEntry) matches(name string, port uint16, http bool) bool {
	if e.every {
		return true
	}
	if port != e.port && (e.port != 0 || port != 443 && (!http || port != 80)) {
		return false
	}
	if e.under {
		rest, ok := strings.CutSuffix(name, e.name)
		return ok && len(rest) > 1 && rest[len(rest)-1] == '.'
	}
	return name == e.name
}

func parseHostEntry(text string) (hostEntry, error) {
	if text == "*" {
		return hostEntry{every: true}, nil
	}
	if strings.HasPrefix(text, "*:") {
		return hostEntry{}, errWildcardPort
	}
	rest, under := strings.CutPrefix(text, "*.")
	name, addr, port, err := parseHostPort(rest)
	if err != nil {
		return hostEntry{}, err
	}
	if under && addr.IsValid() {
		return hostEntry{}, errWildcard
	}
	return hostEntry{under: under, name: name, port: port}, nil
}

// privateEntry is an entry of egress.allow_private: either a name, which is trusted wherever it leads, or addresses.
type privateEntry struct {
	name   string
	prefix netip.Prefix
	port   uint16 // 0: every port
}

func (e privateEntry) matches(name string, addr netip.Addr, port uint16) bool {
	if e.port != 0 && e.port != port {
		return false
	}
	if e.name != "" {
		return e.name == name
	}
	return e.prefix.Contains(addr)
}

func parsePrivateEntry(text string) (privateEntry, error) {
	if strings.Contains(text, "/") && !strings.Contains(text, "://") {
		prefix, err := parseCIDR(text)
		return privateEntry{prefix: prefix}, err
	}
	name, addr, port, err := parseHostPort(text)
	if err != nil {
		return privateEntry{}, err
	}
	if addr.IsValid() {
		return privateEntry{prefix: netip.PrefixFrom(addr, addr.BitLen()), port: port}, nil
	}
	return privateEntry{name: name, port: port}, nil
}

// parseCIDR takes a prefix of IPv4-mapped addresses for the IPv4 prefix that it means: addresses are compared so.
func parseCIDR(text string) (netip.Prefix, error) {
	prefix, err := netip.ParsePrefix(text)
	if err != nil {
		return netip.Prefix{}, errCIDR
	}
	if prefix != prefix.Masked() {
		return netip.Prefix{}, errCIDRBits
	}
	if prefix.Addr().Is4In6() && prefix.Bits() >= 96 {
		prefix = netip.PrefixFrom(prefix.Addr().Unmap(), prefix.Bits()-96)
	}
	return prefix, nil
}

// parseHostPort reads host[:port], where the host may be a bare IPv6 address, or one in brackets before a port. The
// port is 0 where there is none.
func parseHostPort(text string) (name string, addr netip.Addr, port uint16, err error) {
	fail := func(err error) (string, netip.Addr, uint16, error) { return "", netip.Addr{}, 0, err }
	if text == "" {
		return fail(errEmptyEntry)
	}
	if strings.ContainsAny(text, "/@?#") {
		return fail(errEntryURL)
	}
	if strings.Contains(text, "*") {
		return fail(errWildcard)
	}

	host, bracketed, portText, hasPort := text, false, "", false
	switch inner, after, closed := strings.Cut(strings.TrimPrefix(text, "["), "]"); {
	case strings.HasPrefix(text, "["):
		portText, hasPort = strings.CutPrefix(after, ":")
		if !closed || after != "" && !hasPort {
			return fail(errBrackets)
		}
		host, bracketed = inner, true
	case strings.Count(text, ":") == 1:
		host, portText, hasPort = strings.Cut(text, ":")
	case strings.Contains(text, ":"):
		if _, err := netip.ParseAddr(text); err != nil {
			return fail(errEntryColons)
		}
		bracketed = true
	}
	if hasPort {
		if port, err = parsePort(portText); err != nil {
			return fail(err)
		}
	}
	name, addr, err = canonicalHost(host, bracketed)
	if err != nil {
		return fail(err)
	}
	return name, addr, port, nil
}

// parsePort reads 1 to 65535 in decimal digits alone.
func parsePort(text string) (uint16, error) {
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil || n == 0 {
		return 0, errEntryPort
	}
	return uint16(n), nil
}

// shown makes an entry safe for an error: a URL that was written by mistake may have secrets in all but its host.
func shown(entry string) string {
	if scheme, rest, ok := strings.Cut(entry, "://"); ok {
		rest, _, cut := cutAny(rest, "/?#")
		if at := strings.LastIndex(rest, "@"); at >= 0 {
			rest = rest[at+1:]
		}
		if cut {
			rest += "/..."
		}
		entry = scheme + "://" + rest
	}
	const most = 100
	if len(entry) > most {
		entry = strings.ToValidUTF8(entry[:most], "") + "..."
	}
	return entry
}

func cutAny(s, chars string) (before, after string, found bool) {
	if i := strings.IndexAny(s, chars); i >= 0 {
		return s[:i], s[i+1:], true
	}
	return s, "", false
}
