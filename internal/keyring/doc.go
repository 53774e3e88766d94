// Package keyring knows the master key: where its file lives and how it must
// be kept, which subscription secrets follow from it, and how values are
// sealed under it before they go into the database.
//
// It promises that a key file is never overwritten and never readable by
// others, that a secret which can be derived is not stored, and that a sealed
// value opens only in the place it was sealed for. No error, log value or
// printed form holds key bytes.
//
// It must not know the database: places and sealed bytes come in and go out as
// values. Who stores them, and what happens when one does not open, is decided
// by the caller.
package keyring
