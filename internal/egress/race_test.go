package egress

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"
)

func addrPorts(texts ...string) (list []netip.AddrPort) {
	for _, text := range texts {
		list = append(list, netip.MustParseAddrPort(text))
	}
	return list
}

func TestInterleave(t *testing.T) {
	for _, c := range []struct{ in, want []netip.AddrPort }{
		{addrPorts("1.1.1.1:1"), addrPorts("1.1.1.1:1")},
		{
			addrPorts("[2606::1]:1", "[2606::2]:1", "1.1.1.1:1", "1.1.1.2:1", "1.1.1.3:1"),
			addrPorts("[2606::1]:1", "1.1.1.1:1", "[2606::2]:1", "1.1.1.2:1", "1.1.1.3:1"),
		},
		{addrPorts("1.1.1.1:1", "1.1.1.2:1", "[2606::1]:1"), addrPorts("1.1.1.1:1", "[2606::1]:1", "1.1.1.2:1")},
	} {
		if got := interleave(c.in); fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%v: %v, want %v", c.in, got, c.want)
		}
	}
}

// fakeConnect answers after a time with a connection or an error; it ends early when it is cut.
type fakeConnect map[string]struct {
	after time.Duration
	err   error
}

func (f fakeConnect) connect(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
	plan := f[to.String()]
	timer := time.NewTimer(plan.after)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if plan.err != nil {
		return nil, plan.err
	}
	return fakeConn{to: to}, nil
}

type fakeConn struct {
	net.Conn
	to netip.AddrPort
}

func (fakeConn) Close() error { return nil }

func TestRace(t *testing.T) {
	one, two, three := "1.1.1.1:1", "1.1.1.2:1", "1.1.1.3:1"
	refused, reset := errors.New("refused"), errors.New("reset")
	for _, c := range []struct {
		name  string
		plan  fakeConnect
		want  string
		err   error
		after time.Duration
	}{
		{"first answers", fakeConnect{one: {after: 100 * time.Millisecond}}, one, nil, 100 * time.Millisecond},
		{"first hangs", fakeConnect{one: {after: time.Hour}, two: {after: 10 * time.Millisecond}}, two, nil, headStart + 10*time.Millisecond},
		{"first is slow and wins", fakeConnect{one: {after: 300 * time.Millisecond}, two: {after: time.Hour}}, one, nil, 300 * time.Millisecond},
		{"first is refused", fakeConnect{one: {err: refused}, two: {after: 10 * time.Millisecond}}, two, nil, 10 * time.Millisecond},
		{"two hang", fakeConnect{one: {after: time.Hour}, two: {after: time.Hour}}, three, nil, 2 * headStart},
		{"all fail", fakeConnect{one: {err: refused}, two: {err: reset}, three: {err: reset}}, "", refused, 0},
		{
			"all hang",
			fakeConnect{one: {after: time.Hour}, two: {after: time.Hour}, three: {after: time.Hour}},
			"", context.DeadlineExceeded, 5 * time.Second,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
				defer cancel()
				start := time.Now()
				conn, err := race(ctx, addrPorts(one, two, three), c.plan.connect)
				if took := time.Since(start); took != c.after || !errors.Is(err, c.err) {
					t.Errorf("%v after %v, want %v after %v", err, took, c.err, c.after)
				}
				if c.want != "" && (conn == nil || conn.(fakeConn).to.String() != c.want) {
					t.Errorf("connected to %v, want %s", conn, c.want)
				}
			})
		})
	}
}

// Two connections may come at the same moment: one is used and the other closed.
func TestRaceClosesTheLoser(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		closed := make(chan struct{}, 2)
		conn, err := race(t.Context(), addrPorts("1.1.1.1:1", "1.1.1.2:1"), func(_ context.Context, to netip.AddrPort) (net.Conn, error) {
			if to.Addr().String() == "1.1.1.1" {
				<-time.After(headStart + time.Second) // on the test's clock; deaf to being cut
			} else {
				<-time.After(time.Second)
			}
			return closeConn{closed: closed}, nil
		})
		if err != nil || conn == nil || len(closed) != 1 {
			t.Errorf("%v %v, %d closed", conn, err, len(closed))
		}
	})
}

type closeConn struct {
	net.Conn
	closed chan struct{}
}

func (c closeConn) Close() error {
	c.closed <- struct{}{}
	return nil
}
