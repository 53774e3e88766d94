package daemon

import (
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"hookd/internal/control"
	"hookd/internal/delivery"
	"hookd/internal/store"
)

// api is what the handlers work with.
type api struct {
	store   *store.Store
	engine  *delivery.Engine
	sources []*source
	overlap time.Duration // of two secrets, where a rotation names none
	dev     bool
	socket  string
	started time.Time
	log     *slog.Logger
	// stopping is closed when requests that wait have to end.
	stopping chan struct{}
}

// routes is the whole control API.
var routes = []route{
	{method: http.MethodGet, path: "/v1/status", handle: (*api).status},
	{method: http.MethodGet, path: "/v1/version", handle: (*api).version},
	{method: http.MethodPost, path: "/v1/wait", handle: (*api).wait},

	{method: http.MethodGet, path: "/v1/subscriptions", params: control.SubscriptionParams, handle: (*api).listSubscriptions},
	{method: http.MethodPost, path: "/v1/subscriptions", handle: (*api).createSubscription},
	{method: http.MethodGet, path: "/v1/subscriptions/{ref}", handle: (*api).showSubscription},
	{method: http.MethodDelete, path: "/v1/subscriptions/{ref}", handle: (*api).deleteSubscription},
	{method: http.MethodPost, path: "/v1/subscriptions/{ref}/pause", handle: change((*delivery.Engine).Pause)},
	{method: http.MethodPost, path: "/v1/subscriptions/{ref}/resume", handle: change((*delivery.Engine).Resume)},
	{method: http.MethodPost, path: "/v1/subscriptions/{ref}/enable", handle: change((*delivery.Engine).Enable)},
	{method: http.MethodPost, path: "/v1/subscriptions/{ref}/disable", handle: change((*delivery.Engine).Disable)},
	{method: http.MethodPost, path: "/v1/subscriptions/{ref}/secret/rotate", handle: (*api).rotateSecret},
	{method: http.MethodGet, path: "/v1/subscriptions/{ref}/lease", stream: (*api).holdLease},

	{method: http.MethodGet, path: "/v1/events", params: control.EventParams, handle: (*api).listEvents},
	{method: http.MethodGet, path: "/v1/events/{ref}", handle: (*api).showEvent},

	{method: http.MethodGet, path: "/v1/deliveries", params: control.DeliveryParams, handle: (*api).listDeliveries},
	{method: http.MethodGet, path: "/v1/deliveries/{ref}/{seq}", handle: (*api).showDelivery},

	{method: http.MethodGet, path: "/v1/dead-letters", params: control.DeadLetterParams, handle: (*api).listDeadLetters},
	{method: http.MethodPost, path: "/v1/dead-letters/replay", handle: (*api).replayDeadLetters},
	{method: http.MethodGet, path: "/v1/dead-letters/{id}", handle: (*api).showDeadLetter},

	{method: http.MethodGet, path: "/v1/sources", handle: (*api).listSources},

	{method: http.MethodGet, path: "/v1/quarantine", params: control.QuarantineParams, handle: (*api).listQuarantine},
	{method: http.MethodGet, path: "/v1/quarantine/{id}", handle: (*api).showQuarantine},
}

// handler serves every route. A path with the wrong method and a path that nobody knows are problems like any other.
func (a *api) handler() http.Handler {
	byPath := map[string]methods{}
	for _, r := range routes {
		if byPath[r.path] == nil {
			byPath[r.path] = methods{}
		}
		byPath[r.path][r.method] = served{api: a, route: r}
	}
	mux := http.NewServeMux()
	for path, m := range byPath {
		mux.Handle(path, m)
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if p := foreign(r); p != nil {
			control.WriteProblem(w, p)
			return
		}
		control.WriteProblem(w, control.NewProblem(control.CodeUnknownRoute, "no such route").
			WithHint("check that hookctl and hookd have the same version"))
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// On a connection that is used again the deadline of the answer before would still hold.
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(answerTimeout))
		mux.ServeHTTP(w, r)
	})
}

func (a *api) version(*request) (reply, error) { return answer(Build()), nil }

// methods are the routes of one path.
type methods map[string]served

func (m methods) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s, ok := m[r.Method]; ok {
		s.ServeHTTP(w, r)
		return
	}
	if p := foreign(r); p != nil {
		control.WriteProblem(w, p)
		return
	}
	allowed := strings.Join(slices.Sorted(maps.Keys(m)), ", ")
	w.Header().Set("Allow", allowed)
	control.WriteProblem(w, control.NewProblem(control.CodeMethodNotAllowed, "this route takes %s", allowed))
}
