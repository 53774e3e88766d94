package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"time"

	"hookd/internal/event"
	"hookd/internal/signing"
)

// senderJob has the bare sender send Total requests to URL/0 ... URL/N-1 from N goroutines.
type senderJob struct {
	URL   string `json:"url"`
	N     int    `json:"n"`
	Total int    `json:"total"`
	// Every is the time from one request of a goroutine to its next; 0: each right after the answer to the one before.
	Every time.Duration `json:"every"`
}

// sent is how long the requests took, from before the signature to the end of the answer. Without Every nobody asks.
type sent struct {
	Took []time.Duration `json:"took,omitempty"`
}

// serveSender is the limit: what any sender in Go must do for a webhook, and nothing else.
func serveSender(in io.Reader, out io.Writer) error {
	transport := &http.Transport{
		MaxIdleConnsPerHost: 1024,
		IdleConnTimeout:     time.Minute,
		DisableCompression:  true,
	}
	defer transport.CloseIdleConnections()
	return serveJobs(in, out, func(job senderJob) (sent, error) { return sendAll(transport, job) })
}

func sendAll(transport *http.Transport, job senderJob) (sent, error) {
	var wg sync.WaitGroup
	took, failed := make([][]time.Duration, job.N), make([]error, job.N)
	for i := range job.N {
		share := job.Total / job.N
		if i < job.Total%job.N {
			share++
		}
		wg.Go(func() { took[i], failed[i] = sendShare(transport, job, i, share) })
	}
	wg.Wait()
	return sent{Took: slices.Concat(took...)}, errors.Join(failed...)
}

// sendShare is one goroutine's loop. Every body is the same: the limit need not even make one.
func sendShare(transport *http.Transport, job senderJob, number, share int) ([]time.Duration, error) {
	target, err := url.Parse(job.URL + "/" + strconv.Itoa(number))
	if err != nil {
		return nil, fmt.Errorf("parse URL: %w", err)
	}
	id, body, err := sampleBody()
	if err != nil {
		return nil, err
	}
	signer := signing.NewSigner(bytes.Repeat([]byte{byte(number + 1)}, 32))
	var tick <-chan time.Time
	if job.Every > 0 {
		ticker := time.NewTicker(job.Every)
		defer ticker.Stop()
		tick = ticker.C
	}
	var took []time.Duration
	for range share {
		if tick != nil {
			<-tick
		}
		began := time.Now()
		if err := post(transport, target, signer, id, body, began); err != nil {
			return nil, err
		}
		if tick != nil {
			took = append(took, time.Since(began))
		}
	}
	return took, nil
}

func post(transport *http.Transport, target *url.URL, signer *signing.Signer, id string, body []byte, now time.Time) error {
	second := now.Unix()
	request := &http.Request{
		Method: http.MethodPost, URL: target, Host: target.Host,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{
			"Content-Type":               {"application/json"},
			"User-Agent":                 {"hookd/bench"},
			signing.HeaderID:             {id},
			signing.HeaderTimestamp:      {strconv.FormatInt(second, 10)},
			signing.HeaderSignature:      {string(signer.Sign(nil, id, second, body))},
			signing.HeaderIdempotencyKey: {id},
			signing.HeaderAttempt:        {"1"},
		},
		Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
	}
	response, err := transport.RoundTrip(request)
	if err != nil {
		return fmt.Errorf("send: %w", err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("send: status %d", response.StatusCode)
	}
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return fmt.Errorf("read answer: %w", err)
	}
	return nil
}

// sampleBody is the body that hookd makes of a line of these benchmarks.
func sampleBody() (id string, body []byte, err error) {
	line := bytes.TrimSuffix(newLineMaker(false, lineBytes).next(), []byte("\n"))
	e, err := event.Parse(line, event.DefaultMaxBytes)
	if err != nil {
		return "", nil, fmt.Errorf("make body: %w", err)
	}
	return e.ID, e.AppendEnvelope(nil, event.Stamp{Seq: 123456, Epoch: "b1bb7c05-b0a0-4d9c-a4c6-6b0b3a5f5d3e"}), nil
}
