package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patience bounds every wait for the programs: it is only reached where something is broken.
const patience = 60 * time.Second

// bin is where TestMain builds the programs.
var bin string

func TestMain(m *testing.M) { os.Exit(testMain(m)) }

func testMain(m *testing.M) int {
	dir, err := os.MkdirTemp("", "hookd-e2e")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	bin = dir
	build := exec.Command("go", "build", "-trimpath", "-o", dir+"/", "hookd/cmd/hookd", "hookd/cmd/hookctl")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build programs: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// place is a directory with one data directory and one control socket, in which daemons are started one after another.
type place struct {
	t      *testing.T
	dir    string // short: a socket's path has 107 bytes at most
	socket string
	args   []string
	// wrapper is a command that hookd is started by, with the program and its arguments behind it.
	wrapper []string
}

func newPlace(t *testing.T, args ...string) *place {
	t.Helper()
	dir, err := os.MkdirTemp("", "e2e")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return &place{t: t, dir: dir, socket: filepath.Join(dir, "s"), args: args}
}

func (p *place) path(name string) string { return filepath.Join(p.dir, name) }

// config writes a configuration file, which the daemons of this place read.
func (p *place) config(text string) {
	p.t.Helper()
	file := p.path("hookd.toml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
	p.args = append(p.args, "--config", file)
}

// environment is that of a user who has set nothing.
func (p *place) environment() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.dir, "LANG=C.UTF-8"}
}

// daemon is a running hookd.
type daemon struct {
	p      *place
	cmd    *exec.Cmd
	exited chan struct{} // closed when it has ended
	code   int           // after exited

	mu  sync.Mutex
	log bytes.Buffer
}

// start starts hookd and returns when it is ready.
func (p *place) start(args ...string) *daemon {
	p.t.Helper()
	d, ready := p.launch(args...)
	select {
	case <-ready:
	case <-d.exited:
		p.t.Fatalf("hookd ended with %d before it was ready:\n%s", d.code, d.stderr())
	case <-time.After(patience):
		p.t.Fatalf("hookd is not ready:\n%s", d.stderr())
	}
	return d
}

// launch starts hookd; ready is closed when it says that it is.
func (p *place) launch(args ...string) (d *daemon, ready <-chan struct{}) {
	p.t.Helper()
	full := append([]string{}, p.wrapper...)
	full = append(full, filepath.Join(bin, "hookd"), "run", "--data-dir", p.path("data"), "--socket", p.socket)
	full = append(append(full, p.args...), args...)
	cmd := exec.Command(full[0], full[1:]...)
	cmd.Env, cmd.Dir = p.environment(), p.dir
	stderr, err := cmd.StderrPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	d = &daemon{p: p, cmd: cmd, exited: make(chan struct{})}
	isReady := make(chan struct{})
	go d.follow(stderr, isReady)
	p.t.Cleanup(func() {
		d.kill()
		if p.t.Failed() {
			p.t.Logf("hookd %d said:\n%s", cmd.Process.Pid, tail(d.stderr(), 60))
		}
	})
	return d, isReady
}

// follow keeps what hookd says, closes ready at its ready line, and collects its exit code.
func (d *daemon) follow(stderr io.Reader, ready chan<- struct{}) {
	told := false
	lines := bufio.NewReader(stderr)
	for {
		line, err := lines.ReadString('\n')
		d.mu.Lock()
		d.log.WriteString(line)
		d.mu.Unlock()
		if !told && strings.Contains(line, "msg=ready") {
			told = true
			close(ready)
		}
		if err != nil {
			break
		}
	}
	var exit *exec.ExitError
	if err := d.cmd.Wait(); errors.As(err, &exit) {
		d.code = exit.ExitCode()
	}
	close(d.exited)
}

func (d *daemon) stderr() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.log.String()
}

// kill ends hookd as a power button would, and returns when it is gone.
func (d *daemon) kill() {
	d.cmd.Process.Signal(syscall.SIGKILL)
	<-d.exited
}

// stop ends hookd as systemd would, and returns its exit code.
func (d *daemon) stop() int {
	d.p.t.Helper()
	d.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-d.exited:
	case <-time.After(patience):
		d.p.t.Fatal("hookd does not stop")
	}
	return d.code
}

// result is what a run of hookctl came to.
type result struct {
	stdout, stderr string
	code           int
}

// ctl runs hookctl.
func (p *place) ctl(args ...string) result {
	p.t.Helper()
	return p.run("hookctl", append(args, "--socket", p.socket)...)
}

func (p *place) run(program string, args ...string) result {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(bin, program), args...)
	cmd.Env, cmd.Dir = p.environment(), p.dir
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		p.t.Fatalf("%s %s: %v", program, strings.Join(args, " "), err)
	}
	return result{stdout: stdout.String(), stderr: stderr.String(), code: cmd.ProcessState.ExitCode()}
}

// must runs hookctl and fails the test unless it exits 0.
func (p *place) must(args ...string) string {
	p.t.Helper()
	r := p.ctl(args...)
	if r.code != 0 {
		p.t.Fatalf("hookctl %s: exit %d\n%s%s", strings.Join(args, " "), r.code, r.stdout, r.stderr)
	}
	return r.stdout
}

// ask runs hookctl with -o json and decodes its answer into out.
func (p *place) ask(out any, args ...string) {
	p.t.Helper()
	text := p.must(append(args, "-o", "json")...)
	if err := json.Unmarshal([]byte(text), out); err != nil {
		p.t.Fatalf("hookctl %s: %v in %q", strings.Join(args, " "), err, text)
	}
}

// subscribe makes a subscription and returns its secret.
func (p *place) subscribe(name, url string, args ...string) string {
	p.t.Helper()
	var made struct{ Secret string }
	p.ask(&made, append([]string{"sub", "create", url, "--name", name}, args...)...)
	if !strings.HasPrefix(made.Secret, "whsec_") {
		p.t.Fatalf("no secret in the answer of sub create %s", name)
	}
	return made.Secret
}

// appendLines adds lines to the end of a file, as a producer does.
func (p *place) appendLines(file string, lines ...string) {
	p.t.Helper()
	f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		p.t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(strings.Join(lines, "\n") + "\n"); err != nil {
		p.t.Fatal(err)
	}
}

func tail(text string, lines int) string {
	all := strings.Split(strings.TrimRight(text, "\n"), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
