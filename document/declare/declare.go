// Package declare reads an author's statements about a plan and its world: the section `check` of a mission, or a
// separate document for a plan alone. A [Subject] is a plan with these statements. Package verify proves and refutes
// them; docs/verification.md describes the section.
package declare

import (
	"maps"
	"math"
	"slices"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/executive"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/expr/interval"
	"github.com/canopy-uav/canopy/syntax/yamldoc"
	"github.com/canopy-uav/canopy/temporal"
)

// Declarations are an author's statements about a plan, its world and its goal.
type Declarations struct {
	Facts      []Statement      // hold in every state
	Always     []Statement      // must hold in every state; a task's name means that it is active
	Properties []Property       // must hold in every run
	Goal       *Statement       // the plan must succeed exactly where it holds
	Free       []string         // actions that may refuse and end at any time
	Foreign    map[bt.Task]bool // leaves that another program defines: what these can avoid is not refuted
	Written    []string         // slots to which some active task must give a value in every state
	Resources  []Resource       // things that only one task may hold at a time
	Effects    Effects
	Period     float64 // tasks that take turns faster than this chatter [s]
	Notes      []Note
}

// Place is a place in a document.
type Place struct {
	Source         *diag.Source
	Offset, Length int
}

// File returns the name of the file, which the document may include.
func (p Place) File() string {
	file, _ := p.Source.Origin(p.Offset)
	return file.Name
}

// Position returns the line and the column where it begins in its file, from 1.
func (p Place) Position() (line, column int) {
	return diag.Diagnostic{Source: p.Source, Offset: p.Offset}.Position()
}

// Statement is a condition over signals and the plan's tasks: Parts joined by "->", from right to left.
type Statement struct {
	Text string
	Place
	Parts   []*expr.Expr
	Derived bool // from the equations of the vehicle, for the declared start: no assumption
}

// Logic returns the structure of the statement: a -> b -> c is a -> (b -> c). task reports whether a name is that of a
// task.
func (s Statement) Logic(task func(name string) bool) expr.Logic {
	l := s.Parts[len(s.Parts)-1].Logic(task)
	for i := len(s.Parts) - 2; i >= 0; i-- {
		not := expr.Logic{Op: expr.LogicNot, Args: []expr.Logic{s.Parts[i].Logic(task)}}
		l = expr.Logic{Op: expr.LogicOr, Args: []expr.Logic{not, l}}
	}
	return l
}

// Property is a temporal property that is declared.
type Property struct {
	*temporal.Property
	Place
}

// Resource is something that only one task may hold at a time.
type Resource struct {
	Name  string
	Tasks []bt.Task
}

// Expressions returns the expressions of all facts, goals and properties.
func (d *Declarations) Expressions() []*expr.Expr {
	var all []*expr.Expr
	for _, s := range slices.Concat(d.Facts, d.Always) {
		all = append(all, s.Parts...)
	}
	if d.Goal != nil {
		all = append(all, d.Goal.Parts...)
	}
	for _, p := range d.Properties {
		p.Formula.Conditions(func(e *expr.Expr) { all = append(all, e) })
	}
	return all
}

// Subject is a plan with the declarations about its world.
type Subject struct {
	Plan     *plan.Plan
	Declared Declarations
	Computed map[string]*expr.Expr // signals that are expressions of others; without circular dependencies
	Commands []string              // of the vehicle
	Finite   []string              // the signals without which a run cannot go on: if one is not finite, it stops
	Rates    Deriver               // finds rates that are not declared; nil: none are found
	Program  *executive.Program    // the plan compiled for a mission; nil for a plan alone
	Compiler *expr.Compiler        // that compiled it, to be cloned; nil for a plan alone
	Signals  []string              // names, by the place in the signal vector; nil for a plan alone
	Flown    *Flight               // a flight of the plan; nil if there is none
	Sources  []string              // of signals: each may be lost and found at any instant
	Horizon  float64               // at which every run ends [s]; 0: at none
	Ends     bool                  // every run ends with the plan
	Slides   bool                  // where tasks take turns without end, a run slides on, with the statuses as they are

	Initial map[string]interval.Interval // where signals are at the start of every run; nil: anywhere

	// Start returns the same subject with the start that the mission declares, and with what follows from it; nil: it is
	// unknown. What is not proved of all runs is asked again of those that begin so.
	Start func() Subject

	// Endless returns the same subject for runs that go on beyond the horizon; nil: there is none.
	Endless func() Subject

	// Fly flies the mission as it is declared, as long as goOn returns true; nil: a plan alone, which has many flights.
	Fly func(goOn func() bool) Shown

	// Corner flies it from a corner of the ranges in which it may start; ok is false if there is none of this number.
	Corner func(number int, goOn func() bool) (s Shown, ok bool)
}

// FromAnywhere returns the subject whose runs begin in any state, as where a plan takes over in flight.
func (s Subject) FromAnywhere() Subject {
	s.Start, s.Fly, s.Corner = nil, nil, nil
	if endless := s.Endless; endless != nil {
		s.Endless = func() Subject { return endless().FromAnywhere() }
	}
	return s
}

