package egress

import (
	"errors"
	"net/netip"
	"strings"

	"golang.org/x/net/idna"
)

// What can be wrong with a host. The texts end up in refusals and in errors of the configuration.
var (
	errNoHost      = errors.New("there is no host")
	errZone        = errors.New("an address with a zone is refused")
	errHostLength  = errors.New("the host is longer than 253 bytes")
	errLabel       = errors.New("each label of the host must have 1 to 63 of a-z, 0-9, - and _, and no - at its ends")
	errIDN         = errors.New("the host is not a valid internationalized name")
	errNumericHost = errors.New("numeric host must be a plain dotted address")
	errBrackets    = errors.New("brackets must hold an IPv6 address")
)

// canonicalHost brings the host of a URL or of a configuration entry, without brackets and port, into the one form
// that is compared, dialled and shown: a name in lower case, in ASCII and without a final dot, or an address in the
// text form of RFC 5952, IPv4-mapped ones as IPv4. The address is valid where the host is one.
//
// A name whose last label is a number or hexadecimal is refused: resolvers and proxies disagree on whether it is an
// address, and which.
func canonicalHost(host string, bracketed bool) (string, netip.Addr, error) {
	if strings.Contains(host, "%") {
		return "", netip.Addr{}, errZone
	}
	if bracketed {
		addr, err := netip.ParseAddr(host)
		if err != nil || addr.Is4() {
			return "", netip.Addr{}, errBrackets
		}
		addr = addr.Unmap()
		return addr.String(), addr, nil
	}

	if !ascii(host) {
		mapped, err := idna.Lookup.ToASCII(host)
		if err != nil {
			return "", netip.Addr{}, errIDN
		}
		host = mapped
	}
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if host == "" {
		return "", netip.Addr{}, errNoHost
	}
	if len(host) > 253 {
		return "", netip.Addr{}, errHostLength
	}
	punycode := false
	last := ""
	for label := range strings.SplitSeq(host, ".") {
		if !validLabel(label) {
			return "", netip.Addr{}, errLabel
		}
		punycode = punycode || strings.HasPrefix(label, "xn--")
		last = label
	}
	if numeric(last) {
		addr, err := netip.ParseAddr(host)
		if err != nil {
			return "", netip.Addr{}, errNumericHost
		}
		return addr.String(), addr, nil
	}
	// Punycode, given or made, must stand for a valid name. Names without it are not put to the library, which also refuses
	// hyphens in the third and fourth place of ASCII labels; those exist and mean nothing.
	if punycode {
		if again, err := idna.Lookup.ToASCII(host); err != nil || again != host {
			return "", netip.Addr{}, errIDN
		}
	}
	return host, netip.Addr{}, nil
}

// numeric tells whether the last label of a name makes the name an attempt at an address: digits, or 0x and
// hexadecimal digits (the rule of the WHATWG URL standard).
func numeric(label string) bool {
	digits := "0123456789"
	if hex, ok := strings.CutPrefix(label, "0x"); ok {
		label, digits = hex, "0123456789abcdef"
	}
	return strings.Trim(label, digits) == ""
}

func validLabel(label string) bool {
	if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
		return false
	}
	for i := range len(label) {
		c := label[i]
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '_' {
			return false
		}
	}
	return true
}

// local tells whether a canonical name stands for this machine whatever a resolver says (RFC 6761 6.3).
func local(name string) bool {
	return name == "localhost" || strings.HasSuffix(name, ".localhost")
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}
