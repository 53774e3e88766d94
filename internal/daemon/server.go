package daemon

import (
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"time"
)

// Bounds of the control server.
const (
	maxConnections = 256
	maxHeaderBytes = 16 << 10
	idleTimeout    = 10 * time.Second
	// stopTimeout is how long requests that are being answered may take once hookd stops.
	stopTimeout = 5 * time.Second
)

// controlServer answers the control API on a socket until it is stopped.
type controlServer struct {
	api    *api
	http   *http.Server
	socket *controlSocket
	ended  chan error // has the result of Serve
}

// serve starts to answer.
func serve(a *api, socket *controlSocket) *controlServer {
	s := &controlServer{
		api: a, socket: socket, ended: make(chan error, 1),
		http: &http.Server{
			Handler:           a.handler(),
			ReadHeaderTimeout: headerTimeout,
			IdleTimeout:       idleTimeout,
			MaxHeaderBytes:    maxHeaderBytes,
			// Its lines would have bytes of clients in them; what matters is logged by the handlers.
			ErrorLog: log.New(io.Discard, "", 0),
		},
	}
	go func() { s.ended <- s.http.Serve(newBoundedListener(socket, maxConnections)) }()
	return s
}

// stop takes no more requests, ends those that wait, and lets the others end.
func (s *controlServer) stop(ctx context.Context) error {
	close(s.api.stopping)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	err := s.http.Shutdown(ctx)
	if err != nil {
		err = errors.Join(err, s.http.Close())
	}
	return errors.Join(err, s.socket.Close())
}
