package config

import (
	"reflect"
	"strings"
	"testing"
)

func TestParseSource(t *testing.T) {
	const unknown = "must be KIND:WHERE; the kind there is: file:PATH"
	for _, c := range []struct{ text, want, problem string }{
		{text: "file:a.log", want: "a.log"},
		{text: "file:/with a space/a:b.log", want: "/with a space/a:b.log"},
		{text: "file:", problem: "file: must be followed by a path"},
		{text: "file:a\x00b", problem: "file: must be followed by a path"},
		{text: "unix:/run/x.sock", problem: `kind "unix" is not supported by this version, only file:PATH is`},
		{text: "unix:///run/x.sock", problem: `kind "unix" is not supported by this version, only file:PATH is`},
		{text: "tcp:127.0.0.1:8421", problem: `kind "tcp" is not supported by this version, only file:PATH is`},
		{text: "a.log", problem: unknown},
		{text: "file", problem: unknown},
		{text: "File:a.log", problem: unknown},
		{text: "", problem: unknown},
	} {
		got, err := ParseSource(c.text)
		if c.problem != "" {
			if err == nil || err.Error() != c.problem {
				t.Errorf("%q: got %v, want %s", c.text, err, c.problem)
			}
			continue
		}
		want := Source{Name: c.want, Kind: "file", Path: c.want, Start: "beginning"}
		if err != nil || got != want {
			t.Errorf("%q: got %+v, %v", c.text, got, err)
		}
	}
}

// A source on the command line is the whole list, as every other flag is.
func TestSourcesOfFlagsReplaceThoseOfTheFile(t *testing.T) {
	file := "[[source]]\nkind = \"file\"\npath = \"of-the-file\""
	c, _, err := loadText(t, file, Options{Sources: []string{"file:a", "file:b"}})
	if err != nil {
		t.Fatal(err)
	}
	want := []Source{
		{Name: "a", Kind: "file", Path: "a", Start: "beginning"},
		{Name: "b", Kind: "file", Path: "b", Start: "beginning"},
	}
	if !reflect.DeepEqual(c.Sources, want) {
		t.Errorf("got %+v", c.Sources)
	}
}

func TestSourceMistakes(t *testing.T) {
	const file = "kind = \"file\"\n"
	for _, c := range []struct {
		name, file string
		flags      []string
		want       string
	}{
		{name: "no list", file: "[source]\n" + file, want: `FILE:1: source: must be a list of tables ([[source]]), not a table`},
		{name: "a list of text", file: `source = ["file:x"]`, want: `FILE:1: source: must be a list of tables ([[source]]), not of text`},
		{name: "nothing in it", file: "\n[[source]]", want: "FILE:2: source.kind: must be given\nFILE:2: source.path: must be given"},
		{name: "empty inline", file: "source = [{}]", want: "FILE:1: source.kind: must be given\nFILE:1: source.path: must be given"},
		{
			name: "unknown member", file: "[[source]]\n" + file + "path = \"x\"\ntypes = []\n[source.map]\nid = \"\"",
			want: "FILE:4: source.types: no key has this name\nFILE:5: source.map: no key has this name",
		},
		{
			name: "another kind", file: "[[source]]\nkind = \"socket\"\npath = \"x\"",
			want: `FILE:2: source.kind: kind "socket" is not supported by this version, only "file" is`,
		},
		{name: "no kind", file: "[[source]]\nkind = \"pipe\"\npath = \"x\"", want: `FILE:2: source.kind: must be "file"`},
		{name: "start", file: "[[source]]\n" + file + "path = \"x\"\nstart = \"middle\"", want: `FILE:4: source.start: must be "beginning" or "end"`},
		{
			name: "name", file: "[[source]]\n" + file + "path = \"x\"\nname = \"a b\"",
			want: `FILE:4: source.name: must be a name of 1 to 64 letters, digits, ".", "_", "-", beginning with a letter or digit`,
		},
		{name: "type", file: "[[source]]\n" + file + "path = 1", want: `FILE:3: source.path: must be a path, in UTF-8 and without a zero byte, not an integer`},
		{
			name: "one path twice", file: "[[source]]\n" + file + "path = \"x\"\n[[source]]\n" + file + "name = \"y\"\npath = \"./x\"",
			want: `FILE:7: source.path: must differ from every other source's; that of FILE:1 is the same file`,
		},
		{
			name: "one name twice", file: "[[source]]\n" + file + "path = \"x\"\n[[source]]\n" + file + "path = \"y\"\nname = \"x\"",
			want: `FILE:7: source.name: must differ from every other source's; that of FILE:1 is the same`,
		},
		{
			name: "one path twice by flags", flags: []string{"file:x", "file:a/../x"},
			want: `--source: source.path: must differ from every other source's; that of another --source is the same file`,
		},
		{
			name: "a kind by flag", flags: []string{"unix:/x"},
			want: `--source: source: kind "unix" is not supported by this version, only file:PATH is`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, path, err := loadText(t, c.file, Options{Sources: c.flags})
			if err == nil {
				t.Fatal("accepted")
			}
			if text := strings.ReplaceAll(err.Error(), path, "FILE"); text != c.want {
				t.Errorf("got:\n%s\nwant:\n%s", text, c.want)
			}
		})
	}
}
