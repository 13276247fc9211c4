package monitor

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/run/record"
	"github.com/canopy-uav/canopy/temporal"
)

func assertions(list ...*temporal.Property) temporal.Watch {
	var assertions []temporal.Assertion
	for _, p := range list {
		assertions = append(assertions, temporal.Assertion{Text: p.Text, Formula: p.Formula})
	}
	return temporal.Watch{Assertions: assertions}
}

// A trace has both sides of each change, whether the log has a sample there, two or none; what is undone at one time is
// not seen, nor how a run that failed is stopped.
func TestTrace(t *testing.T) {
	change := func(at float64, to bt.Status) record.Change {
		return record.Change{T: at, Change: bt.Change{Task: 0, To: to}}
	}
	header := record.Header{Tasks: []record.Task{{Name: "a", Kind: "Action", Initial: bt.Accept}, {Name: "b"}},
		Signals: []record.Signal{{Name: "y"}, {Name: "x"}}}
	property, mistakes := temporal.Read("always (a -> x > 1)", expr.TaskNames{"a"}, nil)
	if mistakes != nil {
		t.Fatal(mistakes)
	}
	m := New(&header, assertions(property))
	changes := []record.Change{change(0, bt.Activating), change(1, bt.Accept), change(2, bt.Running), change(4, bt.Accept),
		change(5, bt.Running), change(5, bt.Accept), change(8, bt.Running), change(9, bt.Accept)}
	x := []float64{0, 2, 4, 10, 12, 14}
	for i, at := range []float64{0, 2, 4, 4, 6, 8} {
		for len(changes) > 0 && (changes[0].T < at || changes[0].T == at && (i == 0 || x[i] == 10)) {
			_ = m.Status(changes[0].T, 1, changes[0].Change)
			changes = changes[1:]
		}
		if err := m.Sample(at, []float64{-1, x[i]}); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range changes {
		_ = m.Status(c.T, 1, c.Change)
	}
	end := record.End{Told: 9, Summary: &record.Summary{Outcome: record.Failed, Ended: 9}}
	if _, err := m.Judge(&end); err != nil {
		t.Fatal(err)
	}
	tr := m.trace(end.Summary, end.Told)
	wantT := []float64{0, 1, 1, 2, 2, 4, 4, 5, 5, 6, 8, 8, 9}
	wantX := []float64{0, 1, 1, 2, 2, 4, 10, 11, 11, 12, 14, 14, 14}
	wantA := []bool{true, true, false, false, true, true, false, false, false, false, false, true, true}
	if !slices.Equal(tr.T, wantT) || !slices.Equal(tr.Signals["x"], wantX) || !slices.Equal(tr.Tasks["a"], wantA) {
		t.Errorf("%v\n%v\n%v", tr.T, tr.Signals["x"], tr.Tasks["a"])
	}
}

// Of a run with more values than are stored, the first ones are judged: what depends on the others is open.
func TestLong(t *testing.T) {
	always, _ := temporal.Read("always (x > -1)", nil, nil)
	soon, _ := temporal.Read("eventually (x > 3)", nil, nil)
	m := New(&record.Header{Signals: []record.Signal{{Name: "x"}}}, assertions(always, soon))
	m.most = 100
	for n := range 1000 {
		if err := m.Sample(float64(n), []float64{float64(n)}); err != nil {
			t.Fatal(err)
		}
	}
	list, err := m.Judge(&record.End{Told: 999, Summary: &record.Summary{Outcome: record.Complete, Ended: 999}})
	if err != nil || len(m.samples) > 60 {
		t.Fatalf("%d places, %v", len(m.samples), err)
	}
	if p := list[0]; p.Verdict != "open" || *p.After < 50 || *p.After > 60 || !strings.Contains(p.Because, "first 100 values") {
		t.Errorf("%+v after %v", p, p.After)
	}
	if p := list[1]; p.Verdict != "satisfied" {
		t.Errorf("%+v", p)
	}
}

// A statement about an entry without a value is open, and nothing else is. An entry has any unit, and equals numbers.
func TestMissingValues(t *testing.T) {
	late, _ := temporal.Read("always (n > 0)", nil, nil)
	found, _ := temporal.Read("eventually (n > 0 [m] and n == 1)", nil, nil)
	w := assertions(late, found)
	w.Assertions = append(w.Assertions, temporal.Assertion{Kind: temporal.OfFact, Text: "n > 0", Formula: late.Formula},
		temporal.Assertion{Kind: temporal.OfEffect, Text: "a: n", Effect: temporal.Effect{Task: "a", Signal: "n", High: 1}})
	m := New(&record.Header{Tasks: []record.Task{{Name: "a", Kind: "Action", Initial: bt.Running}},
		Signals: []record.Signal{{Name: "n", Entry: true}}}, w)
	for at, n := range []float64{math.NaN(), math.NaN(), 1, 1} {
		_ = m.Sample(float64(at), []float64{n})
	}
	list, err := m.Judge(&record.End{Told: 3, Summary: &record.Summary{Outcome: record.Complete, Ended: 3}})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"open", "satisfied", "open", "open"} {
		p := list[i]
		open := p.Verdict == record.PropertyOpen
		if p.Verdict != want || open != (p.Because == "there is no value of n at 0 s") || open && p.After != nil {
			t.Errorf("%+v", p)
		}
		if _, err := json.Marshal(p); err != nil {
			t.Error(err)
		}
	}
}

