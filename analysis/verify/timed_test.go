package verify

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/analysis/zone"
	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/document/declare"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/executive"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/snapshot"
	"github.com/canopy-uav/canopy/temporal"
)

// author writes random plans and properties.
type author struct {
	*rand.Rand
	names  []string // of the tasks so far
	inputs int
	count  int
}

func (r *author) pick(words ...string) string { return words[r.IntN(len(words))] }

// name returns a new name that begins with a letter.
func (r *author) name(letter string) string {
	r.count++
	name := fmt.Sprint(letter, r.count)
	r.names = append(r.names, name)
	return name
}

// timedPlan writes small plans with procedures and timers of whole seconds.
type timedPlan struct {
	author
	clocks int
}

func (r *timedPlan) input() string { return fmt.Sprintf("c%d ge 1", r.IntN(r.inputs)) }

func (r *timedPlan) clock() bool {
	if r.clocks == 0 || r.IntN(2) == 0 {
		return false
	}
	r.clocks--
	return true
}

func (r *timedPlan) node(depth int) string {
	switch {
	case depth > 0 && r.clock():
		if r.IntN(2) == 0 {
			return fmt.Sprintf(`<Delay name="%s" delay_msec="%d000">`, r.name("d"), 1+r.IntN(3)) + r.node(depth-1) + `</Delay>`
		}
		return fmt.Sprintf(`<Timeout name="%s" msec="%d000">`, r.name("t"), 1+r.IntN(3)) + r.node(depth-1) + `</Timeout>`
	case depth > 0 && r.IntN(5) > 0:
		kind := r.pick("ReactiveSequence", "ReactiveFallback", "Sequence", "Fallback", "ReactiveParallel", "Parallel", "Inverter")
		text, n := fmt.Sprintf(`<%s name="%s">`, kind, r.name("n")), 1
		if kind != "Inverter" {
			n += r.IntN(3)
		}
		for range n {
			text += r.node(depth - 1)
		}
		return text + "</" + kind + ">"
	case r.IntN(3) == 0:
		return fmt.Sprintf(`<Condition name="%s" on="%s"/>`, r.name("q"), r.input())
	}
	text := fmt.Sprintf(`<Action name="%s"`, r.name("a"))
	for _, attribute := range []string{"entry_time", "exit_time"} {
		if r.clock() {
			text += fmt.Sprintf(` %s="%d [s]"`, attribute, r.IntN(4))
		}
	}
	for _, attribute := range []string{"done", "failed", "_successIf"} {
		if r.IntN(6) == 0 {
			text += fmt.Sprintf(` %s="%s"`, attribute, r.input())
		}
	}
	return text + "/>"
}

func (r *timedPlan) formula(depth int) string {
	leaf := func() string { return r.pick("", "not ") + r.pick(r.names...) }
	if depth == 0 {
		return leaf()
	}
	x, now := "("+r.formula(depth-1)+")", leaf()
	if r.IntN(2) == 0 {
		now = "(" + leaf() + r.pick(" and ", " or ") + leaf() + ")"
	}
	length := r.pick("1 [s]", "2 [s]", "2.5 [s]", "3 [s]", "5 [s]")
	return r.pick("always "+x, "always ("+now+" -> "+x+")", x+" and "+x, now+" before "+x, "within "+length+" ("+now+")",
		"for "+length+" ("+now+")", "always ("+now+" -> within "+length+" ("+leaf()+"))", "always ("+now+" -> for "+length+" ("+leaf()+"))",
		"always not ("+leaf()+" and "+leaf()+")", "after "+leaf()+" before "+leaf()+", never "+leaf())
}

// instants is a run of a plan in steps of a part of a second, with clocks of its own.
type instants struct {
	plan   *plan.Plan
	engine *bt.Engine
	known  []executive.Known
	left   map[int]int // steps until a clock is over: of the leaf's procedure, or behind the leaves of the timer
	step   int         // steps per second
}

// enough bounds the settlings of one instant.
const enough = 50

func newInstants(p *plan.Plan, step int) *instants {
	return &instants{plan: p, step: step, left: map[int]int{}}
}

func (x *instants) clone() *instants {
	c := newInstants(x.plan, x.step)
	if x.engine != nil {
		c.engine = x.engine.Clone()
	}
	c.known = append(c.known, x.known...)
	for k, v := range x.left {
		c.left[k] = v
	}
	return c
}

func (x *instants) key() string {
	return fmt.Sprint(string(snapshot.Save(nil, x.engine)), x.known, x.left)
}

// holds judges a condition on the inputs c0, c1 ...
func (x *instants) holds(e *expr.Expr, world int) bool {
	return e != nil && truthIn(e.Logic(nil), worldOf(world))
}

