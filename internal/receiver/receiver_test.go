package receiver

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"hookd/internal/signing"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const secretText = "whsec_RVhBTVBMRS1leGFtcGxlLUVYQU1QTEUtZXhhbXBsZQ=="

func secret(t *testing.T) signing.Secret {
	t.Helper()
	s, err := signing.ParseSecret(secretText)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// fixture is a running receiver with what it handed out.
type fixture struct {
	url  string
	got  []Delivery // read only after a request was answered
	stop func() error
}

func start(t *testing.T, o Options) *fixture {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{url: "http://" + l.Addr().String() + "/"}
	o.Secrets = []signing.Secret{secret(t)}
	if o.Now == nil {
		o.Now = time.Now
	}
	deliver := o.Deliver
	o.Deliver = func(d Delivery) bool {
		f.got = append(f.got, d)
		return deliver == nil || deliver(d)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- New(o).Serve(ctx, l) }()
	f.stop = func() error {
		cancel()
		http.DefaultClient.CloseIdleConnections()
		return <-ended
	}
	t.Cleanup(cancel)
	return f
}

// signed makes the request that hookd would send.
func (f *fixture) signed(t *testing.T, id string, attempt int, body string) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, f.url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now().Unix()
	req.Header.Set("Content-Type", "application/json")
	req.Header["webhook-id"] = []string{id}
	req.Header["webhook-timestamp"] = []string{strconv.FormatInt(now, 10)}
	req.Header["webhook-signature"] = []string{string(signing.NewSigner(secret(t)).Sign(nil, id, now, []byte(body)))}
	req.Header["hookd-attempt"] = []string{strconv.Itoa(attempt)}
	return req
}

func send(t *testing.T, req *http.Request) *http.Response {
	t.Helper()
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	return resp
}

func TestVerifiedDelivery(t *testing.T) {
	f := start(t, Options{})
	const body = `{"id":"evt-1","type":"order.paid","data":{"n":9007199254740993}}`
	req := f.signed(t, "evt-1", 3, body)
	req.Header["X-Two"] = []string{"a", "b"}
	if resp := send(t, req); resp.StatusCode != http.StatusNoContent {
		t.Errorf("answered %d", resp.StatusCode)
	}
	if err := f.stop(); err != nil {
		t.Fatal(err)
	}
	if len(f.got) != 1 {
		t.Fatalf("got %d deliveries", len(f.got))
	}
	d := f.got[0]
	if d.WebhookID != "evt-1" || d.Attempt != 3 || !d.Verified || d.Problem != "" || d.Status != 204 || d.Type != "order.paid" ||
		d.Body != body || d.Headers["webhook-id"] != "evt-1" || d.Headers["x-two"] != "a, b" || time.Since(time.Unix(d.Timestamp, 0)) > time.Minute {
		t.Errorf("got %+v", d)
	}
}

func TestNotVerified(t *testing.T) {
	tests := []struct {
		name   string
		change func(r *http.Request)
		code   string
		status int
	}{
		{"no signature", func(r *http.Request) { delete(r.Header, "webhook-signature") }, signing.CodeHeaderMissing, 401},
		{"another secret", func(r *http.Request) {
			r.Header["webhook-signature"] = []string{"v1,AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="}
		}, signing.CodeSignatureMismatch, 401},
		{"body changed", func(r *http.Request) {
			r.Body = io.NopCloser(strings.NewReader(`{"a":2}`))
		}, signing.CodeSignatureMismatch, 401},
		{"id changed", func(r *http.Request) { r.Header["webhook-id"] = []string{"evt-2"} }, signing.CodeSignatureMismatch, 401},
		{"idempotency key of another", func(r *http.Request) {
			r.Header["idempotency-key"] = []string{"evt-2"}
		}, signing.CodeIDMismatch, 401},
		{"old", func(r *http.Request) {
			old := time.Now().Add(-Tolerance - 10*time.Second).Unix()
			s, _ := signing.ParseSecret(secretText)
			r.Header["webhook-timestamp"] = []string{strconv.FormatInt(old, 10)}
			r.Header["webhook-signature"] = []string{string(signing.NewSigner(s).Sign(nil, "evt-1", old, []byte(`{"a":1}`)))}
		}, signing.CodeTimestampTooOld, 401},
		{"too long", func(r *http.Request) {
			r.Body = io.NopCloser(bytes.NewReader(make([]byte, MaxBody+1)))
			r.ContentLength = MaxBody + 1
		}, CodeBodyTooLarge, 413},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := start(t, Options{Fail: FailAlways, Status: 500})
			req := f.signed(t, "evt-1", 1, `{"a":1}`)
			tt.change(req)
			if resp := send(t, req); resp.StatusCode != tt.status {
				t.Errorf("answered %d, want %d", resp.StatusCode, tt.status)
			}
			if err := f.stop(); err != nil {
				t.Fatal(err)
			}
			if len(f.got) != 1 || f.got[0].Verified || !strings.HasPrefix(f.got[0].Problem, tt.code+": ") || f.got[0].Status != tt.status {
				t.Errorf("got %+v", f.got)
			}
		})
	}
}

