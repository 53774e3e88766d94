package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// capture is one received request for a verifier of another language.
type capture struct {
	Secret  string            `json:"secret"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
}

func captureOf(secret string, q request) capture {
	return capture{Secret: secret, Body: string(q.Body), Headers: map[string]string{
		"webhook-id": q.ID, "webhook-timestamp": q.Timestamp, "webhook-signature": q.Signature,
	}}
}

// verifyElsewhere verifies each request with the Standard Webhooks library for Node, and sees a changed body fail.
func verifyElsewhere(t *testing.T, captured []capture) {
	t.Helper()
	npm, err := exec.LookPath("npm")
	if err != nil {
		t.Log("SKIPPED: npm is not installed, so the Standard Webhooks library for Node verified nothing")
		return
	}
	dir := t.TempDir()
	for _, name := range []string{"package.json", "package-lock.json", "verify.js"} {
		text, err := os.ReadFile(filepath.Join("testdata/node", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	install := exec.Command(npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	install.Dir = dir
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("npm ci: %v\n%s", err, out)
	}
	var input strings.Builder
	if err := json.NewEncoder(&input).Encode(captured); err != nil {
		t.Fatal(err)
	}
	verify := exec.Command("node", "verify.js")
	verify.Dir, verify.Stdin = dir, strings.NewReader(input.String())
	out, err := verify.CombinedOutput()
	if err != nil {
		t.Fatalf("verify.js: %v\n%s", err, out)
	}
	var said struct{ Verified, Refused int }
	if err := json.Unmarshal(out, &said); err != nil {
		t.Fatalf("verify.js said %q", out)
	}
	if said.Verified != len(captured) || said.Refused != len(captured) || len(captured) == 0 {
		t.Errorf("of %d requests %d verified; of as many with a changed byte %d were refused", len(captured), said.Verified, said.Refused)
	}
}
