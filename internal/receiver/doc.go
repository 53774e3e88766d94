// Package receiver is the local receiver behind hookctl listen: an HTTP server that verifies each webhook as a real
// receiver would, answers it as it was told to, and hands out what came.
//
// It knows HTTP and how to verify, and nothing of the daemon: who makes the subscription and where the secret comes
// from is the caller's business. It keeps nothing; every bound on a request is fixed here. It must not answer with
// success what it does not hand out.
package receiver
