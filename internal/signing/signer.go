package signing

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"hash"
	"strconv"
)

// Signer signs requests with the secrets that are live now. It keeps prepared
// HMAC states, so that a signature costs no key schedule and no allocation.
// One goroutine at a time may use it. After a rotation, or when an overlap
// ends, make a new one.
type Signer struct {
	// macs returns the HMAC states, newest secret first. They hold the keys, and
	// a function is the one kind of field that fmt prints as an address always;
	// it follows even unexported pointers for some verbs.
	macs func() []hash.Hash
	head []byte // id, timestamp and dots of the content; kept to reuse its memory
	sum  []byte // the same for the result of an HMAC
}

// NewSigner prepares a Signer for the given secrets, newest first. It keeps no
// reference to them. It panics on a secret outside MinSecretBytes to
// MaxSecretBytes: secrets come from ParseSecret or from a derivation, and a
// request signed with an empty key would look signed.
func NewSigner(secrets ...Secret) *Signer {
	macs := make([]hash.Hash, 0, len(secrets))
	for _, secret := range secrets {
		if !secret.sized() {
			panic(fmt.Sprintf("signing: a secret of %d bytes", len(secret)))
		}
		mac := hmac.New(sha256.New, secret)
		mac.Reset() // the first Reset keeps the keyed state that later ones go back to
		macs = append(macs, mac)
	}
	return &Signer{
		macs: func() []hash.Hash { return macs },
		head: make([]byte, 0, MaxIDBytes+len("..")+len("-9223372036854775808")),
		sum:  make([]byte, 0, sha256.Size),
	}
}

// Sign appends the value of webhook-signature to dst and returns the extended
// slice: one "v1,BASE64" a secret, newest first, separated by one space;
// nothing when there is no secret. The content is id, timestamp (Unix seconds,
// in decimal) and body, joined by dots; id must hold no dot, or two contents
// could be the same. body must be the bytes that are sent; it is only read.
// Beyond dst nothing is allocated.
func (s *Signer) Sign(dst []byte, id string, timestamp int64, body []byte) []byte {
	s.head = append(s.head[:0], id...)
	s.head = append(s.head, '.')
	s.head = strconv.AppendInt(s.head, timestamp, 10)
	s.head = append(s.head, '.')
	for i, mac := range s.macs() {
		if i > 0 {
			dst = append(dst, ' ')
		}
		mac.Reset()
		mac.Write(s.head)
		mac.Write(body)
		s.sum = mac.Sum(s.sum[:0])
		dst = append(dst, schemeV1+","...)
		dst = base64.StdEncoding.AppendEncode(dst, s.sum)
	}
	return dst
}
