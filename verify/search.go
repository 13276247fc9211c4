package verify

import (
	"fmt"
	"slices"
	"strings"

	"canopy/bt"
	"canopy/expr"
	"canopy/snapshot"
)

// Player plays a plan with the real engine as a mission does: it is given one world after the other, an assignment of
// the model's inputs, judges the leaves in it and tells the engine what changed until no leaf has more to say.
type Player struct {
	m       *Model
	engine  *bt.Engine
	latched []bool      // by leaf: what a condition was last, and remembers if it has hysteresis
	told    []bool      // by leaf: what the engine knows of a condition
	request []bt.Status // by leaf: of an action
	outcome []bt.Status // by leaf: what the engine knows of how an action ended, since it was entered
	slow    bool        // procedures take the time that the plan says, else none
	over    []bt.Task   // whose procedures are over in this instant
	lines   []string    // of a script that does the same
	entered []bt.Task   // whose entry procedures the last move began
}

// maxRounds bounds the instants that follow each other in one world.
const maxRounds = 100

// newPlayer returns a player in its first world, in which the engine begins. No procedure takes time. The error wraps
// bt.ErrLoop.
func (m *Model) newPlayer(world []bool) (*Player, error) { return m.idle().begin(world) }

// begin goes to the first world, in which the engine begins.
func (p *Player) begin(world []bool, over ...bt.Task) (*Player, error) {
	slow, _ := p.slowness()
	inputs, line := p.inputs(world)
	p.over, p.lines = over, append(p.lines, line)
	p.engine = bt.NewEngine(p.m.tree, append(slow, inputs...), 0)
	if err := p.settle(nil); err != nil {
		return nil, err
	}
	return p, p.move(world)
}

// newTrace returns a player whose engine begins as that of bt.Trace: before the first world conditions are false and
// actions ask to be activated.
func (m *Model) newTrace() *Player {
	p := m.idle()
	_, _ = p.engine.Settle(nil) // as the script will: what it comes to is what counts
	return p
}

// newSlowTrace returns a player whose script begins with saying which procedures take time.
func (m *Model) newSlowTrace() *Player {
	p := m.newTrace()
	p.slow = true
	if slow, line := p.slowness(); line != "" {
		p.lines = append(p.lines, line)
		_, _ = p.engine.Settle(slow)
	}
	return p
}

func (m *Model) idle() *Player {
	p := &Player{m: m, engine: bt.NewEngine(m.tree, nil, 0), latched: make([]bool, len(m.leaves)),
		told: make([]bool, len(m.leaves)), request: make([]bt.Status, len(m.leaves)),
		outcome: make([]bt.Status, len(m.leaves))}
	for i := range p.request {
		p.request[i], p.outcome[i] = bt.Accept, bt.Accept
	}
	return p
}

// idleSlow returns a player whose procedures take the time that the plan says.
func (m *Model) idleSlow() *Player {
	p := m.idle()
	p.slow = true
	return p
}

// copyFrom makes the player the same as another one of the same model, but for the script.
func (p *Player) copyFrom(o *Player) {
	p.engine.CopyFrom(o.engine)
	copy(p.latched, o.latched)
	copy(p.told, o.told)
	copy(p.request, o.request)
	copy(p.outcome, o.outcome)
	p.slow = o.slow
	p.lines = p.lines[:0]
}

// Move goes to a world. The procedures of some tasks are over. The error wraps bt.ErrLoop.
func (p *Player) Move(world []bool, over ...bt.Task) error {
	p.entered = p.entered[:0]
	p.over = over
	return p.move(world)
}

func (p *Player) settle(inputs []bt.Input) error {
	instant, err := p.engine.Settle(inputs)
	for _, c := range instant.Commands {
		if !c.Exit {
			p.entered = append(p.entered, c.Task)
			p.outcome[p.m.leafOf[c.Task]] = bt.Accept
		}
	}
	p.over = slices.DeleteFunc(slices.Clone(p.over), func(t bt.Task) bool { return !p.m.leaves[p.m.leafOf[t]].brief() })
	return err
}

