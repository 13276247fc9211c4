// Package monitor judges temporal properties on a run, in flight or from its log.
package monitor

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"canopy/bt"
	"canopy/expr"
	"canopy/run/record"
	"canopy/temporal"
)

// maxValues is the maximum number of values that a monitor stores: of signals and tasks at the recorded places. Judging
// a property takes about ten bytes per value.
const maxValues = 8_000_000

// Monitor is a recorder that stores the signals and tasks named by properties, at the samples and on both sides of each
// status change. A change that is undone at the same time is not visible. The stored part of a long run is bounded:
// what depends on later times is open.
type Monitor struct {
	properties []*temporal.Property
	tasks      []record.Task
	trace      temporal.Trace
	signals    []column // kept
	active     []int    // the tasks that are kept
	status     []bt.Status
	changes    []record.Change // not before the held sample
	held       sample          // the last one: its use depends on the next one
	before     sample          // the one before
	samples    int
	values     int
	most       int
	full       bool // more is not stored
}

// column is a signal that is kept.
type column struct {
	name   string
	signal int // its place in the samples, or theTime
}

const theTime = -1

// sample is the values of the kept signals at a time.
type sample struct {
	t      float64 // [s]
	values []float64
}

// New returns a monitor of a run's properties.
func New(h *record.Header, properties []*temporal.Property) *Monitor {
	m := &Monitor{properties: properties, tasks: h.Tasks, most: maxValues,
		trace: temporal.Trace{Signals: map[string][]float64{}, Tasks: map[string][]bool{}, Scope: Scope(h)}}
	named := map[string]bool{}
	for _, p := range properties {
		p.Formula.Conditions(func(e *expr.Expr) {
			for _, name := range e.Names() {
				named[name] = true
			}
		})
	}
	for i, s := range h.Signals {
		if s.Type == expr.Text.Name() {
			m.trace.Texts = s.Values
		}
		if named[s.Name] {
			m.signals = append(m.signals, column{s.Name, i})
			m.trace.Signals[s.Name] = []float64{}
		}
	}
	if named["t"] && m.trace.Signals["t"] == nil {
		m.signals = append(m.signals, column{"t", theTime})
		m.trace.Signals["t"] = []float64{}
	}
	for i, t := range h.Tasks {
		m.status = append(m.status, t.Initial)
		if named[t.Name] {
			m.active = append(m.active, i)
			m.trace.Tasks[t.Name] = []bool{}
		}
	}
	m.held.values, m.before.values = make([]float64, len(m.signals)), make([]float64, len(m.signals))
	return m
}

// Scope returns what properties may read of a run: the recorded signals and the time, with their types.
func Scope(h *record.Header) expr.Scope {
	scope := expr.Scope{"t": expr.Number(expr.Second)}
	for _, s := range h.Signals {
		u, err := expr.ParseUnit(s.Unit)
		if err != nil {
			u = expr.AnyUnit
		}
		v := expr.Number(u)
		if t, known := expr.TypeNamed(s.Type); known && t != expr.Real {
			v = expr.Variable{Type: t}
			if t == expr.Enumeration {
				v.Values = s.Values
			}
		}
		scope[s.Name] = v
	}
	return scope
}

// Sample implements [record.Recorder].
func (m *Monitor) Sample(t float64, values []float64) error {
	if m.full {
		return nil
	}
	if m.samples > 0 {
		m.settle(t)
	}
	m.full = m.values > m.most
	m.samples++
	m.before, m.held = m.held, m.before
	m.held.t = t
	for i, c := range m.signals {
		m.held.values[i] = t
		if c.signal != theTime {
			m.held.values[i] = values[c.signal]
		}
	}
	return nil
}

// Status implements [record.Recorder].
func (m *Monitor) Status(t float64, micro int, c bt.Change) error {
	if !m.full {
		m.changes = append(m.changes, record.Change{T: t, Micro: micro, Change: c})
		m.full = len(m.changes) > m.most
	}
	return nil
}

// Event implements [record.Recorder].
func (m *Monitor) Event(record.Event) error { return nil }

