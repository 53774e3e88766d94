package event

// A span is a piece of the line: the bytes from, up to and without to. The zero span is none, since no member ends at 0.
type span struct{ from, to int32 }

func (s span) none() bool { return s.to == 0 }

// of returns the bytes of the span; appending to them never writes into the line.
func (s span) of(line []byte) []byte { return line[s.from:s.to:s.to] }

// spans is a list that needs no memory of its own while it is short, as it is for nearly every line.
type spans struct {
	few  [4]span
	n    int // of few
	more []span
}

func (l *spans) add(s span) {
	if l.n < len(l.few) {
		l.few[l.n] = s
		l.n++
		return
	}
	l.more = append(l.more, s)
}

// last returns the newest span for changing, or nil when there is none.
func (l *spans) last() *span {
	switch {
	case len(l.more) > 0:
		return &l.more[len(l.more)-1]
	case l.n > 0:
		return &l.few[l.n-1]
	}
	return nil
}

// size returns the sum of the lengths, each with one byte more for the comma before it.
func (l *spans) size() int {
	n := 0
	for _, s := range l.few[:l.n] {
		n += 1 + int(s.to-s.from)
	}
	for _, s := range l.more {
		n += 1 + int(s.to-s.from)
	}
	return n
}

// appendTo appends the spans of line to dst, each after a comma.
func (l *spans) appendTo(dst, line []byte) []byte {
	for _, s := range l.few[:l.n] {
		dst = append(append(dst, ','), s.of(line)...)
	}
	for _, s := range l.more {
		dst = append(append(dst, ','), s.of(line)...)
	}
	return dst
}
