package store

import (
	"strings"
	"testing"
)

// The queries that are asked often go by the index that they were written for: no scan, no sort.
func TestPlans(t *testing.T) {
	s := openTest(t, t.TempDir())
	for query, want := range map[string][]string{
		queryEventsAfter:    {"SEARCH e USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"},
		queryEventsDown:     {"SEARCH e USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"},
		queryEventsAt:       {"SCAN ask VIRTUAL TABLE INDEX 1:", "SEARCH e USING INTEGER PRIMARY KEY (rowid=?)"},
		queryIndexedID:      {"SEARCH event_ids USING PRIMARY KEY (id_hash=?)"},
		querySeqsDown:       {"SEARCH events USING COVERING INDEX events_kind (kind=? AND rowid>? AND rowid<?)"},
		querySeqsAmong:      {"SCAN ask VIRTUAL TABLE INDEX 1:", "SEARCH e USING COVERING INDEX events_kind (kind=? AND rowid>? AND rowid<?)"},
		queryCountRange:     {"SCAN ask VIRTUAL TABLE INDEX 1:", "SEARCH e USING COVERING INDEX events_kind (kind=? AND rowid>? AND rowid<?)"},
		queryCountBlocks:    {"SCAN ask VIRTUAL TABLE INDEX 1:", "SEARCH b USING PRIMARY KEY (kind=? AND block>? AND block<?)"},
		queryIndexedHistory: {"SEARCH history_ix USING PRIMARY KEY (sub=? AND seq=?)"},
		querySeqsMerged[1]:  {"SEARCH events USING COVERING INDEX events_kind (kind=? AND rowid>? AND rowid<?)"},
		querySeqsMerged[2]:  {"MERGE (UNION ALL)", "SEARCH events USING COVERING INDEX events_kind (kind=? AND rowid>? AND rowid<?)"},
		queryNextReplayItem: {"SEARCH r USING", "replays_open (sub=?)", "SEARCH i USING PRIMARY KEY (replay=?)"},
		queryAttempts:       {"SEARCH attempts USING INDEX attempts_delivery (sub=? AND seq=?)"},
	} {
		var plan strings.Builder
		var args []any
		for range parameters(query) {
			args = append(args, 1)
		}
		check(t, each(t.Context(), s.read, `EXPLAIN QUERY PLAN `+query, args, func(scan scanner) error {
			var id, parent, unused int
			var detail string
			err := scan(&id, &parent, &unused, &detail)
			plan.WriteString(detail + "\n")
			return err
		}))
		for _, w := range want {
			if !strings.Contains(plan.String(), w) {
				t.Errorf("%s\nhas the plan\n%swant %q", query, plan.String(), w)
			}
		}
		if strings.Contains(plan.String(), "TEMP B-TREE") {
			t.Errorf("%s\nsorts:\n%s", query, plan.String())
		}
	}
}
