package control

import "time"

// Status is the health of the daemon.
type Status struct {
	Version string  `json:"version"`
	UptimeS Seconds `json:"uptime_s"`
	// Healthy is false exactly where Problems has an entry.
	Healthy  bool          `json:"healthy"`
	Problems List[Trouble] `json:"problems"`
	Sources  List[Source]  `json:"sources"`
	Log      LogRange      `json:"log"`
	Pending  int64         `json:"pending"`
	// OldestPendingAgeS is 0 where nothing is pending.
	OldestPendingAgeS Seconds            `json:"oldest_pending_age_s"`
	InFlight          int64              `json:"in_flight"`
	DeadLetters       int64              `json:"dead_letters"`
	Subscriptions     SubscriptionCounts `json:"subscriptions"`
	StoreBytes        int64              `json:"store_bytes"`
	WALBytes          int64              `json:"wal_bytes"`
	Socket            string             `json:"socket"`
	// Disabled are the disabled subscriptions with their causes.
	Disabled List[DisabledSubscription] `json:"disabled"`
	// Blocked are the subscriptions whose head failed at least once and waits.
	Blocked List[BlockedSubscription] `json:"blocked"`
}

// Trouble is one reason why the daemon is degraded.
type Trouble struct {
	// Code is a short name for the kind, Message says it in words.
	Code    string `json:"code"`
	Message string `json:"message"`
	// Subscription or Source name what it is about, where it is about one.
	Subscription string `json:"subscription,omitempty"`
	Source       string `json:"source,omitempty"`
}

// LogRange is what the log holds; both 0 where it never held anything.
type LogRange struct {
	FirstSeq int64 `json:"first_seq"`
	LastSeq  int64 `json:"last_seq"`
}

// SubscriptionCounts counts the subscriptions by state.
type SubscriptionCounts struct {
	Active   int64 `json:"active"`
	Paused   int64 `json:"paused"`
	Disabled int64 `json:"disabled"`
}

// DisabledSubscription is a disabled subscription and why.
type DisabledSubscription struct {
	Name       string     `json:"name"`
	Cause      string     `json:"cause"`
	DisabledAt *time.Time `json:"disabled_at,omitempty"`
}

// BlockedSubscription is a subscription that waits to try its head again.
type BlockedSubscription struct {
	Name string `json:"name"`
	Head Head   `json:"head"`
}

// WaitRequest is the body of POST /v1/wait. Exactly one of Idle, Delivered and State is given.
type WaitRequest struct {
	// Sub is a reference to a subscription; all of them if empty.
	Sub string `json:"sub,omitempty"`
	// Idle waits until every file source is read to the end that it has now and then nothing is pending.
	Idle bool `json:"idle,omitempty"`
	// Delivered is a seq or an event's id: waits until its deliveries are finished with success.
	Delivered string `json:"delivered,omitempty"`
	// State waits until the subscription has that state.
	State string `json:"state,omitempty"`
	// TimeoutS is how long this request may wait, 0 to look once; at most [MaxWaitRequest].
	TimeoutS Seconds `json:"timeout_s"`
}

// MaxWaitRequest bounds one request for waiting; a longer wait asks again.
const MaxWaitRequest = 30 * time.Second

// WaitAnswer is the answer to [WaitRequest].
type WaitAnswer struct {
	Done bool `json:"done"`
	// Detail says what was reached, or what is still missing.
	Detail string `json:"detail"`
}
