package simulated

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/run"
	"github.com/canopy-uav/canopy/run/record"

	"pgregory.net/rapid"
)

// TestStatesAreSet: a drive at 2 m/s to 100 m, whose position is set at any times, succeeds when the way that is left
// has been driven, at once if there is none, and is recorded on both sides.
func TestStatesAreSet(t *testing.T) {
	rapid.Check(t, func(random *rapid.T) {
		l := &planLog{}
		r := begin(t, cartMission(t, drive, ""), run.Continuous{}, math.Inf(1), l)
		due := 50.0
		for range rapid.IntRange(1, 4).Draw(random, "times") {
			at := rapid.Float64Range(0, 99).Draw(random, "until")
			for more := true; more && r.T() <= at; {
				var err error
				if more, err = r.Step(); err != nil {
					random.Fatal(err)
				}
			}
			if r.Over() {
				break
			}
			x := rapid.Float64Range(-50, 110).Draw(random, "x")
			n := len(l.rows)
			if err := r.SetState("x", x); err != nil {
				random.Fatal(err)
			}
			if rows := l.rows[n:]; l.times[len(l.times)-1] != r.T() || rows[len(rows)-1][0] != x {
				random.Fatalf("at %v, x is recorded as %v, not set to %v", r.T(), rows, x)
			}
			if r.T() < due-1e-9 { // else the drive has ended
				due = r.T() + max(0, 100-x)/2
			}
		}
		for more := true; more; {
			var err error
			if more, err = r.Step(); err != nil {
				random.Fatal(err)
			}
		}
		ended := math.Inf(1)
		for _, c := range l.statuses {
			if c.To == bt.Finished && c.t < ended {
				ended = c.t
			}
		}
		if due <= 100 && !(math.Abs(ended-due) < 1e-6) || due > 100 && !math.IsInf(ended, 1) {
			random.Fatalf("the drive ends at %v, not at %v", ended, due)
		}
		for _, e := range l.events {
			if e.Kind == "hand" && !strings.Contains(e.Text, "x is set from ") {
				random.Fatalf("%+v", e)
			}
		}
	})
}

// TestStatesThatCannotBeSet: what is wrong is said, and the run goes on as before.
func TestStatesThatCannotBeSet(t *testing.T) {
	r, l := begun(t, drive, "ends_with_plan: true\n", 20)
	n := len(l.rows)
	for _, c := range []struct {
		name  string
		value float64
		says  string
	}{
		{"X", 1, `did you mean "x"`}, {"v", 1, "no state v"}, {"x", 1001, "outside the range of x, -1000 to 1000"},
		{"T", math.NaN(), "NaN is outside"}, {"T", math.Inf(1), "outside"},
	} {
		if err := r.SetState(c.name, c.value); !errors.Is(err, run.ErrHand) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s := %v: %v", c.name, c.value, err)
		}
	}
	if len(l.rows) != n || len(l.kinds("hand")) > 0 {
		t.Error("it is recorded")
	}
	if step(t, r, 101); math.Abs(r.T()-50) > 1e-9 { // it ends with the plan
		t.Errorf("ends at %v", r.T())
	}
	if err := r.SetState("x", 1); !errors.Is(err, run.ErrHand) || r.Summary().Outcome != record.Complete {
		t.Errorf("after its end: %v", err)
	}
	fresh := begin(t, cartMission(t, drive, ""), run.Continuous{}, math.Inf(1), &planLog{})
	if err := fresh.SetState("x", 1); !errors.Is(err, run.ErrHand) {
		t.Errorf("before its start: %v", err)
	}
}