// Shown is what a flight of a mission shows: from its start to its end, or to where it stops.
type Shown struct {
	Start    string             // as the mission writes it; "": the declared one
	Violated map[string]float64 // the assertions that it violates, by text, and when first [s]; NaN: at no one time
	Certain  map[string]bool    // those that it satisfies, as does every run from the declared start
	Initial  []bt.Status        // by task, before the first instant
	Instants []Instant          // at which statuses or the truth of the goal change
	Lawful   bool               // it keeps the facts
	Until    float64            // [s]
	Stopped  error              // why it goes no further; nil: it has ended
}

// Instant is one at which the plan has settled.
type Instant struct {
	T         float64     // [s]
	Changes   []bt.Change // of statuses
	Succeeded bool        // from then on: the plan has succeeded,
	Goal      bool        // its goal holds,
	Unset     bool        // and reads an entry without a value
}

// Flight is what a flight has shown of a plan.
type Flight struct {
	Run    string              // where its log is
	Active map[bt.Task]float64 // tasks that were active, and when first [s]
}

// Questions returns the names of the questions about plans, one word each, in their order.
func Questions() []string { return slices.Clone(questions) }

var questions = []string{"complete", "dead", "goal", "reach", "regression", "always", "property", "conflict", "effects",
	"chatter", "command", "reaction"}

// DefaultPeriod is the minimum period of tasks that take turns without chattering, if none is declared [s].
const DefaultPeriod = 60

// Read reads a `check:` section for a plan. Signals are judged by the scope; a nil one accepts all names.
// n may be nil: there is no section, only notes in the document's comments.
func Read(r *yamldoc.Reader, n *yamldoc.Node, p *plan.Plan, scope expr.Scope) Declarations {
	d := &declarer{Reader: r, plan: p, scope: scope, d: Declarations{Period: DefaultPeriod}}
	if n != nil {
		d.Fields(n, "check", d.entries())
	}
	d.notes()
	return d.d
}

// Has reports whether a `check:` section may have an entry of this name.
func Has(name string) bool { return (&declarer{}).entries()[name] != nil }

// entries returns the entries of a section.
func (d *declarer) entries() yamldoc.Keys {
	return yamldoc.Keys{
		"facts":  func(n *yamldoc.Node) { d.d.Facts = d.statements(n, "facts", d.plan.Tasks(bt.Kind.Judged)) },
		"always": func(n *yamldoc.Node) { d.d.Always = d.statements(n, "always", d.plan.Tasks(anyTask)) },
		"properties": func(n *yamldoc.Node) {
			d.d.Properties = properties(d.Reader, n, d.plan.Tasks(anyTask), d.scope)
		},
		"goal":      func(n *yamldoc.Node) { d.d.Goal = d.statement(n, d.plan.Tasks(bt.Kind.Judged)) },
		"free":      func(n *yamldoc.Node) { d.Sequence(n, "free", d.free) },
		"written":   func(n *yamldoc.Node) { d.Sequence(n, "written", d.written) },
		"resources": func(n *yamldoc.Node) { d.resources(n) },
		"effects":   func(n *yamldoc.Node) { d.effects(n) },
		"period":    func(n *yamldoc.Node) { d.d.Period = d.period(n) },
	}
}

// ReadFile reads a document with the entries of a `check:` section, for a plan without a mission.
func ReadFile(src *diag.Source, p *plan.Plan) (Declarations, diag.List) {
	r := yamldoc.NewReader(src)
	root := r.Parse("it needs at least one of `facts`, `goal`, `properties`, `free`, `resources`, `effects`")
	if root == nil {
		return Declarations{}, r.Diags
	}
	return Read(r, root, p, nil), r.Diags
}

func placeOf(r *yamldoc.Reader, n *yamldoc.Node) Place {
	return Place{r.Source, n.Offset, n.Length}
}

type declarer struct {
	*yamldoc.Reader
	plan  *plan.Plan
	scope expr.Scope
	d     Declarations
}

// statements reads a list of conditions that may name tasks.
func (d *declarer) statements(n *yamldoc.Node, what string, tasks expr.Tasks) []Statement {
	var list []Statement
	d.Sequence(n, what, func(n *yamldoc.Node) {
		if s := d.statement(n, tasks); s != nil {
			list = append(list, *s)
		}
	})
	return list
}

// anyTask accepts all kinds of tasks.
func anyTask(bt.Kind) bool { return true }

// statement reads a condition that may name tasks; nil if it has a mistake.
func (d *declarer) statement(n *yamldoc.Node, tasks expr.Tasks) *Statement {
	before := len(d.Diags)
	s := &Statement{Text: d.Text(n, "a statement"), Place: placeOf(d.Reader, n)}
	if s.Text == "" {
		return nil
	}
	parts, err := expr.ParseStatement(n.Value)
	if err != nil {
		d.Inside(n, err)
	}
	for i, e := range parts {
		named, mistakes := e.CheckTasks(tasks, d.scope)
		for _, m := range mistakes {
			if m.Code == expr.CodeFunction && m.Suggest() == "" {
				m.Hint = "what a run does over time is written under `properties`"
			}
			d.Inside(n, m)
		}
		parts[i] = named
	}
	s.Parts = parts
	if len(d.Diags) > before {
		return nil
	}
	return s
}

