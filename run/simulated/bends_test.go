package simulated

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"canopy/bt"
	"canopy/document/mission"
)

// quiet is a vehicle whose derivative is a command, and whose steps are long.
const quiet = `
states: {x: {derivative: u}}
commands: {u: {unit: 1/s}}
`

// changes are the times after the start at which a task changes its status.
func (l *log) changes(m *mission.Mission, task string) (times []float64) {
	for _, s := range l.statuses {
		if m.Plan.Tree.Name(s.Task) == task && s.t > 0 {
			times = append(times, s.t)
		}
	}
	return times
}

// Jumps and kinks inside the sides of a condition's relation are events: a pulse that nothing else indicates is found at
// every tolerance, without a maximum step.
func TestPulseInACondition(t *testing.T) {
	hourly := []float64{}
	for h := 1.; h < 24; h++ {
		hourly = append(hourly, h*3600, h*3600+1)
	}
	day := "horizon: 86390\nrecord: {interval: 3600}\n"
	for _, c := range []struct {
		condition, signals string
		want               []float64
	}{
		{"mod(t, 1 [h]) lt 1 [s]", "", append([]float64{1}, hourly...)},
		{"mod(t / 1 [h], 1) lt 1/3600", "", append([]float64{1}, hourly...)},
		{"t / 1 [h] - floor(t / 1 [h]) lt 1/3600", "", append([]float64{1}, hourly...)},
		{"phase lt 1 [s]", `signals: {phase: {unit: s, value: "mod(t, 1 [h])"}}`, append([]float64{1}, hourly...)},
		{"if(t ge 5000 [s] and t lt 5100 [s], 1, 0) gt 0.5", "", []float64{5000, 5100}},
		{"if(mod(t, 24 [h]) ge 5000 [s] and t lt 5001 [s], x + 1, -1) gt 0.5", "", []float64{5000, 5001}},
		{"max(0, 1 - abs(t - 5000 [s]) / 1 [s]) gt 0.5", "", []float64{4999.5, 5000.5}},
		{"abs(t - 5000 [s]) lt 1 [s]", "", []float64{4999, 5001}},
		{"min(t - 5000 [s], 5001 [s] - t) ge 0 [s]", "", []float64{5000, 5001}},
		{"sign(t - 5000 [s]) * (5001 [s] - t) gt 0 [s]", "", []float64{5000, 5001}},
	} {
		for _, tolerance := range []string{"1e-3", "1e-9"} {
			m := equationsMission(t, quiet, fmt.Sprintf(
				`<ReactiveSequence><Condition name="up" on="%s"/><Action name="go"/></ReactiveSequence>`, c.condition),
				day+c.signals+"\ntolerance: "+tolerance+"\n")
			_, l, err := fly(t, m)
			if err != nil {
				t.Fatal(c.condition, err)
			}
			near(t, c.condition, l.changes(m, "up"), 1e-8, c.want...)
		}
	}
}

// So they are in a value that a task writes and the vehicle reads, directly or through a computed signal.
func TestPulseInACommand(t *testing.T) {
	for _, c := range []struct {
		value, signals string
		want           float64
	}{
		{"if(mod(t, 1 [h]) lt 1 [s], 1 [1/s], 0)", "", 24},
		{"max(0, 1 - abs(t - 5000 [s]) / 1 [s]) * 1 [1/s]", "", 1},
		{"min(max(t / 1 [s] - 5000, 0), 1, max(5003 - t / 1 [s], 0)) * 1 [1/s]", "", 2},
		{"floor(t / 6 [h]) * 1 [1/s]", "", 21600 * (0 + 1 + 2 + 3)},
		{"sign(sin(2 * pi * t / 10 [h])) * 1 [1/s]", "", 14400},
		{"pulse", `signals: {pulse: {unit: 1/s, value: "max(0, 1 - abs(t - 5000 [s]) / 1 [s]) * 1 [1/s]"}}`, 1},
		{"sqrt(max(0, 1 - t / 9 [s])) * 1 [1/s]", "", 6},
	} {
		for _, tolerance := range []string{"1e-3", "1e-9"} {
			m := equationsMission(t, quiet, fmt.Sprintf(`<Action name="go" write="u := %s"/>`, c.value),
				"horizon: 86400\nrecord: {interval: 3600}\n"+c.signals+"\ntolerance: "+tolerance+"\n")
			_, l, err := fly(t, m)
			if err != nil {
				t.Fatal(c.value, err)
			}
			relative := 1e-10
			if c.value[:2] == "sq" { // not a polynomial
				relative = 1e-2
			}
			near(t, c.value+" at "+tolerance, []float64{l.last(m, "x")}, relative*c.want, c.want)
			for _, e := range l.events {
				if e.Text != "mod(t, 1 [h]) < 1 [s] becomes false" {
					t.Errorf("a kink is logged: %v", e)
				}
			}
		}
	}
}

