package verify

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/analysis/flown"
	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/document/declare"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/explore"
	"github.com/canopy-uav/canopy/formalism/stategraph"
	"github.com/canopy-uav/canopy/snapshot"
)

// Comparison is the result of comparing the behaviour of two plans.
type Comparison struct {
	Verdict    Verdict // Proved: in all runs the same actions are active, and do the same
	Text       string
	Steps      []Situation // Refuted: a shortest way to states in which other actions are active; nil: there is none
	Mismatches []Mismatch  // Refuted: what the same actions do differently
	Old        string      // Refuted: a script of the steps for script.Print with the old plan; "" if it cannot be spelled
	New        string      // the same with the new plan; "" also for a state graph
}

// Situation is one world of a way to a difference, and which actions are active there.
type Situation struct {
	World string   `json:"world"`
	Over  []string `json:"over,omitempty"` // names of actions whose procedures are over, and of timers that elapse
	Old   []string `json:"old"`            // names
	New   []string `json:"new"`
}

// ComparePlans compares what two plans do in the same world: which actions are active at the end of each instant, by
// the actions' own names, what is written then, and the result of the root. What happens within an instant takes no
// time and counts only by what it leaves behind. Equal plans do the same. Plans without memory whose actions assign
// nothing as they begin or end, or nothing that signals decide which may jump then, are compared by decision diagrams:
// they do the same if for each action the sets in which it is active are the same. Otherwise both are executed side by
// side, the nearest states first, so that a difference comes with a shortest way to it. Then what the actions do is
// compared: what they write, and how long procedures and timers take. It is undecided as soon as goOn, which is asked
// often, returns false.
func ComparePlans(old, updated declare.Subject, goOn func() bool) Comparison {
	if equal(old, updated) {
		return Comparison{Verdict: Proved, Text: "the behaviour is the same: the plans are equal"}
	}
	c := compared(old, updated, goOn)
	for _, s := range []declare.Subject{old, updated} {
		if action, by := repeated(s); c.Verdict == Proved && action != "" {
			return unconcluded(by + " runs " + action + " again, which may then end in another way at the same instant")
		}
	}
	return c
}

// repeated returns the first free action that a task can run again when it has ended, and that task: the search gives
// an action one answer at each instant.
func repeated(s declare.Subject) (action, by string) {
	tree := s.Plan.Tree
	for _, name := range s.Declared.Free {
		t, _ := tree.Find(name)
		for above := t; above != tree.Root(); {
			if above = tree.Parent(above); tree.Repeats(above) {
				return name, tree.Name(above)
			}
		}
	}
	return "", ""
}

// equal reports whether two plans have the same tasks and expressions, over signals of the same meaning.
func equal(old, updated declare.Subject) bool {
	if old.Plan.Tree.Len() != updated.Plan.Tree.Len() {
		return false
	}
	var a, b strings.Builder
	for _, s := range []struct {
		*strings.Builder
		declare.Subject
	}{{&a, old}, {&b, updated}} {
		if plan.Write(s, s.Plan) != nil {
			return false
		}
		for _, name := range slices.Sorted(maps.Keys(s.Computed)) {
			fmt.Fprintf(s, "%s := %s\n", name, s.Computed[name])
		}
		if s.Program != nil {
			for _, slot := range s.Program.Slots {
				fmt.Fprintf(s, "%s %v %v\n", slot.Name, slot.Initial, slot.Hold)
			}
		}
		fmt.Fprintf(s, "%q\n", slices.Sorted(slices.Values(s.Declared.Free)))
	}
	return a.String() == b.String()
}

// compared compares plans that need not be equal.
func compared(old, updated declare.Subject, goOn func() bool) Comparison {
	models := newModels(newDiagramsWithin(&meter{goOn: goOn}), false, old, updated)
	a, b := models[0], models[1]
	if a.immediate() && b.immediate() && a.same(b) {
		return Comparison{Verdict: Proved,
			Text: "the behaviour is the same: each action is active in the same states"}.With(mismatches(a, b))
	}
	done := mismatches(a, b)
	return searchPlans(a, b, len(done) == 0, goOn).With(done)
}

