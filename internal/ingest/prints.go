package ingest

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"

	"hookd/internal/store"
)

// printLen is how much of a file's beginning, and of what stands before an offset, tells it from others.
const printLen = 1024

// prints are the first bytes of a file and the last ones before an offset, printLen of each at most. They are kept as bytes, not
// as digests, because they grow with every line.
type prints struct {
	head, tail []byte
}

// pass moves the offset on over b.
func (p *prints) pass(b []byte) {
	if missing := printLen - len(p.head); missing > 0 {
		p.head = append(p.head, b[:min(missing, len(b))]...)
	}
	if len(b) >= printLen {
		p.tail = append(p.tail[:0], b[len(b)-printLen:]...)
		return
	}
	if over := len(p.tail) + len(b) - printLen; over > 0 {
		p.tail = p.tail[:copy(p.tail, p.tail[over:])]
	}
	p.tail = append(p.tail, b...)
}

var zeros [printLen]byte

// passZeros moves the offset on over n NUL bytes.
func (p *prints) passZeros(n int64) { // more than 2*printLen of them leave what 2*printLen leave
	for n = min(n, 2*printLen); n > 0; n -= printLen {
		p.pass(zeros[:min(n, printLen)])
	}
}

func (p *prints) clone() prints {
	return prints{head: bytes.Clone(p.head), tail: bytes.Clone(p.tail)}
}

// loadPrints reads the prints of a file before an offset. It fails with io.ErrUnexpectedEOF when the file is shorter.
func loadPrints(f io.ReaderAt, offset int64) (prints, error) {
	n := min(offset, printLen)
	p := prints{head: make([]byte, n), tail: make([]byte, n)}
	if err := readFull(f, p.head, 0); err != nil {
		return prints{}, err
	}
	return p, readFull(f, p.tail, offset-n)
}

// standIn reports whether a file still has the prints before an offset. buf is room for printLen bytes.
func (p *prints) standIn(f io.ReaderAt, offset int64, buf []byte) (bool, error) {
	tail := buf[:len(p.tail)]
	if same, err := hasBytes(f, offset-int64(len(tail)), p.tail, tail); err != nil || !same {
		return false, err
	}
	if offset <= printLen {
		return true, nil // the tail is all there is
	}
	return hasBytes(f, 0, p.head, buf[:len(p.head)])
}

// peek reads the first bytes of a file, printLen at most: they tell it from others while nothing of it was taken yet. NUL bytes are
// left out, for they may be room that is yet to be written.
func peek(f io.ReaderAt) ([]byte, error) {
	buf := make([]byte, printLen)
	n, err := f.ReadAt(buf, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	head, _, _ := bytes.Cut(buf[:n], zeros[:1])
	return head, nil
}

func hasBytes(f io.ReaderAt, at int64, want, buf []byte) (bool, error) {
	err := readFull(f, buf, at)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return false, nil
	}
	return err == nil && bytes.Equal(buf, want), err
}

func readFull(f io.ReaderAt, buf []byte, at int64) error {
	n, err := f.ReadAt(buf, at)
	switch {
	case n == len(buf):
		return nil
	case errors.Is(err, io.EOF):
		return io.ErrUnexpectedEOF
	}
	return err
}

// mark writes the prints into a checkpoint.
func (p *prints) mark(m *store.FileMark) {
	head, tail := sha256.Sum256(p.head), sha256.Sum256(p.tail)
	m.HeadLen, m.HeadSum = int64(len(p.head)), head[:]
	m.TailLen, m.TailSum = int64(len(p.tail)), tail[:]
}

// likeness is what a file has of what was read of a generation.
type likeness int

const (
	differs   likeness = iota
	begins             // it begins the same and is shorter
	continues          // it has all of it, and perhaps more
)

// compare says what a file of some size has of a generation.
func compare(f io.ReaderAt, size int64, m *store.FileMark) (likeness, error) {
	if same, err := hasSum(f, 0, m.HeadLen, m.HeadSum); err != nil || !same {
		return differs, err
	}
	if size < m.Offset {
		return begins, nil
	}
	if same, err := hasSum(f, m.Offset-m.TailLen, m.TailLen, m.TailSum); err != nil || !same {
		return differs, err
	}
	return continues, nil
}

func hasSum(f io.ReaderAt, at, n int64, want []byte) (bool, error) {
	if n == 0 {
		return true, nil
	}
	buf := make([]byte, n)
	if err := readFull(f, buf, at); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = nil
		}
		return false, err
	}
	sum := sha256.Sum256(buf)
	return bytes.Equal(sum[:], want), nil
}

// sameBeginning reports whether two files, n bytes long at least, begin with the same n bytes.
func sameBeginning(a, b io.ReaderAt, n int64) (bool, error) {
	buf := make([]byte, 2*n)
	if err := readFull(a, buf[:n], 0); err != nil {
		return false, err
	}
	return hasBytes(b, 0, buf[:n], buf[n:])
}
