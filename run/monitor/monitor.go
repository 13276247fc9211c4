// Package monitor judges the assertions about a run, in flight or from its log: temporal properties, and the
// assumptions of proofs.
package monitor

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/run/record"
	"github.com/canopy-uav/canopy/temporal"
)

// maxValues is the maximum number of values that a monitor stores: of signals and tasks at the recorded places. Judging
// an assertion takes about ten bytes per value.
const maxValues = 8_000_000

// Monitor is a recorder that stores the signals and tasks that assertions name, at the samples and at status changes,
// and the relations that change at events. The stored part of a long run is bounded: what depends on later times is
// open.
type Monitor struct {
	record.Nothing
	assertions []temporal.Assertion
	computed   map[string]*expr.Expr // signals that are arithmetic of others
	tasks      []record.Task
	scope      expr.Scope
	texts      []string
	tolerance  float64  // of the integration
	signals    []column // that are kept
	active     []int    // the tasks that are kept
	samples    []sample
	changes    []change
	crossings  []crossing
	relations  map[string]*relation           // by text
	watched    []string                       // texts of those of which each change is stored,
	until      float64                        // up to this time [s]
	breaks     map[temporal.Kind]record.Event // the first event that breaks an assumption
	told       int                            // status changes so far
	plans      []span                         // that have decided, in their order
	values     int
	most       int
	full       string // why more is not stored; "": it is
}

// column is a signal that is kept.
type column struct {
	name   string
	signal int // its place in the samples, or theTime
}

const theTime = -1

// breaking tells which assumption an event of a kind breaks.
var breaking = map[string]temporal.Kind{record.KindRange: temporal.OfRange, record.KindChattering: temporal.OfSliding}

// sample is the values of the kept signals at a time.
type sample struct {
	t      float64 // [s]
	after  int     // number of status changes before it
	values []float64
}

// change is a status change of a kept task.
type change struct {
	t      float64 // [s]
	number int     // among all status changes, from 1
	task   int     // among those that are kept
	to     bt.Status
}

// span is the time during which a plan decides, from t [s] on until the next one.
type span struct {
	t          float64
	has, rests []bool // by kept task: the plan has it, and it may go unjudged
}

// Tasks returns the tasks of a run, with those of plans that take over later, by their numbers in the log.
func Tasks(h *record.Header, later []record.Takeover) []record.Task {
	all := *h
	for _, p := range later {
		all.Take(p)
	}
	tasks := append(slices.Clone(h.Tasks), all.Tasks[len(h.Tasks):]...)
	for i := range tasks[len(h.Tasks):] {
		tasks[len(h.Tasks)+i].Initial = bt.Accept // until its plan takes over
	}
	return tasks
}

// New returns a monitor of a run. If it is known which plans take over later, assertions may name their tasks.
func New(h *record.Header, w temporal.Watch, later ...record.Takeover) *Monitor {
	m := &Monitor{tasks: Tasks(h, later), scope: Scope(h), tolerance: h.RelTol, most: maxValues,
		breaks: map[temporal.Kind]record.Event{}, relations: map[string]*relation{}, watched: h.Watched, until: math.Inf(1)}
	w.Computed = maps.Clone(w.Computed)
	for _, t := range m.tasks { // a name that is also that of a task means the task
		delete(w.Computed, t.Name)
	}
	w = w.Expanded(func(name string) bool {
		_, recorded := m.scope[name]
		return recorded
	})
	m.assertions, m.computed = w.Assertions, w.Computed
	named := map[string]bool{}
	for i := range m.assertions {
		for _, name := range m.assertions[i].Names() {
			named[name] = true
		}
	}
	for i, s := range h.Signals {
		if s.Type == expr.Text.Name() {
			m.texts = s.Values
		}
		if named[s.Name] {
			m.signals = append(m.signals, column{s.Name, i})
		}
	}
	if named["t"] && !slices.ContainsFunc(m.signals, func(c column) bool { return c.name == "t" }) {
		m.signals = append(m.signals, column{"t", theTime})
	}
	first := span{}
	for i, t := range m.tasks {
		if named[t.Name] {
			m.active = append(m.active, i)
			first.has = append(first.has, i < len(h.Tasks))
			first.rests = append(first.rests, i < len(h.Tasks) && t.Rests)
		}
	}
	m.plans = []span{first}
	return m
}

