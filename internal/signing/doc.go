// Package signing knows how a webhook proves where it comes from: the form of
// the secrets, the content that is signed, the header that carries the
// signatures, and how a receiver checks all of it. It follows Standard
// Webhooks; scheme v1 is HMAC-SHA256.
//
// It promises that a secret is taken whole or refused with the rule it breaks,
// that no error, log value or printed form holds key bytes or header values,
// and that signatures are compared in constant time.
//
// It is pure. It must not read a clock, a file or the network, and it must not
// know where secrets come from: that is keyring's part.
package signing
