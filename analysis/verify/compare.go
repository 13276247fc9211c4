package verify

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"canopy/analysis/flown"
	"canopy/bt"
	"canopy/document/declare"
	"canopy/document/plan"
	"canopy/explore"
	"canopy/formalism/stategraph"
	"canopy/snapshot"
)

// Comparison is the result of comparing the behaviour of two plans.
type Comparison struct {
	Verdict    Verdict // Proved: in all flights the same actions are active, and do the same
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
	models := newModels(newDiagramsWhile(goOn), old, updated)
	a, b := models[0], models[1]
	if a.immediate() && b.immediate() && a.same(b) {
		return Comparison{Verdict: Proved,
			Text: "the behaviour is the same: each action is active in the same states"}.With(mismatches(a, b))
	}
	done := mismatches(a, b)
	side := &plans{a, b, len(done) == 0, flown.NewDuo(old, updated)}
	return newSearch(side, a.tree.Len()+b.tree.Len(), goOn).compare().With(done)
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
	c := newSearch(newMachine(s, g), s.Plan.Tree.Len()+g.Len(), goOn).compare()
	if slices.ContainsFunc(s.Plan.Leaves, takesTime) {
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

// sides is two that are compared in one world.
type sides interface {
	// steps visits every course of an instant after a state.
	steps(from together, visit func() bool)
	follow(from together, answers flown.Tape, visit func() bool)
	class(state together) string
	tape() flown.Tape
	// failed returns the errors with which the present course ends.
	failed() (old, updated error)
	// differ returns what is different after the instant, "" if nothing is, and whether it is different in flights.
	differ() (what string, sure bool)
	situation() Situation
	// tell returns what the plans were told in the instant, with a comment.
	tell(comment string) [2]instant
	// spell returns what they were told as scripts.
	spell(instants [2][]instant) (old, updated string)
	possible() bool
	after() together
}

// together is the state of both sides.
type together struct {
	key   flown.Key
	graph string
}

// comparison is the search for a difference.
type comparison struct {
	sides
	goOn    func() bool
	states  *explore.Search[together, flown.Tape]
	classes map[string]bool // of the states that were left
	most    int
	ended   bool   // goOn has returned false
	loops   bool   // some courses do not settle on either side
	failure error  // of a course that settles on one side only
	maybe   string // a difference that need not be one
	what    string // a difference
	from    int    // the state before it
	last    flown.Tape
}

func newSearch(of sides, tasks int, goOn func() bool) *comparison {
	x := &comparison{sides: of, goOn: goOn, classes: map[string]bool{}, most: once * min(maxMoves, maxVisits/tasks)}
	x.states = explore.New[together, flown.Tape](explore.Budget{Moves: x.most, Bytes: maxBytes})
	x.states.Arrive(-1, together{}, nil)
	return x
}

func (x *comparison) compare() Comparison {
	for n := range x.states.Leave() {
		from := x.states.Key(n)
		class := x.class(from)
		if x.classes[class] {
			continue
		}
		x.classes[class] = true
		x.steps(from, func() bool { return x.visit(n) })
		switch {
		case x.ended:
			return unconcluded("the comparison was ended")
		case x.what != "":
			return x.refuted()
		}
	}
	switch {
	case x.states.Short() != "":
		return unconcluded(fmt.Sprintf("%d moves of both did not visit all states that they can reach", x.most))
	case x.failure != nil:
		return unconcluded("only one of them settles: " + x.failure.Error())
	case x.maybe != "":
		return unconcluded("it may differ (" + x.maybe +
			"), but that depends on what is not known of signals that tasks write")
	}
	c := Comparison{Verdict: Proved,
		Text: fmt.Sprintf("the behaviour is the same: in all %d states that both can reach together", x.states.Len()-1)}
	if x.loops {
		c.Text += "; with some signals neither settles"
	}
	return c
}

// visit judges the end of an instant and reports whether the search goes on.
func (x *comparison) visit(n int) bool {
	switch {
	case !x.goOn():
		x.ended = true
		return false
	case !x.states.Spend():
		return false
	}
	if first, second := x.failed(); first != nil || second != nil {
		switch {
		case first != nil && second != nil: // a run of either ends here
			x.loops = true
		case x.failure == nil:
			x.failure = cmp.Or(first, second)
		}
		return true
	}
	what, sure := x.differ()
	switch {
	case !x.possible():
	case what == "":
		answers := x.tape()
		if to := x.after(); !x.knows(to) {
			x.states.Arrive(n, to, answers)
		}
	case !sure:
		x.maybe = what
	default:
		x.what, x.from, x.last = what, n, x.tape()
		return false
	}
	return true
}

func (x *comparison) knows(state together) bool {
	_, known := x.states.Find(state)
	return known
}

// refuted returns the way to the difference.
func (x *comparison) refuted() Comparison {
	c := Comparison{Verdict: Refuted, Text: "the behaviour differs"}
	if x.what != actives {
		c.Text += ": " + x.what
	}
	path, instants := x.states.Path(x.from), [2][]instant{}
	for i, n := range path {
		answers := x.last
		if i+1 < len(path) {
			answers = x.states.Move(path[i+1])
		}
		x.follow(x.states.Key(n), answers, func() bool {
			s := x.situation()
			c.Steps = append(c.Steps, s)
			for k, t := range x.tell(s.comment()) {
				instants[k] = append(instants[k], t)
			}
			return true
		})
	}
	c.Old, c.New = x.spell(instants)
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
	a, b    *Model
	written bool // what is written is compared, too
	*flown.Duo
}

func (p *plans) steps(from together, visit func() bool) { p.Steps(from.key, visit) }

func (p *plans) follow(from together, answers flown.Tape, visit func() bool) {
	p.Follow(from.key, answers, visit)
}

func (p *plans) class(state together) string  { return p.Class(state.key) }
func (p *plans) tape() flown.Tape             { return p.Tape() }
func (p *plans) failed() (old, updated error) { return p.Old.Err, p.New.Err }
func (p *plans) possible() bool               { return p.Possible() }
func (p *plans) after() together              { return together{key: p.After()} }

func (p *plans) differ() (what string, sure bool) {
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
	return what, !p.Loose()
}

func (p *plans) situation() Situation {
	over := append(p.a.elapsed(p.Old), p.b.elapsed(p.New)...)
	slices.Sort(over)
	return Situation{p.Text(), slices.Compact(over), p.a.busy(p.Old), p.b.busy(p.New)}
}

func (p *plans) tell(comment string) [2]instant {
	return [2]instant{p.a.tell(p.Old, comment), p.b.tell(p.New, comment)}
}

func (p *plans) spell(instants [2][]instant) (old, updated string) {
	return p.a.spell(instants[0]), p.b.spell(instants[1])
}

// busy returns the own names of the active actions.
func (m *Model) busy(x situation) []string {
	var names []string
	for _, a := range m.actions() {
		if x.Active(a) {
			names = append(names, ownName(m.tree.Name(a)))
		}
	}
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

// machine is a plan, whose procedures take no time, and a state graph that is told its conditions.
type machine struct {
	m          *Model
	s          *flown.Stepper
	now        *flown.Moment
	graph      *stategraph.Engine
	conditions []bt.Task // of the graph
	states     []string  // of the graph; Moment.Mark is one of them
	number     map[string]int
	failure    error
}

func takesTime(l plan.Leaf) bool {
	return l.EntryTime != nil || l.ExitTime != nil || l.EntryUntil != nil || l.ExitUntil != nil
}

func newMachine(s declare.Subject, g *stategraph.Graph) *machine {
	quick := *s.Plan
	quick.Leaves = slices.Clone(s.Plan.Leaves)
	for i := range quick.Leaves {
		l := &quick.Leaves[i]
		l.EntryTime, l.ExitTime, l.EntryUntil, l.ExitUntil = nil, nil, nil, nil
	}
	s.Plan, s.Program = &quick, nil
	x := &machine{m: newModel(s, newDiagrams), s: flown.New(s), graph: stategraph.NewEngine(g), number: map[string]int{}}
	for _, name := range g.Conditions() {
		for _, l := range x.m.leaves {
			if l.condition && (l.name == name || l.called == name) {
				x.conditions = append(x.conditions, l.task)
				break
			}
		}
	}
	x.note()
	return x
}

// note returns the number of the graph's state, from 1.
func (x *machine) note() int {
	state := string(snapshot.Save(nil, x.graph))
	n, ok := x.number[state]
	if !ok {
		x.states = append(x.states, state)
		n = len(x.states)
		x.number[state] = n
	}
	return n
}

// react tells the graph the conditions of a moment, and calls visit at the end of an instant.
func (x *machine) react(from together, m *flown.Moment, visit func() bool) {
	before := from.graph
	switch {
	case m.Mark > 0:
		before = x.states[m.Mark-1]
	case before == "":
		before = x.states[0]
	}
	if snapshot.Load([]byte(before), x.graph) != nil {
		panic("verify: a state graph cannot be restored")
	}
	var truth []bool
	for _, t := range x.conditions {
		truth = append(truth, m.Status(t) == bt.Success)
	}
	if x.now = m; x.failure == nil {
		_, x.failure = x.graph.Settle(0, truth)
	}
	m.Mark = x.note()
	if m.Over || m.Err != nil {
		m.Stop = !visit()
		x.failure = nil
	}
}

func (x *machine) steps(from together, visit func() bool) {
	x.s.Steps(from.key, func(m *flown.Moment) { x.react(from, m, visit) })
}

func (x *machine) follow(from together, answers flown.Tape, visit func() bool) {
	x.s.Follow(from.key, answers, func(m *flown.Moment) { x.react(from, m, visit) })
}

func (x *machine) class(state together) string {
	class := ""
	if state.key != "" {
		x.s.At(state.key, func(m *flown.Moment) { class = m.Class() + "|" + state.graph })
	}
	return class
}

func (x *machine) tape() flown.Tape             { return x.now.Tape() }
func (x *machine) failed() (old, updated error) { return x.now.Err, x.failure }
func (x *machine) possible() bool               { return x.now.Possible() }

func (x *machine) differ() (what string, sure bool) {
	if slices.Equal(x.m.busy(x.now), x.busy()) {
		return "", true
	}
	return actives, true
}

func (x *machine) busy() []string {
	var names []string
	for _, a := range x.graph.ActiveActions(nil) {
		names = append(names, ownName(x.graph.Graph().Actions()[a]))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func (x *machine) situation() Situation {
	return Situation{x.now.Text(), nil, x.m.busy(x.now), x.busy()}
}

func (x *machine) tell(comment string) [2]instant { return [2]instant{x.m.tell(x.now, comment)} }

func (x *machine) spell(instants [2][]instant) (old, updated string) {
	return x.m.spell(instants[0]), ""
}

func (x *machine) after() together {
	return together{x.now.After(), string(snapshot.Save(nil, x.graph))}
}
