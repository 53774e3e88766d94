package e2e

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// rawRequest is a request as its bytes came over TCP.
type rawRequest struct {
	lines []string // header lines, letter by letter
	body  string
	conn  int // number of the connection it came on
}

// values returns the values of the header lines with exactly this name.
func (r rawRequest) values(name string) []string {
	var found []string
	for _, line := range r.lines {
		if value, ok := strings.CutPrefix(line, name+": "); ok {
			found = append(found, value)
		}
	}
	return found
}

func (r rawRequest) value(name string) string {
	if found := r.values(name); len(found) == 1 {
		return found[0]
	}
	return ""
}

// newRawReceiver serves HTTP by hand: answer gets the number of the request, from 1, and returns the bytes of the answer
// and whether the connection is closed after it, unread. Requests come on the channel before they are answered.
func newRawReceiver(t *testing.T, answer func(n int) (text string, hangUp bool)) (url string, came <-chan rawRequest) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	requests := make(chan rawRequest, 1000)
	var mu sync.Mutex
	n, conns := 0, 0
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			conns++
			number := conns
			go func() {
				defer conn.Close()
				in := bufio.NewReader(conn)
				for {
					r, err := readRaw(in)
					if err != nil {
						return
					}
					r.conn = number
					mu.Lock()
					n++
					text, hangUp := answer(n)
					mu.Unlock()
					requests <- r
					if _, err := io.WriteString(conn, text); err != nil || hangUp {
						return
					}
				}
			}()
		}
	}()
	t.Cleanup(func() { l.Close() })
	return "http://" + l.Addr().String() + "/hook", requests
}

func readRaw(in *bufio.Reader) (rawRequest, error) {
	var r rawRequest
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return r, err
		}
		line = strings.TrimRight(line, "\r\n")
		if line == "" {
			break
		}
		r.lines = append(r.lines, line)
	}
	length, err := strconv.Atoi(r.value("Content-Length"))
	if err != nil {
		return r, fmt.Errorf("content length: %w", err)
	}
	body := make([]byte, length)
	_, err = io.ReadFull(in, body)
	r.body = string(body)
	return r, err
}

const rawOK = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
