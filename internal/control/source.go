package control

import "time"

// Source is where events come from.
type Source struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
	// State is running, waiting, failed or paused.
	State string `json:"state"`
	// Reason says why it is not running.
	Reason string `json:"reason,omitempty"`
	// Path is a file source's, Listen a socket source's.
	Path       string `json:"path,omitempty"`
	Listen     string `json:"listen,omitempty"`
	Offset     int64  `json:"offset"`
	LagBytes   int64  `json:"lag_bytes"`
	Accepted   int64  `json:"accepted"`
	Duplicates int64  `json:"duplicates"`
	Rejected   int64  `json:"rejected"`
}

// QuarantineEntry is an input line that could not become an event.
type QuarantineEntry struct {
	ID     int64  `json:"id"`
	Source string `json:"source"`
	// Reason is a code, Message the same in words.
	Reason  string `json:"reason"`
	Message string `json:"message"`
	// Offset and Length say where the line stood, in bytes.
	Offset int64     `json:"offset"`
	Length int64     `json:"length"`
	At     time.Time `json:"at"`
	// Line is the line, or its kept beginning; bytes that are not UTF-8 are replaced. Only from show.
	Line *string `json:"line,omitempty"`
	// LineBase64 has the exact bytes of a line that is not UTF-8. Only from show.
	LineBase64 string `json:"line_base64,omitempty"`
}

// ReadyFile is what hookd writes when it takes events and commands.
type ReadyFile struct {
	PID    int    `json:"pid"`
	Socket string `json:"socket"`
	// Public is the address of the public listener, where there is one.
	Public  string            `json:"public,omitempty"`
	Sources List[ReadySource] `json:"sources"`
}

// ReadySource is a source in the ready file.
type ReadySource struct {
	Name   string `json:"name"`
	Kind   string `json:"kind"`
	Path   string `json:"path,omitempty"`
	Listen string `json:"listen,omitempty"`
}
