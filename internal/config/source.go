package config

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// KindFile is the kind of a source that follows a file.
const KindFile = "file"

// Values of a source's start.
const (
	StartBeginning = "beginning"
	StartEnd       = "end"
)

// Source is one place where events come from.
type Source struct {
	// Name is unique among the sources. It is the path where none was given,
	// else 1 to 64 letters, digits, ".", "_", "-", beginning with a letter or digit.
	Name string
	// Kind is [KindFile].
	Kind string
	// Path is the file, as written: a relative one is meant from the directory
	// hookd was started in. Unique among the sources.
	Path string
	// Start is [StartBeginning] or [StartEnd].
	Start string
}

// otherKinds are words that the manual uses for sources of other versions.
var otherKinds = []string{"socket", "unix", "tcp"}

var namePattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

func sourceName() rule {
	want := `a name of 1 to 64 letters, digits, ".", "_", "-", beginning with a letter or digit`
	return must(want, []string{typeText}, func(text string) (any, bool) {
		return text, namePattern.MatchString(text)
	})
}

func sourceKind() rule {
	r := oneOfKinds()
	plain := r.parse
	r.parse = func(text string) (any, string) {
		if slices.Contains(otherKinds, text) {
			return nil, fmt.Sprintf("kind %q is not supported by this version, only %q is", text, KindFile)
		}
		return plain(text)
	}
	return r
}

func oneOfKinds() rule {
	return must(strconv.Quote(KindFile), []string{typeText}, func(text string) (any, bool) {
		return text, text == KindFile
	})
}

// ParseSource reads KIND:WHERE as the flag --source takes it. The kind there is
// today is file: file:PATH. The name becomes the path; reading starts at the
// beginning.
func ParseSource(text string) (Source, error) {
	kind, where, found := strings.Cut(text, ":")
	switch {
	case found && slices.Contains(otherKinds, kind):
		return Source{}, fmt.Errorf("kind %q is not supported by this version, only file:PATH is", kind)
	case !found || kind != KindFile:
		return Source{}, fmt.Errorf("must be KIND:WHERE; the kind there is: file:PATH")
	}
	if _, problem := path().parse(where); problem != "" {
		return Source{}, fmt.Errorf("file: must be followed by a path")
	}
	return Source{Name: where, Kind: KindFile, Path: where, Start: StartBeginning}, nil
}

// placedSource remembers where a source was named.
type placedSource struct {
	Source
	place string // for messages about another source
	// places of single members; the source's own place where one was not given
	namePlace, pathPlace string
	nameLine, pathLine   int
}

// repeated finds sources that share a path or a name with an earlier one.
func repeated(sources []placedSource) []Mistake {
	var mistakes []Mistake
	paths, names := map[string]string{}, map[string]string{}
	for _, s := range sources {
		full := absolute(s.Path)
		if first, taken := paths[full]; taken {
			mistakes = append(mistakes, Mistake{
				Place: s.pathPlace, Key: "source.path", line: s.pathLine,
				Problem: "must differ from every other source's; that of " + first + " is the same file",
			})
			continue // its name, made from the path, would be the same mistake again
		}
		paths[full] = s.place
		if first, taken := names[s.Name]; taken {
			mistakes = append(mistakes, Mistake{
				Place: s.namePlace, Key: "source.name", line: s.nameLine,
				Problem: "must differ from every other source's; that of " + first + " is the same",
			})
			continue
		}
		names[s.Name] = s.place
	}
	return mistakes
}

// absolute makes two spellings of one path comparable. Links are not followed:
// what they lead to can change while hookd runs.
func absolute(path string) string {
	if full, err := filepath.Abs(path); err == nil {
		return full
	}
	return filepath.Clean(path)
}
