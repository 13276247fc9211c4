package flown

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/declare"
	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/executive"
	"github.com/canopy-uav/canopy/explore"
	"github.com/canopy-uav/canopy/vehicle/equations"
)

// shipped returns a mission of the folder missions with another plan.
func shipped(t testing.TB, name, plan string) *mission.Mission {
	t.Helper()
	m, diags := mission.Read(name, func(file string) ([]byte, error) {
		if filepath.Ext(file) == ".xml" && plan != "" {
			return []byte(`<root BTCPP_format="4"><BehaviorTree ID="main">` + plan + `</BehaviorTree></root>`), nil
		}
		return os.ReadFile(filepath.Join("../../missions", file))
	}, equations.Offers(), nil)
	if m == nil {
		t.Fatal(diags)
	}
	return m
}

// reach visits all states and returns their number and the tasks that become active.
func reach(t testing.TB, s *Stepper) (states int, active map[string]bool, errs []error) {
	t.Helper()
	search := explore.New[Key, struct{}](explore.Budget{States: 100_000})
	search.Arrive(-1, "", struct{}{})
	active = map[string]bool{}
	for n := range search.Leave() {
		s.Steps(search.Key(n), func(m *Moment) {
			for _, task := range m.Entered() {
				active[s.Tree.Name(task)] = true
			}
			switch {
			case m.Err != nil:
				errs = append(errs, m.Err)
			case m.Over && m.Possible():
				search.Arrive(n, m.After(), struct{}{})
			}
		})
	}
	return search.Len(), active, errs
}

// TestRunsThatStop: a step ends with the error of a run in which a slot is set to no number, by an action that writes it
// or that assigns to it, or a procedure takes no time that there is.
func TestRunsThatStop(t *testing.T) {
	for does, want := range map[string]error{
		`write="V_cmd := 0 [m/s] / 0"`:                     ErrNotFinite,
		`entry="V_cmd := 0 [m/s] / 0"`:                     ErrNotFinite,
		`entry="V_cmd := log(0) * 1 [m/s]"`:                ErrNotFinite,
		`entry_time="-1"`:                                  executive.ErrDuration,
		`exit="V_cmd := 0 [m/s] / 0" done="h ge 1"`:        ErrNotFinite, // the slot keeps it
		`entry="V_cmd := 18" entry_time="3" done="h ge 1"`: nil,
	} {
		m := shipped(t, "circuit.yaml", `<Sequence><Action name="a" `+does+`/><Action name="b"/></Sequence>`)
		_, _, errs := reach(t, New(m.Subject()))
		if len(errs) == 0 && want != nil || len(errs) > 0 && !errors.Is(errs[0], cmp.Or(want, errors.New("none"))) {
			t.Errorf("%s: %v, want %v", does, errs, want)
		}
	}
}

// TestDroppedWithoutEnd: what is skipped as soon as it runs, and asks again, is an instantaneous loop.
func TestDroppedWithoutEnd(t *testing.T) {
	m := shipped(t, "circuit.yaml", `<KeepRunningUntilFailure><ReactiveSequence><IfThenElse>
		<Action name="a" done="distance le 60 [m]"/><RunOnce><Action name="b" done="distance le 90 [m]"/></RunOnce></IfThenElse>
		<Action name="c" done="distance le 70 [m]"/></ReactiveSequence></KeepRunningUntilFailure>`)
	_, active, errs := reach(t, New(m.Subject()))
	looped := slices.ContainsFunc(errs, func(err error) bool { return errors.Is(err, ErrUnsettled) })
	if !active["c"] || !looped {
		t.Errorf("active %v, errors %v", active, errs)
	}
}

const legs = `<Sequence>
	<Action name="leg1" entry="waypoint := 1" write="navigate := 1" done="distance le 60 [m]"/>
	<Action name="leg2" entry="waypoint := 2" write="navigate := 1" done="distance le 60 [m]"/>
	<Action name="leg3" entry="waypoint := 3" write="navigate := 1" done="distance le 60 [m]"/></Sequence>`

// What tasks write and conditions read changes within an instant: each leg begins far from its own waypoint.
func TestLegs(t *testing.T) {
	s := New(shipped(t, "circuit.yaml", legs).Subject())
	states, active, errs := reach(t, s)
	if states != 5 || errs != nil {
		t.Errorf("%d states, %v", states, errs)
	}
	for _, leg := range []string{"leg1", "leg2", "leg3"} {
		if !active[leg] {
			t.Errorf("%s never becomes active", leg)
		}
	}
}

// Every action of the shipped missions can become active.
func TestShipped(t *testing.T) {
	for _, name := range []string{"circuit", "inspection", "solar-day", "solar-day-fuelcell"} {
		m := shipped(t, name+".yaml", "")
		states, active, _ := reach(t, New(m.Subject()))
		t.Log(name, states)
		for _, leaf := range m.Plan.Leaves {
			if task := m.Plan.Tree.Name(leaf.Task); m.Plan.Tree.Kind(leaf.Task).Acts() && !active[task] {
				t.Errorf("%s: %s never becomes active", name, task)
			}
		}
	}
}

