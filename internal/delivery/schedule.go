package delivery

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// maxTiers bounds a schedule, so that a policy text cannot keep a head for ever in steps of nothing.
const maxTiers = 100

// A Schedule says how long each attempt waits after the one before. The zero Schedule has no attempts; ParseSchedule
// never returns one.
type Schedule struct {
	tiers []time.Duration
	text  string
}

// ParseSchedule reads a retry policy: "tiers:" and the delays of the attempts, separated by commas, each as Go writes
// durations. The first delay counts from when an event becomes the head. An error names the rule that is broken.
func ParseSchedule(text string) (Schedule, error) {
	list, ok := strings.CutPrefix(text, "tiers:")
	if !ok {
		return Schedule{}, errors.New(`a retry policy begins with "tiers:", as in tiers:0s,1s,5s`)
	}
	if strings.TrimSpace(list) == "" {
		return Schedule{}, errors.New("tiers: at least one delay is needed, as in tiers:0s")
	}
	parts := strings.Split(list, ",")
	if len(parts) > maxTiers {
		return Schedule{}, fmt.Errorf("tiers: %d delays, at most %d", len(parts), maxTiers)
	}
	s := Schedule{text: text, tiers: make([]time.Duration, len(parts))}
	for i, part := range parts {
		delay, err := time.ParseDuration(strings.TrimSpace(part))
		switch {
		case err != nil:
			return Schedule{}, fmt.Errorf("tiers: delay %d is not a duration such as 5s or 1h30m", i+1)
		case delay < 0:
			return Schedule{}, fmt.Errorf("tiers: delay %d is negative", i+1)
		case delay > maxDelay:
			return Schedule{}, fmt.Errorf("tiers: delay %d is over %s", i+1, maxDelay)
		}
		s.tiers[i] = delay
	}
	return s, nil
}

// maxDelay bounds one delay: thirty days. Longer is a mistake in the unit.
const maxDelay = 30 * 24 * time.Hour

// String returns the policy as it was given.
func (s Schedule) String() string { return s.text }

// Attempts returns how many attempts an event gets.
func (s Schedule) Attempts() int { return len(s.tiers) }

// Length returns the time from an event becoming the head to its last attempt, without jitter and answers' time.
func (s Schedule) Length() time.Duration {
	var sum time.Duration
	for _, d := range s.tiers {
		sum += d
	}
	return sum
}

// first returns the delay of the first attempt.
func (s Schedule) first() time.Duration { return s.tiers[0] }