// searchPlans executes two plans side by side; what is written may be compared, too.
func searchPlans(a, b *Model, written bool, goOn func() bool) Comparison {
	x := &plans{Product: flown.NewProduct(a.subject, b.subject), a: a, b: b, written: written}
	most := movesOf(a.tree.Len() + b.tree.Len())
	x.search = newSearch(x.Product, observer[struct{}](x), state[struct{}]{}, mergeLeft, budgetOf(most, goOn))
	x.stopped = func(at *flown.Moment, _ int) {
		if x.settles(!x.Apart, at.Err); x.Apart && x.Old.Certain() && x.New.Certain() && at.Possible() {
			x.stops = cmp.Or(x.stops, map[bool]string{true: "the old", false: "the new"}[x.New.Err == nil]+
				" plan alone stops with an error: "+untimed(at.Err))
		}
	}
	return compare(x.search, x, &x.difference, most)
}

// immediate reports whether what a plan does depends on the present signals alone.
func (m *Model) immediate() bool {
	jumps := func(a plan.Assignment) bool { return slices.ContainsFunc(a.Value.Names(), m.stepper().Follows) }
	return !m.slow() && !m.Remembers() && !slices.ContainsFunc(m.plan.Leaves, func(l plan.Leaf) bool {
		return slices.ContainsFunc(l.Entry, jumps) || slices.ContainsFunc(l.Exit, jumps)
	})
}

// CompareGraph compares a plan with a state graph that names the plan's conditions and actions. It is undecided as soon
// as goOn returns false.
func CompareGraph(s declare.Subject, g *stategraph.Graph, goOn func() bool) Comparison {
	for _, t := range g.Transitions() {
		if t.After > 0 {
			return unconcluded("the state graph has transitions that take time")
		}
	}
	most := movesOf(s.Plan.Tree.Len() + g.Len())
	x := newMachine(s, g, budgetOf(most, goOn))
	c := compare(x.search, x, &x.difference, most)
	if slices.ContainsFunc(s.Plan.Leaves, func(l plan.Leaf) bool {
		return l.EntryTime != nil || l.ExitTime != nil || l.EntryUntil != nil || l.ExitUntil != nil
	}) {
		c.Text += ", if procedures take no time"
	}
	return c
}

func unconcluded(why string) Comparison {
	return Comparison{Verdict: Undecided, Text: "not concluded whether the behaviour is the same: " + why}
}

// ownName returns a task's name without the path that makes it unique.
func ownName(name string) string {
	name = name[strings.LastIndexByte(name, '/')+1:]
	if at := strings.LastIndexByte(name, '['); at > 0 && strings.HasSuffix(name, "]") {
		name = name[:at]
	}
	return name
}

// byName returns the states in which an action of each name is active.
func (m *Model) byName() map[string]set {
	by := map[string]set{}
	for _, t := range m.actions() {
		name := ownName(m.tree.Name(t))
		by[name] = m.space.or(by[name], m.active[t])
	}
	return by
}

// same reports whether for each name the actions of two models with a common space are active in the same states, and
// the results of the roots are the same there.
func (m *Model) same(o *Model) bool {
	s, mine, others := m.space, m.byName(), o.byName()
	lawful := s.and(m.lawful, o.lawful)
	for _, is := range []bt.Status{bt.Success, bt.Failure, bt.Skipped} {
		result := fmt.Sprint("the root's result ", is)
		mine[result], others[result] = m.judged[m.tree.Root()].Of(is), o.judged[o.tree.Root()].Of(is)
	}
	for _, both := range [][2]map[string]set{{mine, others}, {others, mine}} {
		for name, active := range both[0] {
			if !s.empty(s.and(s.and(active, s.not(both[1][name])), lawful)) {
				return false
			}
		}
	}
	return !s.full()
}

// sides is two that are compared in one world. Both are at the end of an instant.
type sides interface {
	// differ returns what is different, "" if nothing is, and whether it is different in runs.
	differ(at *flown.Moment) (what string, sure bool)
	situation(at *flown.Moment) Situation
	// instants returns the instant of each, with a comment, and scripts what they show.
	instants(at *flown.Moment, comment string) [2]instant
	scripts(instants [2][]instant) (old, updated string)
}

