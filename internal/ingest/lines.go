package ingest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"hookd/internal/store"
)

const (
	// chunkBytes is how much is read at once, unless a line may be longer.
	chunkBytes = 1 << 20
	// keptBytes is how much is kept of a line that is too long.
	keptBytes = 4 << 10
)

// errChanged says that what was read of a file no longer stands in it: it was cut, or replaced in place.
var errChanged = errors.New("file was cut or replaced in place")

// A line is one whole line of a file, without its line end.
type line struct {
	offset, length int64  // of the text; a byte order mark and NUL bytes before it do not count
	text           []byte // of a long line its first keptBytes. Never overwritten by the reader
	long           bool   // longer than allowed, and not held in memory
}

// A lineReader cuts a file into lines. It remembers nothing of a line that has not ended but, when that is longer than allowed,
// how far it goes: so a checkpoint is an offset and no more, and a file that changes under the reader leaves nothing stale.
type lineReader struct {
	file *os.File
	max  int   // bytes a line may have
	size int64 // of the file, when it was last seen to be the one that was read
	now  int64 // the same, at the last look
	nuls int64 // NUL bytes passed over

	offset int64  // of what follows the last line taken, but for what was taken from chunk
	before prints // of the file before offset
	first  []byte // of the file, while offset is 0
	lead   int64  // NUL bytes between offset and chunk
	chunk  []byte // what follows, read at once; a new one each time, for its lines live on
	taken  int    // how much of chunk was taken

	long  *longLine // the line being read when it is too long
	ended *line     // one that was too long, now at its end
	buf   []byte    // to look at prints
}

// newLineReader reads a file on from an offset. Then the file had this size and these prints; first is how it began.
func newLineReader(f *os.File, maxBytes int, size, offset int64, before prints, first []byte) *lineReader {
	return &lineReader{
		file: f, max: maxBytes, offset: offset, before: before, first: first, size: size, now: size, buf: make([]byte, printLen),
	}
}

