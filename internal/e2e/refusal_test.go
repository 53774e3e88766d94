package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestTargetsRefused: without --dev no form of a private address is taken at creation, and the answer names the rule.
func TestTargetsRefused(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.start()
	for _, url := range []string{
		"https://[fe80::1%25eth0]/", "https://[fd00::1%25eth0]/", "https://[::1%25lo]/", "https://[fd00::1]/",
		"https://100.64.0.1/", "https://100.100.100.200/", "https://0.0.0.0/", "https://0.1.2.3/", "https://[::]/",
		"https://192.0.0.1/", "https://198.18.0.1/", "https://240.0.0.1/", "https://255.255.255.255/",
		"https://168.63.129.16/", "https://[fec0::1]/", "https://224.0.0.1/", "https://[ff02::1]/",
		"https://2130706433/", "https://0x7f.1/", "https://0177.0.0.1/", "https://127.1/", "https://2852039166/",
		"https://017700000001/", "https://0xA9FEA9FE/", "https://127.0.0.1./", "https://127.0.0.1/", "https://[::1]/",
		"https://10.0.0.5/", "https://169.254.169.254/", "https://[::ffff:127.0.0.1]/", "https://[64:ff9b::7f00:1]/",
		"https://[2002:7f00:1::]/", "https://localhost/", "https://a.localhost/", "http://example.com/",
		"https://user:pass@example.com/", "https://example.com/#f", "ftp://example.com/", "https:///x", "nonsense",
	} {
		r := p.ctl("sub", "create", url, "--name", "x", "-o", "json")
		if r.code == 0 || r.stdout != "" {
			t.Errorf("%s: exit %d, stdout %q", url, r.code, r.stdout)
			p.ctl("sub", "delete", "x", "--yes")
			continue
		}
		lines := strings.Split(strings.TrimSpace(r.stderr), "\n")
		var said struct {
			Code, Message string
			ExitCode      int `json:"exit_code"`
		}
		if err := json.Unmarshal([]byte(lines[len(lines)-1]), &said); err != nil || said.Code == "" || said.Message == "" || said.ExitCode != r.code {
			t.Errorf("%s: the error is not one JSON object on the last line: %q", url, r.stderr)
		}
		if strings.Contains(r.stderr, "pass@") {
			t.Errorf("%s: the error shows the user info", url)
		}
	}
}

// TestNamesJudgedAtConnect: a name is judged by the address it has when the connection is made. The names are those of
// a hosts file that only this hookd sees, in a mount namespace of its own.
func TestNamesJudgedAtConnect(t *testing.T) {
	t.Parallel()
	addresses := map[string]string{
		"loopback": "127.0.0.1", "loopback6": "::1", "private": "10.0.0.5", "shared": "100.64.0.1", "zero": "0.0.0.0",
		"metadata": "169.254.169.254", "azure": "168.63.129.16", "unique-local": "fd00::1", "site-local": "fec0::1",
		"mapped": "::ffff:127.0.0.1", "nat64": "64:ff9b::7f00:1", "6to4": "2002:7f00:1::", "multicast": "224.0.0.1",
	}
	p := newPlace(t)
	hosts := p.path("hosts")
	var text strings.Builder
	for name, address := range addresses {
		fmt.Fprintf(&text, "%s %s.example\n", address, name)
	}
	if err := os.WriteFile(hosts, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	p.wrapper = []string{
		"unshare", "--user", "--map-root-user", "--mount", "sh", "-c",
		`mount --bind "$0" /etc/hosts && exec "$@"`, hosts,
	}
	if err := exec.Command(p.wrapper[0], append(p.wrapper[1:], "true")...).Run(); err != nil {
		t.Logf("SKIPPED: this machine allows no mount namespace (%v); package egress tests the same with a resolver of its own", err)
		return
	}
	log := p.path("events.ndjson")
	p.start("--source", "file:"+log)
	for name := range addresses {
		p.must("sub", "create", "https://"+name+".example/", "--name", name, "--retry", "tiers:0s")
	}
	p.appendLines(log, sample(1, 1)...)
	p.must("wait", "--idle", "--timeout", "60s")
	var dead []struct {
		Subscription string
		LastError    string `json:"last_error"`
	}
	p.ask(&dead, "dlq", "list")
	if len(dead) != len(addresses) {
		t.Errorf("%d of %d names ended as dead letters", len(dead), len(addresses))
	}
	for _, d := range dead {
		if d.LastError != "address_blocked" {
			t.Errorf("%s: %s, want address_blocked", d.Subscription, d.LastError)
		}
	}
}
