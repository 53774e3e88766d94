package egress

// Failure is the kind of end of a request that brought no status. Its names are those of last_error.
type Failure uint8

// The failures. None says that status line and headers came: the status decides.
const (
	None             Failure = iota
	Timeout                  // no status line and headers within the time
	TLSFailed                // the handshake or the certificate
	ConnectionFailed         // the name, the connection, or a response that is none
	AddressBlocked           // every address of the host is refused
	HostNotAllowed           // the URL, its scheme, host or port is refused
)

// String gives the name that records and the control API use; it is empty for None.
func (f Failure) String() string {
	switch f {
	case Timeout:
		return "timeout"
	case TLSFailed:
		return "tls_failed"
	case ConnectionFailed:
		return "connection_failed"
	case AddressBlocked:
		return "address_blocked"
	case HostNotAllowed:
		return "host_not_allowed"
	default:
		return ""
	}
}

// Refusal says that the policy forbids a target. Nothing was sent and no connection was tried.
type Refusal struct {
	Reason  Failure // HostNotAllowed or AddressBlocked
	Message string  // what is refused and by which rule; at most a host, a port and an address of the URL
	Setting string  // the configuration line that would allow it; empty where none would
	dev     bool    // --dev would allow it too
}

// Error names what is refused and, where there is one, the setting that would allow it.
func (r *Refusal) Error() string {
	if r.Setting == "" {
		return r.Message
	}
	text := r.Message + "; to allow it, set " + r.Setting
	if r.dev {
		text += " or run with --dev"
	}
	return text
}

// malformed refuses a URL for its form, which no setting changes.
func malformed(message string) *Refusal {
	return &Refusal{Reason: HostNotAllowed, Message: message}
}