func (p *Player) move(world []bool) error {
	for range maxRounds {
		inputs, line := p.inputs(world)
		if len(inputs) == 0 {
			return nil
		}
		p.lines = append(p.lines, line)
		if err := p.settle(inputs); err != nil {
			return err
		}
	}
	return fmt.Errorf("%w: actions end and begin again in one world", bt.ErrLoop)
}

// Key returns a text that is the same for two players that do the same from here on.
func (p *Player) Key() string { return string(snapshot.Save(packed(p.latched), p.engine)) }

// inputs returns what the leaves have to tell the engine that it does not know yet, also as a line of a script.
func (p *Player) inputs(world []bool) (inputs []bt.Input, line string) {
	var words []string
	tell := func(in bt.Input, format string, args ...any) {
		inputs = append(inputs, in)
		words = append(words, fmt.Sprintf(format, args...))
	}
	for i := range p.m.leaves {
		l := &p.m.leaves[i]
		if l.condition {
			v := p.holds(l.on, world) || p.latched[i] && l.off != nil && !p.holds(l.off, world)
			if p.latched[i] = v; v != p.told[i] {
				p.told[i] = v
				tell(bt.Set(l.task, v), "set %s %t", l.name, v)
			}
			continue
		}
		if v := p.verdict(l.failureIf, l.successIf, world); v != p.request[i] {
			p.request[i] = v
			tell(bt.Request(l.task, v), "request %s %s", l.name, strings.ToLower(v.String()))
		}
		status := p.engine.Status(l.task)
		if status == bt.Activating || status == bt.Running {
			if v := p.verdict(l.failed, l.done, world); v != bt.Accept && v != p.outcome[i] {
				p.outcome[i] = v
				tell(bt.End(l.task, v), "end %s %s", l.name, strings.ToLower(v.String()))
			}
		}
		switch {
		case status == bt.Activating && p.isOver(l.task, &l.entry, world):
			tell(bt.Entered(l.task), "entered %s", l.name)
		case status == bt.Deactivating && p.isOver(l.task, &l.exit, world):
			tell(bt.Exited(l.task), "exited %s", l.name)
		}
	}
	return inputs, strings.Join(words, "; ")
}

// isOver reports whether a procedure that is under way is over.
func (p *Player) isOver(t bt.Task, x *procedure, world []bool) bool {
	if x.until != nil {
		return p.holds(x.until, world)
	}
	return slices.Contains(p.over, t)
}

// brief reports whether one of its procedures may begin and end at one time.
func (l *leaf) brief() bool { return l.entry.brief || l.exit.brief }

// slowness returns what tells an engine which procedures take time, also as a line of a script.
func (p *Player) slowness() (inputs []bt.Input, line string) {
	var words []string
	for _, l := range p.m.leaves {
		if !p.slow || !l.entry.slow && !l.exit.slow {
			continue
		}
		inputs = append(inputs, bt.Slow(l.task, l.entry.slow, l.exit.slow))
		word := "slow " + l.name
		if l.entry.slow {
			word += " entry"
		}
		if l.exit.slow {
			word += " exit"
		}
		words = append(words, word)
	}
	return inputs, strings.Join(words, "; ")
}

// maxEndings bounds the procedures that may be over together.
const maxEndings = 8

const crowd = "more procedures may be over together than are tried"

// mayEnd returns the tasks whose procedures may be over in the next move: those under way that have no condition for
// their end, and those that may begin and end at one time.
func (p *Player) mayEnd() []bt.Task {
	var tasks []bt.Task
	for i := range p.m.leaves {
		l := &p.m.leaves[i]
		status := p.engine.Status(l.task)
		if p.slow && (l.brief() || status == bt.Activating && l.entry.until == nil ||
			status == bt.Deactivating && l.exit.until == nil) {
			tasks = append(tasks, l.task)
		}
	}
	return tasks
}

