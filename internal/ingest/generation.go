package ingest

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"os"
	"time"

	"hookd/internal/store"
)

// A generation's salt is when its file was last modified before it was first met, in ns, and as many random bytes. Files of a
// rotation that were last modified earlier are older than the generation.
const (
	timeBytes   = 8
	randomBytes = 8
)

// A generation is one life of a file: from when it was first met, or found cut or replaced, until it was read to its end. It
// keeps its identity when the file is renamed.
type generation struct {
	mark store.FileMark // the newest checkpoint that was given to the store

	// While its file is open:
	lines  *lineReader
	path   string    // where it was opened
	copied bool      // the file is a copy that a rotation left; nobody writes to it
	active time.Time // when it last grew, as far as is known
	ended  time.Time // when it was read to its end after a rotation
	unseen bool      // the file was empty so far: nothing tells whether it is the one that was met

	holed, refused bool // it was said that NUL bytes were skipped, that lines were refused

	prefix string // of the ids of its events
}

func (g *generation) id() fileID { return fileID{dev: g.mark.Dev, ino: g.mark.Ino} }

// since returns what the salt has of a time.
func (g *generation) since() time.Time {
	if len(g.mark.Salt) < timeBytes {
		return time.Time{}
	}
	return time.Unix(0, int64(binary.BigEndian.Uint64(g.mark.Salt)))
}

func (g *generation) open() bool { return g.lines != nil }

// newGeneration makes the generation of a file that was not met before. It has no number yet.
func newGeneration(source string, s *step) *generation {
	salt := binary.BigEndian.AppendUint64(nil, uint64(s.info.ModTime().UnixNano()))
	salt = append(salt, make([]byte, randomBytes)...)
	_, _ = rand.Read(salt[timeBytes:]) // never fails
	id := s.id()
	g := &generation{mark: store.FileMark{Salt: salt, Dev: id.dev, Ino: id.ino, SizeSeen: s.info.Size(), State: store.GenOpen}}
	(&prints{head: s.first}).mark(&g.mark)
	g.prefix = idPrefix(source, salt)
	return g
}

// storedGeneration makes a generation that the store knows.
func storedGeneration(source string, m store.FileMark) *generation {
	return &generation{mark: m, prefix: idPrefix(source, m.Salt)}
}

// attach opens the generation on the file of a step, to be read on from its checkpoint. The file is the generation's from then on.
func (g *generation) attach(s *step, maxBytes int, now time.Time) error {
	before, err := loadPrints(s.file, g.mark.Offset)
	if err != nil {
		return err
	}
	g.lines = newLineReader(s.file, maxBytes, s.info.Size(), g.mark.Offset, before, s.first)
	g.path, g.copied = s.path, s.copied
	g.unseen = g.mark.Offset == 0 && g.mark.HeadLen == 0
	id := s.id()
	g.mark.Dev, g.mark.Ino = id.dev, id.ino
	g.active = now // kept with its monotonic reading
	if age := now.Sub(s.info.ModTime()); age > 0 {
		g.active = now.Add(-age)
	}
	return nil
}

// startAtEnd moves the checkpoint of a new generation to the end of the last whole line.
func (g *generation) startAtEnd(f *os.File, size int64) *trouble {
	end, err := lastLineEnd(f, size)
	if err != nil {
		return troubleOf(f.Name(), err)
	}
	before, err := loadPrints(f, end)
	if err != nil {
		return troubleOf(f.Name(), err)
	}
	g.mark.Offset = end
	before.mark(&g.mark)
	return nil
}

// close lets go of the file. The generation can be attached again.
func (g *generation) close() {
	if g.lines != nil {
		_ = g.lines.file.Close() // only read
		g.lines = nil
	}
}

// noteGrowth remembers when the file last grew. size is what it had before.
func (g *generation) noteGrowth(size int64, now time.Time) {
	if g.lines.size != size {
		g.active = now
	}
}

// checkpoint takes the mark after the last line that was taken.
func (g *generation) checkpoint() store.FileMark {
	g.lines.mark(&g.mark)
	return g.mark
}

// copyOf reports whether a file with some likeness to the generation is a copy of it. Only a full print can tell copies from files
// that begin alike; a shorter one, which is all of the generation, does where its own file has other content now.
func (g *generation) copyOf(like likeness) bool {
	if g.mark.HeadLen == printLen {
		return like != differs
	}
	return like == continues && g.cut() && g.mark.HeadLen > 0
}

// cut reports whether the file that the generation was read from is known to have other content now.
func (g *generation) cut() bool { return g.mark.Dev == 0 && g.mark.Ino == 0 }

// setCut says that it has: only a copy can be the generation's file then.
func (g *generation) setCut() { g.mark.Dev, g.mark.Ino = 0, 0 }

const idHashBytes = 8

// idPrefix is what the ids of a generation's events begin with.
func idPrefix(source string, salt []byte) string {
	h := sha256.New()
	h.Write(salt) // of a fixed length
	h.Write([]byte(source))
	return hex.EncodeToString(h.Sum(nil)[:idHashBytes]) + "-"
}

// eventID makes the id of an event whose line has none: the same one whenever that line is read again, and one that rises with
// the offset, for such ids are cheap to index.
func (g *generation) eventID(offset int64) string {
	const digits, width = "0123456789abcdef", 12 // 256 TiB; ids of what follows are longer
	var buf [2*idHashBytes + 1 + 16]byte
	n := copy(buf[:], g.prefix)
	shift := 4 * (width - 1)
	for offset>>(shift+4) != 0 {
		shift += 4
	}
	for ; shift >= 0; shift -= 4 {
		buf[n] = digits[offset>>shift&0xf]
		n++
	}
	return string(buf[:n])
}
