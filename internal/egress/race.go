package egress

import (
	"context"
	"net"
	"net/netip"
	"time"
)

// headStart is how long one address is tried alone before the next joins (RFC 8305, Connection Attempt Delay).
const headStart = 250 * time.Millisecond

// interleave orders addresses so that the families take turns, beginning with that of the first (RFC 8305 4): a family
// that does not work costs one head start.
func interleave(addresses []netip.AddrPort) []netip.AddrPort {
	var queues [2][]netip.AddrPort
	for _, a := range addresses {
		family := 0
		if a.Addr().Is4() != addresses[0].Addr().Is4() {
			family = 1
		}
		queues[family] = append(queues[family], a)
	}
	ordered := make([]netip.AddrPort, 0, len(addresses))
	for i := range addresses {
		for _, queue := range queues {
			if i < len(queue) {
				ordered = append(ordered, queue[i])
			}
		}
	}
	return ordered
}

// race connects to the first address that answers. The next address starts when the one before it failed or has had its
// head start. The losers are cut, and have ended when race returns. The error is that of the first address.
func race(
	ctx context.Context, addresses []netip.AddrPort, connect func(context.Context, netip.AddrPort) (net.Conn, error),
) (net.Conn, error) {
	if len(addresses) == 1 {
		return connect(ctx, addresses[0])
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type outcome struct {
		index int
		conn  net.Conn
		err   error
	}
	outcomes := make(chan outcome)
	next, running := 0, 0
	start := func() {
		index, to := next, addresses[next]
		next++
		running++
		go func() {
			conn, err := connect(ctx, to)
			outcomes <- outcome{index, conn, err}
		}()
	}

	var winner net.Conn
	failures := make([]error, len(addresses))
	timer := time.NewTimer(headStart)
	defer timer.Stop()
	start()
	for running > 0 {
		select {
		case o := <-outcomes:
			running--
			failures[o.index] = o.err
			switch {
			case o.err == nil && winner == nil:
				winner = o.conn
				cancel()
			case o.err == nil:
				o.conn.Close()
			}
		case <-timer.C:
		}
		if winner == nil && ctx.Err() == nil && next < len(addresses) {
			start()
			timer.Reset(headStart)
		}
	}
	if winner != nil {
		return winner, nil
	}
	return nil, failures[0]
}