// endings returns the sets of tasks whose procedures may be over in the next move, beginning with none; ok is false if
// they are too many.
func (p *Player) endings() (sets [][]bt.Task, ok bool) { return choices(p.mayEnd()) }

// choices returns all subsets of the first elements of a list, beginning with the empty one; ok is false if there are
// more elements than are tried.
func choices[T any](list []T) (sets [][]T, ok bool) {
	sets = [][]T{nil}
	for _, x := range list[:min(len(list), maxEndings)] {
		for _, s := range slices.Clone(sets) {
			sets = append(sets, append(slices.Clone(s), x))
		}
	}
	return sets, len(list) <= maxEndings
}

// settled reports whether no procedure is under way.
func (p *Player) settled() bool {
	return !slices.ContainsFunc(p.m.leaves, func(l leaf) bool {
		s := p.engine.Status(l.task)
		return s == bt.Activating || s == bt.Deactivating
	})
}

// verdict is failure if the first formula holds, else success if the second does, else neither.
func (p *Player) verdict(failure, success *expr.Logic, world []bool) bt.Status {
	switch {
	case p.holds(failure, world):
		return bt.Failure
	case p.holds(success, world):
		return bt.Success
	}
	return bt.Accept
}

// holds judges a formula in a world; one that is not given does not hold.
func (p *Player) holds(l *expr.Logic, world []bool) bool {
	if l == nil {
		return false
	}
	switch l.Op {
	case expr.LogicTruth:
		return l.Value
	case expr.LogicThreshold:
		s, k := p.m.vocab.above(l)
		return s.interval(world) > k
	case expr.LogicRelation:
		return world[p.m.vocab.byFree[l.Key]]
	case expr.LogicProposition:
		task, _ := p.m.tree.Find(l.Text)
		if p.m.tree.Kind(task) == bt.Condition {
			return p.latched[p.m.leafOf[task]]
		}
		return p.active(task)
	case expr.LogicNot:
		return !p.holds(&l.Args[0], world)
	}
	all := l.Op == expr.LogicAnd
	for i := range l.Args {
		if p.holds(&l.Args[i], world) != all {
			return !all
		}
	}
	return all
}

// lawful reports whether the declared facts hold in the world that the player is in.
func (p *Player) lawful(world []bool) bool {
	return !slices.ContainsFunc(p.m.facts, func(f expr.Logic) bool { return !p.holds(&f, world) })
}

// good reports whether a task has succeeded: it says so, or the result is held.
func (p *Player) good(t bt.Task) bool {
	if held, ok := p.engine.Held(t); ok {
		return held == bt.Success
	}
	s := p.engine.Status(t)
	return s == bt.Success || s == bt.Finished
}

// active reports whether a task is active.
func (p *Player) active(t bt.Task) bool { return p.engine.Active(t) }

// spells reports whether a script can spell the names of all leaves.
func (m *Model) spells() bool {
	return !slices.ContainsFunc(m.leaves, func(l leaf) bool { return strings.ContainsAny(l.name, ";#") })
}

// script returns the moves as a script for bt.Trace, "" if a script cannot spell the name of a leaf.
func (p *Player) script() string {
	if !p.m.spells() {
		return ""
	}
	var b strings.Builder
	for _, l := range p.lines {
		if l != "" {
			b.WriteString(l + "\n")
		}
	}
	if b.Len() == 0 {
		return "# the plan begins in it\n"
	}
	return b.String()
}

// violation judges a state: it reports whether something is as it should not be.
type violation func(p *Player, world []bool) bool

// counterexample is what became of the search for one.
type counterexample struct {
	verdict Verdict
	script  string // "" although refuted: a script begins with all conditions false, and does not get there
	why     string // undecided: the reason
	how     string // proved in another way than by the abstraction
	world   []bool // refuted by a search: where
}