// Judge returns the verdicts of the properties on a run that ended so. For an incomplete run they are those that hold
// whatever came later. Errors wrap [temporal.ErrTrace].
func (m *Monitor) Judge(end *record.End) ([]record.Property, error) {
	if m.samples > 0 {
		m.last()
	}
	told, missing := m.cut(end)
	m.trace.Partial = missing != ""
	var list []record.Property
	for _, p := range m.properties {
		j, err := m.trace.Judge(p.Formula)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.Text, err)
		}
		r := record.Property{Property: p.Text, Verdict: j.Verdict.String()}
		if !math.IsInf(j.Margin, 0) {
			r.Margin = &j.Margin
		}
		if !math.IsNaN(j.At) {
			r.At = &j.At
		}
		if j.Verdict == temporal.Open {
			r.After, r.Because = &told, cmp.Or(missing, "the run ends before it is decided")
		}
		list = append(list, r)
	}
	return list, nil
}

// cut returns the time up to which the trace has the run, and the reason why it does not have all of it, "" if it does.
// It removes what follows the time at which a run that failed or was interrupted was stopped: there every task ends.
func (m *Monitor) cut(end *record.End) (told float64, missing string) {
	told, missing = end.Told, end.Missing()
	if s := end.Summary; s != nil && s.Outcome != record.Complete {
		told = cmp.Or(s.Stopped, s.Ended)
		if n, _ := slices.BinarySearch(m.trace.T, told); n+1 < len(m.trace.T) {
			m.trace.T = m.trace.T[:n+1]
			for _, c := range m.signals {
				m.trace.Signals[c.name] = m.trace.Signals[c.name][:n+1]
			}
			for _, i := range m.active {
				m.trace.Tasks[m.tasks[i].Name] = m.trace.Tasks[m.tasks[i].Name][:n+1]
			}
		}
	}
	if m.full && m.held.t < told {
		told = m.held.t
		missing = fmt.Sprintf("only the first %d values are judged; judge fewer properties, record less often, or fly a "+
			"shorter mission", m.most)
	}
	return told, missing
}

// settle adds the held sample and the changes before it, now that the time of the next one is known.
func (m *Monitor) settle(next float64) {
	t, last := m.held.t, next > m.held.t
	first := m.samples == 1 || m.before.t < t
	if m.samples == 1 {
		m.change(t)
	} else {
		m.between(t, func(at float64) func(int) float64 {
			a, b := &m.before, &m.held
			share := 0.0
			if at > a.t && b.t > a.t {
				share = (at - a.t) / (b.t - a.t)
			}
			return func(i int) float64 { return a.values[i] + share*(b.values[i]-a.values[i]) }
		})
	}
	here := func(i int) float64 { return m.held.values[i] }
	if last && first && len(m.changes) > 0 && m.changes[0].T == t {
		m.push(t, here)
	}
	if last {
		m.change(t)
	}
	m.push(t, here)
}

// last adds the last sample and all changes.
func (m *Monitor) last() {
	m.settle(math.Inf(1))
	here := func(i int) float64 { return m.held.values[i] }
	for len(m.changes) > 0 {
		t := m.changes[0].T
		m.push(t, here)
		m.change(t)
		m.push(t, here)
	}
}

// between adds both sides of the changes before a time, with the signals at each.
func (m *Monitor) between(before float64, row func(at float64) func(int) float64) {
	for len(m.changes) > 0 && m.changes[0].T < before {
		t := m.changes[0].T
		m.push(t, row(t))
		m.change(t)
		m.push(t, row(t))
	}
}

// change takes the changes up to a time.
func (m *Monitor) change(t float64) {
	n := 0
	for ; n < len(m.changes) && m.changes[n].T <= t; n++ {
		m.status[m.changes[n].Task] = m.changes[n].To
	}
	m.changes = slices.Delete(m.changes, 0, n)
}

// push adds a place to the trace.
func (m *Monitor) push(t float64, row func(i int) float64) {
	if n := len(m.trace.T); n > 0 { // a log from elsewhere may have a change after a later sample
		t = max(t, m.trace.T[n-1])
	}
	m.trace.T = append(m.trace.T, t)
	for i, c := range m.signals {
		m.trace.Signals[c.name] = append(m.trace.Signals[c.name], row(i))
	}
	for _, i := range m.active {
		s, task := m.status[i], &m.tasks[i]
		kind, known := bt.ParseKind(task.Kind)
		judged := known && kind.Family() == bt.Leaf && !kind.Acts()
		on := s == bt.Activating || s == bt.Running || s == bt.Success && judged
		m.trace.Tasks[task.Name] = append(m.trace.Tasks[task.Name], on)
	}
	m.values += 1 + len(m.signals) + len(m.active)
}
