package store

import "testing"

// Spec 7.3: what is appended, changed for an owner, or begins a generation is on disk when the method returns; outcomes
// alone are not synced one by one.
func TestDurability(t *testing.T) {
	s := openTest(t, t.TempDir())
	ctx := t.Context()
	sub := subscribed(t, s, "a")
	fill(t, s, 10)
	src := s.Sources()[0]
	gen, err := s.BeginGeneration(ctx, src.ID, FileMark{Salt: []byte("s"), State: GenOpen})
	check(t, err)
	dead := success(sub, 2)
	dead.Finished, dead.Dead = Dead, &DeadLetter{Sub: sub, Seq: 2, Kind: Kind{ID: 1}, Line: []byte("l")}
	disabling := success(sub, 3)
	disabling.State = &Change{Sub: sub, State: Disabled, Cause: CauseGone}
	for name, tt := range map[string]struct {
		want durability
		do   func() error
	}{
		"append": {durable, func() error {
			_, err := s.Append(ctx, Batch{Source: src.ID, Lines: []Line{line("x", "t", 1)}})
			return err
		}},
		"generation": {durable, func() error {
			_, err := s.BeginGeneration(ctx, src.ID, FileMark{Salt: []byte("t"), State: GenOpen})
			return err
		}},
		"create": {durable, func() error {
			_, err := s.CreateSubscription(ctx, NewSubscription{UUID: "u2", Name: "b", Host: "h", URL: []byte("u")})
			return err
		}},
		"change":      {durable, func() error { return s.ChangeState(ctx, Change{Sub: sub, State: Active}) }},
		"secrets":     {durable, func() error { return s.SetSecrets(ctx, sub, []Generation{{Generation: 2}}) }},
		"check":       {durable, func() error { return s.SetMasterCheck(ctx, []byte("c")) }},
		"dead letter": {durable, func() error { return s.Record(ctx, dead) }},
		"disabling":   {durable, func() error { return s.Record(ctx, disabling) }},
		"success":     {lazy, func() error { return s.Record(ctx, success(sub, 1)) }},
		"cursors":     {lazy, func() error { return s.SaveCursors(ctx, []Mark{{Sub: sub, Cursor: 1}}) }},
		"mark":        {lazy, func() error { return s.SaveMark(ctx, FileMark{Gen: gen, State: GenOpen}) }},
		"lease":       {lazy, func() error { return s.SetLease(ctx, sub, 5) }},
	} {
		check(t, put(s, "x", name)()) // outcomes are synced once a second: not just now
		check(t, put(s, "y", name)())
		if s.w.is != lazy {
			t.Fatalf("%s: the group before it was synced", name)
		}
		check(t, tt.do())
		if s.w.is != tt.want {
			t.Errorf("%s: durability is %d, want %d", name, s.w.is, tt.want)
		}
		sync, err := value(s.w.conn, "PRAGMA synchronous")
		check(t, err)
		if number(sync) != int64(1+tt.want) {
			t.Errorf("%s: synchronous is %v", name, sync)
		}
	}
}