// A log of an earlier version, whose events have no relations, is judged up to the first of them.
func TestEarlierVersions(t *testing.T) {
	property, _ := temporal.Read("always x < 2", nil, expr.Scope{"x": expr.Number(expr.One)})
	m := New(&record.Header{Signals: []record.Signal{{Name: "x"}}}, assertions(property))
	for at := range 5 {
		_ = m.Sample(float64(at), []float64{float64(at)})
		if at == 2 { // by rounding, the sample may be beyond the limit
			_ = m.Event(record.Event{T: 2, Kind: record.KindState, Text: "x >= 2 becomes true"})
		}
	}
	end := record.End{Told: 4, Summary: &record.Summary{Outcome: record.Complete, Ended: 4}}
	list, err := m.Judge(&end)
	if err != nil || list[0].Verdict != "open" || *list[0].After != 1 || !strings.Contains(list[0].Because, "earlier version") {
		t.Errorf("%+v, %v", list, err)
	}
}

// What stops the plan at the end of a run is no part of what is judged, whatever the outcome: a plan that is stopped
// contradicts nothing that is proved of it.
func TestStoppingIsNotJudged(t *testing.T) {
	always, _ := temporal.Read("always a", expr.TaskNames{"a"}, nil)
	ended, _ := temporal.Read("eventually (not a)", expr.TaskNames{"a"}, nil)
	for outcome, want := range map[record.Outcome]string{record.Complete: "satisfied, violated",
		record.Interrupted: "open, open", record.Failed: "open, open"} {
		for _, last := range []float64{5, 7} { // exit procedures take no time, or two seconds
			m := New(&record.Header{Tasks: []record.Task{{Name: "a", Kind: "Action", Initial: bt.Accept}}},
				assertions(always, ended))
			_ = m.Status(0, 1, bt.Change{Task: 0, To: bt.Running})
			_ = m.Sample(0, nil)
			_ = m.Sample(5, nil)
			_ = m.Status(5, 1, bt.Change{Task: 0, To: bt.Deactivating})
			_ = m.Sample(last, nil)
			_ = m.Status(last, 1, bt.Change{Task: 0, To: bt.Accept})
			list, err := m.Judge(&record.End{Told: last,
				Summary: &record.Summary{Outcome: outcome, Ended: last, Stopped: 5, Planned: 1}})
			if err != nil || list[0].Verdict+", "+list[1].Verdict != want || outcome != record.Complete && *list[0].After != 5 {
				t.Errorf("%s: %+v, %v", outcome, list, err)
			}
		}
	}
}