// Plan implements [record.Recorder].
func (m *Monitor) Plan(p record.Takeover) error {
	s := span{t: p.T}
	for k, i := range m.active {
		n := slices.IndexFunc(p.Tasks, func(t record.Task) bool { return t.Name == m.tasks[i].Name })
		s.has, s.rests = append(s.has, n >= 0), append(s.rests, n >= 0 && p.Tasks[n].Rests)
		before := slices.ContainsFunc(m.plans, func(s span) bool { return s.has[k] })
		if n >= 0 && !before && m.full == "" { // changes of others are in the log
			m.changes = append(m.changes, change{p.T, m.told, k, p.Tasks[n].Initial})
			m.store(1)
		}
	}
	m.plans = append(m.plans, s)
	return nil
}

// partly returns when the plan had the tasks that an assertion names, if not always; else "".
func (m *Monitor) partly(c *temporal.Assertion) string {
	var parts []string
	for k, i := range m.active {
		name := m.tasks[i].Name
		if !slices.Contains(c.Names(), name) || !slices.ContainsFunc(m.plans, func(s span) bool { return !s.has[k] }) {
			continue
		}
		text := "no plan"
		for n, s := range m.plans {
			switch {
			case s.has[k] && (n == 0 || !m.plans[n-1].has[k]):
				text = strings.TrimPrefix(text+" and", "no plan and") + fmt.Sprintf(" the plan from %s s", diag.Number(s.t, 6))
			case !s.has[k] && n > 0 && m.plans[n-1].has[k]:
				text += fmt.Sprintf(" to %s s", diag.Number(s.t, 6))
			}
		}
		parts = append(parts, "only"+text+" has "+name)
	}
	return strings.Join(parts, "; ")
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
		if s.Entry {
			v = expr.Variable{Unit: expr.AnyUnit, Held: true}
		}
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
	if m.full != "" {
		return nil
	}
	s := sample{t, m.told, make([]float64, len(m.signals))}
	for i, c := range m.signals {
		s.values[i] = t
		if c.signal != theTime {
			s.values[i] = values[c.signal]
		}
	}
	m.samples = append(m.samples, s)
	m.store(1 + len(m.signals) + len(m.active))
	return nil
}

// Status implements [record.Recorder].
func (m *Monitor) Status(t float64, _ int, c bt.Change) error {
	m.told++
	if k, kept := slices.BinarySearch(m.active, int(c.Task)); kept && m.full == "" {
		m.changes = append(m.changes, change{t, m.told, k, c.To})
		m.store(1)
	}
	return nil
}

// Event implements [record.Recorder].
func (m *Monitor) Event(e record.Event) error {
	if k, is := breaking[e.Kind]; is {
		if _, known := m.breaks[k]; !known {
			m.breaks[k] = e
		}
	}
	if e.Kind == record.KindSampled {
		m.until = e.T
	}
	if e.Relation == "" && (e.Kind == record.KindState || e.Kind == record.KindTouch) {
		m.full = "the log is that of an earlier version of canopy, whose events do not say which relation changed"
		m.samples = m.samples[:count(m.samples, func(s sample) bool { return s.t < e.T })]
	}
	if e.Relation != "" && m.full == "" {
		if r := m.relation(e.Relation); r != nil {
			m.crossings = append(m.crossings, crossing{e.T, r, e.Holds, e.Kind == record.KindTouch})
			m.store(1)
		}
	}
	return nil
}

// store counts stored values.
func (m *Monitor) store(n int) {
	m.values += n
	if m.values > m.most {
		m.full = fmt.Sprintf("only the first %d values are judged; judge fewer properties, record less often, or fly a "+
			"shorter mission", m.most)
	}
}

