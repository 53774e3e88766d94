package egress

import (
	"io"
	"net/http"
	"sync"
	"time"
)

const (
	drainBytes = 64 << 10    // read of a body so that its connection can be used again
	drainTime  = time.Second // for that
)

var drainBuffers = sync.Pool{New: func() any { return new([8 << 10]byte) }}

// settle takes care of a response after its headers. A body that is known to be empty leaves the connection free
// already; a protocol switch is closed unread, since no context ends a read of it; all else is drained beside.
func (c *Client) settle(response *http.Response, a *attempt, p *pool, fresh bool) {
	switch {
	case response.StatusCode == http.StatusSwitchingProtocols:
		response.Body.Close()
		a.finish()
		c.pools.leave(p, a.misled(), false)
	case response.Body == http.NoBody:
		a.finish()
		c.pools.leave(p, a.misled(), reusable(response, fresh))
	default:
		shared := response.ProtoMajor >= 2 // other requests need not wait for this body
		c.pools.draining(p, a.misled(), shared)
		a.timer.Reset(drainTime)
		go func() {
			whole := drain(response.Body)
			a.finish() // before Close, which then has nothing to wait for
			response.Body.Close()
			c.pools.drained(p, shared, whole && reusable(response, fresh))
		}()
	}
}

// drain reads a body to its end, within the bound, and tells whether it reached it.
func drain(body io.Reader) bool {
	buffer := drainBuffers.Get().(*[8 << 10]byte)
	defer drainBuffers.Put(buffer)
	for left := drainBytes; left > 0; {
		n, err := body.Read(buffer[:min(left, len(buffer))])
		left -= n
		if err != nil {
			return err == io.EOF
		}
	}
	return false
}

// reusable tells whether the connection of a response that was read to its end serves one request at a time and is
// free for the next.
func reusable(response *http.Response, fresh bool) bool {
	return !response.Close && !fresh && response.ProtoMajor == 1
}
