// Package event knows what an event is: it turns an input line into an Event, an Event into the body that is delivered,
// and says which types a subscription's patterns take.
//
// It promises that nothing of a producer's JSON is decoded and encoded again: the value of data and every member that
// hookd does not know are sent with the bytes they were written with, numbers, spaces, escapes and names repeated
// inside data included. It promises, too, that every line is either an Event or a *Refusal with one code of a closed list,
// and that no refusal quotes a payload.
//
// It must not do I/O, read a clock or make an id: the receipt time, the sequence number and an id that a line lacks are
// given by its callers. Blank lines, line ends and the byte order mark at the start of a file are theirs too.
package event
