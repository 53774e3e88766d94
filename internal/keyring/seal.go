package keyring

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"

	"golang.org/x/crypto/chacha20poly1305"
)

// ErrSealed says that a sealed value does not open: it was changed or cut, was
// sealed for another place, or under another master key. The value must not be
// used, and nothing may be sent in its stead.
var ErrSealed = errors.New("the sealed value does not open")

// Place says where a sealed value is kept. It is bound to the value as
// associated data, so that bytes moved to another row, column or table, or
// said to be of another master, do not open.
type Place struct {
	Table  string // name of the table
	Row    string // id of the row
	Column string // name of the column
	Master int64  // id of the master key that the value is sealed under
}

// associated encodes a place so that no two places give the same bytes: each
// text goes behind its length.
func (p Place) associated() []byte {
	var data []byte
	for _, text := range []string{p.Table, p.Row, p.Column} {
		data = binary.BigEndian.AppendUint64(data, uint64(len(text)))
		data = append(data, text...)
	}
	return binary.BigEndian.AppendUint64(data, uint64(p.Master))
}

// Seal encrypts plain for its place with XChaCha20-Poly1305. The result is a
// fresh random nonce of 24 bytes and the ciphertext with its tag, 40 bytes
// longer than plain, which is only read.
func (m *Master) Seal(p Place, plain []byte) []byte {
	sealed := make([]byte, chacha20poly1305.NonceSizeX, chacha20poly1305.NonceSizeX+len(plain)+chacha20poly1305.Overhead)
	// rand.Read fills the slice or ends the program; it returns no error.
	_, _ = rand.Read(sealed)
	return m.seal().Seal(sealed, sealed, plain, p.associated())
}

// Open returns what was sealed for this place, in memory of its own. The error
// is ErrSealed, with the place named.
func (m *Master) Open(p Place, sealed []byte) ([]byte, error) {
	if len(sealed) < chacha20poly1305.NonceSizeX {
		return nil, p.unopened()
	}
	nonce, ciphertext := sealed[:chacha20poly1305.NonceSizeX], sealed[chacha20poly1305.NonceSizeX:]
	plain, err := m.seal().Open(nil, nonce, ciphertext, p.associated())
	if err != nil {
		return nil, p.unopened()
	}
	return plain, nil
}

func (p Place) unopened() error {
	return fmt.Errorf("open %s of %s %q: %w", p.Column, p.Table, p.Row, ErrSealed)
}