// Clocks advance together: what their lengths exclude is not reached.
func TestClocks(t *testing.T) {
	const race = `<ReactiveFallback><Timeout msec="3000"><Action name="first" %s/></Timeout><Action name="second"/></ReactiveFallback>`
	for action, want := range map[string]bool{ // is the second action ever active
		`entry_time="2 [s]"`:                               true,
		`entry_time="2 [s]" done="true"`:                   false,
		`entry_time="3 [s]" done="true"`:                   true, // the timer is first
		`entry_time="4 [s]" done="true"`:                   true,
		`entry_time="2.999999999 [s]" done="true"`:         false,
		`entry_time="0 [s]" done="true"`:                   false,
		`entry_time="x * 1 [s]" done="true"`:               true,
		`entry_time="4 [s]" exit_time="3 [s]" done="true"`: true,
	} {
		p, diags := plan.Read(&diag.Source{Name: "plan.xml",
			Text: `<root BTCPP_format="4"><BehaviorTree ID="p">` + fmt.Sprintf(race, action) + `</BehaviorTree></root>`}, nil)
		if p == nil {
			t.Fatal(diags)
		}
		if _, active, errs := reach(t, New(declare.Subject{Plan: p})); active["second"] != want || !active["first"] || errs != nil {
			t.Errorf("%s: %v, %v", action, active, errs)
		}
	}
}

// A tape repeats also the answers by which the facts hold.
func TestTapesHaveTheAnswersOfFacts(t *testing.T) {
	p, diags := plan.Read(&diag.Source{Name: "plan.xml", Text: `<root BTCPP_format="4"><BehaviorTree>
<Condition name="c" on="x ge 1"/></BehaviorTree></root>`}, nil)
	if p == nil {
		t.Fatal(diags)
	}
	declared, diags := declare.ReadFile(&diag.Source{Name: "facts.yaml",
		Text: "facts: [y >= 0 or z >= 0, y <= 5 or z <= 5, not (y > 1 and z > 1)]"}, p)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	s := New(declare.Subject{Plan: p, Declared: declared})
	var tapes []Tape
	s.Steps("", func(m *Moment) {
		if m.Over && m.Possible() {
			tapes = append(tapes, m.Tape())
		}
	})
	for _, tape := range tapes {
		s.Follow("", tape, func(m *Moment) {
			if m.Over && !m.Possible() {
				t.Errorf("%v: the facts do not hold when the tape is followed", tape)
			}
		})
	}
	if len(tapes) != 2 {
		t.Errorf("%d tapes", len(tapes))
	}
}

// A state that an event of the vehicle sets when a command is given jumps within the instant of the command, and so does
// what follows from it. An event that waits for a state sets nothing at that instant.
func TestStatesThatEventsSet(t *testing.T) {
	for events, jumps := range map[string][]string{
		"":                                 {"u"},
		"[{when: u gt 0.5, then: x := 0}]": {"u", "x", "z"},
		"[{when: y gt 0.5, then: x := u}]": {"u"},
		"[{when: y gt 0.5, then: x := u}, {when: u gt 0.5, then: y := 1}]": {"u", "x", "y", "z"},
	} {
		vehicle := "states: {x: {derivative: 0, initial: 1}, y: {derivative: 0}}\noutputs: {z: {value: 2 * x}}\ncommands: {u: {}}\n"
		if events != "" {
			vehicle += "events: " + events + "\n"
		}
		files := map[string]string{"v.yaml": vehicle, "m.yaml": "plan: p.xml\nvehicle: v.yaml\nhorizon: 100\n",
			"p.xml": `<root BTCPP_format="4"><BehaviorTree ID="p"><Action name="drop" write="u := 1" done="x lt 0.5"/>
				</BehaviorTree></root>`}
		m, diags := mission.Read("m.yaml", func(name string) ([]byte, error) { return []byte(files[name]), nil }, nil, nil)
		if m == nil {
			t.Fatal(diags)
		}
		s := New(m.Subject())
		for _, name := range []string{"x", "y", "z", "u"} {
			if want := slices.Contains(jumps, name); s.Follows(name) != want {
				t.Errorf("with the events %s: that %s jumps within an instant is %t", events, name, !want)
			}
		}
	}
}

// What is near one point is not near another one that is far from it, and has the coordinates of neither side.
func TestSquares(t *testing.T) {
	steps := func(done string) (ways int) {
		p, diags := plan.Read(&diag.Source{Name: "plan.xml", Text: `<root BTCPP_format="4"><BehaviorTree>` + done +
			`</BehaviorTree></root>`}, nil)
		if p == nil {
			t.Fatal(diags)
		}
		New(declare.Subject{Plan: p}).Steps("", func(m *Moment) { ways += btoi(m.Over) })
		return ways
	}
	for _, test := range []struct {
		conditions string
		ways       int
	}{
		{`x^2 + y^2 le 9; (x - 10)^2 + y^2 le 9`, 3},               // not both
		{`x^2 + y^2 le 9; (x - 5)^2 + y^2 le 9`, 4},                // the circles meet
		{`(x - 7)^2 + (2 * y + 1)^2 lt 4; x ge 4; x gt 10`, 1 + 3}, // outside: three intervals of x
		{`x ge 5; y lt -5; x^2 + y^2 le 16`, 3 + 2},
		{`abs(x) lt 1; x^2 - y^2 ge 4`, 2 + 2*2}, // a hyperbola, beyond both branches
	} {
		text := ""
		for i, c := range strings.Split(test.conditions, "; ") {
			text += fmt.Sprintf(`<Condition name="c%d" on="%s"/>`, i, strings.ReplaceAll(c, "<", "&lt;"))
		}
		if got := steps(`<Parallel success_count="-1" failure_count="-1">` + text + `</Parallel>`); got != test.ways {
			t.Errorf("%s: %d ways, want %d", test.conditions, got, test.ways)
		}
	}
}
