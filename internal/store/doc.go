// Package store keeps what hookd must not forget, in one SQLite database: the log, the subscriptions and their cursors,
// what became of each delivery, dead letters, checkpoints and quarantine.
//
// It is the only place with SQL. Each exported method is one unit of work with a name of the domain. Units of all
// callers queue up and share a transaction (group.go); each succeeds or fails by itself. A group that appends to the
// log, or changes something for an owner, is on disk (synchronous=FULL) when its methods return; a group of outcomes
// alone survives the end of the process, not of the power.
//
// What it knows without a query is in memory.go; the indexes that are filled behind their tables, and what is in memory
// of them meanwhile, in behind.go. The write connection belongs to the leader of a group; reads have a pool of their own,
// are short, and see nothing that memory does not know yet.
//
// It promises: a seq is never given twice under one sync_epoch; receipt times never fall within the log; the copies
// that it keeps in memory change only after the commit. It must not decide anything about deliveries.
package store
