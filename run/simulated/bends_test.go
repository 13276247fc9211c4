package simulated

import (
	"math"
	"testing"

	"github.com/canopy-uav/canopy/document/mission"
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

// Values that are not used have no events and need not be finite: those of a task that is not active, of a condition that
// rests, of a signal that is only recorded.
func TestBendsRestWithTheirTasks(t *testing.T) {
	m := equationsMission(t, quiet, `<ReactiveFallback>
	<ReactiveSequence><Condition name="never" on="t lt 0 [s]"/><Condition name="late" on="max(1, log(10 - t / 1 [s])) gt 2"/>
	<Action name="no" write="u := min(1, sqrt(5 - t / 1 [s])) * 1 [1/s] + floor(t / 1 [s]) * 1 [1/s]"/></ReactiveSequence>
	<Action name="yes" write="u := 1 [1/s]"/></ReactiveFallback>`,
		"horizon: 100\nrecord: {interval: 10}\nsignals: {steps: {value: 'floor(t / 0.5 [s])'}}\n")
	r, l := flown(t, m)
	if s := r.Summary(); s.StateEvents > 0 {
		t.Errorf("%d events", s.StateEvents)
	}
	for i, v := range l.column(m, "steps") {
		if want := math.Floor(l.times[i] / 0.5); v != want {
			t.Errorf("%g at %g s, want %g", v, l.times[i], want)
		}
	}
}
