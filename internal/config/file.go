package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode"

	"github.com/pelletier/go-toml/v2"
)

// maxFileBytes bounds what is read as a configuration.
const maxFileBytes = 1 << 20

// byteOrderMark is what some editors put before UTF-8 text; TOML has no place for it.
var byteOrderMark = []byte("\xef\xbb\xbf")

// readFile reads a configuration file that must exist.
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	data, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxFileBytes {
		return nil, fmt.Errorf("read %s: larger than %s", path, shortSize(maxFileBytes))
	}
	return bytes.TrimPrefix(data, byteOrderMark), nil
}

// fileLayer is what a file says.
type fileLayer struct {
	given    layer
	sources  []placedSource
	mistakes []Mistake

	path   string
	lines  map[string]int
	checks checks
}

// parseFile reads a TOML document; path is only for messages.
func parseFile(path string, data []byte, checks checks) fileLayer {
	f := fileLayer{path: path, given: layer{}, checks: checks}
	var tree map[string]any
	if err := toml.Unmarshal(data, &tree); err != nil {
		place := path + ":" + strconv.Itoa(errorLine(data, err))
		f.mistakes = append(f.mistakes, Mistake{Place: place, Problem: "not valid TOML: " + printable(strings.TrimPrefix(err.Error(), "toml: "))})
		return f
	}
	f.lines = findLines(data)
	f.table("", tree)
	f.mistakes = append(f.mistakes, repeated(f.sources)...)
	byLine(f.mistakes)
	return f
}

// errorLine is the line that go-toml refused.
func errorLine(data []byte, err error) int {
	if decode, ok := errors.AsType[*toml.DecodeError](err); ok {
		line, _ := decode.Position()
		return line
	}
	return redefinition(data)
}

// printable replaces what a terminal would act on: go-toml quotes the document.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, text)
}

// table reads the document (prefix empty) or one section of it.
func (f *fileLayer) table(prefix string, members map[string]any) {
	for member, value := range members {
		path := join(prefix, member)
		if path == "source" {
			f.sourceList(value)
			continue
		}
		if k, ok := findKey(keys, path); ok {
			f.value(k, path, value)
			continue
		}
		section, isTable := value.(map[string]any)
		switch {
		case isSection(path) && isTable:
			f.table(path, section)
		case isSection(path):
			f.mistake(path, path, "must be a table, not "+tomlType(value))
		case isTable:
			f.mistake(path, path, "no section has this name")
		default:
			f.mistake(path, path, "no key has this name")
		}
	}
}

func (f *fileLayer) value(k key, path string, v any) {
	value, problem := k.fromTOML(v)
	if problem == "" {
		problem = f.checks.run(k.name, value)
	}
	if problem != "" {
		f.mistake(path, k.name, problem)
		return
	}
	f.given[k.name] = given{value: value, place: f.place(path)}
}

func (f *fileLayer) sourceList(v any) {
	entries, ok := v.([]any)
	if !ok {
		f.mistake("source", "source", "must be a list of tables ([[source]]), not "+tomlType(v))
		return
	}
	for i, entry := range entries {
		path := element("source", i)
		members, ok := entry.(map[string]any)
		if !ok {
			f.mistake(path, "source", "must be a list of tables ([[source]]), not of "+tomlType(entry))
			continue
		}
		f.source(path, members)
	}
}

// source reads one [[source]]; one with a mistake is left out.
func (f *fileLayer) source(path string, members map[string]any) {
	good := true
	refuse := func(at, key, problem string) {
		good = false
		f.mistake(at, key, problem)
	}
	for member := range members {
		if _, known := findKey(sourceKeys, member); !known {
			refuse(join(path, member), join("source", member), "no key has this name")
		}
	}
	text := map[string]string{}
	for _, k := range sourceKeys {
		text[k.name] = k.initial
		v, has := members[k.name]
		if !has {
			continue
		}
		value, problem := k.fromTOML(v)
		if problem != "" {
			refuse(join(path, k.name), "source."+k.name, problem)
			continue
		}
		text[k.name] = value.(string)
	}
	for _, required := range []string{"kind", "path"} {
		if _, has := members[required]; !has {
			refuse(path, "source."+required, "must be given")
		}
	}
	if !good {
		return
	}
	s := placedSource{
		Source: Source{Name: text["name"], Kind: text["kind"], Path: text["path"], Start: text["start"]},
		place:  f.place(path), pathPlace: f.place(join(path, "path")), pathLine: f.lines[join(path, "path")],
	}
	s.namePlace, s.nameLine = f.place(join(path, "name")), f.lines[join(path, "name")]
	if s.Name == "" {
		s.Name, s.namePlace, s.nameLine = s.Path, s.pathPlace, s.pathLine
	}
	f.sources = append(f.sources, s)
}

func (f *fileLayer) place(path string) string {
	return f.path + ":" + strconv.Itoa(f.lines[path])
}

func (f *fileLayer) mistake(path, key, problem string) {
	f.mistakes = append(f.mistakes, Mistake{Place: f.place(path), Key: key, Problem: problem, line: f.lines[path]})
}
