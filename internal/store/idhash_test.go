package store

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"
	"pgregory.net/rapid"
)

// The hashes are stored: they must not change.
func TestIDHashIsStable(t *testing.T) {
	for id, want := range map[string]int64{
		"":                                     -6030384572535930880,
		"evt-1":                                4723251873597107505,
		"evt-000123":                           8975847780186587259,
		"01890a5d-ac96-774b-bcce-b302099a8057": 1770097012656701234,
		"01ARZ3NDEKTSV4RRFFQ69G5FAV":           1541325822633229793,
	} {
		if got := idHash(id); got != want {
			t.Errorf("idHash(%q) = %d, want %d", id, got, want)
		}
	}
}

// Counters rise within their number of digits and prefix.
func TestCountersRise(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		prefix := rapid.StringMatching(`([a-zA-Z0-9_-]{0,20}[a-zA-Z_-])?`).Draw(t, "prefix")
		digits := rapid.IntRange(4, maxDigits).Draw(t, "digits")
		limit := uint64(1)
		for range digits {
			limit *= 10
		}
		a := rapid.Uint64Range(0, limit-2).Draw(t, "a")
		b := rapid.Uint64Range(a+1, limit-1).Draw(t, "b")
		low, high := idHash(fmt.Sprintf("%s%0*d", prefix, digits, a)), idHash(fmt.Sprintf("%s%0*d", prefix, digits, b))
		if high <= low || uint64(high-low) != b-a {
			t.Fatalf("%d and %d are %d apart, want %d", a, b, high-low, b-a)
		}
	})
}

// Ids with a time in them rise with it, also behind a prefix.
func TestTimesRise(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		prefix := rapid.SampledFrom([]string{"", "evt_", "a_b_"}).Draw(t, "prefix")
		ms := rapid.Uint64Range(0, 1<<43-2).Draw(t, "ms")
		later := rapid.Uint64Range(ms+1, 1<<43-1).Draw(t, "later")
		random := rapid.SliceOfN(rapid.Byte(), 20, 20).Draw(t, "random")
		for name, id := range map[string]func(uint64, []byte) string{"uuid": uuid7, "ulid": ulid} {
			low, high := idHash(prefix+id(ms, random[:10])), idHash(prefix+id(later, random[10:]))
			if high <= low {
				t.Fatalf("%s: %d at %d, %d at %d", name, low, ms, high, later)
			}
			if d := idHash(prefix + id(ms, random[10:])); d>>20 != low>>20 {
				t.Fatalf("%s: the same millisecond is far apart: %d, %d", name, low, d)
			}
		}
	})
}

func uuid7(ms uint64, random []byte) string {
	var u uuid.UUID
	binary.BigEndian.PutUint64(u[:], ms<<16)
	copy(u[6:], random)
	u[6], u[8] = 0x70|u[6]&0xf, 0x80|u[8]&0x3f
	return u.String()
}

func ulid(ms uint64, random []byte) string {
	var text strings.Builder
	for i := range 10 {
		text.WriteByte(crockford[ms>>(45-5*i)&31])
	}
	for i := range 16 {
		text.WriteByte(crockford[random[i%len(random)]&31])
	}
	return text.String()
}

// Any text has a hash, and ids that end alike are kept apart by what stands before.
func FuzzIDHash(f *testing.F) {
	for _, seed := range []string{"", "a", "evt-1", "0000", "_", "evt_01ARZ3NDEKTSV4RRFFQ69G5FAV", "99999999999999999999", "01890a5d-ac96-774b-bcce-b302099a8057"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, id string) {
		if idHash(id) != idHash(strings.Clone(id)) {
			t.Error("equal ids have other hashes")
		}
		if n, _ := endNumber(id); n > len(id) || n > maxDigits {
			t.Errorf("%d digits in %q", n, id)
		}
	})
}
