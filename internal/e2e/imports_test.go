package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

// mayImport is the whole of which room knows which. A room that is not in it
// is refused, so that a new one gets its line here first.
var mayImport = map[string][]string{
	"internal/event":    {},
	"internal/signing":  {},
	"internal/egress":   {},
	"internal/control":  {},
	"internal/config":   {},
	"schema":            {},
	"internal/keyring":  {"internal/signing"},
	"internal/store":    {"internal/event", "schema"},
	"internal/ingest":   {"internal/event", "internal/store"},
	"internal/delivery": {"internal/event", "internal/signing", "internal/keyring", "internal/egress", "internal/store"},
	"internal/daemon": {
		"internal/event", "internal/signing", "internal/egress", "internal/control", "internal/config", "schema",
		"internal/keyring", "internal/store", "internal/ingest", "internal/delivery",
	},
	"internal/receiver": {"internal/signing"},
	"internal/cli":      {"internal/control", "internal/tui", "internal/receiver", "internal/signing"},
	"internal/tui":      {"internal/control"},
	"cmd/hookd":         {"internal/daemon", "internal/config", "internal/control"},
	"cmd/hookctl":       {"internal/cli"},
}

// mayNotLink names what a program must not contain, at any depth.
var mayNotLink = map[string]string{
	"cmd/hookctl": "modernc.org/sqlite",
	"cmd/hookd":   "github.com/charmbracelet/bubbletea",
}

// drawers are names that say nothing about what a package knows.
var drawers = []string{"util", "utils", "common", "models", "model", "types", "helpers", "helper", "shared", "misc"}

const module = "hookd"

// listed is a package as go list describes it.
type listed struct {
	ImportPath string
	Name       string
	Standard   bool
	DepOnly    bool
	Imports    []string
	Deps       []string
	CgoFiles   []string
}

// room is the place in mayImport of a package of this module.
func (p listed) room() string { return roomOf(p.ImportPath) }

func roomOf(importPath string) string {
	inside, ok := strings.CutPrefix(importPath, module+"/")
	if !ok {
		return ""
	}
	parts := strings.SplitN(inside, "/", 3)
	if parts[0] == "internal" || parts[0] == "cmd" {
		return path.Join(parts[:min(2, len(parts))]...)
	}
	return parts[0]
}

func TestImports(t *testing.T) {
	packages := listPackages(t)
	if len(packages) == 0 {
		t.Fatal("go list found no package")
	}
	for _, v := range violations(packages) {
		t.Error(v)
	}
}

// TestImportsAreJudged shows that each rule can be broken.
func TestImportsAreJudged(t *testing.T) {
	for _, c := range []struct {
		name string
		p    listed
		want string
	}{
		{"allowed", listed{ImportPath: "hookd/internal/store", Imports: []string{"hookd/internal/event", "hookd/schema", "os"}}, ""},
		{"a folder of its own room", listed{ImportPath: "hookd/internal/cli", Imports: []string{"hookd/internal/cli/table"}}, ""},
		{"tests know everything", listed{ImportPath: "hookd/internal/e2e/bench", Imports: []string{"hookd/internal/store"}}, ""},
		{"not allowed", listed{ImportPath: "hookd/internal/event", Imports: []string{"hookd/internal/store"}}, "hookd/internal/event must not import hookd/internal/store"},
		{"from a folder", listed{ImportPath: "hookd/internal/cli/table", Imports: []string{"hookd/internal/store"}}, "hookd/internal/cli/table must not import hookd/internal/store"},
		{"a new room", listed{ImportPath: "hookd/internal/queue"}, "hookd/internal/queue has no place among the rooms"},
		{"a drawer", listed{ImportPath: "hookd/internal/cli/util"}, `hookd/internal/cli/util: a package named "util" says nothing`},
		{"a drawer by its clause", listed{ImportPath: "hookd/internal/cli/x", Name: "helpers"}, `hookd/internal/cli/x: a package named "helpers" says nothing`},
		{"SQLite in hookctl", listed{ImportPath: "hookd/cmd/hookctl", Deps: []string{"modernc.org/sqlite/lib"}}, "hookd/cmd/hookctl must not link modernc.org/sqlite/lib"},
		{"bubbletea in hookd", listed{ImportPath: "hookd/cmd/hookd", Deps: []string{"github.com/charmbracelet/bubbletea"}}, "hookd/cmd/hookd must not link github.com/charmbracelet/bubbletea"},
		{"cgo", listed{ImportPath: "hookd/internal/event", CgoFiles: []string{"c.go"}}, "hookd/internal/event uses cgo: c.go"},
		{"cgo in a dependency", listed{ImportPath: "example.org/x", DepOnly: true, CgoFiles: []string{"c.go"}}, "example.org/x uses cgo: c.go"},
		{"cgo of Go itself", listed{ImportPath: "net", Standard: true, DepOnly: true, CgoFiles: []string{"c.go"}}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := strings.Join(violations([]listed{c.p}), "\n"); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func violations(packages []listed) []string {
	var found []string
	for _, p := range packages {
		if len(p.CgoFiles) > 0 && !p.Standard {
			found = append(found, fmt.Sprintf("%s uses cgo: %s", p.ImportPath, strings.Join(p.CgoFiles, " ")))
		}
		if p.room() == "" {
			continue
		}
		for _, name := range drawers {
			if name == p.Name || slices.Contains(strings.Split(p.ImportPath, "/"), name) {
				found = append(found, fmt.Sprintf("%s: a package named %q says nothing", p.ImportPath, name))
			}
		}
		found = append(found, roomViolations(p)...)
	}
	return found
}

func roomViolations(p listed) []string {
	room := p.room()
	if room == "internal/e2e" {
		return nil
	}
	allowed, known := mayImport[room]
	if !known {
		return []string{p.ImportPath + " has no place among the rooms"}
	}
	var found []string
	for _, imported := range p.Imports {
		if other := roomOf(imported); other != "" && other != room && !slices.Contains(allowed, other) {
			found = append(found, fmt.Sprintf("%s must not import %s", p.ImportPath, imported))
		}
	}
	banned := mayNotLink[room]
	for _, dep := range p.Deps {
		if banned != "" && (dep == banned || strings.HasPrefix(dep, banned+"/")) {
			found = append(found, fmt.Sprintf("%s must not link %s", p.ImportPath, dep))
		}
	}
	return found
}

// listPackages asks for this module's packages and all that they are made of.
// With cgo switched on, files that would use it are not left out of sight.
func listPackages(t *testing.T) []listed {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-json", "./...")
	cmd.Dir = "../.."
	cmd.Env = append(os.Environ(), "CGO_ENABLED=1")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	var packages []listed
	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		err := decoder.Decode(&p)
		if errors.Is(err, io.EOF) {
			return packages
		}
		if err != nil {
			t.Fatalf("read go list: %v", err)
		}
		packages = append(packages, p)
	}
}
