package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// receiverJob is what the receiver is asked: to expect requests from now on, or how that went.
type receiverJob struct {
	Expect *expectation  `json:"expect,omitempty"`
	Within time.Duration `json:"within,omitempty"` // without Expect: wait that long at most for what is still missing
}

// expectation says what comes next. Requests to /0, /1, ... belong to the streams 0, 1, ...
type expectation struct {
	Streams int  `json:"streams"`
	Total   int  `json:"total"`   // requests in all streams
	Ordered bool `json:"ordered"` // seq must rise within each stream
	Times   bool `json:"times"`   // keep the arrival of each event
}

// arrivals is what came since the last expectation. Times are Unix nanoseconds.
type arrivals struct {
	URL       string           `json:"url"`
	Total     int64            `json:"total"`
	Repeats   int64            `json:"repeats"` // of a seq at or below one that came before in its stream
	First     int64            `json:"first"`
	Warm      int64            `json:"warm"`       // when a tenth had come
	WarmTotal int64            `json:"warm_total"` // how many that was
	Last      int64            `json:"last"`       // when all had come
	Bytes     int64            `json:"bytes"`      // of all bodies
	Times     map[string]int64 `json:"times,omitempty"`

	cpu time.Duration // of the sender, which the receiver does not know
}

// rate is requests a second after the first tenth, in which connections are opened and caches filled.
func (a arrivals) rate() float64 {
	return float64(a.Total-a.WarmTotal) / time.Duration(a.Last-a.Warm).Seconds()
}

// cpuMicros is what a request cost its sender, the first ones included: of all figures here the one that other work on
// the machine disturbs least.
func (a arrivals) cpuMicros() float64 {
	return float64(a.cpu.Microseconds()) / float64(a.Total)
}

// receiver answers every POST with 200 and no body, and counts.
type receiver struct {
	url string

	mu    sync.RWMutex // taken by requests to read: held whole only between rounds
	tally *tally
}

// tally counts the requests of one expectation.
type tally struct {
	want    expectation
	warm    int64
	streams []stream
	full    chan struct{}

	mu sync.Mutex // one counter for all streams: a request that others wait behind is counted in under a microsecond
	arrivals
}

// stream is what one subscription sent, in its own cache line.
type stream struct {
	mu   sync.Mutex
	last int64
	_    [48]byte
}

func newTally(want expectation) *tally {
	t := &tally{want: want, warm: int64(want.Total / 10), streams: make([]stream, want.Streams), full: make(chan struct{})}
	if want.Times {
		t.Times = make(map[string]int64, want.Total)
	}
	return t
}

func serveReceiver(in io.Reader, out io.Writer) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	r := &receiver{url: "http://" + listener.Addr().String(), tally: newTally(expectation{})}
	server := &http.Server{Handler: r, ReadHeaderTimeout: time.Minute, ErrorLog: log.New(io.Discard, "", 0)}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	err = serveJobs(in, out, r.do)
	closeErr := server.Close()
	if serveErr := <-served; !errors.Is(serveErr, http.ErrServerClosed) {
		err = errors.Join(err, serveErr)
	}
	return errors.Join(err, closeErr)
}

func (r *receiver) do(job receiverJob) (arrivals, error) {
	if job.Expect != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.tally = newTally(*job.Expect)
		return arrivals{URL: r.url}, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), job.Within)
	defer cancel()
	r.mu.RLock()
	t := r.tally
	r.mu.RUnlock()
	var late error
	select {
	case <-t.full:
	case <-ctx.Done():
		late = fmt.Errorf("not all of %d requests came within %s", t.want.Total, job.Within)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	a := t.arrivals
	a.URL = r.url
	return a, late
}

// ServeHTTP takes a request and counts it.
func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	at := time.Now().UnixNano()
	buf := bodies.Get().(*[maxBody]byte)
	defer bodies.Put(buf)
	n, err := io.ReadFull(req.Body, buf[:])
	if !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		w.WriteHeader(http.StatusRequestEntityTooLarge)
		return
	}
	r.mu.RLock()
	t := r.tally
	r.mu.RUnlock()
	number, err := strconv.Atoi(strings.TrimPrefix(req.URL.Path, "/"))
	if err != nil || number < 0 || number >= len(t.streams) {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	t.take(&t.streams[number], req.Header.Get("webhook-id"), seqOf(buf[:n]), n, at)
	w.WriteHeader(http.StatusOK)
}

// maxBody bounds a body: rows send about bodyBytes.
const maxBody = 4 << 10

var bodies = sync.Pool{New: func() any { return new([maxBody]byte) }}

func (t *tally) take(s *stream, id string, seq int64, size int, at int64) {
	s.mu.Lock()
	repeated := t.want.Ordered && seq <= s.last
	s.last = max(s.last, seq)
	s.mu.Unlock()

	t.mu.Lock()
	defer t.mu.Unlock()
	if repeated {
		t.Repeats++
		return
	}
	t.Total++
	t.Bytes += int64(size)
	if t.Times != nil {
		t.Times[id] = at
	}
	if t.Total == 1 {
		t.First = at
	}
	if t.Total == t.warm {
		t.Warm, t.WarmTotal = at, t.Total
	}
	if t.Total == int64(t.want.Total) {
		t.Last = at
		close(t.full)
	}
}

// seqOf reads the member seq, which stands before anything of the producer's own; 0 where there is none.
func seqOf(body []byte) int64 {
	_, rest, _ := bytes.Cut(body[:min(len(body), 256)], []byte(`"seq":`))
	var seq int64
	for _, c := range rest {
		if c < '0' || c > '9' {
			break
		}
		seq = seq*10 + int64(c-'0')
	}
	return seq
}
