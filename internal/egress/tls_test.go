package egress

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// authority of certificates for receivers.
type testCA struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	file string
}

func newCA(tb testing.TB) *testCA {
	tb.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test CA"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		tb.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		tb.Fatal(err)
	}
	file := filepath.Join(tb.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		tb.Fatal(err)
	}
	return &testCA{cert: cert, key: key, file: file}
}

// issue makes a certificate for 127.0.0.1 and svc.example, after change.
func (ca *testCA) issue(tb testing.TB, change func(*x509.Certificate)) tls.Certificate {
	tb.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), DNSNames: []string{"svc.example"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	if change != nil {
		change(template)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, ca.cert, &key.PublicKey, ca.key)
	if err != nil {
		tb.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// overTLS makes the handshake before it handles the connection.
func overTLS(config *tls.Config, handle func(*receiver, net.Conn)) func(*receiver, net.Conn) {
	return func(r *receiver, conn net.Conn) { handle(r, tls.Server(conn, config)) }
}

func TestTLS(t *testing.T) {
	ca, other := newCA(t), newCA(t)
	hour := time.Hour
	good := ca.issue(t, nil)
	serving := func(cert tls.Certificate) *tls.Config { return &tls.Config{Certificates: []tls.Certificate{cert}} }
	for _, c := range []struct {
		name   string
		config *tls.Config
		caFile string
		detail string // empty: delivered
	}{
		{"own CA", serving(good), ca.file, ""},
		{"TLS 1.2", &tls.Config{Certificates: []tls.Certificate{good}, MaxVersion: tls.VersionTLS12}, ca.file, ""},
		{"system roots only", serving(good), "", "tls: the certificate is signed by an unknown authority"},
		{"another CA", serving(good), other.file, "tls: the certificate is signed by an unknown authority"},
		{"expired", serving(ca.issue(t, func(c *x509.Certificate) {
			c.NotBefore, c.NotAfter = c.NotBefore.Add(-2*hour), c.NotAfter.Add(-2*hour)
		})), ca.file, "tls: the certificate has expired or is not valid yet"},
		{"not valid yet", serving(ca.issue(t, func(c *x509.Certificate) {
			c.NotBefore, c.NotAfter = c.NotBefore.Add(2*hour), c.NotAfter.Add(2*hour)
		})), ca.file, "tls: the certificate has expired or is not valid yet"},
		{"another name", serving(ca.issue(t, func(c *x509.Certificate) {
			c.DNSNames, c.IPAddresses = []string{"other.example"}, nil
		})), ca.file, "tls: the certificate is for another name"},
		{"client use only", serving(ca.issue(t, func(c *x509.Certificate) {
			c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
		})), ca.file, "tls: the certificate is not valid"},
		{"TLS 1.1", &tls.Config{
			Certificates: []tls.Certificate{good}, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11,
		}, ca.file, "tls: the other side refused the handshake"},
		{"client certificate wanted", &tls.Config{
			Certificates: []tls.Certificate{good}, ClientAuth: tls.RequireAnyClientCert,
		}, ca.file, "tls: the other side refused the handshake"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := serve(t, overTLS(c.config, func(r *receiver, conn net.Conn) {
				in := bufio.NewReader(conn)
				for {
					if _, err := r.readRequest(in); err != nil {
						// A refused handshake leaves what the other side wrote unread; closing then would reset the
						// connection under the alert.
						_, _ = io.Copy(io.Discard, conn.(*tls.Conn).NetConn())
						return
					}
					_, _ = io.WriteString(conn, noContent)
				}
			}))
			client := newClient(t, Rules{Dev: true, CAFile: c.caFile})
			got := post(t, client, "https://"+r.addr+"/hook/TOKEN", longTime)
			if c.detail == "" {
				if got.Status != 204 {
					t.Errorf("%+v", got)
				}
				return
			}
			if got.Failure != TLSFailed || got.Detail != c.detail || got.Status != 0 || got.Stale {
				t.Errorf("%+v, want %q", got, c.detail)
			}
			if n := r.requests.Load(); n != 0 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

// The certificate is judged by the name of the URL, and the server is told it, though the connection goes to an address.
func TestNameStaysWithTheConnection(t *testing.T) {
	ca := newCA(t)
	names := make(chan string, 1)
	config := &tls.Config{
		Certificates: []tls.Certificate{ca.issue(t, func(c *x509.Certificate) { c.IPAddresses = nil })},
		GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
			names <- hello.ServerName
			return nil, nil
		},
	}
	hosts := make(chan string, 1)
	r := serve(t, overTLS(config, func(r *receiver, conn net.Conn) {
		req, err := r.readRequest(bufio.NewReader(conn))
		if err != nil {
			return
		}
		hosts <- req.Host
		_, _ = io.WriteString(conn, noContent)
	}))
	_, port, _ := net.SplitHostPort(r.addr)
	_, resolver := newNameServer(t, nameAnswer{addresses: []string{"127.0.0.1"}})
	c := newClientWith(t, Rules{AllowPrivate: []string{"svc.example:" + port}, CAFile: ca.file}, Options{Resolver: resolver})
	if got := post(t, c, "https://SVC.example.:"+port+"/", longTime); got.Status != 204 {
		t.Fatalf("%+v", got)
	}
	if name, host := <-names, <-hosts; name != "svc.example" || host != "svc.example:"+port {
		t.Errorf("server name %q, host %q", name, host)
	}
}

// newHTTP2Server serves HTTP/2 and HTTP/1.1 at 127.0.0.1.
func newHTTP2Server(t *testing.T, ca *testCA, handler http.HandlerFunc) *httptest.Server {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	server.EnableHTTP2 = true
	server.TLS = &tls.Config{Certificates: []tls.Certificate{ca.issue(t, nil)}}
	server.StartTLS()
	t.Cleanup(server.Close)
	return server
}

func TestHTTP2(t *testing.T) {
	ca := newCA(t)
	type seen struct {
		major          int
		remote         string
		id, agent, own string
		body           string
	}
	requests := make(chan seen, 1)
	server := newHTTP2Server(t, ca, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		requests <- seen{r.ProtoMajor, r.RemoteAddr, r.Header.Get("webhook-id"), r.Header.Get("User-Agent"), r.Header.Get("X-Own"), string(body)}
		switch r.URL.Path {
		case "/abort":
			panic(http.ErrAbortHandler)
		case "/busy":
			w.Header().Set("Retry-After", "5")
			w.WriteHeader(http.StatusServiceUnavailable)
		default:
			_, _ = io.WriteString(w, "ok")
		}
	})
	c := newClient(t, Rules{Dev: true, CAFile: ca.file})
	send := func(path string, fresh bool) (Result, seen) {
		got := c.Do(context.Background(), &Request{
			Target: target(t, c, server.URL+path), Header: http.Header{"webhook-id": {"evt_1"}, "X-Own": {"a"}},
			Body: []byte(`{"n":1}`), Timeout: longTime, Fresh: fresh,
		})
		return got, <-requests
	}
	got, first := send("/", false)
	if want := (seen{2, first.remote, "evt_1", "", "a", `{"n":1}`}); got.Status != 200 || first != want {
		t.Fatalf("%+v %+v", got, first)
	}
	if got, again := send("/busy", false); got.Status != 503 || got.RetryAfter != "5" || again.remote != first.remote {
		t.Errorf("%+v %+v", got, again)
	}
	if got, again := send("/", true); got.Status != 200 || again.major != 1 || again.remote == first.remote {
		t.Errorf("fresh: %+v %+v", got, again)
	}
	// The receiver ends the stream, and the connection lives on: no reason for a repeat at once.
	got, _ = send("/abort", false)
	if got.Failure != ConnectionFailed || got.Stale || got.Detail != "the other side ended the HTTP/2 stream" {
		t.Errorf("abort: %+v", got)
	}
	if got, again := send("/", false); got.Status != 200 || again.remote != first.remote {
		t.Errorf("after the abort: %+v %+v", got, again)
	}
}

// An HTTP/2 connection that was used before ends under a request.
func TestStaleHTTP2Connection(t *testing.T) {
	ca := newCA(t)
	var server *httptest.Server
	requests := make(chan string, 8)
	server = newHTTP2Server(t, ca, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		requests <- r.URL.Path
		if r.URL.Path == "/close" {
			go server.CloseClientConnections()
			<-r.Context().Done()
		}
	})
	c := newClient(t, Rules{Dev: true, CAFile: ca.file})
	if got := post(t, c, server.URL, longTime); got.Status != 200 {
		t.Fatalf("%+v", got)
	}
	got := post(t, c, server.URL+"/close", longTime)
	if got.Failure != ConnectionFailed || !got.Stale {
		t.Errorf("%+v, want it stale", got)
	}
	if n := len(requests); n != 2 {
		t.Errorf("%d requests", n)
	}
}
