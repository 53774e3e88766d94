package config

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

const templateHead = `# hookd.toml: the configuration of hookd.
#
# Every setting stands here with its default (or an example, where the default
# is none or depends on who starts hookd), commented out by a # with no space.
# A flag beats the environment (HOOKD_ and the key in capitals, "." as "_"; set
# but empty counts as not set; lists separated by commas), which beats this
# file. Durations are written like "1m30s", sizes in bytes or like "64KiB".
# A relative path is meant from the directory hookd was started in.
`

const templateSources = `
# Where events come from; repeat the table for each.
#[[source]]
`

// templateWidth is where comments are wrapped.
const templateWidth = 80

// Template is the commented hookd.toml of `hookd init`. Keys in set are written
// as in force, with their text as the environment would give it; every other
// key is commented out with its default. It fails with an [*Error] where a value
// in set breaks the rule of its key.
func Template(set map[string]string) ([]byte, error) {
	if _, mistakes := flagLayer(set, nil); len(mistakes) > 0 {
		return nil, &Error{Mistakes: mistakes}
	}
	var out bytes.Buffer
	out.WriteString(templateHead)
	current := ""
	for _, k := range keys {
		section, member, dotted := strings.Cut(k.name, ".")
		if !dotted {
			section, member = "", k.name
		}
		if section != current {
			out.WriteString("\n[" + section + "]\n")
			current = section
		} else {
			out.WriteByte('\n')
		}
		writeComment(&out, k.doc)
		if text, isSet := set[k.name]; isSet {
			out.WriteString(member + " = " + k.literal(text) + "\n")
		} else {
			out.WriteString("#" + member + " = " + k.literal(k.shown()) + "\n")
		}
	}
	out.WriteString(templateSources)
	for _, k := range sourceKeys {
		writeComment(&out, k.doc)
		out.WriteString("#" + k.name + " = " + k.literal(k.shown()) + "\n")
	}
	return out.Bytes(), nil
}

// shown is the default, or the example where there is none.
func (k key) shown() string {
	if k.initial != "" {
		return k.initial
	}
	return k.example
}

// literal writes a value's text as TOML.
func (k key) literal(text string) string {
	if k.rule.list {
		if text == "" {
			return "[]"
		}
		var entries []string
		for entry := range strings.SplitSeq(text, ",") {
			entries = append(entries, tomlString(strings.TrimSpace(entry)))
		}
		return "[" + strings.Join(entries, ", ") + "]"
	}
	if k.rule.types[0] == typeText {
		return tomlString(text)
	}
	// The number as Go prints it is TOML too; "007" or ".5", which Go reads, is not.
	value, _ := k.fromText(text)
	return fmt.Sprint(value)
}

// tomlString is a basic string: quotes, backslashes and control characters escaped.
func tomlString(text string) string {
	var out strings.Builder
	out.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			out.WriteRune('\\')
			out.WriteRune(r)
		case r < ' ' || r == 0x7f:
			hex := strconv.FormatInt(int64(r), 16)
			out.WriteString(`\u` + strings.Repeat("0", 4-len(hex)) + hex)
		default:
			out.WriteRune(r)
		}
	}
	out.WriteByte('"')
	return out.String()
}

// writeComment wraps a sentence into comment lines.
func writeComment(out *bytes.Buffer, text string) {
	line := "#"
	for word := range strings.FieldsSeq(text) {
		if len(line)+1+len(word) > templateWidth {
			out.WriteString(line + "\n")
			line = "#"
		}
		line += " " + word
	}
	out.WriteString(line + "\n")
}
