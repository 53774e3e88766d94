package egress

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

const noContent = "HTTP/1.1 204 No Content\r\n\r\n"

// twins starts receivers at 127.0.0.1 and 127.0.0.2 with one port.
func twins(t *testing.T) (one, two *receiver, port string) {
	t.Helper()
	one = serve(t, answerAll(noContent))
	_, port, err := net.SplitHostPort(one.addr)
	if err != nil {
		t.Fatal(err)
	}
	return one, serveAt(t, "127.0.0.2:"+port, answerAll(noContent)), port
}

// The name of a rebinding server is public at one look-up and private at the next: each connection goes to the address
// that was judged for it, or nowhere.
func TestRebinding(t *testing.T) {
	private, public, port := twins(t)
	answers := []nameAnswer{{addresses: []string{"127.0.0.2"}}, {addresses: []string{"127.0.0.1"}}, {addresses: []string{"127.0.0.2"}}}
	names, resolver := newNameServer(t, answers...)
	c := newClientWith(t, Rules{AllowHTTP: true, AllowPrivate: []string{"127.0.0.2"}}, Options{Resolver: resolver})
	url := "http://rebind.example:" + port + "/"
	for i, want := range []Failure{None, AddressBlocked, None} {
		got := c.Do(context.Background(), &Request{Target: target(t, c, url), Body: []byte("{}"), Timeout: 5 * time.Second, Fresh: true})
		if got.Failure != want || (want == None) != (got.Status == 204) {
			t.Errorf("request %d: %+v, want %q", i+1, got, want)
		}
	}
	if n := private.accepted.Load(); n != 0 {
		t.Errorf("%d connections to the private address", n)
	}
	if public.requests.Load() != 2 || names.lookups() != 3 {
		t.Errorf("%d requests, %d look-ups", public.requests.Load(), names.lookups())
	}
}

// A kept connection stays at its judged address, whatever the name says later.
func TestKeptConnectionIsNotResolvedAgain(t *testing.T) {
	private, public, port := twins(t)
	names, resolver := newNameServer(t, nameAnswer{addresses: []string{"127.0.0.2"}}, nameAnswer{addresses: []string{"127.0.0.1"}})
	c := newClientWith(t, Rules{AllowHTTP: true, AllowPrivate: []string{"127.0.0.2"}}, Options{Resolver: resolver})
	for range 3 {
		if got := post(t, c, "http://rebind.example:"+port+"/", 5*time.Second); got.Status != 204 {
			t.Fatalf("%+v", got)
		}
	}
	if private.accepted.Load() != 0 || public.accepted.Load() != 1 || names.lookups() != 1 {
		t.Errorf("%d private and %d public connections, %d look-ups", private.accepted.Load(), public.accepted.Load(), names.lookups())
	}
}

// Of several addresses only the allowed ones are tried, in whatever order they come.
func TestMixedAddresses(t *testing.T) {
	for _, addresses := range [][]string{
		{"10.0.0.5", "127.0.0.1", "127.0.0.2"},
		{"127.0.0.2", "203.0.113.10", "10.0.0.5", "127.0.0.1"},
		{"127.0.0.2", "::1", "fd00::1", "64:ff9b::a00:5"},
	} {
		private, public, port := twins(t)
		_, resolver := newNameServer(t, nameAnswer{addresses: addresses})
		c := newClientWith(t, Rules{AllowHTTP: true, AllowPrivate: []string{"127.0.0.2:" + port}}, Options{Resolver: resolver})
		got := post(t, c, "http://mixed.example:"+port+"/", 5*time.Second)
		if got.Status != 204 || private.accepted.Load() != 0 || public.accepted.Load() != 1 {
			t.Errorf("%v: %+v, %d private and %d public connections", addresses, got, private.accepted.Load(), public.accepted.Load())
		}
	}
}

