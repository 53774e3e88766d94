// Package delivery sends what the log holds: one ordered loop per subscription.
//
// It knows the subscriptions, where each stands in the log, what its head is and when that is due, how a request is
// signed, and what an answer means. It promises, for every subscription: events leave strictly in order of their seq;
// the next one leaves only after the outcome of the one before is committed; at most one attempt is in flight; none
// starts while the subscription is paused, disabled or while the store refuses writes; a restart neither shortens,
// restarts nor skips a delay; after a crash at most the head is sent again.
//
// It must not open a connection itself: it sends through the function it is given, which is the guarded client of
// package egress, and it holds no SQL. The policy (schedule, verdict) is pure: the time and the randomness come in.
//
// Memory follows the commit: whoever writes something for a subscription holds its write token, gives the change to
// the store, and changes the copy in memory only when the store has it.
package delivery