// Values that are not used have no events and need not be finite: those of a task that is not active, of a condition that
// rests, of a signal that is only recorded.
func TestBendsRestWithTheirTasks(t *testing.T) {
	m := equationsMission(t, quiet, `<ReactiveFallback>
	<ReactiveSequence><Condition name="never" on="t lt 0 [s]"/><Condition name="late" on="max(1, log(10 - t / 1 [s])) gt 2"/>
	<Action name="no" write="u := min(1, sqrt(5 - t / 1 [s])) * 1 [1/s] + floor(t / 1 [s]) * 1 [1/s]"/></ReactiveSequence>
	<Action name="yes" write="u := 1 [1/s]"/></ReactiveFallback>`,
		"horizon: 100\nrecord: {interval: 10}\nsignals: {steps: {value: 'floor(t / 0.5 [s])'}}\n")
	r, l, err := fly(t, m)
	if err != nil {
		t.Fatal(err)
	}
	if s := r.Summary(); s.StateEvents > 0 {
		t.Errorf("%d events", s.StateEvents)
	}
	for i, v := range l.column(m, "steps") {
		if want := math.Floor(l.times[i] / 0.5); v != want {
			t.Errorf("%g at %g s, want %g", v, l.times[i], want)
		}
	}
}

// A task that begins in the middle writes from the piece on which its value lies then.
func TestBendsOfATaskThatBegins(t *testing.T) {
	m := equationsMission(t, quiet, `<ReactiveFallback>
	<ReactiveSequence><Condition on="t ge 1000 [s]"/><Condition name="odd" on="mod(floor(t / 10 [s]), 2) gt 0.5"/>
	<Action name="go" write="u := mod(t / 1 [s], 100) * 1 [1/s]"/></ReactiveSequence></ReactiveFallback>`,
		"horizon: 1100\nrecord: {interval: 100}\n")
	_, l, err := fly(t, m)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "integral", []float64{l.last(m, "x")}, 1e-6, (20*20-10*10+40*40-30*30+60*60-50*50+80*80-70*70+100*100-90*90)/2)
}

// At the start, a relation is on the side on which what is inside it puts it.
func TestBendsAtTheStart(t *testing.T) {
	for _, x := range []string{"0.3", "-0.3"} {
		m := equationsMission(t, `
states: {x: {initial: `+x+`, derivative: 0}, y: {derivative: "if(abs(x) lt 0.1, 1, 0) * 1 [1/s]"}}
`, `<ReactiveSequence><Condition name="near" on="abs(x) le 0.1"/><Action name="go"/></ReactiveSequence>`, "horizon: 10\n")
		_, l, err := fly(t, m)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "changes", l.changes(m, "near"), 0)
		near(t, "integral", []float64{l.last(m, "y")}, 0, 0)
		if l.at(m, "near", bt.Success) != nil || l.at(m, "go", bt.Running) != nil {
			t.Error("it begins near")
		}
	}
}

// Tables of a mission are functions in its expressions and in those of the plan; their kinks are events.
func TestTablesOfAMission(t *testing.T) {
	tables := `
tables:
  level: {arguments: {time: {unit: h, points: [0, 1, 1.01, 1.02, 24]}}, values: [0, 0, 1, 0, 0]}
  rate: {unit: 1/h, arguments: {time: {unit: h, points: [0, 12, 24]}, gain: {points: [0, 2]}}, values: [[0, 0], [12, 24], [0, 0]], outside: clamp}
signals: {high: {type: boolean, value: "level(t) ge 0.5"}}
`
	m := equationsMission(t, quiet, `<ReactiveFallback><ReactiveSequence><Condition name="up" on="high"/>
		<Action name="wait" write="u := 0"/></ReactiveSequence><Action name="go" write="u := rate(t, 0.5)"/></ReactiveFallback>`,
		"horizon: 86400\nrecord: {interval: 3600}\n"+tables)
	_, l, err := fly(t, m)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "up", l.changes(m, "up"), 1e-7, 3618, 3654)
	rate := func(h float64) float64 { return 1.25 * h } // of 1 at gain 0 and 2 at gain 2
	missed := (rate(3618/3600.) + rate(3654/3600.)) / 2 * 36 / 3600
	near(t, "integral", []float64{l.last(m, "x")}, 1e-6, 15*12-missed)

	m = equationsMission(t, quiet, `<Action name="go" write="u := level(2 * t) * 1 [1/s]"/>`, "horizon: 86400\n"+tables)
	if _, _, err = fly(t, m); err == nil || !strings.Contains(err.Error(), "level(2 * t) is undefined") {
		t.Errorf("beyond the points: %v", err)
	}
}
