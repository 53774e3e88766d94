package cli

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write what the commands print now to testdata")

// everyCommand has each command that asks the daemon, with a name for its file of testdata.
var everyCommand = []struct {
	name string
	args []string
}{
	{"sub-create", []string{"sub", "create", "https://hooks.example.com/in"}},
	{"sub-list", []string{"sub", "list"}},
	{"sub-show", []string{"sub", "show", "x"}},
	{"sub-pause", []string{"sub", "pause", "orders"}},
	{"sub-delete", []string{"sub", "delete", "orders", "--yes"}},
	{"secret-rotate", []string{"secret", "rotate", "orders"}},
	{"event-list", []string{"event", "list"}},
	{"event-show", []string{"event", "show", "42"}},
	{"delivery-list", []string{"delivery", "list"}},
	{"delivery-show", []string{"delivery", "show", "orders/42"}},
	{"dlq-list", []string{"dlq", "list"}},
	{"dlq-show", []string{"dlq", "show", "7"}},
	{"dlq-replay", []string{"dlq", "replay", "7", "8", "--yes"}},
	{"source-list", []string{"source", "list"}},
	{"quarantine-list", []string{"quarantine", "list"}},
	{"quarantine-show", []string{"quarantine", "show", "3"}},
	{"status", []string{"status"}},
	{"wait", []string{"wait", "--idle"}},
}

// What every command prints in every format is written down in testdata. After a change on purpose:
// go test ./internal/cli -run Golden -update
func TestGolden(t *testing.T) {
	for _, tt := range everyCommand {
		t.Run(tt.name, func(t *testing.T) {
			f := serve(t, routes())
			var b strings.Builder
			section := func(title string, s setting, extra ...string) {
				r := f.run(s, append(tt.args, extra...)...)
				fmt.Fprintf(&b, "-- %s: exit %d --\n%s-- stderr --\n%s", title, r.code, r.stdout, r.stderr)
			}
			section("terminal", terminal)
			section("pipe", pipe)
			section("table in a pipe", pipe, "-o", "table")
			section("json", pipe, "-o", "json")
			section("jsonl", pipe, "-o", "jsonl")
			section("yaml", pipe, "-o", "yaml")

			path := filepath.Join("testdata", tt.name+".txt")
			if *update {
				if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got := b.String(); got != string(want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}