// difference is what the observer of two sides has found.
type difference struct {
	loops   bool   // some transitions do not settle on either side
	failure error  // of one that settles on one side only
	stops   string // what stops one side alone, in runs
	maybe   string // a difference that need not be one
	what    string // a difference
}

// settles records a transition that does not settle, on both sides or on one.
func (d *difference) settles(both bool, err error) {
	if d.loops = d.loops || both; !both && d.failure == nil {
		d.failure = err
	}
}

// judge judges the end of an instant.
func (d *difference) judge(s sides, at *flown.Moment) event {
	switch what, sure := s.differ(at); {
	case what == "":
		return nothing
	case sure:
		d.what = what
		return hit
	case at.Possible():
		d.maybe = what
	}
	return impossible
}

// movesOf returns the maximum number of moves of two with a number of tasks, and budgetOf the budget of their search.
func movesOf(tasks int) int { return once * min(maxMoves, maxVisits/tasks) }

func budgetOf(most int, goOn func() bool) explore.Budget {
	return explore.Budget{Moves: most, Bytes: maxBytes, Over: func(int) string {
		if !goOn() {
			return compareEnded
		}
		return ""
	}}
}

const compareEnded = "the comparison was ended"

// compare searches for a difference.
func compare[M comparable](x *search[M], of sides, d *difference, most int) Comparison {
	switch x.run(); {
	case x.from >= 0:
		return refuted(x, of, d)
	case x.states.Short() == compareEnded:
		return unconcluded(compareEnded)
	case x.states.Short() != "":
		return unconcluded(fmt.Sprintf("%d moves of both did not visit all states that they can reach", most))
	case d.stops != "":
		return Comparison{Verdict: Refuted, Text: "the behaviour differs: " + d.stops}
	case d.failure != nil:
		return unconcluded("only one of them settles: " + d.failure.Error())
	case d.maybe != "":
		return unconcluded("it may differ (" + d.maybe +
			"), but that depends on what is not known of signals that tasks write")
	}
	c := Comparison{Verdict: Proved,
		Text: fmt.Sprintf("the behaviour is the same: in all %d states that both can reach together", x.states.Len()-1)}
	if d.loops {
		c.Text += "; with some signals neither settles"
	}
	return c
}

// refuted returns the way to the difference.
func refuted[M comparable](x *search[M], of sides, d *difference) Comparison {
	c := Comparison{Verdict: Refuted, Text: "the behaviour differs"}
	if d.what != actives {
		c.Text += ": " + d.what
	}
	var instants [2][]instant
	x.witness(x.hits(), func(_ int, at *flown.Moment) {
		s := of.situation(at)
		c.Steps = append(c.Steps, s)
		for k, t := range of.instants(at, s.comment()) {
			instants[k] = append(instants[k], t)
		}
	})
	c.Old, c.New = of.scripts(instants)
	return c
}

// comment describes the instant and its end in a script.
func (s Situation) comment() string {
	text := s.World
	if len(s.Over) > 0 {
		text += "; procedures are over of " + strings.Join(s.Over, ", ")
	}
	names := func(list []string) string { return cmp.Or(strings.Join(list, ", "), "no action") }
	return text + "; then active, old: " + names(s.Old) + "; new: " + names(s.New)
}

// actives is the difference that other actions are active: the situations show it.
const actives = "other actions are active"

// plans is two plans that are flown side by side.
type plans struct {
	*search[struct{}]
	*flown.Product
	difference
	a, b    *Model
	written bool // what is written is compared, too
}

func (p *plans) step(at *flown.Moment, _ struct{}) (struct{}, event) {
	return struct{}{}, p.judge(p, at)
}

func (p *plans) differ(*flown.Moment) (what string, sure bool) {
	old, updated := p.Judgements()
	switch {
	case !slices.Equal(p.a.busy(p.Old), p.b.busy(p.New)):
		what = actives
	case old != updated:
		result := map[bt.Status]string{bt.Success: "has succeeded", bt.Failure: "has failed", bt.Accept: "has not ended"}
		what = "the same actions are active, but the old plan " + result[old] + ", the new one " + result[updated]
	case p.written:
		if slots := p.Written(); len(slots) > 0 {
			what = "the same actions are active, but the values differ of " + strings.Join(slots, ", ")
		}
	}
	return what, !p.Inexact
}

