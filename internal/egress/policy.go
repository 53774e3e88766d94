package egress

import (
	"crypto/x509"
	"fmt"
	"net"
	"net/netip"
	"strconv"
)

// Rules is what the configuration says about the way out. The zero value allows https to every public address.
type Rules struct {
	AllowHTTP    bool     // egress.allow_http
	AllowedHosts []string // egress.allowed_hosts: "*", host[:port], *.domain[:port]; nil means {"*"}
	AllowPrivate []string // egress.allow_private: host[:port], address[:port] or CIDR; without a port, every port
	CAFile       string   // egress.ca_file: PEM certificates trusted beside the system's; empty for none
	Dev          bool     // --dev: allows loopback and http, nothing else
}

// Policy is the compiled form of Rules. It never changes and may be used from many goroutines at once.
type Policy struct {
	http    bool
	dev     bool
	hosts   []hostEntry
	private []privateEntry
	roots   *x509.CertPool // nil: those of the system
}

// RuleError says which entry of which key breaks which rule.
type RuleError struct {
	Key   string // such as egress.allowed_hosts
	Entry string // the entry, made safe to show; empty where the key as a whole is wrong
	Rule  string // the rule, without the key and the entry
}

// Error names the key, the entry and the rule.
func (e *RuleError) Error() string {
	if e.Entry == "" {
		return e.Key + ": " + e.Rule
	}
	return fmt.Sprintf("%s: entry %q: %s", e.Key, e.Entry, e.Rule)
}

// NewPolicy compiles the rules and reads the file of CA certificates. Its errors are *RuleError.
func NewPolicy(r Rules) (*Policy, error) {
	p := &Policy{http: r.AllowHTTP || r.Dev, dev: r.Dev}
	allowed := r.AllowedHosts
	if allowed == nil {
		allowed = []string{"*"}
	}
	if len(allowed) == 0 {
		return nil, &RuleError{Key: keyAllowedHosts, Rule: `an empty list allows no host; leave the key out or write ["*"] to allow every host`}
	}
	for _, text := range allowed {
		entry, err := parseHostEntry(text)
		if err != nil {
			return nil, &RuleError{Key: keyAllowedHosts, Entry: shown(text), Rule: err.Error()}
		}
		p.hosts = append(p.hosts, entry)
	}
	for _, text := range r.AllowPrivate {
		entry, err := parsePrivateEntry(text)
		if err != nil {
			return nil, &RuleError{Key: keyAllowPrivate, Entry: shown(text), Rule: err.Error()}
		}
		p.private = append(p.private, entry)
	}
	if r.CAFile != "" {
		roots, err := readRoots(r.CAFile)
		if err != nil {
			return nil, &RuleError{Key: keyCAFile, Rule: err.Error()}
		}
		p.roots = roots
	}
	return p, nil
}

// admitHost judges a canonical host and its port by egress.allowed_hosts.
func (p *Policy) admitHost(name string, port uint16) *Refusal {
	for _, entry := range p.hosts {
		if entry.matches(name, port, p.http) {
			return nil
		}
	}
	hostPort := net.JoinHostPort(name, strconv.Itoa(int(port)))
	return &Refusal{
		Reason:  HostNotAllowed,
		Message: "host " + hostPort + " is not in egress.allowed_hosts",
		Setting: fmt.Sprintf("%s = [%q]", keyAllowedHosts, hostPort),
	}
}

// admitAddress judges the address to which a host (name) leads or which it is (name empty), at the port that is to
// be dialled. An address that carries others is judged by those inside.
func (p *Policy) admitAddress(name string, addr netip.Addr, port uint16) *Refusal {
	addr = bare(addr)
	inside := carried(addr)
	if len(inside) == 0 {
		inside = []netip.Addr{addr}
	}
	for _, a := range inside {
		what := kind(a)
		if what == "" || p.trusts(name, addr, a, port) {
			continue
		}
		shownAddress := addr.String()
		if a != addr {
			shownAddress += " carries " + a.String() + ", which"
		}
		return &Refusal{
			Reason:  AddressBlocked,
			Message: "address " + shownAddress + " is not public (" + what + ")",
			Setting: fmt.Sprintf("%s = [%q]", keyAllowPrivate, netip.AddrPortFrom(a, port)),
			dev:     loopback(addr),
		}
	}
	return nil
}

// trusts tells whether a setting lets hookd connect to an address that is not public: inner, which is outer or is
// carried by it. --dev means the loopback addresses proper: another form of them leads to a gateway.
func (p *Policy) trusts(name string, outer, inner netip.Addr, port uint16) bool {
	if p.dev && loopback(outer) {
		return true
	}
	for _, entry := range p.private {
		if entry.matches(name, outer, port) || entry.matches(name, inner, port) {
			return true
		}
	}
	return false
}

// admitLocal judges a name that means this machine before it is resolved: it passes where a connection could.
func (p *Policy) admitLocal(name string, port uint16) *Refusal {
	v4 := netip.AddrFrom4([4]byte{127, 0, 0, 1})
	if p.admitAddress(name, v4, port) == nil || p.admitAddress(name, netip.IPv6Loopback(), port) == nil {
		return nil
	}
	return &Refusal{
		Reason:  AddressBlocked,
		Message: "host " + name + " is not public (loopback)",
		Setting: fmt.Sprintf("%s = [%q]", keyAllowPrivate, net.JoinHostPort(name, strconv.Itoa(int(port)))),
		dev:     true,
	}
}

func loopback(a netip.Addr) bool {
	return a.IsLoopback()
}