func TestJudgeKeepsTheAllowedOnly(t *testing.T) {
	g := newGuard(newPolicy(t, Rules{AllowPrivate: []string{"10.0.0.5"}}), net.DefaultResolver)
	addresses := func(texts ...string) (list []netip.Addr) {
		for _, text := range texts {
			list = append(list, mustAddr(t, text))
		}
		return list
	}
	got, err := g.judge("a.example", addresses("127.0.0.1", "::ffff:1.1.1.1", "10.0.0.5", "::1", "2606:4700::1", "10.0.0.6"), 443)
	want := []netip.AddrPort{
		netip.MustParseAddrPort("1.1.1.1:443"), netip.MustParseAddrPort("10.0.0.5:443"), netip.MustParseAddrPort("[2606:4700::1]:443"),
	}
	if err != nil || len(got) != len(want) || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] {
		t.Errorf("%v %v, want %v", got, err, want)
	}
	var many []netip.Addr
	for i := range 100 {
		many = append(many, netip.AddrFrom4([4]byte{1, 1, 1, byte(i)}))
	}
	if got, err := g.judge("a.example", many, 443); err != nil || len(got) != maxAddresses {
		t.Errorf("%d of 100 addresses are tried: %v", len(got), err)
	}
	var refusal *Refusal
	if _, err := g.judge("a.example", addresses("192.168.0.1", "::1"), 443); !errors.As(err, &refusal) ||
		refusal.Setting != `egress.allow_private = ["192.168.0.1:443"]` {
		t.Errorf("all refused: %v", err)
	}
	var dns *net.DNSError
	if _, err := g.judge("a.example", nil, 443); !errors.As(err, &dns) || !dns.IsNotFound {
		t.Errorf("no addresses: %v", err)
	}
}

// A refused name gives the same answer whether its port is open or closed, and no connection is tried.
func TestBlockedNameIsNoPortScanner(t *testing.T) {
	open := serve(t, answerAll(noContent))
	_, port, _ := net.SplitHostPort(open.addr)
	_, resolver := newNameServer(t, nameAnswer{addresses: []string{"127.0.0.1"}})
	c := newClientWith(t, Rules{AllowHTTP: true}, Options{Resolver: resolver})
	for _, p := range []string{port, "1"} {
		got := post(t, c, "http://inner.example:"+p+"/hook/TOKEN", 5*time.Second)
		want := `address 127.0.0.1 is not public (loopback); to allow it, set egress.allow_private = ["127.0.0.1:` + p + `"] or run with --dev`
		if got.Failure != AddressBlocked || got.Detail != want || got.Status != 0 || got.Stale || got.Interrupted {
			t.Errorf("port %s: %+v", p, got)
		}
	}
	if n := open.accepted.Load(); n != 0 {
		t.Errorf("%d connections", n)
	}
}

// Each failure of the name service has its own reason, and none of them lasts. The silence has a name of its own: the
// resolver lets look-ups of one name share an answer, also one that is still being waited for.
func TestNameFailures(t *testing.T) {
	r := serve(t, answerAll(noContent))
	_, port, _ := net.SplitHostPort(r.addr)
	names, resolver := newNameServer(t, nameAnswer{})
	c := newClientWith(t, Rules{AllowHTTP: true, AllowPrivate: []string{"127.0.0.1"}}, Options{Resolver: resolver})
	for _, step := range []struct {
		name    string
		answer  nameAnswer
		timeout time.Duration
		failure Failure
		detail  string
	}{
		{"NXDOMAIN", nameAnswer{code: dnsmessage.RCodeNameError}, 5 * time.Second, ConnectionFailed, "dns: no such host"},
		{"no records", nameAnswer{}, 5 * time.Second, ConnectionFailed, "dns: no such host"},
		{"SERVFAIL", nameAnswer{code: dnsmessage.RCodeServerFailure}, 5 * time.Second, ConnectionFailed, "dns: the name server failed"},
		{"silence", nameAnswer{silent: true}, 100 * time.Millisecond, Timeout, "no connection in time"},
		{"an address", nameAnswer{addresses: []string{"127.0.0.1"}}, 5 * time.Second, None, ""},
	} {
		names.answerNow(step.answer)
		name := "names.example"
		if step.answer.silent {
			name = "silent.example"
		}
		got := post(t, c, "http://"+name+":"+port+"/hook/TOKEN", step.timeout)
		if got.Failure != step.failure || got.Detail != step.detail || got.Stale || got.Interrupted {
			t.Errorf("%s: %+v, want %s %q", step.name, got, step.failure, step.detail)
		}
	}
	if r.requests.Load() != 1 {
		t.Errorf("%d requests", r.requests.Load())
	}
}

