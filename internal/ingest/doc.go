// Package ingest brings lines to the log. It knows how a file is followed: where whole lines end, which generation of a file is
// being read, where the next one is found after a rotation, and how far a generation was read.
//
// It promises that every whole line of a file gets into the log or into quarantine once and in order, over restarts, rotations,
// cuts and replacements, as far as the file system still has its bytes; and that a checkpoint moves in the same transaction as
// the lines before it, never ahead of them. What the world does to a file is a state of its source ([Status]), not an error, and
// what may have been lost is said in the log output.
//
// It must not hold more than two batches of lines, nor a whole line that is longer than allowed; it must not decide what an event
// is (package event does) nor know SQL.
package ingest
