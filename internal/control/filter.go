package control

import (
	"net/url"
	"slices"
	"strconv"
	"time"
)

// Bounds of a list's page.
const (
	DefaultLimit = 50
	MaxLimit     = 1000
)

// The query parameters that each list takes.
var (
	SubscriptionParams = []string{"state", "app", "limit", "after"}
	EventParams        = []string{"type", "app", "since", "until", "limit", "after"}
	DeliveryParams     = []string{"sub", "status", "type", "event", "since", "until", "limit", "after"}
	DeadLetterParams   = []string{"sub", "app", "type", "since", "until", "limit", "after"}
	QuarantineParams   = []string{"source", "since", "limit", "after"}
)

// Filter narrows a list. What is empty does not narrow.
type Filter struct {
	// Sub is a reference to a subscription.
	Sub    string
	App    string
	Type   string // a pattern as in a subscription's types
	Status string // of a delivery
	State  string // of a subscription
	Event  string // an event's seq or id
	Source string
	// Since takes what is at that time or later, Until what is before it.
	Since, Until time.Time
	// Limit is the size of the page, 1 to MaxLimit; 0 stands for DefaultLimit.
	Limit int
	// After is the Next of the page before.
	After string
}

// Values writes the filter as query parameters.
func (f Filter) Values() url.Values {
	v := url.Values{}
	set := func(name, value string) {
		if value != "" {
			v.Set(name, value)
		}
	}
	set("sub", f.Sub)
	set("app", f.App)
	set("type", f.Type)
	set("status", f.Status)
	set("state", f.State)
	set("event", f.Event)
	set("source", f.Source)
	set("after", f.After)
	if !f.Since.IsZero() {
		v.Set("since", f.Since.UTC().Format(time.RFC3339Nano))
	}
	if !f.Until.IsZero() {
		v.Set("until", f.Until.UTC().Format(time.RFC3339Nano))
	}
	if f.Limit != 0 {
		v.Set("limit", strconv.Itoa(f.Limit))
	}
	return v
}

// ParseFilter reads the query of a list that takes the parameters in allowed. Limit is filled in. A parameter that is
// not allowed, that is there twice or that cannot be read is a problem that names it.
func ParseFilter(query url.Values, allowed []string) (Filter, *Problem) {
	for name, values := range query {
		if !slices.Contains(allowed, name) {
			return Filter{}, NewProblem(CodeUnknownMember, "parameter %q is not known here", name).At("/" + name)
		}
		if len(values) > 1 {
			return Filter{}, NewProblem(CodeInvalidRequest, "parameter %q is there twice", name).At("/" + name)
		}
	}
	f := Filter{
		Sub: query.Get("sub"), App: query.Get("app"), Type: query.Get("type"), Status: query.Get("status"),
		State: query.Get("state"), Event: query.Get("event"), Source: query.Get("source"), After: query.Get("after"),
		Limit: DefaultLimit,
	}
	for name, at := range map[string]*time.Time{"since": &f.Since, "until": &f.Until} {
		text := query.Get(name)
		if text == "" {
			continue
		}
		t, err := time.Parse(time.RFC3339Nano, text)
		if err != nil {
			return Filter{}, NewProblem(CodeInvalidRequest, "parameter %q is not an RFC 3339 time", name).At("/" + name)
		}
		*at = t.UTC()
	}
	if text := query.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > MaxLimit {
			return Filter{}, NewProblem(CodeInvalidRequest, "parameter \"limit\" is not a number from 1 to %d", MaxLimit).At("/limit")
		}
		f.Limit = n
	}
	return f, nil
}