// Judge returns the verdicts of the assertions on a run that ended so. For an incomplete run they are those that hold
// whatever came later. Errors wrap [temporal.ErrTrace]; an assumption about what the run does not contain is unwatched
// instead.
func (m *Monitor) Judge(end *record.End) ([]record.Property, error) {
	trace, told, missing := m.judged(end)
	var list []record.Property
	for i := range m.assertions {
		c := &m.assertions[i]
		r := record.Property{Property: c.Text, Proofs: c.Proofs}
		if c.Kind != temporal.OfProperty {
			r.Kind = c.Kind.String()
		}
		r.Exchanged = m.partly(c)
		if text := m.unwatched(c, end); text != "" {
			r.Verdict, r.Because = record.PropertyUnwatched, text
			list = append(list, r)
			continue
		}
		j, err := m.judge(trace, c, told)
		if c.Kind != temporal.OfProperty && errors.Is(err, temporal.ErrTrace) {
			r.Verdict, r.Because = record.PropertyUnwatched, err.Error()
			list = append(list, r)
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.Text, err)
		}
		r.Verdict = j.Verdict.String()
		if !math.IsInf(j.Margin, 0) {
			r.Margin = &j.Margin
		}
		if !math.IsNaN(j.At) {
			r.At = &j.At
		}
		if j.Verdict == temporal.Violated {
			r.Because = m.breaks[c.Kind].Text
		}
		switch {
		case j.Verdict != temporal.Open:
		case j.Missing != "":
			r.Because = j.Missing
		default:
			r.After, r.Because = &told, cmp.Or(missing, "the run ends before it is decided")
		}
		list = append(list, r)
	}
	return list, nil
}

// judged returns the trace that is judged up to the time told, and why that is not the end of the run; "": it is.
func (m *Monitor) judged(end *record.End) (trace *temporal.Trace, told float64, missing string) {
	told, missing = end.Told, end.Missing()
	if s := end.Summary; s != nil {
		told = cmp.Or(s.Stopped, s.Ended)
	}
	if n := len(m.samples); m.full != "" && n > 0 && m.samples[n-1].t < told {
		told, missing = m.samples[n-1].t, m.full
	}
	trace = m.trace(end.Summary, told)
	trace.Partial = missing != ""
	return trace, told, missing
}

// Robust is a property or a fact with how robustly a run has it.
type Robust struct {
	Kind temporal.Kind
	Text string
	temporal.Robustness
}

// Robustness returns the robust satisfaction signals of the properties and facts that [Monitor.Judge] judges.
func (m *Monitor) Robustness(end *record.End) (list []Robust) {
	trace, _, _ := m.judged(end)
	for i := range m.assertions {
		c := &m.assertions[i]
		if c.Formula == nil || m.unwatched(c, end) != "" {
			continue
		}
		if r, err := trace.Robustness(c.Formula); err == nil { // else it is not judged either
			list = append(list, Robust{c.Kind, c.Text, r})
		}
	}
	return list
}

// unwatched returns the reason why a run cannot show what an assertion is about; "" if it can.
func (m *Monitor) unwatched(c *temporal.Assertion, end *record.End) string {
	absent := end.Summary != nil && end.Summary.Plan == record.PlanAbsent
	for _, name := range c.Names() {
		i := slices.IndexFunc(m.tasks, func(t record.Task) bool { return t.Name == name })
		k, kept := slices.BinarySearch(m.active, i)
		switch {
		case i < 0:
		case absent:
			return "it names " + name + ", and no tree decided in this run"
		case kept && slices.ContainsFunc(m.plans, func(s span) bool { return s.rests[k] }): // under one of them
			return "it names " + name + ", which this run judged only where it could change something; fly the mission with " +
				"this property under `check`"
		}
	}
	return ""
}

// judge judges an assertion on a trace that ends at the time told.
func (m *Monitor) judge(trace *temporal.Trace, c *temporal.Assertion, told float64) (temporal.Judgement, error) {
	switch c.Kind {
	case temporal.OfEffect:
		return trace.JudgeEffect(c.Effect, m.tolerance)
	case temporal.OfRange, temporal.OfSliding:
		j := temporal.Judgement{Margin: math.Inf(1), At: math.NaN()}
		e, broken := m.breaks[c.Kind]
		switch {
		case broken && e.T <= told:
			j.Verdict, j.At = temporal.Violated, e.T
		case trace.Partial:
			j.Verdict = temporal.Open
		}
		return j, nil
	case temporal.OfProperty, temporal.OfFact:
		return trace.Judge(c.Formula)
	}
	panic("monitor: an assertion of an unknown kind")
}