func worldOf(world int) map[string]bool {
	truth := map[string]bool{}
	for i := range bits.Len(uint(world)) {
		truth[fmt.Sprint("c", i)] = world>>i&1 != 0
	}
	return truth
}

func (x *instants) inputs(world int) (in []bt.Input) {
	tree := x.plan.Tree
	for i, t := range tree.Timers() {
		if left, runs := x.left[len(x.known)+i]; runs && left == 0 {
			delete(x.left, len(x.known)+i)
			in = append(in, bt.Elapsed(t))
		}
	}
	for i := range x.plan.Leaves {
		l := &x.plan.Leaves[i]
		judge := func(c executive.Criterion) bool {
			switch c {
			case executive.On:
				return x.holds(l.On, world) || l.On == nil && worldOf(world)[tree.Name(l.Task)]
			case executive.SuccessIf:
				return x.holds(l.SuccessIf, world)
			case executive.FailureIf:
				return x.holds(l.FailureIf, world)
			case executive.Done:
				return x.holds(l.Done, world)
			case executive.Failed:
				return x.holds(l.Failed, world)
			case executive.Entered, executive.Exited:
				return x.left[i] == 0
			}
			return true // Off
		}
		in = x.known[i].AppendInputs(in, l.Task, !tree.Kind(l.Task).Acts(), x.engine.Status(l.Task), judge)
	}
	return in
}

func length(e *expr.Expr) (seconds float64) {
	v, _ := e.Constant()
	return v
}

func (x *instants) settle(in []bt.Input) bool {
	instant, err := x.engine.Settle(in)
	for _, c := range instant.Commands {
		for i := range x.plan.Leaves {
			l := &x.plan.Leaves[i]
			if l.Task != c.Task {
				continue
			}
			time := l.EntryTime
			if c.Exit {
				time = l.ExitTime
			}
			x.known[i].Start(c.Exit, time != nil)
			delete(x.left, i)
			if time != nil {
				x.left[i] = int(length(time) * float64(x.step))
			}
		}
	}
	for _, c := range instant.Timings {
		for i, t := range x.plan.Tree.Timers() {
			if t == c.Task {
				delete(x.left, len(x.known)+i)
				if c.Start {
					x.left[len(x.known)+i] = int(x.plan.Tree.Timer(t) * float64(x.step))
				}
			}
		}
	}
	return err == nil
}

// instant advances by one step, unless the run begins, into a world. It shows each settling; ok is false if there is no
// end.
func (x *instants) instant(world int, show func()) (ok bool) {
	tree := x.plan.Tree
	if x.engine == nil {
		x.engine = bt.NewEngine(tree, nil, 0)
		var slow []bt.Input
		for i := range x.plan.Leaves {
			l := &x.plan.Leaves[i]
			x.known = append(x.known, executive.Unknown)
			if l.EntryTime != nil || l.ExitTime != nil {
				slow = append(slow, bt.Slow(l.Task, l.EntryTime != nil, l.ExitTime != nil))
			}
		}
		x.engine = bt.NewEngine(tree, append(slow, x.inputs(world)...), 0)
		if !x.settle(nil) {
			return false
		}
		show()
	} else {
		for k := range x.left {
			x.left[k] = max(0, x.left[k]-1)
		}
	}
	for range enough {
		in := x.inputs(world)
		if len(in) == 0 {
			return true
		}
		if !x.settle(in) {
			return false
		}
		show()
	}
	return false
}

// runSearch searches all runs in steps of a part of a second for one that violates a formula.
type runSearch struct {
	*monitor
	queue []timedState
	seen  map[string]int
	next  [][]int // by state: those that follow; -1: one in which the formula is met
}

// timedState is a state of a run and of the monitor of the formula.
type timedState struct {
	run   *instants
	task  int
	again uint64
	z     *zone.Zone
}

// violates reports whether a run violates a formula: by its beginning, or because an Until is never met afterwards.
// known is false if there are too many states.
func violates(p *plan.Plan, f *temporal.Formula, inputs, step int) (bad, known bool) {
	l, why := newMonitor(f, numbered(f), 0)
	if why != "" {
		return false, false
	}
	x := &runSearch{monitor: l, seen: map[string]int{}}
	x.queue = []timedState{{run: newInstants(p, step), task: -1, z: &zone.Zone{}}}
	for n := 0; n < len(x.queue); n++ {
		x.next = append(x.next, nil)
		for world := range 1 << inputs {
			if bad, known = x.step(n, world); bad || !known {
				return bad, known
			}
		}
	}
	return x.neverMet(), true
}

