package egress

import (
	"context"
	"net"
	"net/netip"
	"sync"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

func mustAddr(tb testing.TB, text string) netip.Addr {
	tb.Helper()
	addr, err := netip.ParseAddr(text)
	if err != nil {
		tb.Fatal(err)
	}
	return addr
}

// nameServer answers the look-ups of a resolver in this process.
type nameServer struct {
	tb      testing.TB
	mu      sync.Mutex
	answers []nameAnswer // for each look-up in turn; the last one stays
	queries int          // questions for A records
	conns   []net.Conn   // of the resolver, which waits on one for 5 s even when its context has ended
}

// nameAnswer is what a look-up finds; with silent it gets no answer at all.
type nameAnswer struct {
	code      dnsmessage.RCode
	addresses []string
	silent    bool
}

// newNameServer returns a resolver whose look-ups of any name get the answers in turn.
func newNameServer(tb testing.TB, answers ...nameAnswer) (*nameServer, *net.Resolver) {
	tb.Helper()
	socket, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		tb.Fatal(err)
	}
	s := &nameServer{tb: tb, answers: answers}
	var running sync.WaitGroup
	running.Go(func() { s.serve(socket) })
	tb.Cleanup(func() {
		socket.Close()
		running.Wait()
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, conn := range s.conns {
			conn.Close()
		}
	})
	return s, &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		conn, err := d.DialContext(ctx, "udp", socket.LocalAddr().String())
		if err == nil {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.conns = append(s.conns, conn)
		}
		return conn, err
	}}
}

func (s *nameServer) serve(socket *net.UDPConn) {
	packet := make([]byte, 4096)
	for {
		n, from, err := socket.ReadFromUDPAddrPort(packet)
		if err != nil {
			return
		}
		var query dnsmessage.Message
		if query.Unpack(packet[:n]) != nil || len(query.Questions) != 1 {
			continue
		}
		question := query.Questions[0]
		answer := s.next(question.Type)
		if answer.silent {
			continue
		}
		reply := dnsmessage.Message{
			Header:    dnsmessage.Header{ID: query.ID, Response: true, RecursionAvailable: true, RCode: answer.code},
			Questions: query.Questions,
		}
		for _, text := range answer.addresses {
			addr := mustAddr(s.tb, text)
			header := dnsmessage.ResourceHeader{Name: question.Name, Type: question.Type, Class: question.Class}
			switch {
			case addr.Is4() && question.Type == dnsmessage.TypeA:
				reply.Answers = append(reply.Answers, dnsmessage.Resource{Header: header, Body: &dnsmessage.AResource{A: addr.As4()}})
			case addr.Is6() && question.Type == dnsmessage.TypeAAAA:
				reply.Answers = append(reply.Answers, dnsmessage.Resource{Header: header, Body: &dnsmessage.AAAAResource{AAAA: addr.As16()}})
			}
		}
		out, err := reply.Pack()
		if err != nil {
			s.tb.Error(err)
			return
		}
		_, _ = socket.WriteToUDPAddrPort(out, from)
	}
}

// next takes the answer of a question. Questions for A records count the look-ups; those for AAAA records come in the
// same look-up in either order, so where look-ups differ they find nothing.
func (s *nameServer) next(kind dnsmessage.Type) nameAnswer {
	s.mu.Lock()
	defer s.mu.Unlock()
	if kind != dnsmessage.TypeA && len(s.answers) > 1 {
		return nameAnswer{}
	}
	answer := s.answers[min(s.queries, len(s.answers)-1)]
	if kind == dnsmessage.TypeA {
		s.queries++
	}
	return answer
}

// answerNow replaces what the next look-ups find.
func (s *nameServer) answerNow(answers ...nameAnswer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers, s.queries = answers, 0
}

func (s *nameServer) lookups() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.queries
}
