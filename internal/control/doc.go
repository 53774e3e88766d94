// Package control is the contract between hookctl and the daemon: the wire types of the control API, its problem
// codes, the rule that finds its socket, and a typed client.
//
// It knows how things look on the wire and nothing about how they come to be: it opens no store, keeps no state and
// decides no policy. The daemon's handlers and hookctl share these types, so that a member has one name and one
// meaning on both sides. Member names, once out, keep their meaning; new members may come.
//
// The API is HTTP/1.1 with JSON over a unix socket. A request carries the Host "hookd" and neither an Origin nor a
// Referer. Lists answer a [Page], newest first. Errors are RFC 9457 problem details with a code from the closed
// table in this package; the table also gives the exit code that hookctl ends with.
package control
