package config

import (
	"errors"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

// TestTemplateMatchesTheTable loads the written file as it is, and with every
// commented setting taken in: both must mean the defaults, but for examples.
func TestTemplateMatchesTheTable(t *testing.T) {
	written, err := Template(nil)
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Env: []string{"HOME=/home/u"}}
	plain, _, err := loadText(t, string(written), o)
	if err != nil {
		t.Fatal(err)
	}
	defaults, err := load(Options{Env: o.Env, UID: 1000}, "/does/not/exist")
	if err != nil {
		t.Fatal(err)
	}
	plain.File = ""
	if !reflect.DeepEqual(plain, defaults) {
		t.Errorf("as written: got  %+v\nwant %+v", plain, defaults)
	}

	all, path, err := loadText(t, uncommented(string(written)), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range keys {
		if !strings.HasPrefix(all.Place(k.name), path) {
			t.Errorf("%s does not stand in the file", k.name)
		}
	}
	want := defaults
	want.DataDir, want.Signing.MasterKeyFile = "/var/lib/hookd", "/var/lib/hookd/master.key"
	want.Control.Socket, want.Control.SocketGroup = "/run/hookd/hookd.sock", "hookd"
	want.Egress.CAFile = "/etc/hookd/ca.pem"
	want.Sources = []Source{{Name: "app", Kind: "file", Path: "/var/log/app/events.ndjson", Start: "beginning"}}
	all.File, all.keyPlaces, want.keyPlaces = "", nil, nil
	if !reflect.DeepEqual(all, want) {
		t.Errorf("uncommented: got  %+v\nwant %+v", all, want)
	}
}

// uncommented takes the # from settings, which have no space after it.
func uncommented(text string) string {
	return regexp.MustCompile(`(?m)^#([a-z\[])`).ReplaceAllString(text, "$1")
}

func TestTemplateWithValues(t *testing.T) {
	set := map[string]string{
		"data_dir": "/a \"b\\c\x01\u00e9", "delivery.jitter": ".5", "delivery.max_in_flight": "007",
		"egress.allowed_hosts": "a, b", "log.level": "debug", "limits.event_bytes": "4096", "egress.allow_http": "true",
	}
	written, err := Template(set)
	if err != nil {
		t.Fatal(err)
	}
	got, path, err := loadText(t, string(written), Options{})
	if err != nil {
		t.Fatalf("%v\n%s", err, written)
	}
	want, _, err := loadText(t, "", Options{Flags: set})
	if err != nil {
		t.Fatal(err)
	}
	for name := range set {
		if !strings.HasPrefix(got.Place(name), path) {
			t.Errorf("%s was not written", name)
		}
	}
	got.File, want.File, got.keyPlaces, want.keyPlaces = "", "", nil, nil
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}

	_, err = Template(map[string]string{"log.level": "loud"})
	if _, ok := errors.AsType[*Error](err); !ok {
		t.Errorf("a value that breaks its rule: %v", err)
	}
}

// TestTable looks for entries that would contradict each other or themselves.
func TestTable(t *testing.T) {
	names, variables := map[string]bool{}, map[string]string{"HOOKD_CONFIG": "the file"}
	claim := func(variable, name string) {
		if other, taken := variables[variable]; taken {
			t.Errorf("%s belongs to %s and to %s", variable, other, name)
		}
		variables[variable] = name
	}
	for _, k := range keys {
		if names[k.name] {
			t.Errorf("%s stands twice", k.name)
		}
		names[k.name] = true
		claim(k.env(), k.name)
		if k.envToo != "" {
			claim(k.envToo, k.name)
		}
		if strings.HasPrefix(k.env(), "HOOKD_SOURCE") {
			t.Errorf("%s would be taken for a source", k.env())
		}
	}
	for _, k := range append(append([]key(nil), keys...), sourceKeys...) {
		if k.doc == "" || !strings.HasSuffix(k.doc, ".") {
			t.Errorf("%s: the file tells nothing about it", k.name)
		}
		if k.shown() == "" && !k.rule.list {
			t.Errorf("%s: neither default nor example", k.name)
		}
		if k.shown() != "" {
			if _, problem := k.fromText(k.shown()); problem != "" {
				t.Errorf("%s: what the file shows %s", k.name, problem)
			}
		}
	}
	written, _ := Template(nil)
	for line := range strings.SplitSeq(string(written), "\n") {
		if len(line) > templateWidth || strings.ContainsFunc(line, func(r rune) bool { return r > unicode.MaxASCII }) {
			t.Errorf("line is too long or not ASCII: %q", line)
		}
	}
}