func TestFailsAsTold(t *testing.T) {
	tests := []struct {
		name string
		fail int
		want []int
	}{
		{"none", 0, []int{204, 204, 204}},
		{"first two", 2, []int{503, 503, 204}},
		{"always", FailAlways, []int{503, 503, 503}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := start(t, Options{Fail: tt.fail, Status: 503, RetryAfter: "7"})
			for i, want := range tt.want {
				// A request that does not verify does not use up a failure.
				bad := f.signed(t, "evt-1", i+1, `{}`)
				delete(bad.Header, "webhook-signature")
				send(t, bad)
				resp := send(t, f.signed(t, "evt-1", i+1, `{}`))
				if resp.StatusCode != want {
					t.Errorf("request %d answered %d, want %d", i+1, resp.StatusCode, want)
				}
				if after := resp.Header.Get("Retry-After"); (after == "7") != (want == 503) {
					t.Errorf("request %d: Retry-After %q with %d", i+1, after, want)
				}
			}
			if err := f.stop(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestNothingIsTakenAfterTheEnd(t *testing.T) {
	f := start(t, Options{Deliver: func(Delivery) bool { return false }})
	if resp := send(t, f.signed(t, "evt-1", 1, `{}`)); resp.StatusCode != 204 {
		t.Errorf("the last one was answered %d", resp.StatusCode)
	}
	if resp := send(t, f.signed(t, "evt-2", 1, `{}`)); resp.StatusCode != 503 {
		t.Errorf("one after the end was answered %d", resp.StatusCode)
	}
	if err := f.stop(); err != nil {
		t.Fatal(err)
	}
	if len(f.got) != 1 {
		t.Errorf("handed out %d", len(f.got))
	}
}

// The answer that ends the receiver must still reach its sender.
func TestStoppingAnswersWhatIsInHand(t *testing.T) {
	entered, goOn := make(chan struct{}), make(chan struct{})
	f := start(t, Options{Deliver: func(Delivery) bool {
		close(entered)
		<-goOn
		return true
	}})
	status := make(chan int, 1)
	req := f.signed(t, "evt-1", 1, `{}`)
	go func() {
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			status <- 0
			return
		}
		resp.Body.Close()
		status <- resp.StatusCode
	}()
	<-entered
	stopped := make(chan error, 1)
	go func() { stopped <- f.stop() }()
	close(goOn)
	if got := <-status; got != 204 {
		t.Errorf("answered %d", got)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

func TestOnlyPostIsADelivery(t *testing.T) {
	f := start(t, Options{})
	req := f.signed(t, "evt-1", 1, ``)
	req.Method, req.Body = http.MethodGet, nil
	if resp := send(t, req); resp.StatusCode != 405 || resp.Header.Get("Allow") != "POST" {
		t.Errorf("answered %d", resp.StatusCode)
	}
	if err := f.stop(); err != nil {
		t.Fatal(err)
	}
	if len(f.got) != 0 {
		t.Errorf("handed out %+v", f.got)
	}
}

func TestServeTellsWhyItEnded(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	if err := New(Options{}).Serve(t.Context(), l); err == nil {
		t.Error("a closed listener is no error")
	}
}

func TestDeliveryMembers(t *testing.T) {
	raw, err := json.Marshal(newDelivery(http.Header{}, []byte("not JSON")))
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"timestamp":0,"attempt":0,"verified":false,"status":0,"headers":{},"body":"not JSON"}`
	if string(raw) != want {
		t.Errorf("got %s", raw)
	}
}
