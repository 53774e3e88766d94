package store

import (
	"encoding/binary"
	"encoding/hex"
	"strings"
)

// idHash maps an id to where it stands in event_ids. It is stored: it must stay as it is. Equal ids have equal hashes;
// ids that rise have hashes that rise or stand near each other, so that indexing them touches few pages and a new one
// is often known to be new without a look:
//
//   - a UUIDv7 or a ULID, also behind a prefix that ends in "_": its milliseconds, then 20 bits of the rest;
//   - an id that ends in 4 digits or more: 24 bits of what stands before them, then the number;
//   - any other: 40 bits of all but the last three characters, then these.
func idHash(id string) int64 {
	tail := id[strings.LastIndexByte(id, '_')+1:]
	if ms, ok := uuidTime(tail); ok {
		return int64(ms<<20 | fnv(id)>>44)
	}
	if ms, ok := ulidTime(tail); ok {
		return int64(ms<<20 | fnv(id)>>44)
	}
	if digits, number := endNumber(id); digits >= 4 {
		return int64((fnv(id[:len(id)-digits])^uint64(digits))<<40 | number)
	}
	cut := max(len(id)-3, 0)
	var low uint64
	for i := cut; i < len(id); i++ {
		low = low<<8 | uint64(id[i])
	}
	return int64(fnv(id[:cut])<<24 | low)
}

// fnv is FNV-1a with a final mix, so that its high bits are as good as its low ones.
func fnv(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	h ^= h >> 32
	h *= 0xd6e8feb86659fd93
	return h ^ h>>32
}

// maxDigits is how many digits fit into the 40 bits of a number.
const maxDigits = 12

// endNumber is the number that an id ends with, of at most maxDigits digits.
func endNumber(id string) (digits int, number uint64) {
	for digits < min(len(id), maxDigits) {
		if c := id[len(id)-1-digits]; c < '0' || c > '9' {
			break
		}
		digits++
	}
	for _, c := range []byte(id[len(id)-digits:]) {
		number = number*10 + uint64(c-'0')
	}
	return digits, number
}

// uuidTime is the milliseconds of a UUIDv7 in its text form (RFC 9562).
func uuidTime(id string) (ms uint64, ok bool) {
	if len(id) != 36 || id[8] != '-' || id[13] != '-' || id[14] != '7' || id[18] != '-' || id[23] != '-' {
		return 0, false
	}
	var text [16]byte
	copy(text[4:], id[:8])
	copy(text[12:], id[9:13])
	copy(text[:4], "0000")
	var bytes [8]byte
	if _, err := hex.Decode(bytes[:], text[:]); err != nil {
		return 0, false
	}
	return binary.BigEndian.Uint64(bytes[:]), true
}

const crockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// ulidTime is the milliseconds of a ULID in its text form: its first ten characters.
func ulidTime(id string) (ms uint64, ok bool) {
	if len(id) != 26 || id[0] > '7' {
		return 0, false
	}
	for i := range len(id) {
		digit := strings.IndexByte(crockford, id[i])
		if digit < 0 {
			return 0, false
		}
		if i < 10 {
			ms = ms<<5 | uint64(digit)
		}
	}
	return ms, true
}
