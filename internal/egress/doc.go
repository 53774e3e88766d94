// Package egress is the only way out of hookd for a webhook.
//
// It knows where hookd may connect: the form of a URL, the hosts that the configuration allows, and which addresses
// are public. It promises that no connection of a [Client] is opened to an address that its [Policy] refuses: the
// guard sits in the dialer, a name is resolved once per connection, and the connection goes to one of the addresses
// that were judged. It makes one request on the wire for one call, never follows a redirect, never asks a proxy of the
// environment, and reads no more of a response than its status line, its headers and a bounded rest.
//
// It must not know what an event, a subscription or a retry is, log anything, or put the path or query of a URL, or a
// byte that a receiver sent, into an error. Errors are told apart by type, never by their text.
//
// The HTTP library writes some bytes of misbehaving receivers to the standard logger of package log (an unsolicited
// response on an idle connection). That logger belongs to the process: a program that uses this package must silence
// it, as the daemon does.
package egress
