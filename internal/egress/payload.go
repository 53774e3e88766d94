package egress

import (
	"bytes"
	"io"
	"net/http"
	"sync"
)

// maxKept bounds the body of a payload that is kept for the next request, in bytes.
const maxKept = 4 << 20

// payload holds copies of a request's header and body. The transport may still read them when a response has come
// early and Do has returned, and the caller's own may change then. The body is read by a type that the HTTP library
// knows to be in memory: with one of our own it sends the header in a packet by itself.
type payload struct {
	header http.Header
	values []string // of all names of the header
	body   []byte
	reader bytes.Reader
}

var payloads = sync.Pool{New: func() any { return &payload{header: http.Header{}} }}

// newPayload copies what r has. Without a User-Agent it keeps the HTTP library from adding its own.
func newPayload(r *Request) *payload {
	p := payloads.Get().(*payload)
	for name, given := range r.Header {
		from := len(p.values)
		p.values = append(p.values, given...)
		p.header[name] = p.values[from:len(p.values):len(p.values)]
	}
	if _, ok := p.header["User-Agent"]; !ok {
		p.header["User-Agent"] = nil
	}
	p.body = append(p.body, r.Body...)
	p.reader.Reset(p.body)
	return p
}

// reading returns the body for the transport.
func (p *payload) reading() io.ReadCloser {
	if len(p.body) == 0 {
		return http.NoBody
	}
	return io.NopCloser(&p.reader)
}

// release gives the memory back. Only a payload that the transport is done with may be released; another is left to
// the garbage collector.
func (p *payload) release() {
	if cap(p.body) > maxKept {
		return
	}
	clear(p.header)
	clear(p.values)
	p.values = p.values[:0]
	p.body = p.body[:0]
	p.reader.Reset(nil)
	payloads.Put(p)
}
