package control

import (
	"net/url"
	"reflect"
	"testing"
	"time"
)

func TestFilterTravels(t *testing.T) {
	f := Filter{
		Sub: "a b", App: "x", Type: "order.*", Status: "dead", State: "paused", Event: "id:7", Source: "/tmp/a?b",
		Since: time.Date(2026, 11, 30, 12, 0, 0, 1e6, time.UTC), Until: time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC),
		Limit: 7, After: "c=1&d",
	}
	q, err := url.ParseQuery(f.Values().Encode())
	if err != nil {
		t.Fatal(err)
	}
	all := []string{"sub", "app", "type", "status", "state", "event", "source", "since", "until", "limit", "after"}
	got, p := ParseFilter(q, all)
	if p != nil {
		t.Fatal(p)
	}
	if !reflect.DeepEqual(got, f) {
		t.Errorf("got\n%+v, want\n%+v", got, f)
	}
}

func TestParseFilterRefuses(t *testing.T) {
	tests := []struct {
		query   string
		code    Code
		pointer string
	}{
		{"colour=red", CodeUnknownMember, "/colour"},
		{"state=active&state=paused", CodeInvalidRequest, "/state"},
		{"limit=0", CodeInvalidRequest, "/limit"},
		{"limit=1001", CodeInvalidRequest, "/limit"},
		{"limit=ten", CodeInvalidRequest, "/limit"},
		{"since=yesterday", CodeInvalidRequest, "/since"},
	}
	for _, tt := range tests {
		q, err := url.ParseQuery(tt.query)
		if err != nil {
			t.Fatal(err)
		}
		_, p := ParseFilter(q, []string{"state", "limit", "since"})
		if p == nil || p.Code != tt.code || p.Pointer != tt.pointer {
			t.Errorf("%s: got %+v", tt.query, p)
		}
	}
	f, p := ParseFilter(url.Values{}, EventParams)
	if p != nil || f.Limit != DefaultLimit {
		t.Errorf("empty query: %+v, %v", f, p)
	}
}
