package verify

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"canopy/bt"
	"canopy/document/declare"
	"canopy/document/plan"
	"canopy/explore"
	"canopy/formalism/stategraph"
	"canopy/snapshot"
)

// Comparison is the result of comparing the behaviour of two plans.
type Comparison struct {
	Verdict Verdict // Proved: in every world, whatever came before, the same actions are active, and do the same
	Text    string
	Steps   []Situation // Refuted: a shortest way to states in which other actions are active; nil: there is none
	Deeds   []Deed      // Refuted: what the same actions do differently
}

// Situation is one world of a way to a difference, and which actions are active there.
type Situation struct {
	World string   `json:"world"`
	Over  []string `json:"over,omitempty"` // names of actions whose procedures are over, and of timers that elapse
	Old   []string `json:"old"`            // names
	New   []string `json:"new"`
}

// ComparePlans compares which actions two plans activate, by the actions' own names, in all worlds that conditions
// tell apart. Plans without memory are compared by decision diagrams: they do the same if for each action the sets in
// which it is active are the same. Otherwise, and where procedures take time, both engines play side by side, the
// nearest states first, so that a difference comes with a shortest way to it. Then what the actions do is compared:
// what they write, and how long procedures and timers take. It is undecided as soon as goOn, which is asked often,
// returns false. Where an action assigns something as it begins or ends, sameness is not concluded in this way: the worlds
// do not change within an instant.
func ComparePlans(old, updated declare.Subject, goOn func() bool) Comparison {
	models := newModels(newDiagramsWhile(goOn), old, updated)
	a, b := models[0], models[1]
	if !a.slow() && !b.slow() && !a.Remembers() && !b.Remembers() && a.same(b) {
		return Comparison{Verdict: Proved,
			Text: "the behaviour is the same: each action is active in the same states"}.With(deeds(a, b))
	}
	c := compare(treeSide{a.idleSlow()}, treeSide{b.idleSlow()}, a, min(maxMoves, maxVisits/(a.tree.Len()+b.tree.Len())),
		goOn)
	if c.Verdict == Proved && (a.begins() || b.begins()) {
		c.Verdict = Undecided
		c.Text = "not concluded whether the behaviour is the same: signals may jump with what actions assign as they begin or" +
			" end; otherwise " + c.Text
	}
	return c.With(deeds(a, b))
}

// begins reports whether an action that may not be active all the time assigns something as it begins or ends, so that
// signals may jump between two settlings of an instant.
func (m *Model) begins() bool {
	return slices.ContainsFunc(m.plan.Leaves, func(l plan.Leaf) bool { return len(l.Entry)+len(l.Exit) > 0 })
}

// CompareGraph compares a plan with a state graph that names the plan's conditions and actions. It is undecided as soon
// as goOn returns false.
func CompareGraph(s declare.Subject, g *stategraph.Graph, goOn func() bool) Comparison {
	for _, t := range g.Transitions() {
		if t.After > 0 {
			return Comparison{Verdict: Undecided, Text: "not concluded whether the behaviour is the same: the state graph has" +
				" transitions that take time"}
		}
	}
	a := newModel(s, newDiagramsWhile(goOn))
	c := compare(treeSide{a.idle()}, graphSide{a.idle(), stategraph.NewEngine(g)}, a,
		min(maxMoves, maxVisits/(a.tree.Len()+g.Len())), goOn)
	if a.slow() {
		c.Text += ", if procedures take no time"
	}
	return c
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
		if by[name] == nil {
			by[name] = m.space.none()
		}
		by[name] = m.space.or(by[name], m.active[t])
	}
	return by
}

// same reports whether for each name the actions of two models with a common space are active in the same states.
func (m *Model) same(o *Model) bool {
	s, mine, others := m.space, m.byName(), o.byName()
	allowed := s.and(m.allowed, o.allowed)
	for _, both := range [][2]map[string]set{{mine, others}, {others, mine}} {
		for name, active := range both[0] {
			other := both[1][name]
			if other == nil {
				other = s.none()
			}
			if !s.empty(s.and(s.and(active, s.not(other)), allowed)) {
				return false
			}
		}
	}
	return !s.full()
}

// side is one of the two that are compared.
type side interface {
	begin(world []bool, over []string) (side, error)
	move(world []bool, over []string) error
	mayEnd() []string // whose procedures may be over in the next move
	active() []string
	key() string
	clone() side
	set(from side) // makes it the same as another one
}

// treeSide is a plan's tree.
type treeSide struct{ *Player }

func (t treeSide) begin(world []bool, over []string) (side, error) {
	p := t.m.idle()
	p.slow = t.slow
	p, err := p.begin(world, t.called(over)...)
	return treeSide{p}, err
}

func (t treeSide) move(world []bool, over []string) error { return t.Move(world, t.called(over)...) }

// called returns the actions and timers with these names.
func (t treeSide) called(names []string) []bt.Task {
	return slices.DeleteFunc(slices.Concat(t.m.actions(), t.m.tree.Timers()), func(a bt.Task) bool {
		return !slices.Contains(names, t.eventName(a))
	})
}

// eventName returns the name by which the procedures of actions, or timers, are over together in both plans.
func (t treeSide) eventName(task bt.Task) string {
	if t.m.tree.Kind(task).Timer() {
		return t.m.tree.Name(task)
	}
	return ownName(t.m.tree.Name(task))
}

