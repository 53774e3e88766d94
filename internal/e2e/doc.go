// Package e2e holds tests only: they build both programs and drive them as a user does, with real files, real sockets
// and receivers on loopback. Each test is one promise of the product. It may import no other internal package but for
// the rules that hold between them.
package e2e
