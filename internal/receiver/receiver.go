package receiver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"hookd/internal/signing"
)

// Bounds of a request.
const (
	// MaxBody is the longest body that is read, in bytes.
	MaxBody = 1 << 20
	// Tolerance is how far the timestamp may be from now, both ways.
	Tolerance = 5 * time.Minute

	maxHeaderBytes  = 64 << 10
	readTimeout     = 30 * time.Second
	shutdownTimeout = 2 * time.Second
)

// CodeBodyTooLarge is the code in the Problem of a delivery whose body is over MaxBody; the other codes are those of
// package signing.
const CodeBodyTooLarge = "body_too_large"

// FailAlways as the Fail of [Options] fails every request.
const FailAlways = -1

// Options says what a receiver checks and how it answers.
type Options struct {
	// Secrets are what a signature may be made with.
	Secrets []signing.Secret
	// Fail is how many verified requests are answered with Status before the others are answered with 204.
	Fail int
	// Status is the answer of a failing request, 200 to 599.
	Status int
	// RetryAfter is the Retry-After of a failing request, as it stands; none if empty.
	RetryAfter string
	// Now is the clock that timestamps are held against.
	Now func() time.Time
	// Deliver gets each delivery, one after another in the order in which they came, before the answer is written. Once it
	// returns false, every request is answered with 503 and not handed out. It must not be nil.
	Deliver func(Delivery) (goOn bool)
}

// Receiver answers webhooks. It is made with [New].
type Receiver struct {
	options Options

	mu     sync.Mutex // guards what follows, and keeps calls of Deliver apart
	failed int
	ended  bool
}

// New makes a receiver.
func New(o Options) *Receiver { return &Receiver{options: o} }

// Serve takes requests on l until ctx ends, lets those in hand be answered, and closes l. It returns nil after ctx
// ended, else why it could not go on.
func (r *Receiver) Serve(ctx context.Context, l net.Listener) error {
	server := &http.Server{
		Handler:           r,
		ReadHeaderTimeout: readTimeout,
		ReadTimeout:       readTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
	}
	stopped := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(stopped)
		soft, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
		defer cancel()
		if server.Shutdown(soft) != nil {
			server.Close()
		}
	})
	err := server.Serve(l)
	if stop() {
		server.Close()
		return fmt.Errorf("serve webhooks: %w", err)
	}
	<-stopped
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("serve webhooks: %w", err)
}

// ServeHTTP answers one request. Only a POST is a webhook: anything else is no delivery and is not handed out.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if req.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, MaxBody))
	var tooLarge *http.MaxBytesError
	if err != nil && !errors.As(err, &tooLarge) {
		// Half a request: its sender is gone and tries again.
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	d := newDelivery(req.Header, body)
	switch problem := r.verify(req.Header, body, tooLarge != nil); {
	case problem == nil:
		d.Verified = true
	default:
		d.Problem = problem.Code + ": " + problem.Message
		d.Status = http.StatusUnauthorized
		if problem.Code == CodeBodyTooLarge {
			d.Status = http.StatusRequestEntityTooLarge
		}
	}
	r.answer(w, d)
}

func (r *Receiver) verify(h http.Header, body []byte, tooLarge bool) *signing.Problem {
	if tooLarge {
		return &signing.Problem{Code: CodeBodyTooLarge, Message: fmt.Sprintf("the body is over %d bytes", MaxBody)}
	}
	err := signing.Verify(h, body, r.options.Secrets, r.options.Now(), Tolerance)
	var problem *signing.Problem
	if errors.As(err, &problem) {
		return problem
	}
	return nil
}

// answer decides a verified delivery's status, hands the delivery out and writes the answer, in this order.
func (r *Receiver) answer(w http.ResponseWriter, d Delivery) {
	r.mu.Lock()
	if r.ended {
		r.mu.Unlock()
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	if d.Verified {
		d.Status = http.StatusNoContent
		if r.options.Fail == FailAlways || r.failed < r.options.Fail {
			r.failed++
			d.Status = r.options.Status
			if r.options.RetryAfter != "" {
				w.Header().Set("Retry-After", r.options.RetryAfter)
			}
		}
	}
	r.ended = !r.options.Deliver(d)
	r.mu.Unlock()
	w.WriteHeader(d.Status)
}