// action returns the action that a node names.
func (d *declarer) action(n *yamldoc.Node) (bt.Task, bool) {
	actions := d.plan.Tasks(bt.Kind.Acts)
	switch names := actions.Resolve(n.Value); len(names) {
	case 0:
		d.Unknown(n, "unknown-action", "the plan", actions.Names())
	case 1:
		return d.plan.Tree.Find(names[0])
	default:
		d.Add(n, expr.CodeAmbiguous, diag.OneOf("write one of ", names), "%d actions are called %q", len(names), n.Value)
	}
	return 0, false
}

// AddFree declares the free leaves of a plan, apart from those that are declared, to be of another program, of which
// nothing is known: they may end, refuse or have nothing to do at any time.
func (d *Declarations) AddFree(p *plan.Plan) {
	declared := map[string]bool{}
	for _, name := range d.Free {
		declared[name] = true
	}
	d.Foreign = map[bt.Task]bool{}
	for i := range p.Leaves {
		l, name := &p.Leaves[i], p.Tree.Name(p.Leaves[i].Task)
		if !l.Free || declared[name] {
			continue
		}
		if d.Foreign[l.Task] = true; p.Tree.Kind(l.Task).Acts() {
			d.Free = append(d.Free, name)
		}
	}
}

func (d *declarer) free(n *yamldoc.Node) {
	if t, ok := d.action(n); ok {
		d.d.Free = append(d.d.Free, d.plan.Tree.Name(t))
	}
}

func (d *declarer) written(n *yamldoc.Node) {
	var names []string
	for i := range d.plan.Leaves {
		for _, a := range slices.Concat(d.plan.Leaves[i].Write, d.plan.Leaves[i].Entry) {
			names = append(names, a.Target)
		}
	}
	slices.Sort(names)
	if names = slices.Compact(names); !slices.Contains(names, n.Value) {
		d.Unknown(n, "unknown-signal", "the list of written signals", names)
		return
	}
	d.d.Written = append(d.d.Written, n.Value)
}

func (d *declarer) resources(n *yamldoc.Node) {
	d.Mapping(n, "resources", func(key, value *yamldoc.Node) {
		r := Resource{Name: key.Value}
		d.Sequence(value, key.Value, func(n *yamldoc.Node) {
			if t, ok := d.action(n); ok {
				r.Tasks = append(r.Tasks, t)
			}
		})
		d.d.Resources = append(d.d.Resources, r)
	})
}

// effects reads the rates of signals: `up`, `down`, or a list of the minimum and the maximum rate.
func (d *declarer) effects(n *yamldoc.Node) {
	d.d.Effects = Effects{}
	d.Mapping(n, "effects", func(key, value *yamldoc.Node) {
		t, ok := d.action(key)
		rates := map[string]Rate{}
		d.Mapping(value, key.Value, func(key, value *yamldoc.Node) {
			if _, known := d.scope[key.Value]; d.scope != nil && !known {
				d.Unknown(key, "unknown-signal", "the mission", slices.Sorted(maps.Keys(d.scope)))
			}
			r := d.rate(value)
			r.Place = placeOf(d.Reader, key)
			rates[key.Value] = r
		})
		if ok {
			d.d.Effects[t] = rates
		}
	})
}

func (d *declarer) rate(n *yamldoc.Node) Rate {
	r := Rate{Low: math.Inf(-1), High: math.Inf(1)}
	word := n.Word("up", "down")
	switch {
	case word == "up":
		r.Low = math.SmallestNonzeroFloat64
	case word == "down":
		r.High = -math.SmallestNonzeroFloat64
	case n.Kind != yamldoc.Sequence || len(n.Items) != 2:
		d.Add(n, "wrong-type", "in the signal's unit per second, as in [-2e-5, 1e-5]",
			"an effect is up, down, or the minimum and the maximum rate")
	default:
		r.Low = d.Number(n.Items[0], expr.One, "the minimum rate")
		r.High = d.Number(n.Items[1], expr.One, "the maximum rate")
		if r.Low > r.High {
			d.Add(n, "out-of-range", "write the minimum first", "the minimum rate is above the maximum")
		}
	}
	return r
}

func (d *declarer) period(n *yamldoc.Node) float64 {
	return d.Bounded(n, expr.Second, "period", func(v float64) bool { return v >= 0 }, "not be negative", "")
}

// properties reads a list of temporal properties.
func properties(r *yamldoc.Reader, n *yamldoc.Node, tasks expr.Tasks, scope expr.Scope) []Property {
	var list []Property
	r.Sequence(n, "properties", func(n *yamldoc.Node) {
		text := r.Text(n, "a property")
		if text == "" {
			return
		}
		p, mistakes := temporal.Read(text, tasks, scope)
		for _, m := range mistakes {
			r.Inside(n, m)
		}
		if p != nil {
			list = append(list, Property{p, placeOf(r, n)})
		}
	})
	return list
}
