package daemon

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"hookd/internal/control"
)

func seqs[T any](page *control.Page[T], seq func(T) int64) string {
	var list []string
	for _, item := range page.Items {
		list = append(list, number(seq(item)))
	}
	return strings.Join(list, " ")
}

func eventSeq(e control.Event) int64 { return e.Seq }

func TestEvents(t *testing.T) {
	f := start(t)
	ctx := t.Context()
	f.create(control.CreateSubscription{Name: "orders", Types: []string{"order.*"}})
	f.create(control.CreateSubscription{Name: "held", Types: []string{"*"}})
	if _, err := f.ChangeSubscription(ctx, "held", control.ActionPause); err != nil {
		t.Fatal(err)
	}
	f.write(
		`{"id":"a","type":"order.paid","timestamp":"2026-01-02T03:04:05Z","app":"shop","key":"k","data":{"n":1.50}}`,
		`{"id":"b","type":"order.sent"}`,
		`{"id":"77","type":"user.made"}`,
		`{"id":"d","type":"order.paid"}`,
	)
	f.waitFor(control.WaitRequest{Sub: "orders", Idle: true})
	for _, tt := range []struct {
		filter control.Filter
		want   string
	}{
		{control.Filter{}, "4 3 2 1"},
		{control.Filter{Type: "order.paid"}, "4 1"},
		{control.Filter{Type: "order.*"}, "4 2 1"},
		{control.Filter{Type: "*"}, "4 3 2 1"},
		{control.Filter{Type: "nothing.*"}, ""},
		{control.Filter{App: "shop"}, "1"},
		{control.Filter{Since: time.Now().Add(time.Hour)}, ""},
		{control.Filter{Until: time.Now().Add(-time.Hour)}, ""},
		{control.Filter{Since: time.Now().Add(-time.Hour), Until: time.Now().Add(time.Hour)}, "4 3 2 1"},
		{control.Filter{After: "3"}, "2 1"},
	} {
		page, err := f.Events(ctx, tt.filter)
		if err != nil {
			t.Errorf("%+v: %v", tt.filter, err)
			continue
		}
		if got := seqs(page, eventSeq); got != tt.want || page.Next != "" {
			t.Errorf("%+v: %s (next %q), want %s", tt.filter, got, page.Next, tt.want)
		}
	}
	page, err := f.Events(ctx, control.Filter{Type: "order.*", Limit: 2})
	if err != nil || seqs(page, eventSeq) != "4 2" || page.Next != "2" {
		t.Errorf("page: %+v, %v", page, err)
	}
	if e := page.Items[0]; e.Source != "app" || e.Body != nil || e.Deliveries != nil || e.Timestamp.IsZero() {
		t.Errorf("list shows %+v", e)
	}
	refused(t, second(f.Events(ctx, control.Filter{Type: "a b"})), control.CodeInvalidRequest, "/type")
	refused(t, second(f.Events(ctx, control.Filter{After: "0"})), control.CodeInvalidRequest, "/after")

	for ref, seq := range map[string]int64{"1": 1, "a": 1, "id:a": 1, "id:77": 3} {
		e, err := f.Event(ctx, ref)
		if err != nil || e.Seq != seq {
			t.Errorf("show %s: %+v, %v", ref, e, err)
		}
	}
	for _, ref := range []string{"77", "z", "id:1", "99999999999999999999", "a b"} {
		refused(t, second(f.Event(ctx, ref)), control.CodeNotFound, "")
	}
}