func (p *plans) situation(*flown.Moment) Situation {
	over := distinct(append(p.a.elapsed(p.Old), p.b.elapsed(p.New)...))
	return Situation{p.Text(), over, p.a.busy(p.Old), p.b.busy(p.New)}
}

func (p *plans) instants(_ *flown.Moment, comment string) [2]instant {
	return [2]instant{p.a.instant(p.Old, comment), p.b.instant(p.New, comment)}
}

func (p *plans) scripts(instants [2][]instant) (old, updated string) {
	return p.a.spell(instants[0]), p.b.spell(instants[1])
}

// busy returns the own names of the active actions.
func (m *Model) busy(x *flown.Moment) []string {
	var names []string
	for _, a := range m.activeAt(x) {
		names = append(names, ownName(m.tree.Name(a)))
	}
	return distinct(names)
}

func distinct(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}

// elapsed returns the names of the actions whose procedures, and of the timers that, are over in an instant.
func (m *Model) elapsed(x *flown.Moment) []string {
	var names []string
	for _, t := range x.Elapsed() {
		name := m.tree.Name(t)
		if !m.tree.Kind(t).Timer() {
			name = ownName(name)
		}
		names = append(names, name)
	}
	return names
}

// machine is a plan, whose procedures take no time, and a state graph that is given its conditions. It remembers the
// state of the graph.
type machine struct {
	*search[string]
	difference
	m          *Model
	graph      *stategraph.Engine
	conditions []bt.Task // of the graph
}

func newMachine(s declare.Subject, g *stategraph.Graph, b explore.Budget) *machine {
	atOnce := *s.Plan
	atOnce.Leaves = slices.Clone(s.Plan.Leaves)
	for i := range atOnce.Leaves {
		l := &atOnce.Leaves[i]
		l.EntryTime, l.ExitTime, l.EntryUntil, l.ExitUntil = nil, nil, nil, nil
	}
	s.Plan, s.Program = &atOnce, nil
	x := &machine{m: newModel(s, newDiagrams), graph: stategraph.NewEngine(g)}
	for _, name := range g.Conditions() {
		for _, l := range x.m.leaves {
			if l.condition && (l.name == name || l.called == name) {
				x.conditions = append(x.conditions, l.task)
				break
			}
		}
	}
	start := state[string]{mark: string(snapshot.Save(nil, x.graph))}
	x.search = newSearch(x.m.stepper(), observer[string](x), start, mergeLeft, b)
	x.stopped = func(at *flown.Moment, from int) {
		_, err := x.react(at, x.soFar(at, x.states.Key(from).mark).mark)
		x.settles(err != nil, at.Err)
	}
	return x
}

func (x *machine) step(at *flown.Moment, before string) (after string, now event) {
	after, err := x.react(at, before)
	if err != nil { // the plan settles
		x.settles(false, err)
		return after, impossible
	}
	if at.Over {
		now = x.judge(x, at)
	}
	return after, now
}

// react gives the graph the conditions of a settling, and returns its state.
func (x *machine) react(at *flown.Moment, before string) (after string, err error) {
	if snapshot.Load([]byte(before), x.graph) != nil {
		panic("verify: a state graph cannot be restored")
	}
	var truth []bool
	for _, t := range x.conditions {
		truth = append(truth, at.Status(t) == bt.Success)
	}
	_, err = x.graph.Settle(0, truth)
	return string(snapshot.Save(nil, x.graph)), err
}

func (x *machine) differ(at *flown.Moment) (what string, sure bool) {
	if slices.Equal(x.m.busy(at), x.busy()) {
		return "", true
	}
	return actives, true
}

func (x *machine) busy() []string {
	var names []string
	for _, a := range x.graph.ActiveActions(nil) {
		names = append(names, ownName(x.graph.Graph().Actions()[a]))
	}
	return distinct(names)
}

func (x *machine) situation(at *flown.Moment) Situation {
	return Situation{at.Text(), nil, x.m.busy(at), x.busy()}
}

func (x *machine) instants(at *flown.Moment, comment string) [2]instant {
	return [2]instant{x.m.instant(at, comment)}
}

func (x *machine) scripts(instants [2][]instant) (old, updated string) {
	return x.m.spell(instants[0]), ""
}
