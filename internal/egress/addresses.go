package egress

import "net/netip"

// special is a range that is not part of the public internet.
type special struct {
	prefix netip.Prefix
	name   string
}

// specials lists what the IANA special-purpose address registries do not mark globally reachable, multicast, the
// deprecated site-local range, and the address under which Azure serves its machines. 192.0.0.0/24 and 2001::/23 are
// refused with the anycast addresses inside them: those reach a box of the local network, never a receiver. Forms that
// carry an IPv4 address are not here; see carried.
var specials = []special{
	{netip.MustParsePrefix("0.0.0.0/8"), "this network"},
	{netip.MustParsePrefix("10.0.0.0/8"), "private"},
	{netip.MustParsePrefix("100.64.0.0/10"), "shared address space"},
	{netip.MustParsePrefix("127.0.0.0/8"), "loopback"},
	{netip.MustParsePrefix("168.63.129.16/32"), "cloud service"},
	{netip.MustParsePrefix("169.254.0.0/16"), "link-local"},
	{netip.MustParsePrefix("172.16.0.0/12"), "private"},
	{netip.MustParsePrefix("192.0.0.0/24"), "protocol assignments"},
	{netip.MustParsePrefix("192.0.2.0/24"), "documentation"},
	{netip.MustParsePrefix("192.88.99.0/24"), "6to4 relay"},
	{netip.MustParsePrefix("192.168.0.0/16"), "private"},
	{netip.MustParsePrefix("198.18.0.0/15"), "benchmarking"},
	{netip.MustParsePrefix("198.51.100.0/24"), "documentation"},
	{netip.MustParsePrefix("203.0.113.0/24"), "documentation"},
	{netip.MustParsePrefix("224.0.0.0/4"), "multicast"},
	{netip.MustParsePrefix("240.0.0.0/4"), "reserved"},

	{netip.MustParsePrefix("::/128"), "unspecified"},
	{netip.MustParsePrefix("::1/128"), "loopback"},
	{netip.MustParsePrefix("64:ff9b:1::/48"), "local NAT64"},
	{netip.MustParsePrefix("100::/64"), "discard"},
	{netip.MustParsePrefix("100:0:0:1::/64"), "dummy"},
	{netip.MustParsePrefix("2001::/23"), "protocol assignments"},
	{netip.MustParsePrefix("2001:db8::/32"), "documentation"},
	{netip.MustParsePrefix("3fff::/20"), "documentation"},
	{netip.MustParsePrefix("5f00::/16"), "segment routing"},
	{netip.MustParsePrefix("fc00::/7"), "unique local"},
	{netip.MustParsePrefix("fe80::/10"), "link-local"},
	{netip.MustParsePrefix("fec0::/10"), "site-local"},
	{netip.MustParsePrefix("ff00::/8"), "multicast"},
}

// reachable lists the parts of 2001::/23 that the registry does mark globally reachable.
var reachable = []netip.Prefix{
	netip.MustParsePrefix("2001:3::/32"),     // AMT
	netip.MustParsePrefix("2001:4:112::/48"), // AS112-v6
	netip.MustParsePrefix("2001:20::/28"),    // ORCHIDv2
	netip.MustParsePrefix("2001:30::/28"),    // drone remote identification
}

// kind names the special range that holds a, which has no zone and is not IPv4-mapped. It is empty for an address of
// the public internet.
func kind(a netip.Addr) string {
	for _, p := range reachable {
		if p.Contains(a) {
			return ""
		}
	}
	for _, s := range specials {
		if s.prefix.Contains(a) {
			return s.name
		}
	}
	return ""
}

// bare takes the zone away, which a prefix never matches, and makes an IPv4-mapped address the IPv4 address it means.
func bare(a netip.Addr) netip.Addr {
	return a.WithZone("").Unmap()
}
