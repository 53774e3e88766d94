package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"
)

// Host is the Host of every request on the control socket; the daemon refuses others.
const Host = "hookd"

// maxAnswerBytes bounds what the client holds of an answer: a full page of events is far below it.
const maxAnswerBytes = 64 << 20

// UnreachableError says that nothing answers on the socket, or that the answer broke off.
type UnreachableError struct {
	Socket string
	Err    error
}

// Error names the socket and the cause.
func (e *UnreachableError) Error() string {
	var op *net.OpError
	if errors.As(e.Err, &op) {
		return fmt.Sprintf("reach hookd at %s: %v", e.Socket, op.Err)
	}
	return fmt.Sprintf("reach hookd at %s: %v", e.Socket, e.Err)
}

// Unwrap gives the cause.
func (e *UnreachableError) Unwrap() error { return e.Err }

// Client talks to a daemon. It may be used by several goroutines. Its methods return a *[Problem] where the daemon
// answered with one, an *[UnreachableError] where it did not answer, and the context's cause where that ended first.
type Client struct {
	socket string
	http   *http.Client
}

// NewClient makes a client for the daemon on a socket. It connects when it is first used; Close it at the end.
func NewClient(socket string) *Client {
	dialer := net.Dialer{Timeout: 5 * time.Second}
	return &Client{
		socket: socket,
		http: &http.Client{
			Transport: &http.Transport{
				DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
					return dialer.DialContext(ctx, "unix", socket)
				},
				DisableCompression: true,
				// Longer than any request waits for: a daemon that hangs must not hang a script.
				ResponseHeaderTimeout: MaxWaitRequest + 15*time.Second,
				IdleConnTimeout:       30 * time.Second,
			},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// Socket is the path that the client talks to.
func (c *Client) Socket() string { return c.socket }

// Close closes the idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// call sends one request and decodes the answer into out, unless out is nil.
func (c *Client) call(ctx context.Context, method, path string, query url.Values, in, out any) error {
	resp, err := c.send(ctx, method, path, query, in)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswerBytes+1))
	if err != nil {
		return c.failed(ctx, err)
	}
	if len(raw) > maxAnswerBytes {
		return NewProblem(CodeFailed, "answer of the daemon is over %d bytes", maxAnswerBytes)
	}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return readProblem(resp.StatusCode, raw)
	}
	if out == nil || resp.StatusCode == http.StatusNoContent {
		return nil
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return NewProblem(CodeFailed, "answer of the daemon is not what this version of hookctl reads").
			WithHint("check that both programs have the same version")
	}
	return nil
}

func (c *Client) send(ctx context.Context, method, path string, query url.Values, in any) (*http.Response, error) {
	var body io.Reader
	if in != nil {
		var buf bytes.Buffer
		if err := encodeJSON(&buf, in); err != nil {
			return nil, fmt.Errorf("encode request: %w", err)
		}
		body = &buf
	}
	target := "http://" + Host + path
	if len(query) > 0 {
		target += "?" + query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, method, target, body)
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "hookctl/"+Version)
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, c.failed(ctx, err)
	}
	return resp, nil
}

// failed tells the caller's own end of a request from the daemon's.
func (c *Client) failed(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	return &UnreachableError{Socket: c.socket, Err: err}
}

// segment writes a reference as one segment of a path. Dots alone would be taken for a way up, so they are answered
// here: nothing has such a name.
func segment(kind, ref string) (string, error) {
	if ref == "" || ref == "." || ref == ".." {
		return "", NewProblem(CodeNotFound, "no %s %q", kind, ref)
	}
	return url.PathEscape(ref), nil
}