func TestNameServerTimesOutBeforeTheRequest(t *testing.T) {
	got, detail := classify(&net.DNSError{IsTimeout: true, IsTemporary: true}, connecting, false)
	if got != ConnectionFailed || detail != "dns: no answer from the name server" {
		t.Errorf("%s %q", got, detail)
	}
}

// The proxies of the environment would resolve and reach what the guard refuses.
func TestEnvironmentProxyIsIgnored(t *testing.T) {
	proxy := serve(t, answerAll(noContent))
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"} {
		t.Setenv(name, "http://"+proxy.addr)
	}
	t.Setenv("NO_PROXY", "")
	r := serve(t, answerAll(noContent))
	_, port, _ := net.SplitHostPort(r.addr)
	_, resolver := newNameServer(t, nameAnswer{addresses: []string{"127.0.0.1"}})
	allowed := newClientWith(t, Rules{AllowHTTP: true, AllowPrivate: []string{"127.0.0.1:" + port}}, Options{Resolver: resolver})
	if got := post(t, allowed, "http://svc.example:"+port+"/", 5*time.Second); got.Status != 204 {
		t.Errorf("%+v", got)
	}
	refused := newClientWith(t, Rules{AllowHTTP: true}, Options{Resolver: resolver})
	if got := post(t, refused, "http://svc.example:"+port+"/", 5*time.Second); got.Failure != AddressBlocked {
		t.Errorf("%+v", got)
	}
	if proxy.accepted.Load() != 0 || r.requests.Load() != 1 {
		t.Errorf("%d connections to the proxy, %d requests", proxy.accepted.Load(), r.requests.Load())
	}
	for _, transport := range []*http.Transport{allowed.warm, allowed.fresh} {
		if transport.Proxy != nil {
			t.Error("a transport has a proxy")
		}
	}
}

// The dialer connects to nothing that was not judged as exactly this address, and not without a request.
func TestDialerRefusesWhatWasNotJudged(t *testing.T) {
	r := serve(t, answerAll(noContent))
	g := newGuard(newPolicy(t, Rules{Dev: true}), net.DefaultResolver)
	other := netip.MustParseAddrPort("127.0.0.1:1")
	for name, ctx := range map[string]context.Context{
		"nothing judged": context.Background(),
		"another judged": context.WithValue(context.Background(), judgedKey{}, other),
	} {
		if conn, err := g.dialer.DialContext(ctx, "tcp", r.addr); !errors.Is(err, errUnguarded) {
			t.Errorf("%s: %v %v", name, conn, err)
		}
	}
	if conn, err := g.dial(context.Background(), "tcp", r.addr); !errors.Is(err, errUnguarded) {
		t.Errorf("dial without a request: %v %v", conn, err)
	}
	if conn, err := g.dialTLS(context.Background(), "tcp", r.addr); !errors.Is(err, errUnguarded) {
		t.Errorf("TLS dial without a request: %v %v", conn, err)
	}
	if n := r.accepted.Load(); n != 0 {
		t.Errorf("%d connections", n)
	}
}

func TestRefusedConnection(t *testing.T) {
	c := newClient(t, Rules{Dev: true})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := listener.Addr().String()
	listener.Close()
	got := post(t, c, "http://"+addr+"/hook/TOKEN?token=TOKEN", 5*time.Second)
	if got.Failure != ConnectionFailed || got.Detail != "connection refused" || strings.Contains(got.Detail, "TOKEN") {
		t.Errorf("%+v", got)
	}
}