func (t treeSide) mayEnd() []string {
	var names []string
	for _, a := range t.Player.mayEnd() {
		names = append(names, t.eventName(a))
	}
	return names
}

func (t treeSide) key() string { return t.Key() }

func (t treeSide) clone() side {
	c := treeSide{t.m.idle()}
	c.set(t)
	return c
}

func (t treeSide) set(from side) { t.copyFrom(from.(treeSide).Player) }

func (t treeSide) active() []string {
	var names []string
	for _, a := range t.m.actions() {
		if t.Player.active(a) {
			names = append(names, ownName(t.m.tree.Name(a)))
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// graphSide is a state graph. A player of its own evaluates the conditions.
type graphSide struct {
	conditions *Player
	engine     *stategraph.Engine
}

func (s graphSide) begin(world []bool, over []string) (side, error) {
	c := graphSide{s.conditions.m.idle(), stategraph.NewEngine(s.engine.Graph())}
	return c, c.move(world, over)
}

func (s graphSide) mayEnd() []string { return nil }

func (s graphSide) move(world []bool, _ []string) error {
	s.conditions.inputs(world)
	var truth []bool
	for _, name := range s.engine.Graph().Conditions() {
		i := slices.IndexFunc(s.conditions.m.leaves, func(l leaf) bool {
			return l.condition && (l.name == name || l.called == name)
		})
		truth = append(truth, s.conditions.latched[i])
	}
	_, err := s.engine.Settle(0, truth)
	return err
}

func (s graphSide) key() string { return string(snapshot.Save(packed(s.conditions.latched), s.engine)) }

func (s graphSide) clone() side {
	c := graphSide{s.conditions.m.idle(), s.engine.Clone()}
	c.set(s)
	return c
}

func (s graphSide) set(from side) {
	s.conditions.copyFrom(from.(graphSide).conditions)
	s.engine.CopyFrom(from.(graphSide).engine)
}

func (s graphSide) active() []string {
	var names []string
	for _, a := range s.engine.ActiveActions(nil) {
		names = append(names, ownName(s.engine.Graph().Actions()[a]))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// compare plays both sides, which have not begun, through all worlds of a model, the nearest states first.
func compare(old, updated side, m *Model, most int, goOn func() bool) Comparison {
	unknown := func(why string) Comparison {
		return Comparison{Verdict: Undecided, Text: "not concluded whether the behaviour is the same: " + why}
	}
	worlds, ok := m.worlds()
	if !ok {
		return unknown(fmt.Sprintf("the conditions have more than %d worlds", maxWorlds))
	}
	type node struct {
		old, new side
		world    int
		over     []string
	}
	nodes := explore.New[string, node](explore.Budget{Moves: most + len(worlds)})
	found := func(last int) Comparison {
		c := Comparison{Verdict: Refuted, Text: "the behaviour differs"}
		for _, n := range nodes.Path(last)[1:] {
			at := nodes.Move(n)
			c.Steps = append(c.Steps, Situation{m.text(m.whole(worlds[at.world])), at.over, at.old.active(), at.new.active()})
		}
		return c
	}
	a, b, loops := old.clone(), updated.clone(), false
	nodes.Arrive(-1, "", node{old, updated, -1, nil}) // before they begin
	for i := range nodes.Leave() {
		at := nodes.Move(i)
		mayEnd := append(at.old.mayEnd(), at.new.mayEnd()...)
		slices.Sort(mayEnd)
		endings, ok := choices(slices.Compact(mayEnd))
		if !ok {
			return unknown(crowd)
		}
		for k := range len(endings) * len(worlds) {
			if !goOn() {
				return unknown("the comparison was ended")
			}
			if !nodes.Spend() {
				return unknown(fmt.Sprintf("%d moves of both did not visit all states that they can reach", most))
			}
			w, over := k%len(worlds), endings[k/len(worlds)]
			var first, second error
			if i == 0 {
				a, first = old.begin(worlds[w], over)
				b, second = updated.begin(worlds[w], over)
			} else {
				a.set(at.old)
				b.set(at.new)
				first, second = a.move(worlds[w], over), b.move(worlds[w], over)
			}
			if first != nil && second != nil { // a run of either ends here
				loops = true
				continue
			}
			if err := cmp.Or(first, second); err != nil {
				return unknown(err.Error())
			}
			key := a.key() + "|" + b.key()
			if _, known := nodes.Find(key); known {
				continue
			}
			n, _ := nodes.Arrive(i, key, node{a.clone(), b.clone(), w, over})
			if !slices.Equal(a.active(), b.active()) {
				return found(n)
			}
		}
	}
	c := Comparison{Verdict: Proved,
		Text: fmt.Sprintf("the behaviour is the same: in all %d states that both can reach together", nodes.Len()-1)}
	if loops {
		c.Text += "; in some worlds both are instantaneous loops"
	}
	return c
}

// whole returns the region of one world.
func (m *Model) whole(world []bool) *region {
	r := &region{first: map[int]int{}, last: map[int]int{}, truth: map[int]bool{}}
	for v, in := range m.vocab.inputs {
		switch in.kind {
		case inputBit:
			k := m.vocab.signals[in.signal].interval(world)
			r.first[in.signal], r.last[in.signal] = k, k
		case inputFree:
			r.truth[v] = world[v]
		}
	}
	return r
}
