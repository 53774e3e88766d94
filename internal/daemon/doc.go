// Package daemon is hookd as a running process: it puts the rooms together, starts and stops them in their order, and
// answers the control API.
//
// It knows the order of things: what is checked before anything is locked, what is locked before anything is read, and
// that nothing is sent before the master key is known to be the right one. It promises that a start that is refused
// sends nothing and takes nothing from a daemon that runs, that a stop starts no new attempt and commits the result of every one that ended in time, and
// that no answer of the control API has a secret in it but those of creation and rotation.
//
// It must not decide what a delivery comes to, write SQL, or judge a target: those are rooms of their own, and a
// handler here turns a request into one call of theirs and what it returns into JSON. Which error is which answer
// stands in one place, errors.go.
package daemon

import "hookd/internal/store"

// LockedError is store.LockedError: another hookd holds the data directory. A caller that may not know the store tells
// it apart by this name.
type LockedError = store.LockedError
