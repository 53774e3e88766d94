package e2e

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// root is the repository.
const root = "../.."

// readmeCommands returns the lines of the README's shell blocks, in order, without comments.
func readmeCommands(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	var commands []string
	shell := false
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "```"):
			shell = line == "```sh"
		case shell && line != "":
			command, _, _ := strings.Cut(line, " #")
			commands = append(commands, strings.TrimSpace(command))
		}
	}
	return commands
}

// readmeSpans returns the commands of hookctl that the README names in its text, for the subscription of the tour.
func readmeSpans(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	var commands []string
	for _, span := range regexp.MustCompile("`(hookctl [^`]+)`").FindAllStringSubmatch(string(text), -1) {
		switch command := strings.ReplaceAll(span[1], "NAME", "crm"); command {
		case "hookctl listen": // part of the tour
		case "hookctl status":
			commands = append(commands, command+` || test $? -eq 9`) // --dev is a degraded state
		default:
			commands = append(commands, command)
		}
	}
	return commands
}

// tour runs README commands as its reader would: in one directory, with the programs on the path.
type tour struct {
	t    *testing.T
	dir  string
	left []string // commands of the README that were not run yet

	socket string // of the daemon that is spoken of, in dir
}

// take takes the next command of the README, which must be want.
func (r *tour) take(want string) {
	r.t.Helper()
	if len(r.left) == 0 || r.left[0] != want {
		r.t.Fatalf("the README's next command is %q, this test runs %q", r.left[:min(1, len(r.left))], want)
	}
	r.left = r.left[1:]
}

// command is one that the test can start: places that belong to the whole machine become those of the test.
func (r *tour) command(ctx context.Context, text string) *exec.Cmd {
	for path, name := range map[string]string{
		"/tmp/hookd.sock": "hookd.sock", "/usr/local/bin/": "", "/var/lib/hookd": "data", "/etc/hookd/hookd.toml": "hookd.toml",
	} {
		text = strings.ReplaceAll(text, path, filepath.Join(r.dir, name))
	}
	cmd := exec.CommandContext(ctx, "sh", "-c", "exec "+text)
	if strings.HasPrefix(text, "echo ") || strings.Contains(text, " || ") {
		cmd = exec.CommandContext(ctx, "sh", "-c", text)
	}
	cmd.Dir = r.dir
	cmd.Env = []string{"PATH=" + r.dir + ":" + os.Getenv("PATH"), "HOME=" + r.dir, "HOOKD_SOCKET=" + filepath.Join(r.dir, r.socket)}
	return cmd
}

// run runs a command to its end.
func (r *tour) run(text string) string {
	r.t.Helper()
	r.take(text)
	ctx, cancel := context.WithTimeout(r.t.Context(), patience)
	defer cancel()
	out, err := r.command(ctx, text).CombinedOutput()
	if err != nil {
		r.t.Fatalf("%s: %v\n%s", text, err, out)
	}
	return string(out)
}

// start starts a command and returns when its output has a line with each of these words. What it says from then on
// comes on the channel.
func (r *tour) start(text string, words ...string) (lines <-chan string) {
	r.t.Helper()
	r.take(text)
	cmd := r.command(context.Background(), text)
	out, err := cmd.StdoutPipe()
	if err != nil {
		r.t.Fatal(err)
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	said := make(chan string, 1000)
	go func() {
		defer close(said)
		for scan := bufio.NewScanner(out); scan.Scan(); {
			said <- scan.Text()
		}
	}()
	r.t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM)
		for range said { // to its end, so that Wait loses nothing
		}
		cmd.Wait()
	})
	r.await(said, words...)
	return said
}

func (r *tour) await(said <-chan string, words ...string) {
	r.t.Helper()
	deadline := time.After(patience)
	for {
		select {
		case line, ok := <-said:
			if !ok {
				r.t.Fatalf("it ended before it said %v", words)
			}
			if !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(line, word) }) {
				return
			}
		case <-deadline:
			r.t.Fatalf("it did not say %v", words)
		}
	}
}

// TestReadmeCommands runs every command that the README shows, in its order.
func TestReadmeCommands(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "rd")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	r := &tour{t: t, dir: dir, left: readmeCommands(t), socket: "hookd.sock"}

	r.take("make demo") // TestDemo
	r.take("make test") // this
	r.take("make build")
	if err := os.CopyFS(filepath.Join(dir, "bin"), os.DirFS(bin)); err != nil {
		t.Fatal(err)
	}
	r.run("install -m 0755 bin/hookd bin/hookctl /usr/local/bin/")

	r.start("hookd --dev --socket /tmp/hookd.sock --source file:events.ndjson", "msg=ready")
	r.take("export HOOKD_SOCKET=/tmp/hookd.sock")
	listener := r.start("hookctl listen", "listening")
	r.run(`echo '{"id":"evt-1","type":"order.paid","data":{"order":"A-17","total":19.90}}' >> events.ndjson`)
	r.await(listener, "evt-1", "19.90")
	r.run("hookctl sub create http://127.0.0.1:9/hook --name crm --type 'order.*' --retry tiers:0s,1s,1s")
	r.run(`echo '{"id":"evt-2","type":"order.shipped","data":{"order":"A-17"}}' >> events.ndjson`)
	r.run("hookctl wait --idle --timeout 30s")
	if list := r.run("hookctl dlq list"); !strings.Contains(list, "order.shipped") || !strings.Contains(list, "connection_failed") {
		t.Errorf("dlq list says %q", list)
	}

	for _, command := range readmeSpans(t) {
		r.left = slices.Insert(r.left, 0, command)
		r.run(command)
	}

	// Operations speak of another machine's hookd.
	r.socket = "other.sock"
	r.run("hookd init --data-dir /var/lib/hookd --config /etc/hookd/hookd.toml")
	r.start("hookd run --config /etc/hookd/hookd.toml", "msg=ready")
	if len(r.left) > 0 {
		t.Errorf("no test runs these commands of the README: %q", r.left)
	}
}

// TestDemo runs make demo as a newcomer does.
func TestDemo(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), "make", "-C", root, "demo")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("make demo: %v\n%s", err, out)
	}
	for _, want := range []string{"signature verified", "attempt 3", "(replay)", "== Summary"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("make demo does not say %q:\n%s", want, out)
		}
	}
}
