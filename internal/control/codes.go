package control

import "net/http"

// The exit codes of hookctl. Scripts rely on them: they never change their meaning.
const (
	ExitDone         = 0   // done
	ExitFailed       = 1   // failed, for a reason that has no code of its own
	ExitUsage        = 2   // the command line or a value in it is wrong
	ExitUnreachable  = 3   // the daemon does not answer
	ExitNotFound     = 4   // what was named does not exist
	ExitRefused      = 5   // a conflict, or refused by a rule
	ExitTimedOut     = 6   // time was up first
	ExitNotVerified  = 7   // a signature does not verify
	ExitDifferences  = 8   // there are differences
	ExitDegraded     = 9   // the daemon runs and something is wrong
	ExitInterrupted  = 130 // interrupted by a signal
	statusClientOnly = 0   // in the table: a code that never travels over HTTP
)

// Code names a kind of problem. The list is closed: codeTable has one row for each.
type Code string

// Codes that the daemon answers with.
const (
	CodeInvalidRequest   Code = "invalid_request"    // a value is wrong; the pointer names the member
	CodeUnknownMember    Code = "unknown_member"     // a body or query has a member that nobody knows
	CodeURLInvalid       Code = "url_invalid"        // a target URL breaks a rule of its form
	CodeBodyTooLarge     Code = "body_too_large"     // the request's body is over the bound
	CodeForeignRequest   Code = "foreign_request"    // Origin, Referer or a foreign Host: sent by a browser, not by hookctl
	CodeUnknownRoute     Code = "unknown_route"      // no such path: hookctl and hookd differ in version
	CodeMethodNotAllowed Code = "method_not_allowed" // the path exists, the method does not
	CodeNotFound         Code = "not_found"          // what was named does not exist
	CodeConflict         Code = "conflict"           // the thing's state does not allow it
	CodeNameTaken        Code = "name_taken"         // the name belongs to another one
	CodeAmbiguous        Code = "ambiguous"          // the end of an id fits several
	CodeRefused          Code = "refused"            // a rule forbids it
	CodeHostNotAllowed   Code = "host_not_allowed"   // scheme, host or port of a target is not allowed
	CodeAddressBlocked   Code = "address_blocked"    // a target's address is not public
	CodeLimitReached     Code = "limit_reached"      // a configured limit is reached
	CodeStoreFull        Code = "store_full"         // the store takes no writes: its bound or the disk is full
	CodeUnavailable      Code = "unavailable"        // the daemon is starting, stopping or out of connections
	CodeInternal         Code = "internal"           // the daemon's own trouble; its log has more
)

// Codes that hookctl makes itself. They never travel over HTTP.
const (
	CodeFailed             Code = "failed"
	CodeUsage              Code = "usage"
	CodeUnreachable        Code = "unreachable"
	CodeConfirmationNeeded Code = "confirmation_needed"
	CodeTimedOut           Code = "timed_out"
	CodeNotVerified        Code = "signature_not_valid"
	CodeDegraded           Code = "degraded"
	CodeInterrupted        Code = "interrupted"
)

type codeRow struct {
	status int
	exit   int
	title  string
}

// codeTable is the one place that says what a code means in HTTP and as an exit code.
var codeTable = map[Code]codeRow{
	CodeInvalidRequest:   {http.StatusBadRequest, ExitUsage, "the request is not valid"},
	CodeUnknownMember:    {http.StatusBadRequest, ExitUsage, "the request has an unknown member"},
	CodeURLInvalid:       {http.StatusBadRequest, ExitUsage, "the URL is not valid"},
	CodeBodyTooLarge:     {http.StatusRequestEntityTooLarge, ExitUsage, "the request's body is too large"},
	CodeForeignRequest:   {http.StatusForbidden, ExitRefused, "the request does not come from a control client"},
	CodeUnknownRoute:     {http.StatusNotFound, ExitFailed, "there is no such route"},
	CodeMethodNotAllowed: {http.StatusMethodNotAllowed, ExitFailed, "the route does not take this method"},
	CodeNotFound:         {http.StatusNotFound, ExitNotFound, "not found"},
	CodeConflict:         {http.StatusConflict, ExitRefused, "the present state does not allow it"},
	CodeNameTaken:        {http.StatusConflict, ExitRefused, "the name is taken"},
	CodeAmbiguous:        {http.StatusConflict, ExitRefused, "the reference fits several"},
	CodeRefused:          {http.StatusUnprocessableEntity, ExitRefused, "refused by a rule"},
	CodeHostNotAllowed:   {http.StatusUnprocessableEntity, ExitRefused, "the host is not allowed"},
	CodeAddressBlocked:   {http.StatusUnprocessableEntity, ExitRefused, "the address is blocked"},
	CodeLimitReached:     {http.StatusUnprocessableEntity, ExitRefused, "a limit is reached"},
	CodeStoreFull:        {http.StatusServiceUnavailable, ExitFailed, "the store is full"},
	CodeUnavailable:      {http.StatusServiceUnavailable, ExitFailed, "the daemon is not available"},
	CodeInternal:         {http.StatusInternalServerError, ExitFailed, "the daemon failed"},

	CodeFailed:             {statusClientOnly, ExitFailed, "failed"},
	CodeUsage:              {statusClientOnly, ExitUsage, "the command line is not valid"},
	CodeUnreachable:        {statusClientOnly, ExitUnreachable, "the daemon is not reachable"},
	CodeConfirmationNeeded: {statusClientOnly, ExitRefused, "a confirmation is needed"},
	CodeTimedOut:           {statusClientOnly, ExitTimedOut, "timed out"},
	CodeNotVerified:        {statusClientOnly, ExitNotVerified, "a signature is not valid"},
	CodeDegraded:           {statusClientOnly, ExitDegraded, "degraded"},
	CodeInterrupted:        {statusClientOnly, ExitInterrupted, "interrupted"},
}

// HTTPStatus is the status that an answer with this code has. A code that is not of the daemon's part of the table
// is a mistake of the program: it answers 500.
func (c Code) HTTPStatus() int {
	if row := codeTable[c]; row.status != statusClientOnly {
		return row.status
	}
	return http.StatusInternalServerError
}

// ExitCode is what hookctl ends with on this code; [ExitFailed] for one that this build does not know, which is what
// a newer daemon may send.
func (c Code) ExitCode() int {
	if row, ok := codeTable[c]; ok {
		return row.exit
	}
	return ExitFailed
}

// Title is the short text of the code, the same for every occurrence.
func (c Code) Title() string { return codeTable[c].title }