// next returns the next whole line of what was read, false when more must be read.
func (r *lineReader) next() (line, bool) {
	if r.ended != nil {
		l := *r.ended
		r.ended = nil
		return l, true
	}
	for {
		rest := r.chunk[r.taken:]
		n := bytes.IndexByte(rest, '\n')
		if n < 0 {
			return line{}, false
		}
		at := r.offset + r.lead + int64(r.taken)
		r.taken += n + 1
		if l := r.trim(rest[:n:n], at); len(l.text) > 0 {
			return l, true
		}
	}
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// trim makes a line of the bytes up to its newline. A blank one has no text.
func (r *lineReader) trim(text []byte, at int64) line {
	if at == 0 && bytes.HasPrefix(text, byteOrderMark) {
		text, at = text[len(byteOrderMark):], int64(len(byteOrderMark))
	}
	if len(text) > 0 && text[0] == 0 {
		rest := bytes.TrimLeft(text, "\x00")
		n := int64(len(text) - len(rest))
		text, at, r.nuls = rest, at+n, r.nuls+n
	}
	if n := len(text); n > 0 && text[n-1] == '\r' {
		text = text[:n-1]
	}
	if len(text) > 0 && text[0] <= ' ' && len(bytes.Trim(text, " \t\r")) == 0 {
		text = nil
	}
	return line{offset: at, length: int64(len(text)), text: text}
}

// settle moves the offset, and the prints before it, on to the end of what was taken.
func (r *lineReader) settle() {
	if r.taken == 0 {
		return
	}
	r.before.passZeros(r.lead)
	r.before.pass(r.chunk[:r.taken])
	r.offset += r.lead + int64(r.taken)
	r.nuls += r.lead
	r.chunk, r.lead, r.taken = r.chunk[r.taken:], 0, 0
}

// more reads on, and reports whether next may have a line then. It fails with errChanged when what was read before is gone.
func (r *lineReader) more() (bool, error) {
	r.settle()
	if err := r.look(); err != nil {
		return false, err
	}
	if r.long != nil {
		if r.now < r.long.at {
			return false, errChanged
		}
		return r.readLong()
	}
	if err := r.load(); err != nil {
		return false, err
	}
	switch {
	case bytes.IndexByte(r.chunk, '\n') >= 0:
		return true, nil
	case len(r.chunk) > r.max+len("\r"):
		r.beginLong()
		return true, nil
	}
	r.drop() // a line that has not ended is read again when it has grown
	return false, nil
}

// last takes what stands at the end of the file without a newline: ok is false when there is nothing. When the file has whole
// lines yet, they are to be read first, and more is true.
func (r *lineReader) last() (l line, ok, more bool, err error) {
	if more, err = r.more(); err != nil || more {
		return line{}, false, more, err
	}
	if r.long != nil {
		return r.endLong(nil), true, false, nil
	}
	if err = r.load(); err != nil {
		return line{}, false, false, err
	}
	if bytes.IndexByte(r.chunk, '\n') >= 0 {
		return line{}, false, true, nil
	}
	at := r.offset + r.lead
	r.nuls += r.lead
	r.before.passZeros(r.lead)
	r.before.pass(r.chunk)
	r.offset = at + int64(len(r.chunk))
	l = r.trim(r.chunk, at)
	r.drop()
	return l, len(l.text) > 0, false, nil
}

// look takes the size of the file and makes sure that it can still be the one that was read.
func (r *lineReader) look() error {
	info, err := r.file.Stat()
	if err != nil {
		return err
	}
	r.now = info.Size()
	if r.now < r.offset {
		return errChanged
	}
	return nil
}

// load reads a chunk from the offset on, after the NUL bytes that stand there: a cut under a writer that keeps its place leaves
// a hole. Then it makes sure that the file is still the one that was read: bytes that were read before the prints were seen
// cannot be those of another.
func (r *lineReader) load() error {
	r.drop()
	var buf []byte
	for at := r.offset; at < r.now; {
		if buf == nil {
			buf = make([]byte, min(r.now-at, max(chunkBytes, int64(r.max)+int64(len("\r\n")))))
		}
		n, err := r.file.ReadAt(buf, at)
		if n == 0 {
			if errors.Is(err, io.EOF) {
				break
			}
			return fmt.Errorf("read file: %w", err)
		}
		text := bytes.TrimLeft(buf[:n], "\x00")
		if len(text) == n {
			r.chunk = text
			break
		}
		if at += int64(n - len(text)); len(text) == 0 {
			at = min(dataAfter(r.file, at), r.now)
		} // else once more from there, so that the chunk is no shorter than it may be
		r.lead = at - r.offset
	}
	return r.verify()
}

// drop forgets what was read and not taken.
func (r *lineReader) drop() { r.chunk, r.lead, r.taken = nil, 0, 0 }

// verify fails with errChanged when the file no longer has what was read before.
func (r *lineReader) verify() error {
	same, err := r.unchanged()
	if err == nil && !same {
		return errChanged
	}
	if err == nil && r.size != r.now {
		err = r.peek()
	}
	if err != nil {
		return fmt.Errorf("read file: %w", err)
	}
	r.size = r.now
	return nil
}

// peek looks how the file begins, while that is all there is to tell it from others.
func (r *lineReader) peek() (err error) {
	if r.offset == 0 {
		r.first, err = peek(r.file)
	}
	return err
}

func (r *lineReader) unchanged() (bool, error) {
	switch {
	case r.long != nil:
		return r.long.before.standIn(r.file, r.long.at, r.buf)
	case r.offset == 0:
		return hasBytes(r.file, 0, r.first, r.buf[:len(r.first)])
	}
	return r.before.standIn(r.file, r.offset, r.buf)
}

// mark writes where the reader is into a checkpoint.
func (r *lineReader) mark(m *store.FileMark) {
	r.settle()
	m.Offset, m.SizeSeen = r.offset, r.size
	now := r.before
	if r.offset == 0 {
		now.head = r.first
	}
	now.mark(m)
}

// lastLineEnd returns the offset after the last newline of a file of some size, 0 when it has none.
func lastLineEnd(f io.ReaderAt, size int64) (int64, error) {
	buf := make([]byte, min(size, scanBytes))
	for end := size; end > 0; {
		piece := buf[:min(end, int64(len(buf)))]
		if err := readFull(f, piece, end-int64(len(piece))); err != nil {
			return 0, fmt.Errorf("read file: %w", err)
		}
		if i := bytes.LastIndexByte(piece, '\n'); i >= 0 {
			return end - int64(len(piece)-i-1), nil
		}
		end -= int64(len(piece))
	}
	return 0, nil
}
