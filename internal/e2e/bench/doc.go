// Command bench measures hookd's speed against a bare loop that does the same without keeping anything: "make bench".
//
//	go run ./internal/e2e/bench [-run REGEXP] [-count N] [-events N] ... (-h lists the flags)
//
// It builds hookd, starts it as a user would, and feeds it through the file it tails. Sender, receiver and limit are
// processes of their own on the same cores: the program starts itself again as receiver, as bare sender and as bare
// inserter. Rounds of hookd and of the limit take turns, and medians are compared. The table on stdout has each figure
// of the specification with the ratio that was reached; the raw figures go into a file under bench/.
//
// It promises that every run is bounded in events and in time, and that nothing it started outlives it. A round in which
// an event was lost, repeated or out of order is an error, not a figure. It must not take figures from inside hookd:
// what counts is what a receiver saw.
package main
