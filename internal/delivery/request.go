package delivery

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"hookd/internal/egress"
	"hookd/internal/signing"
	"hookd/internal/store"
)

// claim is what an attempt was begun under. A result claimed under an older revision moves nothing.
type claim struct {
	rev     int64
	target  *egress.Target
	refusal *egress.Refusal
	timeout time.Duration
	attempt int // number of this attempt, 1 and up
	fresh   bool
	matches bool // the type is still subscribed
}

// claim begins an attempt, unless something changed since its turn was found.
func (s *subscription) claim(w work, now time.Time) (claim, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone || s.state != store.Active || s.trouble != "" || w.lane.inFlight {
		return claim{}, false
	}
	if w.replay != nil {
		if s.replay.item != w.item {
			return claim{}, false
		}
	} else if head, ok := s.head(); !ok || head != w.item.Seq {
		return claim{}, false
	}
	if w.lane.dueAt(w.item.Seq, s.schedule, now).After(now) {
		return claim{}, false
	}
	w.lane.inFlight, w.lane.started = true, now
	return claim{
		rev: s.rev, target: s.target, refusal: s.refusal, timeout: s.timeout,
		attempt: w.lane.attempts() + 1, fresh: w.lane.fresh, matches: s.patterns.Match(w.item.Kind.Type),
	}, true
}

// unclaim ends an attempt that came to nothing: it uses no number and is made again, not before hold has passed.
func (s *subscription) unclaim(w work, hold time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.lane.inFlight = false
	if hold > 0 {
		s.holdTill = time.Now().Add(hold)
	}
}

// prepared is a signed request of a first attempt that was made while the one before was in flight.
type prepared struct {
	seq    int64
	second int64  // the timestamp in it
	keys   uint64 // what it was made with
	header http.Header
	body   []byte
}

// request makes the signed request of an attempt, or takes the one that was prepared for it.
func (e *Engine) request(s *subscription, w work, c claim, now time.Time) (*egress.Request, error) {
	p := s.takePrepared(w, c, now)
	if p == nil {
		var err error
		if p, err = e.prepare(s, w.item, c.attempt, w.replay, now); err != nil {
			return nil, err
		}
	}
	return &egress.Request{Target: c.target, Header: p.header, Body: p.body, Timeout: c.timeout, Fresh: c.fresh}, nil
}

func (s *subscription) takePrepared(w work, c claim, now time.Time) *prepared {
	if w.replay != nil || c.attempt != 1 {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.prepared
	s.prepared = nil
	if p == nil || p.seq != w.item.Seq || p.second != now.Unix() || p.keys != s.keys || s.signerEnded(now) {
		return nil
	}
	return p
}

// prepareNext reads the event behind the head and signs its request, while the head's is in flight: with the receiver
// waited for anyway, neither the log nor the signature costs the stream time.
func (e *Engine) prepareNext(s *subscription, now time.Time) {
	s.mu.Lock()
	if len(s.feed.queue) < 2 || s.schedule.first() > 0 {
		s.mu.Unlock()
		return
	}
	seq := s.feed.queue[1]
	s.mu.Unlock()
	it, err := e.fetch(e.hard, s, seq)
	if err != nil {
		return // the attempt itself will say so
	}
	p, err := e.prepare(s, it, 1, nil, now)
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.prepared = p
}

// prepare builds and signs one request.
func (e *Engine) prepare(s *subscription, it *item, attempt int, replay *store.ReplayItem, now time.Time) (*prepared, error) {
	body, err := it.body()
	if err != nil {
		return nil, fmt.Errorf("make body of seq %d: %w", it.Seq, err)
	}
	s.mu.Lock()
	keys, own := s.keys, s.headers
	signature := string(e.signer(s, now).Sign(make([]byte, 0, 128), it.ID, now.Unix(), body))
	s.mu.Unlock()

	second := strconv.FormatInt(now.Unix(), 10)
	values := [7]string{"application/json", e.opts.UserAgent, it.ID, second, signature, it.ID, strconv.Itoa(attempt)}
	header := make(http.Header, len(values)+len(own)+1)
	for i, name := range requestHeaders {
		header[name] = values[i : i+1 : i+1]
	}
	if replay != nil {
		header[signing.HeaderReplay] = []string{strconv.FormatInt(replay.Replay, 10)}
	}
	for name, value := range own {
		header[name] = value
	}
	return &prepared{seq: it.Seq, second: now.Unix(), keys: keys, header: header, body: body}, nil
}

// requestHeaders are the names as they go out. The lower-case ones are set in the map as they stand: receivers see one
// form on HTTP/1.1 and HTTP/2, and the transport does not take "idempotency-key" for leave to send again unseen.
var requestHeaders = [7]string{
	"Content-Type", "User-Agent", signing.HeaderID, signing.HeaderTimestamp, signing.HeaderSignature,
	signing.HeaderIdempotencyKey, signing.HeaderAttempt,
}

// signer returns the signer of the secrets that are live now; s.mu is held.
func (e *Engine) signer(s *subscription, now time.Time) *signing.Signer {
	if s.signer != nil && !s.signerEnded(now) {
		return s.signer
	}
	var secrets []signing.Secret
	s.signerEnd = 0
	for _, g := range liveSecrets(s.secrets, now.UnixMilli()) {
		secrets = append(secrets, e.opts.Master.Derive(s.uuid, g.Generation))
		if g.NotAfter != 0 {
			s.signerEnd = g.NotAfter
		}
	}
	s.signer = signing.NewSigner(secrets...)
	return s.signer
}

func (s *subscription) signerEnded(now time.Time) bool {
	return s.signerEnd != 0 && now.UnixMilli() >= s.signerEnd
}

// liveSecrets returns those of the generations, newest first, that sign at now (ms).
func liveSecrets(generations []store.Generation, now int64) []store.Generation {
	var live []store.Generation
	for _, g := range generations {
		if g.NotAfter == 0 || now < g.NotAfter {
			live = append(live, g)
		}
	}
	return live
}
