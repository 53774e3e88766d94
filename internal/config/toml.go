package config

import (
	"strconv"
	"strings"
)

// TOML types as errors name them.
const (
	typeText    = "text"
	typeInteger = "an integer"
	typeNumber  = "a number"
	typeBoolean = "a boolean"
	typeList    = "a list"
	typeTable   = "a table"
	typeTime    = "a date or time"
)

// tomlType names the type of a value that go-toml decoded into an any.
func tomlType(v any) string {
	switch v.(type) {
	case string:
		return typeText
	case int64:
		return typeInteger
	case float64:
		return typeNumber
	case bool:
		return typeBoolean
	case []any:
		return typeList
	case map[string]any:
		return typeTable
	default:
		return typeTime
	}
}

// tomlText is a scalar as the environment would write it, so that one parser
// serves both.
func tomlText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case bool:
		return strconv.FormatBool(v)
	}
	return ""
}

// join puts a member under a table's path. A name that is not a bare TOML key
// is quoted, so that the key "a.b" is never taken for b in table a, and so that
// no control character gets into a message.
func join(table, member string) string {
	if !isBare(member) {
		member = strconv.QuoteToASCII(member)
	}
	if table == "" {
		return member
	}
	return table + "." + member
}

func isBare(member string) bool {
	return member != "" && strings.IndexFunc(member, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-'
	}) < 0
}

// element is the path of one entry of a list.
func element(list string, index int) string {
	return list + "[" + strconv.Itoa(index) + "]"
}
