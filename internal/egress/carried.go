package egress

import "net/netip"

// The forms of an IPv6 address that stand for an IPv4 address, besides the mapped one.
var (
	compatible = netip.MustParsePrefix("::/96")           // RFC 4291 2.5.5.1
	translated = netip.MustParsePrefix("::ffff:0:0:0/96") // RFC 2765 2.1
	nat64      = netip.MustParsePrefix("64:ff9b::/96")    // RFC 6052 2.1
	sixToFour  = netip.MustParsePrefix("2002::/16")       // RFC 3056 2
	teredo     = netip.MustParsePrefix("2001::/32")       // RFC 4380 4
)

// carried returns the IPv4 addresses that a, which has no zone and is not mapped, stands for: none, one, or for Teredo
// the two of its server and its client.
func carried(a netip.Addr) []netip.Addr {
	if !a.Is6() {
		return nil
	}
	b := a.As16()
	switch {
	case a == netip.IPv6Unspecified(), a == netip.IPv6Loopback():
		return nil // inside ::/96, and no IPv4 address
	case compatible.Contains(a), translated.Contains(a), nat64.Contains(a):
		return []netip.Addr{netip.AddrFrom4([4]byte(b[12:16]))}
	case sixToFour.Contains(a):
		return []netip.Addr{netip.AddrFrom4([4]byte(b[2:6]))}
	case teredo.Contains(a):
		client := [4]byte{^b[12], ^b[13], ^b[14], ^b[15]}
		return []netip.Addr{netip.AddrFrom4([4]byte(b[4:8])), netip.AddrFrom4(client)}
	default:
		return nil
	}
}
