package ingest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// scanBytes is how much of a line that is too long is read at once.
const scanBytes = 256 << 10

// A longLine is a line that is longer than allowed, while its end is looked for. It may come in small pieces and grow for ever,
// so it is not read again from its beginning as a line that may yet be taken is.
type longLine struct {
	start  int64  // of its text
	kept   []byte // its first keptBytes
	at     int64  // how far it was read
	before prints // of the file before at
	buf    []byte
}

// beginLong takes the chunk, which has no newline and is longer than a line may be, as the beginning of a long line.
func (r *lineReader) beginLong() {
	before := r.before.clone()
	before.passZeros(r.lead)
	before.pass(r.chunk)
	start := r.offset + r.lead
	r.long = &longLine{
		start: start, at: start + int64(len(r.chunk)), before: before,
		kept: bytes.Clone(r.chunk[:min(keptBytes, len(r.chunk))]), buf: make([]byte, scanBytes),
	}
	r.drop()
}

// readLong reads one piece of the long line, and reports whether it got any further.
func (r *lineReader) readLong() (bool, error) {
	l := r.long
	n, err := r.file.ReadAt(l.buf[:min(int64(len(l.buf)), r.now-l.at)], l.at)
	if err != nil && !errors.Is(err, io.EOF) {
		return false, fmt.Errorf("read file: %w", err)
	}
	if err := r.verify(); err != nil || n == 0 {
		return false, err
	}
	piece := l.buf[:n]
	if end := bytes.IndexByte(piece, '\n'); end >= 0 {
		ended := r.endLong(piece[:end+1])
		r.ended = &ended
		return true, nil
	}
	l.before.pass(piece)
	l.at += int64(n)
	if len(bytes.TrimLeft(piece, "\x00")) == 0 {
		data := min(dataAfter(r.file, l.at), r.now)
		l.before.passZeros(data - l.at)
		l.at = data
	}
	return true, nil
}

// endLong takes the long line with the piece that ends it, newline included.
func (r *lineReader) endLong(piece []byte) line {
	l := r.long
	l.before.pass(piece)
	r.offset, r.before, r.long = l.at+int64(len(piece)), l.before, nil
	return line{offset: l.start, length: r.offset - l.start - lineEnd(r.before.tail), text: l.kept, long: true}
}

// lineEnd returns how many of the last bytes are the end of a line.
func lineEnd(tail []byte) int64 {
	switch {
	case bytes.HasSuffix(tail, []byte("\r\n")):
		return 2
	case bytes.HasSuffix(tail, []byte("\n")):
		return 1
	}
	return 0
}