func TestShowEvent(t *testing.T) {
	f := start(t)
	f.create(control.CreateSubscription{Name: "orders", Types: []string{"order.*"}})
	f.create(control.CreateSubscription{Name: "users", Types: []string{"user.*"}})
	f.create(control.CreateSubscription{Name: "held"})
	if _, err := f.ChangeSubscription(t.Context(), "held", control.ActionPause); err != nil {
		t.Fatal(err)
	}
	f.write(`{"type":"order.paid","id":"a","timestamp":1767323045.5,"key":"k","note":"<&>","data":{"n":1.50}}`)
	f.waitFor(control.WaitRequest{Sub: "orders", Idle: true})
	e, err := f.Event(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf(`{"id":"a","type":"order.paid","timestamp":"2026-01-02T03:04:05.5Z","seq":1,"sync_epoch":%q,"data":{"n":1.50},"note":"<&>"}`,
		f.api.store.Epoch())
	if string(e.Body) != want {
		t.Errorf("body is\n%s, want\n%s", e.Body, want)
	}
	var list []string
	for _, d := range e.Deliveries {
		list = append(list, d.Subscription+" "+d.Status)
	}
	if got := strings.Join(list, ", "); got != "orders succeeded, held pending" {
		t.Errorf("deliveries: %s", got)
	}
}

// A list by a pattern that fits many types is read in another way than by one that fits few: both must say the same.
func TestEventsOfManyTypes(t *testing.T) {
	f := start(t)
	var lines []string
	for i := range 500 {
		lines = append(lines, fmt.Sprintf(`{"id":"e%d","type":"%s.t%d"}`, i, []string{"a", "b"}[i%2], i%40))
	}
	f.write(lines...)
	for _, tt := range []struct {
		pattern string
		want    int
	}{{"a.*", 250}, {"a.t1*", 65}, {"*.t0", 13}, {"*", 500}} {
		filter := control.Filter{Type: tt.pattern, Limit: 30}
		var got []int64
		for {
			page, err := f.Events(t.Context(), filter)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range page.Items {
				got = append(got, e.Seq)
			}
			if page.Next == "" {
				break
			}
			if len(page.Items) != 30 {
				t.Fatalf("%s: a page of %d is not the last", tt.pattern, len(page.Items))
			}
			filter.After = page.Next
		}
		if len(got) != tt.want {
			t.Errorf("%s: %d events, want %d", tt.pattern, len(got), tt.want)
		}
		for i := 1; i < len(got); i++ {
			if got[i] >= got[i-1] {
				t.Fatalf("%s: %d after %d", tt.pattern, got[i], got[i-1])
			}
		}
	}
}

func TestSourcesAndQuarantine(t *testing.T) {
	f := start(t)
	ctx := t.Context()
	page, err := f.Sources(ctx)
	if err != nil || len(page.Items) != 1 || page.Items[0].State == "" {
		t.Fatalf("sources: %+v, %v", page, err)
	}
	f.write(`{"id":"a","type":"x"}`, "no json", "\xff\xfe", `{"id":"a","type":"x"}`)
	if page, err = f.Sources(ctx); err != nil {
		t.Fatal(err)
	}
	if s := page.Items[0]; s.Name != "app" || s.Kind != "file" || s.State != "running" || s.Path != f.file ||
		s.Accepted != 1 || s.Duplicates != 1 || s.Rejected != 2 || s.LagBytes != 0 || s.Offset == 0 {
		t.Errorf("source: %+v", s)
	}

	entries, err := f.Quarantine(ctx, control.Filter{Source: "app", Limit: 1})
	if err != nil || len(entries.Items) != 1 || entries.Next == "" {
		t.Fatalf("first page: %+v, %v", entries, err)
	}
	second1, err := f.Quarantine(ctx, control.Filter{Source: "app", Limit: 1, After: entries.Next})
	if err != nil || len(second1.Items) != 1 || second1.Next != "" {
		t.Fatalf("second page: %+v, %v", second1, err)
	}
	binary, err := f.QuarantineEntry(ctx, entries.Items[0].ID)
	if err != nil || binary.Reason != "not_utf8" || binary.LineBase64 != "//4=" || binary.Line == nil || binary.Message == "" {
		t.Errorf("binary line: %+v, %v", binary, err)
	}
	text, err := f.QuarantineEntry(ctx, second1.Items[0].ID)
	if err != nil || text.Reason != "not_json" || text.Line == nil || *text.Line != "no json" || text.LineBase64 != "" ||
		text.Length != 7 || text.Source != "app" {
		t.Errorf("text line: %+v, %v", text, err)
	}
	refused(t, second(f.QuarantineEntry(ctx, 999)), control.CodeNotFound, "")
	refused(t, second(f.QuarantineEntry(ctx, -1)), control.CodeNotFound, "")
	if other, err := f.Quarantine(ctx, control.Filter{Source: "other"}); err != nil || len(other.Items) != 0 {
		t.Errorf("of another source: %+v, %v", other, err)
	}
}

func TestVersion(t *testing.T) {
	f := start(t)
	b, err := f.Version(t.Context())
	if err != nil || b.Go == "" || !strings.HasPrefix(b.SQLite, "3.") {
		t.Errorf("version: %+v, %v", b, err)
	}
}

// Lists are never null and single things have their booleans and numbers, whatever is empty.
func TestEmptyAnswers(t *testing.T) {
	f := start(t)
	for path, lists := range map[string][]string{
		"/v1/subscriptions": {"items"}, "/v1/events": {"items"}, "/v1/deliveries": {"items"}, "/v1/dead-letters": {"items"},
		"/v1/deliveries?status=pending": {"items"}, "/v1/deliveries?event=5": {"items"}, "/v1/deliveries?event=zz": {"items"},
		"/v1/quarantine": {"items"}, "/v1/sources": {"items"},
		"/v1/status": {"problems", "sources", "disabled", "blocked"},
	} {
		code, body, header := f.raw("GET", path, "", nil)
		var answer map[string]any
		if err := json.Unmarshal([]byte(body), &answer); err != nil || code != 200 || header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %d %s (%v)", path, code, body, err)
		}
		for _, name := range lists {
			if _, ok := answer[name].([]any); !ok {
				t.Errorf("%s: %s is %v", path, name, answer[name])
			}
		}
	}
}
