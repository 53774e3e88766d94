package egress

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/netip"
	"sync"
	"syscall"
)

// maxAddresses bounds how many addresses of one name are tried.
const maxAddresses = 16

var errUnguarded = errors.New("connect: the address was not judged")

// guard opens the connections of a client: it resolves, judges, and dials what it judged.
type guard struct {
	policy   *Policy
	resolver *net.Resolver
	dialer   net.Dialer
	tls      *tls.Config
	dials    sync.WaitGroup // the transport lets a dial run on when its request has gone
}

// judgedKey leads from the context of a connect to the one address it may go to.
type judgedKey struct{}

func newGuard(p *Policy, resolver *net.Resolver) *guard {
	return &guard{
		policy:   p,
		resolver: resolver,
		dialer:   net.Dialer{ControlContext: onlyJudged},
		tls:      &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: p.roots},
	}
}

// onlyJudged runs after the socket is made and before it is connected. It sees the address that the kernel will get
// and lets nothing pass that was not judged as exactly this address.
func onlyJudged(ctx context.Context, _, address string, _ syscall.RawConn) error {
	judged, ok := ctx.Value(judgedKey{}).(netip.AddrPort)
	if !ok {
		return errUnguarded
	}
	actual, err := netip.ParseAddrPort(address)
	if err != nil || actual != judged {
		return errUnguarded
	}
	return nil
}

// dial connects to host:port for the transport.
func (g *guard) dial(ctx context.Context, _, hostPort string) (net.Conn, error) {
	ctx, done, err := g.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	conn, _, err := g.connect(ctx, hostPort)
	return conn, err
}

// dialTLS connects to host:port and makes the handshake, offering the given protocols.
func (g *guard) dialTLS(ctx context.Context, _, hostPort string, protocols ...string) (net.Conn, error) {
	ctx, done, err := g.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	conn, name, err := g.connect(ctx, hostPort)
	if err != nil {
		return nil, err
	}
	config := g.tls.Clone()
	config.ServerName = name
	config.NextProtos = protocols
	secure := tls.Client(conn, config)
	if err := secure.HandshakeContext(ctx); err != nil {
		conn.Close()
		return nil, &handshakeError{err}
	}
	return secure, nil
}

// begin puts the deadline of the request on a dial made for it. A dial without a request is none of ours.
func (g *guard) begin(ctx context.Context) (context.Context, func(), error) {
	a, ok := ctx.Value(attemptKey{}).(*attempt)
	if !ok {
		return nil, nil, errUnguarded
	}
	g.dials.Add(1)
	ctx, cancel := context.WithDeadline(ctx, a.deadline)
	return ctx, func() { cancel(); g.dials.Done() }, nil
}

// connect resolves the host once, judges every address, and connects to one that passed. It returns the host too.
func (g *guard) connect(ctx context.Context, hostPort string) (net.Conn, string, error) {
	host, portText, err := net.SplitHostPort(hostPort)
	if err != nil {
		return nil, "", err
	}
	port, err := parsePort(portText)
	if err != nil {
		return nil, "", err
	}
	addresses, name, err := g.resolve(ctx, host)
	if err != nil {
		return nil, "", err
	}
	judged, err := g.judge(name, addresses, port)
	if err != nil {
		return nil, "", err
	}
	conn, err := race(ctx, interleave(judged), g.connectTo)
	return conn, host, err
}

// resolve returns the addresses of a host; the name is empty where the host is an address itself.
func (g *guard) resolve(ctx context.Context, host string) (addresses []netip.Addr, name string, err error) {
	if addr, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{addr}, "", nil
	}
	addresses, err = g.resolver.LookupNetIP(ctx, "ip", host)
	return addresses, host, err
}

// judge returns the addresses that the policy admits, in their order, or the first refusal where it admits none.
func (g *guard) judge(name string, addresses []netip.Addr, port uint16) ([]netip.AddrPort, error) {
	var judged []netip.AddrPort
	var first *Refusal
	for _, addr := range addresses {
		if refusal := g.policy.admitAddress(name, addr, port); refusal != nil {
			if first == nil {
				first = refusal
			}
			continue
		}
		if len(judged) < maxAddresses {
			judged = append(judged, netip.AddrPortFrom(addr.Unmap(), port))
		}
	}
	switch {
	case len(judged) > 0:
		return judged, nil
	case first != nil:
		return nil, first
	default:
		return nil, &net.DNSError{Err: "no addresses", Name: name, IsNotFound: true}
	}
}

func (g *guard) connectTo(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
	return g.dialer.DialContext(context.WithValue(ctx, judgedKey{}, to), "tcp", to.String())
}
