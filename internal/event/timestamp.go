package event

import (
	"bytes"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// takeTimestamp reads the raw JSON value of timestamp: a string as RFC 3339, a number as Unix time.
func takeTimestamp(raw []byte) (time.Time, *Refusal) {
	switch jsontext.Value(raw).Kind() {
	case '"':
		text := raw[1 : len(raw)-1]
		if bytes.IndexByte(raw, '\\') >= 0 {
			// What is not UTF-8 after decoding is no timestamp either.
			text, _ = jsontext.AppendUnquote(nil, raw)
		}
		if t, ok := parseRFC3339(text); ok {
			return t, nil
		}
		return time.Time{}, refuse(TimestampInvalid,
			"timestamp is not RFC 3339 within the years 1 to 9999, as in 2026-11-30T12:00:00Z")
	case '0':
		if t, ok := parseUnix(raw); ok {
			return t, nil
		}
		return time.Time{}, refuse(TimestampInvalid, "timestamp is a Unix time outside the years 1 to 9999")
	}
	return time.Time{}, refuse(TimestampInvalid,
		"timestamp must be a string (RFC 3339) or a number of Unix seconds, here it is %s", kindName(raw))
}

// parseRFC3339 reads a date-time of RFC 3339, with t and z in either case, and returns it in UTC. Digits beyond the nanosecond
// are cut off. A leap second (23:59:60 UTC) is the second after it, as in POSIX time.
func parseRFC3339(text []byte) (time.Time, bool) {
	var room [40]byte
	upper := append(room[:0], text...)
	for i, c := range upper {
		if c == 't' || c == 'z' {
			upper[i] = c - 'a' + 'A'
		}
	}
	if !hasRFC3339Shape(upper) {
		return time.Time{}, false
	}
	second := upper[len("2006-01-02T15:04:"):][:2]
	leap := string(second) == "60"
	if leap {
		copy(second, "59")
	}
	var t time.Time
	if err := t.UnmarshalText(upper); err != nil {
		return time.Time{}, false
	}
	t = t.UTC()
	if leap {
		t = t.Add(time.Second)
		if h, m, s := t.Clock(); h != 0 || m != 0 || s != 0 {
			return time.Time{}, false
		}
	}
	return t, inYears(t)
}

// hasRFC3339Shape holds text to the grammar. Package time alone does not: it takes a comma for the point, hours of one digit, and
// offsets of a day and more.
func hasRFC3339Shape(text []byte) bool {
	const shape = "0000-00-00T00:00:00"
	if len(text) <= len(shape) {
		return false
	}
	for i := range len(shape) {
		if shape[i] == '0' && !isDigit(text[i]) || shape[i] != '0' && shape[i] != text[i] {
			return false
		}
	}
	rest := text[len(shape):]
	if rest[0] == '.' {
		digits := 0
		for digits+1 < len(rest) && isDigit(rest[digits+1]) {
			digits++
		}
		if digits == 0 {
			return false
		}
		rest = rest[1+digits:]
	}
	if string(rest) == "Z" {
		return true
	}
	return len(rest) == len("+00:00") && (rest[0] == '+' || rest[0] == '-') && rest[3] == ':' &&
		isDigit(rest[1]) && isDigit(rest[2]) && isDigit(rest[4]) && isDigit(rest[5]) &&
		string(rest[1:3]) <= "23" && string(rest[4:]) <= "59"
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// millisAbove is where a number of Unix seconds becomes one of milliseconds: in seconds it is in the year 5138, in
// milliseconds in 1973.
const millisAbove = 100_000_000_000

// maxWhole is how many digits the last millisecond of the year 9999 has.
const maxWhole = 15

// parseUnix reads a JSON number as Unix seconds, or as milliseconds when it is above 10^11. It works on the decimal digits, so
// that no fraction is rounded and no exponent, however large, costs anything. What is beyond nine digits after the point, or
// beyond the nanosecond, is cut off.
func parseUnix(number []byte) (time.Time, bool) {
	negative := number[0] == '-'
	if negative {
		number = number[1:]
	}
	var exponent int64
	if i := bytes.IndexAny(number, "eE"); i >= 0 {
		exponent = parseExponent(number[i+1:])
		number = number[:i]
	}
	// The number is 0.DIGITS times ten to the point; only digits that can matter are kept.
	var digits [maxWhole + 9]byte
	n, point := 0, int64(0)
	fraction := false
	for _, c := range number {
		switch {
		case c == '.':
			fraction = true
			continue
		case n == 0 && c == '0':
			if fraction {
				point--
			}
			continue
		case !fraction:
			point++
		}
		if n < len(digits) {
			digits[n] = c - '0'
			n++
		}
	}
	if n == 0 {
		return time.Unix(0, 0).UTC(), true
	}
	if point += exponent; point > maxWhole {
		return time.Time{}, false
	}
	whole := decimal(digits[:n], 0, point)
	rest := decimal(digits[:n], point, point+9)
	var t time.Time
	switch {
	case negative:
		t = time.Unix(-whole, -rest)
	case whole > millisAbove || whole == millisAbove && rest > 0:
		t = time.Unix(whole/1000, whole%1000*1_000_000+rest/1000)
	default:
		t = time.Unix(whole, rest)
	}
	t = t.UTC()
	return t, inYears(t)
}

// decimal returns the digits from, up to and without to as a number; there are zeros on both sides of them.
func decimal(digits []byte, from, to int64) int64 {
	var n int64
	for i := from; i < to; i++ {
		n *= 10
		if 0 <= i && i < int64(len(digits)) {
			n += int64(digits[i])
		}
	}
	return n
}

// parseExponent reads the exponent of a JSON number and clamps it beyond what the digits of any line can make up for.
func parseExponent(text []byte) int64 {
	const limit = 1 << 40
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil { // too large: the grammar was checked
		n = limit
		if text[0] == '-' {
			n = -limit
		}
	}
	return max(-limit, min(n, limit))
}

func inYears(t time.Time) bool { return 1 <= t.Year() && t.Year() <= 9999 }
