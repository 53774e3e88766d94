package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"

	"github.com/google/uuid"
)

const (
	// bodyBytes is about the length of every body that is sent.
	bodyBytes = 1024
	// lineBytes is the length of a line whose envelope has bodyBytes, give or take a digit: the envelope adds seq and
	// sync_epoch.
	lineBytes = bodyBytes - len(`"seq":123456,"sync_epoch":"b1bb7c05-b0a0-4d9c-a4c6-6b0b3a5f5d3e",`)
)

// eventTypes are what a shop's log is made of.
var eventTypes = []string{
	"user.created", "user.updated", "user.deleted", "user.email.verified", "session.started", "session.ended",
	"cart.updated", "cart.abandoned", "order.created", "order.paid", "order.packed", "order.shipped", "order.delivered",
	"order.refunded", "invoice.created", "invoice.paid", "invoice.overdue", "stock.low", "stock.changed", "review.posted",
}

// padding fills data up; text, because a body is text.
var padding = strings.Repeat("the quick brown fox jumps over the lazy dog. ", bodyBytes/40)

// lineMaker makes event lines of one length, with ids that rise (UUIDv7) or are random (UUIDv4). The same maker always
// makes the same lines.
type lineMaker struct {
	random bool
	bytes  int // of a line without its line end
	n      int64
	source *rand.ChaCha8
	last   string // id of the line that next returned
	buf    []byte
}

func newLineMaker(random bool, bytes int) *lineMaker {
	return &lineMaker{random: random, bytes: bytes, source: rand.NewChaCha8([32]byte{'h', 'o', 'o', 'k', 'd'})}
}

// next returns the next line with its line end; the slice is used again.
func (m *lineMaker) next() []byte {
	m.n++
	m.last = m.id()
	b := append(m.buf[:0], `{"id":"`...)
	b = append(b, m.last...)
	b = append(b, `","type":"`...)
	b = append(b, eventTypes[m.n%int64(len(eventTypes))]...)
	b = append(b, `","timestamp":"2026-11-30T12:00:00Z","data":{"n":`...)
	b = strconv.AppendInt(b, m.n, 10)
	b = append(b, `,"text":"`...)
	b = append(b, padding[:max(0, m.bytes-len(b)-len(`"}}`))]...)
	b = append(b, `"}}`+"\n"...)
	m.buf = b
	return b
}

// firstMillis is the time in the first rising id; ten ids share a millisecond, as on a busy producer.
const firstMillis = 1_764_547_200_000

func (m *lineMaker) id() string {
	var u uuid.UUID
	// Reading from ChaCha8 never fails.
	_, _ = m.source.Read(u[:])
	version := byte(4)
	if !m.random {
		binary.BigEndian.PutUint64(u[:8], uint64(firstMillis+m.n/10)<<16|uint64(m.n%10)<<4)
		version = 7
	}
	u[6] = u[6]&0x0f | version<<4
	u[8] = u[8]&0x3f | 0x80
	return u.String()
}

// appendTo appends n lines to a file, in large writes.
func (m *lineMaker) appendTo(path string, n int) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("append lines: %w", err)
	}
	err = m.writeTo(f, n)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return fmt.Errorf("append lines: %w", err)
	}
	return nil
}

func (m *lineMaker) writeTo(w io.Writer, n int) error {
	out := bufio.NewWriterSize(w, 256<<10)
	for range n {
		if _, err := out.Write(m.next()); err != nil {
			return err
		}
	}
	return out.Flush()
}