// show looks for a counterexample in a set that the abstraction does not exclude. The engine has the last word. Where
// procedures take time it has the first, too: what ends while another procedure is under way stays as it was, which the
// abstraction, made for a tree whose procedures take none, does not know.
func (m *Model) show(a set, violated violation) counterexample {
	settled := func(p *Player, w []bool) bool { return p.settled() && violated(p, w) }
	if m.slow() {
		c := m.search(settled)
		switch {
		case c.verdict != Undecided:
			return c
		case m.empty(a):
			return counterexample{verdict: Proved, how: "if procedures take no time; else it is not concluded: " + c.why}
		}
	}
	if m.empty(a) {
		return counterexample{verdict: Proved}
	}
	if m.Remembers() {
		world := concrete(m.space.witness(m.space.and(a, m.allowed)))
		if p, err := m.newPlayer(world); err == nil && p.lawful(world) && violated(p, world) { // without any past
			return counterexample{verdict: Refuted, script: m.retrace([]stage{{world: world}}, violated)}
		}
		return m.search(settled)
	}
	// Without memory the state is a function of the world and of what conditions with hysteresis remember.
	world, p := concrete(m.space.witness(m.space.and(a, m.allowed))), m.newTrace()
	for i := range m.leaves {
		if l := &m.leaves[i]; l.latch >= 0 {
			p.latched[i] = world[l.latch]
		}
	}
	switch err := p.Move(world); {
	case err != nil:
		return counterexample{verdict: Undecided, why: err.Error()}
	case !violated(p, world):
		return counterexample{verdict: Undecided, why: "the engine does not show what the abstraction allows"}
	}
	return counterexample{verdict: Refuted, script: p.script()}
}

// Bounds of the search with the engine.
const (
	maxWorlds = 1 << 12
	maxMoves  = 200_000
	maxVisits = 20_000_000 // moves times tasks
)

// exploration visits the states that a plan can reach with the real engine, the nearest first, when any world may
// follow any other. It goes as far as it is asked to.
type exploration struct {
	m       *Model
	worlds  [][]bool
	states  []*Player
	visits  []visit        // each state in each world in which it is reached
	known   map[string]int // state by key
	first   []int          // visit, by state
	seen    map[[2]int]bool
	from    int         // the visit whose successors come next; -1: the first worlds
	world   int         // that comes next
	endings [][]bt.Task // of the visit
	ending  int         // that comes next
	moves   int
	scratch *Player
	crowded bool   // too many procedures may be over together
	looped  error  // of a move after which the plan did not settle
	entered []bool // by task: was active at some time
}

// visit is a state reached in a world as procedures were over, by a move from another visit, -1: at the start.
type visit struct {
	state, world, from int
	over               []bt.Task
}

// stage is one move of a path: the world that comes, and the tasks whose procedures are over.
type stage struct {
	world []bool
	over  []bt.Task
}

func (m *Model) newExploration() *exploration {
	worlds, _ := m.worlds()
	x := &exploration{m: m, worlds: worlds, known: map[string]int{}, seen: map[[2]int]bool{}, from: -1,
		scratch: m.idleSlow(), entered: make([]bool, m.tree.Len())}
	x.ends(x.scratch)
	return x
}

// ends notes the procedures that may be over in the next move of a player.
func (x *exploration) ends(p *Player) {
	var ok bool
	if x.endings, ok = p.endings(); !ok {
		x.crowded = true
	}
}

// bounded reports whether the exploration ends for want of time, and why.
func (x *exploration) bounded() (why string, ok bool) {
	most := min(maxMoves, maxVisits/x.m.tree.Len())
	switch {
	case x.worlds == nil:
		return fmt.Sprintf("the conditions make more than %d worlds, too many to search", maxWorlds),
			true
	case x.moves >= most:
		return fmt.Sprintf("%d moves of the engine did not visit all that it can reach", most), true
	}
	return "", false
}

