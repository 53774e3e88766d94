package cli

import (
	"bytes"
	"strings"
)

// paintJSON colours JSON that is already laid out. It looks at tokens only, so that nothing but colour is added.
func (p painter) paintJSON(text string) string {
	if p.styles == nil {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		end := i + 1
		kind := plain
		switch c := text[i]; {
		case c == '"':
			end = stringEnd(text, i)
			kind = stringTone
			if strings.HasPrefix(strings.TrimLeft(text[end:], " "), ":") {
				kind = keyTone
			}
		case c == '-' || (c >= '0' && c <= '9'):
			end = i + runLength(text[i:], "+-.0123456789eE")
			kind = numberTone
		case c >= 'a' && c <= 'z':
			end = i + runLength(text[i:], "aeflnrstu")
			kind = uneasy
		}
		b.WriteString(p.paint(kind, text[i:end]))
		i = end
	}
	return b.String()
}

// runLength is the length of the run of chars at the start of s, at least 1.
func runLength(s, chars string) int {
	return max(1, len(s)-len(strings.TrimLeft(s, chars)))
}

// stringEnd is the index after the string literal that begins at i.
func stringEnd(text string, i int) int {
	for i++; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

// looksLikeJSON says whether a body is worth laying out as JSON.
func looksLikeJSON(body []byte) bool {
	body = bytes.TrimSpace(body)
	return len(body) > 0 && (body[0] == '{' || body[0] == '[')
}
