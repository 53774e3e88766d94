package egress

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
)

// phase is how far a request got.
type phase uint8

const (
	connecting phase = iota // name, connection, handshake
	waiting                 // connected; no byte of the response
	reading                 // the response began
)

// handshakeError marks what the TLS handshake returned: many of its errors have no type of their own.
type handshakeError struct{ err error }

func (e *handshakeError) Error() string { return "tls handshake: " + e.err.Error() }
func (e *handshakeError) Unwrap() error { return e.err }

// classify finds the kind of a failed request, and a reason that is safe to store and show, from the types of its
// error. late says that the time of the request is over.
func classify(err error, at phase, late bool) (Failure, string) {
	if refusal, ok := errors.AsType[*Refusal](err); ok {
		return refusal.Reason, refusal.Error()
	}
	if late {
		return Timeout, lateDetail(at)
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return ConnectionFailed, dnsDetail(dns)
	}
	if timedOut(err) {
		return Timeout, lateDetail(at)
	}
	if detail, ok := tlsDetail(err); ok {
		return TLSFailed, detail
	}
	return ConnectionFailed, connectionDetail(err, at)
}

func timedOut(err error) bool {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) {
		return true
	}
	var netErr net.Error
	return errors.As(err, &netErr) && netErr.Timeout()
}

func lateDetail(at phase) string {
	switch at {
	case connecting:
		return "no connection in time"
	case waiting:
		return "no response in time"
	default:
		return "response headers not complete in time"
	}
}

func dnsDetail(err *net.DNSError) string {
	switch {
	case err.IsNotFound:
		return "dns: no such host"
	case err.IsTimeout:
		return "dns: no answer from the name server"
	case err.IsTemporary:
		return "dns: the name server failed"
	default:
		return "dns: the name cannot be resolved"
	}
}

// tlsDetail tells whether TLS is at fault, and how. A server that wants a certificate of the client says so only after
// a TLS 1.3 handshake, in an alert that arrives in place of the response.
func tlsDetail(err error) (string, bool) {
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); ok {
		if invalid.Reason == x509.Expired {
			return "tls: the certificate has expired or is not valid yet", true
		}
		return "tls: the certificate is not valid", true
	}
	if _, ok := errors.AsType[x509.HostnameError](err); ok {
		return "tls: the certificate is for another name", true
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return "tls: the certificate is signed by an unknown authority", true
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return "tls: the certificate cannot be verified", true
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return "tls: the answer is not TLS", true
	}
	if alert(err) {
		return refusedHandshake, true
	}
	if _, ok := errors.AsType[*handshakeError](err); ok {
		if errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) {
			return "tls: the connection ended in the handshake", true
		}
		return "tls: the handshake failed (TLS 1.2 or newer is required)", true
	}
	return "", false
}

const refusedHandshake = "tls: the other side refused the handshake"

// alert tells whether err is a TLS alert of the other side.
func alert(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "remote error"
}

func connectionDetail(err error, at phase) string {
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		switch errno {
		case syscall.ECONNREFUSED:
			return "connection refused"
		case syscall.ECONNRESET:
			return "connection reset"
		case syscall.EPIPE:
			return "connection closed while the request was sent"
		case syscall.ENETUNREACH:
			return "network unreachable"
		case syscall.EHOSTUNREACH:
			return "host unreachable"
		case syscall.EMFILE, syscall.ENFILE:
			return "too many open files on this machine"
		}
	}
	switch {
	case refusedStream(err):
		return "the other side ended the HTTP/2 stream"
	case at == connecting:
		return "connection failed"
	case at == waiting:
		return "connection closed before the response"
	default:
		return "the response is broken, too large in its headers, or cut"
	}
}

// streamError has the shape of the HTTP/2 error of one stream, which the library does not export but fills in.
type streamError struct {
	StreamID uint32
	Code     uint32
	Cause    error
}

func (streamError) Error() string { return "HTTP/2 stream error" }

// refusedStream tells whether the receiver ended an HTTP/2 stream by itself while the connection lives on.
func refusedStream(err error) bool {
	_, ok := errors.AsType[streamError](err)
	return ok
}