// step makes the next move; more is false when there is none.
func (x *exploration) step() (more bool) {
	if _, bounded := x.bounded(); bounded || x.from >= len(x.visits) {
		return false
	}
	world, over := x.worlds[x.world], x.endings[x.ending]
	p, err := x.scratch, error(nil)
	if x.from < 0 {
		p, err = x.m.idleSlow().begin(world, over...)
	} else {
		p.copyFrom(x.states[x.visits[x.from].state])
		err = p.Move(world, over...)
	}
	x.moves++
	if err != nil && x.looped == nil {
		x.looped = err
	}
	if err == nil && p.lawful(world) {
		for _, t := range p.entered {
			x.entered[t] = true
		}
		key := p.Key()
		state, known := x.known[key]
		if !known {
			state = len(x.states)
			x.known[key] = state
			c := x.m.idle()
			c.copyFrom(p)
			x.states = append(x.states, c)
			x.first = append(x.first, len(x.visits))
		}
		if at := [2]int{state, x.world}; !x.seen[at] {
			x.seen[at] = true
			x.visits = append(x.visits, visit{state, x.world, x.from, over})
		}
	}
	if x.ending++; x.ending < len(x.endings) {
		return true
	}
	x.ending = 0
	if x.world++; x.world == len(x.worlds) {
		x.world = 0
		for x.from++; x.from < len(x.visits) && x.first[x.visits[x.from].state] != x.from; x.from++ {
			// the state was met in another world, with the same successors
		}
		if x.from < len(x.visits) {
			x.ends(x.states[x.visits[x.from].state])
		}
	}
	return true
}

// path returns the moves that lead to a visit.
func (x *exploration) path(i int) []stage {
	var path []stage
	for ; i >= 0; i = x.visits[i].from {
		path = append(path, stage{x.worlds[x.visits[i].world], x.visits[i].over})
	}
	slices.Reverse(path)
	return path
}

// search looks for a counterexample of a plan with memory.
func (m *Model) search(violated violation) counterexample {
	if m.reachable == nil {
		m.reachable = m.newExploration()
	}
	x := m.reachable
	for i := 0; i < len(x.visits) || x.step(); {
		if i == len(x.visits) {
			continue
		}
		if v := x.visits[i]; violated(x.states[v.state], x.worlds[v.world]) {
			return counterexample{verdict: Refuted, script: m.retrace(x.path(i), violated), world: x.worlds[v.world]}
		}
		i++
	}
	why, undecided := x.bounded()
	if !undecided && x.crowded {
		why, undecided = crowd, true
	}
	if !undecided && x.looped != nil {
		why, undecided = x.looped.Error(), true
	}
	if undecided {
		return counterexample{verdict: Undecided, why: why}
	}
	return counterexample{how: m.visited(len(x.states))}
}

// visited says how something is proved by a search.
func (m *Model) visited(states int) string {
	how := fmt.Sprintf("by visiting all %d states that the engine can reach", states)
	if m.slow() {
		how += " however long procedures take"
	}
	return how
}

// retrace returns a script that makes the moves, "" if it does not show the violation.
func (m *Model) retrace(path []stage, violated violation) string {
	p := m.newSlowTrace()
	for _, s := range path {
		if p.Move(s.world, s.over...) != nil {
			return ""
		}
	}
	if !violated(p, path[len(path)-1].world) {
		return ""
	}
	return p.script()
}

// worlds returns an assignment for each combination of intervals and free inputs; ok is false if they are too many.
func (m *Model) worlds() (all [][]bool, ok bool) {
	all = [][]bool{make([]bool, len(m.vocab.inputs))}
	double := func(set func(w []bool)) {
		for _, w := range slices.Clone(all) {
			c := slices.Clone(w)
			set(c)
			all = append(all, c)
		}
	}
	for v := range m.vocab.inputs {
		if m.vocab.inputs[v].kind == inputFree {
			double(func(w []bool) { w[v] = true })
		}
		if len(all) > maxWorlds {
			return nil, false
		}
	}
	for i := range m.vocab.signals {
		s := &m.vocab.signals[i]
		before := all
		for k := range s.cuts {
			for _, w := range before {
				c := slices.Clone(w)
				for j := range k + 1 {
					c[s.at+j] = true
				}
				all = append(all, c)
			}
		}
		if len(all) > maxWorlds {
			return nil, false
		}
	}
	return all, true
}
