package signing

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

type signatureVector struct {
	Name            string   `json:"name"`
	WebhookID       string   `json:"webhook_id"`
	Timestamp       int64    `json:"timestamp"`
	Body            string   `json:"body"`
	HMACSecrets     []string `json:"hmac_secrets"`
	SignatureHeader string   `json:"signature_header"`
}

func (v signatureVector) secrets(t testing.TB) []Secret {
	t.Helper()
	var secrets []Secret
	for _, text := range v.HMACSecrets {
		secret, err := ParseSecret(text)
		if err != nil {
			t.Fatal(err)
		}
		secrets = append(secrets, secret)
	}
	return secrets
}

func (v signatureVector) headers() http.Header {
	return http.Header{
		HeaderID:        {v.WebhookID},
		HeaderTimestamp: {strconv.FormatInt(v.Timestamp, 10)},
		HeaderSignature: {v.SignatureHeader},
	}
}

func (v signatureVector) verify(h http.Header, body []byte, secrets []Secret) error {
	return Verify(h, body, secrets, time.Unix(v.Timestamp, 0), 0)
}

// The headers in the file were computed with openssl and Python, not with this
// package.
func loadSignatureVectors(t testing.TB) []signatureVector {
	t.Helper()
	content, err := os.ReadFile("../../testvectors/webhook-test-vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Version    int               `json:"version"`
		Signatures []signatureVector `json:"signatures"`
	}
	if err := json.Unmarshal(content, &file); err != nil {
		t.Fatal(err)
	}
	if file.Version != 1 || len(file.Signatures) < 4 {
		t.Fatalf("version %d with %d signatures", file.Version, len(file.Signatures))
	}
	return file.Signatures
}

func TestVectorsAreReproduced(t *testing.T) {
	for _, v := range loadSignatureVectors(t) {
		t.Run(v.Name, func(t *testing.T) {
			signer := NewSigner(v.secrets(t)...)
			for range 2 { // the second time from the kept states
				got := string(signer.Sign(nil, v.WebhookID, v.Timestamp, []byte(v.Body)))
				if got != v.SignatureHeader {
					t.Fatalf("signed %q, want %q", got, v.SignatureHeader)
				}
			}
		})
	}
}

func TestVectorsVerify(t *testing.T) {
	for _, v := range loadSignatureVectors(t) {
		t.Run(v.Name, func(t *testing.T) {
			secrets := v.secrets(t)
			if err := v.verify(v.headers(), []byte(v.Body), secrets); err != nil {
				t.Fatal(err)
			}
			for i, secret := range secrets {
				if err := v.verify(v.headers(), []byte(v.Body), []Secret{secret}); err != nil {
					t.Errorf("with secret %d alone: %v", i, err)
				}
			}
		})
	}
}

func TestVectorsFailWithOneByteChanged(t *testing.T) {
	for _, v := range loadSignatureVectors(t) {
		t.Run(v.Name, func(t *testing.T) {
			secrets := v.secrets(t)
			for i := range len(v.Body) {
				body := []byte(v.Body)
				body[i] ^= 1
				wantCode(t, v.verify(v.headers(), body, secrets), CodeSignatureMismatch)
			}
			wantCode(t, v.verify(v.headers(), []byte(v.Body+"\n"), secrets), CodeSignatureMismatch)

			changed := v
			changed.WebhookID = "f" + v.WebhookID[1:]
			wantCode(t, v.verify(changed.headers(), []byte(v.Body), secrets), CodeSignatureMismatch)

			changed = v
			changed.Timestamp++
			wantCode(t, changed.verify(changed.headers(), []byte(v.Body), secrets), CodeSignatureMismatch)

			for i, secret := range secrets {
				other := bytes.Clone(secret)
				other[len(other)-1] ^= 1
				wantCode(t, v.verify(v.headers(), []byte(v.Body), []Secret{other}), CodeSignatureMismatch)

				// One entry alone, each of its characters changed in turn.
				entry := strings.Fields(v.SignatureHeader)[i]
				for at := range len(entry) {
					changed = v
					changed.SignatureHeader = entry[:at] + string(entry[at]^1) + entry[at+1:]
					if err := v.verify(changed.headers(), []byte(v.Body), secrets); err == nil {
						t.Fatalf("entry %d verifies with character %d changed", i, at)
					}
				}
			}
		})
	}
}

func TestVectorsVerifyWithReferenceLibrary(t *testing.T) {
	for _, v := range loadSignatureVectors(t) {
		t.Run(v.Name, func(t *testing.T) {
			for i, secret := range v.secrets(t) {
				reference, err := standardwebhooks.NewWebhook(secret.Text())
				if err != nil {
					t.Fatal(err)
				}
				h := http.Header{}
				h.Set(HeaderID, v.WebhookID)
				h.Set(HeaderTimestamp, strconv.FormatInt(v.Timestamp, 10))
				h.Set(HeaderSignature, strings.Fields(v.SignatureHeader)[i])
				if err := reference.VerifyIgnoringTimestamp([]byte(v.Body), h); err != nil {
					t.Errorf("entry %d: %v", i, err)
				}
				h.Set(HeaderSignature, v.SignatureHeader)
				if err := reference.VerifyIgnoringTimestamp([]byte(v.Body), h); err != nil {
					t.Errorf("whole header with secret %d: %v", i, err)
				}
				if err := reference.VerifyIgnoringTimestamp([]byte(v.Body+" "), h); err == nil {
					t.Error("the reference library takes a changed body")
				}
			}
		})
	}
}
