package simulated

import (
	"errors"
	"fmt"
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
			if err := r.Set("x", x); err != nil {
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
		{"X", 1, `did you mean "x"`}, {"v", 1, "v is written by drive"}, {"w", 1, "no state or slot w"}, {"x", 1001, "outside the range of x, -1000 to 1000"},
		{"T", math.NaN(), "NaN is outside"}, {"T", math.Inf(1), "outside"},
	} {
		if err := r.Set(c.name, c.value); !errors.Is(err, run.ErrHand) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s := %v: %v", c.name, c.value, err)
		}
	}
	if len(l.rows) != n || len(l.kinds("hand")) > 0 {
		t.Error("it is recorded")
	}
	if step(t, r, 101); math.Abs(r.T()-50) > 1e-9 { // it ends with the plan
		t.Errorf("ends at %v", r.T())
	}
	if err := r.Set("x", 1); !errors.Is(err, run.ErrHand) || r.Summary().Outcome != record.Complete {
		t.Errorf("after its end: %v", err)
	}
	fresh := begin(t, cartMission(t, drive, ""), run.Continuous{}, math.Inf(1), &planLog{})
	if err := fresh.Set("x", 1); !errors.Is(err, run.ErrHand) {
		t.Errorf("before its start: %v", err)
	}
}

// pause steps a run, which has begun or not, until a time.
func pause(random *rapid.T, r *run.Run, began bool, at float64) {
	r.PauseAt(at)
	for again := !began; again || r.T() < at; again = false {
		if more, err := r.Step(); !more || err != nil {
			random.Fatal(more, err)
		}
	}
}

// TestSlotsAreSet: a command that is set at any times drives the vehicle until a task writes it, and has that value again,
// or keeps that of the task, when this has ended; while it writes, nothing can be set.
func TestSlotsAreSet(t *testing.T) {
	rapid.Check(t, func(random *rapid.T) {
		hold := rapid.Bool().Draw(random, "hold")
		m := equationsMission(t, fmt.Sprintf(`
states: {x: {derivative: "u / 1 [s]"}}
commands: {u: {default: 0, min: -1, max: 1, hold: %t}}
`, hold), `<Sequence><Sleep msec="3000"/><Action name="push" write="u := 1" done="elapsed ge 2 [s]"/><Action name="idle"/></Sequence>`,
			"horizon: 10\nrecord: {interval: 1}\n")
		l := &planLog{}
		r := begin(t, m, run.Continuous{}, math.Inf(1), l)
		x, held, from := 0.0, 0.0, 0.0 // of the closed form, at a time
		reach := func(to float64) {
			for _, part := range []struct{ from, to, u float64 }{{0, 3, held}, {3, 5, 1}, {5, 10, held}} {
				if part.from == 5 && hold && from < 5 {
					part.u, held = 1, map[bool]float64{true: 1, false: held}[to >= 5]
				}
				x += part.u * max(0, min(to, part.to)-max(from, part.from))
			}
			from = to
		}
		sets := 0
		for i := range rapid.IntRange(1, 5).Draw(random, "times") {
			pause(random, r, i > 0, rapid.Float64Range(from, 9).Draw(random, "at"))
			v := math.Round(rapid.Float64Range(-10, 10).Draw(random, "u")) / 10
			reach(r.T())
			err := r.Set("u", v)
			if writes := r.T() >= 3 && r.T() < 5; writes != errors.Is(err, run.ErrHand) || !writes && err != nil {
				random.Fatalf("at %v: %v", r.T(), err)
			} else if !writes {
				sets++
				held = v
			}
		}
		for more := true; more; {
			var err error
			if more, err = r.Step(); err != nil {
				random.Fatal(err)
			}
		}
		if reach(10); math.Abs(r.World().States()[0]-x) > 1e-6 || len(l.kinds("hand")) != sets {
			random.Fatalf("x is %v, not %v; %v", r.World().States()[0], x, l.kinds("hand"))
		}
	})
}

// TestEntriesAreSet: a condition follows an entry at the instant at which it is set.
func TestEntriesAreSet(t *testing.T) {
	m := equationsMission(t, `
states: {x: {derivative: "u / 1 [s]"}}
commands: {u: {default: 0, min: -1, max: 1}}
`, `<Sequence><Script code="n := 0; odd := false"/><ReactiveFallback><ReactiveSequence><Condition name="big" on="n ge 3"/>
<Action name="up" write="u := 1"/></ReactiveSequence><Action name="down" write="u := -1"/></ReactiveFallback></Sequence>`,
		"horizon: 100\nrecord: {interval: 1}\n")
	rapid.Check(t, func(random *rapid.T) {
		r := begin(t, m, run.Continuous{}, math.Inf(1), &planLog{})
		x, from, slope := 0.0, 0.0, -1.0
		holds, err := r.Condition("n ge 3 and x le 1e9")
		if err != nil {
			random.Fatal(err)
		}
		for i, n := range rapid.SliceOfN(rapid.IntRange(0, 6), 1, 6).Draw(random, "n") {
			pause(random, r, i > 0, rapid.Float64Range(from, 99).Draw(random, "at"))
			x, from = x+slope*(r.T()-from), r.T()
			if err := r.Set("n", float64(n)); err != nil {
				random.Fatal(err)
			}
			if slope = -1; n >= 3 {
				slope = 1
			}
			if holds() != (n >= 3) || math.Abs(r.World().States()[0]-x) > 1e-6 {
				random.Fatalf("at %v: n is %d, x is %v, not %v", r.T(), n, r.World().States()[0], x)
			}
		}
	})
	r := begin(t, m, run.Continuous{}, math.Inf(1), &planLog{})
	if _, err := r.Step(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		value float64
		says  string
	}{{"odd", 2, "outside the range of odd, 0 to 1"}, {"odd", 0.5, "integers"}, {"u", 0, "u is written by down"}, {"N", 1, `"n"`}} {
		if err := r.Set(c.name, c.value); !errors.Is(err, run.ErrHand) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s := %v: %v", c.name, c.value, err)
		}
	}
	for text, says := range map[string]string{"x ge": "", "y ge 3": "y", "x + 1": "", "x ge 1 [m]": "m"} {
		if _, err := r.Condition(text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