// A state that leaves its range violates an assumption; what a run without a tree cannot show is not watched.
func TestRangesAndRunsWithoutATree(t *testing.T) {
	property, _ := temporal.Read("always a", expr.TaskNames{"a"}, nil)
	watch := temporal.Watch{Assertions: []temporal.Assertion{{Text: property.Text, Formula: property.Formula},
		{Kind: temporal.OfEffect, Effect: temporal.Effect{Task: "a", Signal: "x", High: 1}},
		{Kind: temporal.OfEffect, Effect: temporal.Effect{Task: "a", Signal: "y", High: 1}},
		{Kind: temporal.OfRange, Text: "in range"}}}
	for _, test := range []struct {
		plan    record.Verdict
		outcome record.Outcome
		leaves  float64
		want    string
	}{
		{record.PlanOpen, record.Complete, 3, "satisfied, violated 3, unwatched, violated 3, "},
		{record.PlanOpen, record.Complete, 9, "satisfied, violated 3, unwatched, satisfied, "},
		{record.PlanOpen, record.Interrupted, 9, "open, violated 3, unwatched, open, "},
		{record.PlanAbsent, record.Complete, 3, "unwatched, unwatched, unwatched, violated 3, "},
	} {
		m := New(&record.Header{RelTol: 1e-6, Signals: []record.Signal{{Name: "x"}},
			Tasks: []record.Task{{Name: "a", Kind: "Action", Initial: bt.Running}}}, watch)
		for n := range 6 {
			_ = m.Sample(float64(n), []float64{float64(n * n / 4)}) // rises by 2 from 3 s to 4 s
		}
		_ = m.Event(record.Event{T: test.leaves, Kind: record.KindRange, Text: "y is outside"})
		list, err := m.Judge(&record.End{Told: 5, Summary: &record.Summary{Plan: test.plan, Outcome: test.outcome, Ended: 5}})
		got := ""
		for _, p := range list {
			got += p.Verdict
			if p.At != nil {
				got += fmt.Sprintf(" %g", *p.At)
			}
			got += ", "
			if (p.Because == "") == (p.Verdict == "unwatched" || p.Verdict == "open" || p.Kind == "range" && p.At != nil) {
				t.Errorf("%+v", p)
			}
		}
		if err != nil || !strings.HasPrefix(got, test.want) {
			t.Errorf("%s, %v; want %s", got, err, test.want)
		}
	}
}

// A run does not show the truth of a condition that it judged only where it could change something; that of an action,
// and of what runs, it does.
func TestRestingConditionsAreUnwatched(t *testing.T) {
	for name, want := range map[string]string{"c": "unwatched", "d": "violated", "a": "violated"} {
		property, mistakes := temporal.Read("always "+name, expr.TaskNames{"a", "c", "d"}, nil)
		if mistakes != nil {
			t.Fatal(mistakes)
		}
		m := New(&record.Header{Tasks: []record.Task{{Name: "a", Kind: "Action", Initial: bt.Accept},
			{Name: "c", Kind: "Condition", Initial: bt.Failure, Rests: true},
			{Name: "d", Kind: "Condition", Initial: bt.Failure}}}, assertions(property))
		_ = m.Sample(0, nil)
		_ = m.Sample(1, nil)
		list, err := m.Judge(&record.End{Told: 1, Summary: &record.Summary{Plan: record.PlanOpen, Outcome: record.Complete,
			Ended: 1}})
		if err != nil || list[0].Verdict != want || (list[0].Because == "") != (want != "unwatched") {
			t.Errorf("%s: %+v, %v", name, list, err)
		}
	}
}

// Where the run decided that a limit is only touched, the values that exceed it by no more than their accuracy do not
// violate a property; until the relation changes, and not by more.
func TestTouchesAreJudgedAsFlown(t *testing.T) {
	for _, c := range []struct {
		touch, leaves bool
		excess        float64
		want          string
	}{{false, false, 1e-9, "violated"}, {true, false, 1e-9, "satisfied"}, {true, false, 1e-2, "violated"},
		{true, true, 1e-9, "violated"}} {
		header := record.Header{Signals: []record.Signal{{Name: "h"}}, RelTol: 1e-6}
		property, mistakes := temporal.Read("always h lt 1", nil, nil)
		if mistakes != nil {
			t.Fatal(mistakes)
		}
		m := New(&header, assertions(property))
		_ = m.Sample(0, []float64{0})
		if c.touch {
			e := record.TouchEvent(5, 1, "h >= 1", false)
			_ = m.Event(e)
		}
		_ = m.Sample(10, []float64{1 + c.excess})
		if c.leaves {
			_ = m.Event(record.StateEvent(15, 1, "h >= 1", true))
			_ = m.Sample(20, []float64{1 + c.excess})
		}
		end := record.End{Told: 30, Summary: &record.Summary{Outcome: record.Complete, Ended: 30}}
		list, err := m.Judge(&end)
		if err != nil || list[0].Verdict != c.want {
			t.Errorf("%+v: %v, %v", c, list, err)
		}
	}
}