// step follows a state into a world, and records what comes.
func (x *runSearch) step(n, world int) (bad, known bool) {
	at := x.queue[n]
	to := timedState{at.run.clone(), at.task, at.again, &zone.Zone{}}
	to.z.CopyFrom(at.z)
	if n > 0 {
		exactly(to.z, 1/float64(at.run.step))
		if x.overdue(to.task, to.z) {
			return true, true
		}
	}
	follows := true
	ok := to.run.instant(world, func() {
		if !follows || bad {
			return
		}
		if to.task >= 0 {
			to.task, _ = x.leave(to.task, to.again, to.z, false, nil)
		}
		truth := seen(to.run.plan.Tree, to.run.engine)
		if to.task, to.again, follows = x.enter(to.task, holding(x.of, truth), to.z); follows {
			bad = x.violated(to.task)
		}
	})
	switch {
	case !follows:
		return false, false
	case bad || !ok:
		return bad, true
	case x.satisfied(to.task):
		x.next[n] = append(x.next[n], -1)
		return false, true
	}
	key := fmt.Sprint(to.run.key(), to.task, to.again, string(snapshot.Save(nil, to.z)))
	k, old := x.seen[key]
	if !old {
		k = len(x.queue)
		x.seen[key] = k
		x.queue = append(x.queue, to)
	}
	x.next[n] = append(x.next[n], k)
	return false, k <= 20000
}

// neverMet reports whether an Until is not met in any state that follows one.
func (x *runSearch) neverMet() bool {
	for bit, op := range x.ops {
		met := make([]bool, len(x.queue)) // now or later
		for changed := op.Op == temporal.Until; changed; {
			changed = false
			for n := range x.queue {
				is := n == 0 || slices.ContainsFunc(x.obligations[x.queue[n].task], func(s uint64) bool { return s>>bit&1 == 0 }) ||
					slices.ContainsFunc(x.next[n], func(k int) bool { return k < 0 || met[k] })
				changed = changed || is && !met[n]
				met[n] = met[n] || is
			}
			if !changed && slices.Contains(met, false) {
				return true
			}
		}
	}
	return false
}

// seen returns which conditions are true and which other tasks are active.
func seen(tree *bt.Tree, e *bt.Engine) map[string]bool {
	all := map[string]bool{}
	for t := range bt.Task(tree.Len()) {
		all[tree.Name(t)] = e.Active(t)
		if tree.Kind(t).Judged() {
			all[tree.Name(t)] = e.Status(t) == bt.Success
		}
	}
	return all
}

// askOne asks for a property of a plan, and returns its formula, too.
func askOne(t *testing.T, p *plan.Plan, text string) (*temporal.Formula, Finding) {
	t.Helper()
	var names []string
	for i := range p.Tree.Len() {
		names = append(names, p.Tree.Name(bt.Task(i)))
	}
	property, mistakes := temporal.Read(text, expr.TaskNames(names), nil)
	if len(mistakes) > 0 {
		t.Fatal(text, mistakes[0])
	}
	s := declare.Subject{Plan: p}
	s.Declared.Properties = []declare.Property{{Property: property}}
	return property.Formula.Positive(false), askProperties(NewModel(s))[0]
}

// TestTimedPropertiesAgreeWithBruteForce: random plans with up to three procedures or timers of whole seconds, and
// properties with and without times, are compared with all runs in steps of a quarter of a second.
func TestTimedPropertiesAgreeWithBruteForce(t *testing.T) {
	cases := 200
	if testing.Short() {
		cases = 30
	}
	r := &timedPlan{author: author{Rand: rand.New(rand.NewPCG(9, 4))}}
	count, open := map[string]int{}, map[string]int{}
	for range cases {
		r.names, r.count, r.clocks, r.inputs = nil, 0, 1+r.IntN(3), 1+r.IntN(2)
		p := readPlan(t, r.node(1+r.IntN(3)))
		text := r.formula(1 + r.IntN(2))
		f, got := askOne(t, p, text)
		bad, known := violates(p, followed(f, false), r.inputs, 4)
		if !known {
			count["brute force: unknown"]++
			continue
		}
		count[fmt.Sprint(got.Verdict, ", violated ", bad)]++
		if got.Verdict == Undecided {
			_, why, _ := strings.Cut(got.Text, text+": ")
			open[why]++
		}
		if got.Verdict == Proved && bad || got.Verdict == Refuted && !bad {
			t.Errorf("%s\n%s\n%s %s, violated: %v\n%s", p.Source.Text, text, got.Verdict, got.Text, bad, got.Script)
		}
	}
	t.Log(count, open)
}
