package signing

import (
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
)

const (
	testID        = "evt-1"
	testTimestamp = int64(1767225600)
	testBody      = `{"id":"evt-1","data":{"n":1}}`
	testTolerance = 5 * time.Minute
)

func wantCode(t *testing.T, err error, code string) *Problem {
	t.Helper()
	var problem *Problem
	if !errors.As(err, &problem) {
		t.Fatalf("got %v, want a problem %s", err, code)
	}
	if problem.Code != code {
		t.Fatalf("got %s (%s), want %s", problem.Code, problem.Message, code)
	}
	return problem
}

func signed(secrets ...Secret) string {
	return string(NewSigner(secrets...).Sign(nil, testID, testTimestamp, []byte(testBody)))
}

func testHeaders() http.Header {
	return http.Header{
		HeaderID:             {testID},
		HeaderTimestamp:      {strconv.FormatInt(testTimestamp, 10)},
		HeaderSignature:      {signed(counting(32))},
		HeaderIdempotencyKey: {testID},
		HeaderAttempt:        {"1"},
	}
}

func TestVerifyTakes(t *testing.T) {
	secret, other := Secret(counting(32)), Secret(counting(33))
	tests := []struct {
		name    string
		change  func(http.Header)
		secrets []Secret
	}{
		{"names as sent", func(http.Header) {}, []Secret{secret}},
		{"canonical names", func(h http.Header) {
			for name, values := range h {
				delete(h, name)
				h[http.CanonicalHeaderKey(name)] = values
			}
		}, []Secret{secret}},
		{"names in capitals", func(h http.Header) {
			for name, values := range h {
				delete(h, name)
				h[strings.ToUpper(name)] = values
			}
		}, []Secret{secret}},
		{"no idempotency-key", func(h http.Header) { delete(h, HeaderIdempotencyKey) }, []Secret{secret}},
		{"several secrets, the last fits", func(http.Header) {}, []Secret{other, secret}},
		{"several signatures, the last fits", func(h http.Header) { h[HeaderSignature] = []string{signed(other, secret)} }, []Secret{secret}},
		{"unknown schemes beside it", func(h http.Header) {
			h[HeaderSignature] = []string{"v1a,AAAA v2,x,y " + signed(secret) + " v99,zz"}
		}, []Secret{secret}},
		{"an odd entry beside it", func(h http.Header) { h[HeaderSignature] = []string{"v1,short nonsense " + signed(secret)} }, []Secret{secret}},
		{"two spaces", func(h http.Header) { h[HeaderSignature] = []string{signed(other) + "  " + signed(secret)} }, []Secret{secret}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := testHeaders()
			tt.change(h)
			if err := Verify(h, []byte(testBody), tt.secrets, time.Unix(testTimestamp, 0), testTolerance); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestVerifyNamesTheProblem(t *testing.T) {
	secret, other := Secret(counting(32)), Secret(counting(33))
	set := func(name string, values ...string) func(http.Header) {
		return func(h http.Header) { h[name] = values }
	}
	drop := func(name string) func(http.Header) {
		return func(h http.Header) { delete(h, name) }
	}
	as := func(values ...Secret) []Secret { return values }
	digest := strings.TrimPrefix(signed(secret), "v1,")
	tests := []struct {
		name    string
		change  func(http.Header)
		secrets []Secret
		code    string
		message string // must stand in the message
	}{
		{"no id", drop(HeaderID), as(secret), CodeHeaderMissing, "no webhook-id"},
		{"no timestamp", drop(HeaderTimestamp), as(secret), CodeHeaderMissing, "no webhook-timestamp"},
		{"no signature", drop(HeaderSignature), as(secret), CodeHeaderMissing, "no webhook-signature"},
		{"a name without values", set(HeaderSignature), as(secret), CodeHeaderMissing, "no webhook-signature"},
		{"id twice", set(HeaderID, testID, testID), as(secret), CodeHeaderMalformed, "webhook-id is there 2 times"},
		{"timestamp twice", set(HeaderTimestamp, "1", "1"), as(secret), CodeHeaderMalformed, "webhook-timestamp is there 2 times"},
		{"signature twice", set(HeaderSignature, "a", "b"), as(secret), CodeHeaderMalformed, "webhook-signature is there 2 times"},
		{"id in two spellings", set("Webhook-Id", testID), as(secret), CodeHeaderMalformed, "webhook-id is there 2 times"},
		{"idempotency-key twice", set(HeaderIdempotencyKey, testID, testID), as(secret), CodeHeaderMalformed, "idempotency-key is there 2 times"},

		{"empty id", set(HeaderID, ""), as(secret), CodeHeaderMalformed, "webhook-id is empty"},
		{"id with a dot", set(HeaderID, "a.1700000000"), as(secret), CodeHeaderMalformed, "dot"},
		{"id with a line break", set(HeaderID, "x\r\nEvil: 1"), as(secret), CodeHeaderMalformed, "visible ASCII"},
		{"id with a space at the end", set(HeaderID, "abc "), as(secret), CodeHeaderMalformed, "visible ASCII"},
		{"id outside ASCII", set(HeaderID, "é"), as(secret), CodeHeaderMalformed, "visible ASCII"},
		{"id of 257", set(HeaderID, strings.Repeat("a", 257)), as(secret), CodeHeaderMalformed, "257 bytes, more than 256"},
		{"id of 10 kB", set(HeaderID, strings.Repeat("a", 10_000)), as(secret), CodeHeaderMalformed, "more than 256"},

		{"empty timestamp", set(HeaderTimestamp, ""), as(secret), CodeHeaderMalformed, "webhook-timestamp is empty"},
		{"timestamp with a sign", set(HeaderTimestamp, "+1767225600"), as(secret), CodeHeaderMalformed, "whole Unix seconds"},
		{"timestamp below zero", set(HeaderTimestamp, "-1"), as(secret), CodeHeaderMalformed, "whole Unix seconds"},
		{"timestamp with zeros before", set(HeaderTimestamp, "01767225600"), as(secret), CodeHeaderMalformed, "whole Unix seconds"},
		{"timestamp with a fraction", set(HeaderTimestamp, "1767225600.5"), as(secret), CodeHeaderMalformed, "whole Unix seconds"},
		{"timestamp as a date", set(HeaderTimestamp, "2026-01-01T00:00:00Z"), as(secret), CodeHeaderMalformed, "whole Unix seconds"},
		{"timestamp with a space", set(HeaderTimestamp, " 1767225600"), as(secret), CodeHeaderMalformed, "whole Unix seconds"},
		{"timestamp in other digits", set(HeaderTimestamp, "١٢٣"), as(secret), CodeHeaderMalformed, "whole Unix seconds"},
		{"timestamp too long", set(HeaderTimestamp, strings.Repeat("9", 400)), as(secret), CodeHeaderMalformed, "whole Unix seconds"},
		{"timestamp in milliseconds", set(HeaderTimestamp, "1767225600000"), as(secret), CodeTimestampTooNew, "ahead of this clock"},
		{"timestamp zero", set(HeaderTimestamp, "0"), as(secret), CodeTimestampTooOld, "before this clock"},

		{"empty signature", set(HeaderSignature, ""), as(secret), CodeHeaderMalformed, "webhook-signature is empty"},
		{"signature without scheme", set(HeaderSignature, digest), as(secret), CodeHeaderMalformed, "entry 1 of webhook-signature is not a scheme"},
		{"signature without value", set(HeaderSignature, "v1,"), as(secret), CodeHeaderMalformed, "is not a scheme"},
		{"value without scheme", set(HeaderSignature, ","+digest), as(secret), CodeHeaderMalformed, "is not a scheme"},
		{"signature cut", set(HeaderSignature, "v1,"+digest[:40]), as(secret), CodeHeaderMalformed, "32 bytes"},
		{"signature in hex", set(HeaderSignature, "v1,"+strings.Repeat("0a", 32)), as(secret), CodeHeaderMalformed, "32 bytes"},
		{"signature without padding", set(HeaderSignature, "v1,"+strings.TrimRight(digest, "=")), as(secret), CodeHeaderMalformed, "32 bytes"},
		{"signature with a line break", set(HeaderSignature, "v1,\n"+digest[1:]), as(secret), CodeHeaderMalformed, "32 bytes"},
		{"second entry empty", set(HeaderSignature, signed(other)+" "), as(secret), CodeHeaderMalformed, "entry 2 of webhook-signature is empty"},
		{"comma between entries", set(HeaderSignature, signed(secret)+","+signed(secret)), as(secret), CodeHeaderMalformed, "entry 1"},
		{"scheme in capitals", set(HeaderSignature, "V1,"+digest), as(secret), CodeSignatureMismatch, "no entry of scheme v1"},
		{"only other schemes", set(HeaderSignature, "v1a,"+digest+" v2,x"), as(secret), CodeSignatureMismatch, "no entry of scheme v1"},
		{"another secret", func(http.Header) {}, as(other), CodeSignatureMismatch, "another secret"},
		{"no secret", func(http.Header) {}, nil, CodeSignatureMismatch, "no secret"},
		{"empty secret", func(http.Header) {}, as(Secret{}), CodeSignatureMismatch, "no secret"},
		{"another id", set(HeaderID, "evt-2"), as(secret), CodeSignatureMismatch, "the id, time or body"},

		{"another idempotency-key", set(HeaderIdempotencyKey, "evt-2"), as(secret), CodeIDMismatch, "idempotency-key differs"},
		{"idempotency-key in other letters", set(HeaderIdempotencyKey, "EVT-1"), as(secret), CodeIDMismatch, "idempotency-key differs"},
		{"empty idempotency-key", set(HeaderIdempotencyKey, ""), as(secret), CodeIDMismatch, "idempotency-key differs"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := testHeaders()
			tt.change(h)
			err := Verify(h, []byte(testBody), tt.secrets, time.Unix(testTimestamp, 0), testTolerance)
			problem := wantCode(t, err, tt.code)
			if !strings.Contains(problem.Message, tt.message) {
				t.Errorf("message %q lacks %q", problem.Message, tt.message)
			}
			if !strings.Contains(err.Error(), problem.Message) {
				t.Errorf("error %q lacks the message", err)
			}
			for name, values := range h {
				for _, value := range values {
					if len(value) > 3 && strings.Contains(err.Error(), value) {
						t.Errorf("error %q shows the value of %s", err, name)
					}
				}
			}
		})
	}
}

// A key that anybody can guess fits nothing, even a signature made with it.
func TestVerifyPassesOverEmptySecret(t *testing.T) {
	const emptyKeyDigest = "v1,FF6q1WAXc4ZIa7Jgfz+IBq/OTXWYPUWS1IDDAhaIH9I="
	h := testHeaders()
	h[HeaderSignature] = []string{emptyKeyDigest}
	wantCode(t, Verify(h, []byte(testBody), []Secret{nil, {}}, time.Unix(testTimestamp, 0), testTolerance), CodeSignatureMismatch)
}

func TestVerifyTolerance(t *testing.T) {
	sent := time.Unix(testTimestamp, 0)
	tests := []struct {
		name    string
		now     time.Time
		code    string // empty: it verifies
		message string
	}{
		{"at once", sent, "", ""},
		{"as old as may be", sent.Add(testTolerance), "", ""},
		{"as new as may be", sent.Add(-testTolerance), "", ""},
		{"too old by a hair", sent.Add(testTolerance + time.Nanosecond), CodeTimestampTooOld, "5m0s before this clock; the tolerance is 5m0s"},
		{"too new by a hair", sent.Add(-testTolerance - time.Nanosecond), CodeTimestampTooNew, "5m0s ahead"},
		{"400 s old", sent.Add(400 * time.Second), CodeTimestampTooOld, "6m40s before this clock"},
		{"400 s ahead", sent.Add(-400 * time.Second), CodeTimestampTooNew, "6m40s ahead of this clock"},
		{"clock never set", time.Time{}, CodeTimestampTooNew, "ahead"},
		{"clock far ahead", time.Unix(math.MaxInt32*1000, 0), CodeTimestampTooOld, "before"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := Verify(testHeaders(), []byte(testBody), []Secret{counting(32)}, tt.now, testTolerance)
			if tt.code == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if problem := wantCode(t, err, tt.code); !strings.Contains(problem.Message, tt.message) {
				t.Errorf("message %q lacks %q", problem.Message, tt.message)
			}
		})
	}
}

func FuzzVerify(f *testing.F) {
	digest := signed(counting(32))
	f.Add("evt-1", "1767225600", digest, "evt-1", []byte(testBody), int64(1767225600))
	f.Add("", "", "", "", []byte(nil), int64(0))
	f.Add("a.1", "-1", "v1,", "x", []byte("{}"), int64(-1))
	f.Add("x\r\nEvil: 1", "99999999999999999999", "v1a,AAAA v1,\n v2", "é", []byte("\xff"), int64(math.MaxInt64))
	f.Add("évt", "0", " , ,, "+digest, "", []byte("\ufeff{}"), int64(math.MinInt64))
	secrets := []Secret{counting(32), counting(64)}
	signer := NewSigner(secrets[1], secrets[0])
	f.Fuzz(func(t *testing.T, id, timestamp, signature, key string, body []byte, at int64) {
		h := http.Header{
			HeaderID:                {id},
			"Webhook-Timestamp":     {timestamp},
			HeaderSignature:         {signature},
			"IDEMPOTENCY-KEY":       {key},
			"x" + HeaderID + "\x00": {id},
		}
		var problem *Problem
		if err := Verify(h, body, secrets, time.Unix(at, 0), testTolerance); err != nil && !errors.As(err, &problem) {
			t.Fatalf("%v is no problem with a code", err)
		}

		// What Sign makes for an id and time in their forms always verifies.
		if id == "" || checkID(id) != nil || at < 0 || len(strconv.FormatInt(at, 10)) > maxTimestampDigits {
			return
		}
		h = http.Header{
			HeaderID:             {id},
			HeaderTimestamp:      {strconv.FormatInt(at, 10)},
			HeaderSignature:      {string(signer.Sign(nil, id, at, body))},
			HeaderIdempotencyKey: {id},
		}
		for _, secret := range secrets {
			if err := Verify(h, body, []Secret{secret}, time.Unix(at, 0), 0); err != nil {
				t.Fatalf("own signature: %v", err)
			}
		}
		wantCode(t, Verify(h, append(body, 'x'), secrets, time.Unix(at, 0), 0), CodeSignatureMismatch)
	})
}
