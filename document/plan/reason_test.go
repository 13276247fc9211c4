package plan

import (
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
)

// Each change that a leaf decides has a reason, with an expression if the leaf has one; others have none.
func TestReason(t *testing.T) {
	p, list := Read(&diag.Source{Name: "p.xml", Text: `<root BTCPP_format="4"><BehaviorTree ID="main"><Sequence>
		<Action name="free"/><Action entry_time="1" exit_until="a" done="b" failed="c" _successIf="d" _failureIf="e"/>
		<Condition on="f"/><Condition on="g" off="h"/></Sequence></BehaviorTree></root>`}, nil)
	if p == nil {
		t.Fatal(list)
	}
	reason := func(leaf int, from, to bt.Status) string {
		text, e := p.Leaves[leaf].Reason(bt.Change{From: from, To: to})
		if e != nil {
			text += e.String()
		}
		return text
	}
	for _, c := range []struct {
		from, to bt.Status
		want     [4]string // of the leaves
	}{
		{bt.Activating, bt.Running, [4]string{"its entry procedure has ended", "its entry procedure has taken 1"}},
		{bt.Deactivating, bt.Accept, [4]string{"its exit procedure has ended", "its exit procedure ends: a"}},
		{bt.Running, bt.Finished, [4]string{"it has succeeded", "it is done: b", NoReason, NoReason}},
		{bt.Running, bt.Aborted, [4]string{"it has failed", "it has failed: c", NoReason, NoReason}},
		{bt.Failure, bt.Success, [4]string{"it requests success", "its goal holds already: d", "f", "g"}},
		{bt.Success, bt.Failure, [4]string{"it requests failure", "it cannot run: e", "not f", "h"}},
		{bt.Success, bt.Accept, [4]string{"it asks to be activated", "its goal no longer holds: d"}},
		{bt.Failure, bt.Accept, [4]string{"it asks to be activated", "it can run again: e"}},
		{bt.Accept, bt.Activating, [4]string{NoReason, NoReason, NoReason, NoReason}},
		{bt.Activating, bt.Deactivating, [4]string{NoReason, NoReason, NoReason, NoReason}},
		{bt.Accept, bt.Skipped, [4]string{NoReason, NoReason, NoReason, NoReason}},
	} {
		for i, want := range c.want {
			if got := reason(i, c.from, c.to); want != "" && got != want {
				t.Errorf("leaf %d, %v -> %v: %q, want %q", i, c.from, c.to, got, want)
			}
		}
	}
}
