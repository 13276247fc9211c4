// Package reaction proves how long a tree can take to react to an input: it explores every reachable state with the
// engine itself as the step function, and computes a bound that follows from the structure alone.
package reaction

import (
	"maps"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/document/script"
	"github.com/canopy-uav/canopy/executive"
	"github.com/canopy-uav/canopy/explore"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/snapshot"
)

// Duration states whether a procedure of an action takes time.
type Duration uint8

// The durations.
const (
	Immediate Duration = iota // it takes no time
	Lasting                   // it lasts until an input reports its completion
	Either                    // one or the other, decided each time
)

// Unheard returns how many tasks a flight may not judge before they are heard. In an instant in which they are, each
// may change once more than in a tree that is judged as a whole.
func Unheard(tree *bt.Tree) (n int) {
	for t := range bt.Task(tree.Len()) {
		if !tree.Kind(t).Acts() && !tree.AlwaysHeard(t) {
			n++
		}
	}
	return n
}

// Repertoire is the inputs that a leaf may give the tree.
type Repertoire struct {
	Values      []bt.Status // a condition's truth values, Success for true; an action's requests
	Outcomes    []bt.Status // an action's outcomes: Success, Failure
	Entry, Exit Duration    // an action's procedures
	Input       string      // conditions with the same one change together; "": each alone
}

// Stubs returns the inputs of unknown leaves, in the order of [bt.Tree.Leaves]: all inputs of a trace script
// (docs/semantics.md, section 8).
func Stubs(tree *bt.Tree) []Repertoire {
	all := make([]Repertoire, len(tree.Leaves()))
	for i, leaf := range tree.Leaves() {
		all[i] = Repertoire{Values: []bt.Status{bt.Success, bt.Failure}}
		if tree.Kind(leaf).Acts() {
			all[i] = Repertoire{Values: []bt.Status{bt.Accept, bt.Success, bt.Failure},
				Outcomes: []bt.Status{bt.Success, bt.Failure}, Entry: Either, Exit: Either}
		}
	}
	return all
}

// InputsOf returns the inputs that the leaves of a plan can give in a mission, in the order of the plan's leaves: an
// action without `done` never succeeds, one without `_failureIf` never refuses, a procedure takes time if the plan
// declares its end, and an expression without signals has one value. Conditions with one definition are one input.
// Other expressions over the same signals are treated as independent, so that the inputs include all those of the
// mission in which one of them changes. Computed signals are replaced by expand, nil: by nothing.
func InputsOf(p *plan.Plan, expand func(*expr.Expr) *expr.Expr) []Repertoire {
	all := make([]Repertoire, len(p.Leaves))
	for i := range p.Leaves {
		l, in := &p.Leaves[i], &all[i]
		if p.Tree.Kind(l.Task).Acts() {
			in.Values, in.Outcomes = verdicts(l.FailureIf, l.SuccessIf), verdicts(l.Failed, l.Done)
			in.Outcomes = slices.DeleteFunc(in.Outcomes, func(s bt.Status) bool { return s == bt.Accept })
			in.Entry, in.Exit = lasting(l.EntryTime, l.EntryUntil), lasting(l.ExitTime, l.ExitUntil)
			continue
		}
		in.Values = truths(l.On, l.Off)
		if len(l.Until) > 0 { // it may last, and what made it true may have counted
			in.Values = []bt.Status{bt.Success, bt.Failure}
		}
		in.Input, _ = p.Input(l, expand)
	}
	return all
}

// values returns the possible values of a formula; one that is not given has one.
func values(e *expr.Expr, missing bool) []bool {
	if e == nil {
		return []bool{missing}
	}
	if always, known := e.Truth(); known {
		return []bool{always}
	}
	return []bool{true, false}
}

// verdicts returns the possible verdicts of two formulas of an action.
func verdicts(failure, success *expr.Expr) (all []bt.Status) {
	for _, fails := range values(failure, false) {
		for _, succeeds := range values(success, false) {
			all = append(all, executive.Verdict(func(c executive.Criterion) bool {
				return c == executive.Failed && fails || c == executive.Done && succeeds
			}, executive.Failed, executive.Done))
		}
	}
	return unique(all)
}

// truths returns the possible truth values of a condition; one that the plan does not define is free.
func truths(on, off *expr.Expr) (all []bt.Status) {
	if on == nil {
		return []bt.Status{bt.Success, bt.Failure}
	}
	for _, holds := range values(on, false) {
		for _, ends := range values(off, true) {
			for _, before := range []bool{true, false} {
				v := bt.Failure
				if executive.Latch(before, func(c executive.Criterion) bool {
					return c == executive.On && holds || c == executive.Off && ends
				}) {
					v = bt.Success
				}
				all = append(all, v)
			}
		}
	}
	return unique(all)
}

// unique drops what stands before.
func unique(list []bt.Status) (all []bt.Status) {
	for _, v := range list {
		if !slices.Contains(all, v) {
			all = append(all, v)
		}
	}
	return all
}

func lasting(time, until *expr.Expr) Duration {
	if time != nil || until != nil {
		return Lasting
	}
	return Immediate
}

// Work is the work of an instant.
type Work struct {
	Iterations int `json:"iterations"` // event iterations that change something
	Changes    int `json:"changes"`    // of statuses
	Visits     int `json:"visits"`     // of tasks, up and down
}

// most returns the componentwise maximum.
func (w Work) most(o Work) Work {
	return Work{max(w.Iterations, o.Iterations), max(w.Changes, o.Changes), max(w.Visits, o.Visits)}
}

// Measures names the components of Work.
var Measures = []string{"iterations", "changes", "visits"}

func (w Work) measures() [3]int { return [3]int{w.Iterations, w.Changes, w.Visits} }

// Result is the reaction of a tree to an input of one of its leaves.
type Result struct {
	States  int          // settled states of the tree that were reached
	Decided bool         // they are all states, and Most is the true maximum; else Most is the largest seen
	Why     string       // if not decided: the reason
	Loop    error        // an input after which the tree does not settle; then nothing is bounded
	Start   Work         // the most of the first settling
	Most    Work         // after one input, in all states that were reached
	Bound   Work         // no instant takes more, in any state (docs/reaction.md); iterations: for any number of inputs
	Leaves  []LeafResult // by leaf, then by task with a timer

	tree   *bt.Tree
	name   func(bt.Task) string // in scripts
	inputs []Repertoire
	groups map[string][]bt.Task // by Repertoire.Input
	search *explore.Search[string, instant]
	worst  [3]reached // for each measure
}

// LeafResult is the reaction of a tree to one of its leaves, or to the end of a timer.
type LeafResult struct {
	Task  bt.Task
	Most  Work
	Bound Work // after one input of this task
}

// reached is an instant and the state before it, -1 if there is none.
type reached struct {
	from int
	instant
}

// instant is an input of a leaf, or of several that change together, and its work.
type instant struct {
	inputs []bt.Input
	timed  []timed
	work   Work
}

// timed states whether a procedure that starts takes time.
type timed struct {
	task  bt.Task
	exit  bool
	takes bool
}

// DefaultBudget bounds the memory of a search. It does not bound its time: a state of a tree with many actions can have
// a very large number of successors.
var DefaultBudget = explore.Budget{States: 100_000, Bytes: 256_000_000}

// Explore explores every settled state that trace scripts without a start and with one input a line reach (one of each
// leaf, if leaves change together), by breadth-first search with the engine itself as the step function: from each
// state every input of each leaf, with every choice of which of the procedures that then start take time, where that is
// open. A move of the budget is an instant.
func Explore(tree *bt.Tree, inputs []Repertoire, budget explore.Budget) *Result {
	return exploration(tree, inputs, false, budget)
}

// ExploreRuns explores every settled state that runs reach: the first statuses are judged with any of the inputs, and
// any number of leaves and timers may change at one instant. Result.Most is that of the instants at which one leaf or
// timer changes; an action may then send all its inputs at once.
func ExploreRuns(tree *bt.Tree, inputs []Repertoire, budget explore.Budget) *Result {
	return exploration(tree, inputs, true, budget)
}

func exploration(tree *bt.Tree, inputs []Repertoire, runs bool, budget explore.Budget) *Result {
	if len(inputs) != len(tree.Leaves()) {
		panic("reaction: the number of inputs is not the number of leaves")
	}
	r := &Result{tree: tree, inputs: inputs, groups: map[string][]bt.Task{}, search: explore.New[string, instant](budget)}
	for i, t := range tree.Leaves() {
		r.groups[inputs[i].Input] = append(r.groups[inputs[i].Input], t)
	}
	r.bound()
	x := &explorer{Result: r, runs: runs, place: map[bt.Task]int32{}}
	for i, t := range slices.Concat(tree.Leaves(), tree.Timers()) {
		x.place[t] = int32(i)
	}
	for i := range inputs {
		x.slow = append(x.slow, x.procedures(int32(i), nil))
	}
	x.explore()
	r.States, r.Why = r.search.Len(), r.search.Short()
	if x.several != nil {
		r.Why = x.several.Error()
	}
	r.Decided = r.Why == ""
	return r
}

// explore visits the states. Of runs, those that need neither another start nor several inputs at an instant come
// first: most worst cases are among them.
func (x *explorer) explore() {
	visit := func() {
		for s := range x.search.Leave() {
			x.load(s)
			for _, news := range x.news() {
				for _, in := range news {
					x.instant(s, in, nil, true)
				}
			}
		}
	}
	starts, first := x.starts(), []bt.Input(nil)
	for _, some := range starts {
		first = append(first, some[0]...)
	}
	x.instant(-1, first, nil, false)
	visit()
	if x.runs {
		x.combine(-1, starts, nil, 0)
		visit()
	}
	for s := 0; x.runs && s < x.search.Len() && x.search.Short() == ""; s++ {
		x.load(s)
		x.combine(s, x.news(), nil, 0)
		visit()
	}
}

// combine takes the instants from a state at which several sources change; from -1, the first ones, in which each
// source has a say.
func (x *explorer) combine(from int, news [][][]bt.Input, in []bt.Input, sources int) {
	switch {
	case x.search.Short() != "":
	case len(news) > 0:
		if from >= 0 {
			x.combine(from, news[1:], in, sources)
		}
		for _, more := range news[0] {
			x.combine(from, news[1:], append(in, more...), sources+1)
		}
	case sources > 1 || from < 0:
		x.instant(from, in, nil, false)
	}
}

// starts returns by source what its leaves may say at the start; first what they say without inputs, if they may.
func (x *explorer) starts() (all [][][]bt.Input) {
	for i, t := range x.tree.Leaves() {
		together := x.together(i)
		if !x.runs || together[0] != t {
			continue
		}
		var some [][]bt.Input
		for _, v := range x.inputs[i].Values {
			if bt.NewTold(x.tree.Kind(t)).Request == v {
				some = slices.Insert(some, 0, nil)
				continue
			}
			var in []bt.Input
			for _, other := range together {
				if x.tree.Kind(t).Acts() {
					in = append(in, bt.Request(other, v))
				} else {
					in = append(in, bt.Set(other, true))
				}
			}
			some = append(some, in)
		}
		all = append(all, some)
	}
	return all
}

// explorer is a search under way.
type explorer struct {
	*Result
	runs   bool // not only scripts
	engine *bt.Engine
	place  map[bt.Task]int32 // of a leaf or a timer in Result.Leaves
	slow   []bt.Input        // by leaf: which procedures take time without a choice
	buffer []bt.Input
	saved  []byte

	several error // of an instant with any inputs that does not settle
}

// procedures returns the input that sets which procedures of a leaf take time; that of a condition states that it is
// false, as it is at the start.
func (x *explorer) procedures(leaf int32, choices []timed) bt.Input {
	task, in := x.tree.Leaves()[leaf], x.inputs[leaf]
	if !x.tree.Kind(task).Acts() {
		return bt.Set(task, false)
	}
	takes := [2]bool{in.Entry == Lasting, in.Exit == Lasting}
	for _, c := range choices {
		if c.task == task && c.exit {
			takes[1] = c.takes
		} else if c.task == task {
			takes[0] = c.takes
		}
	}
	return bt.Slow(task, takes[0], takes[1])
}

// news returns by source, a leaf, leaves that change together or a timer, what it may send in the engine's state.
func (x *explorer) news() (all [][][]bt.Input) {
	for i, t := range x.tree.Leaves() {
		together := x.together(i)
		if together[0] != t {
			continue
		}
		var some [][]bt.Input
		if x.tree.Kind(t).Acts() {
			for _, kind := range x.possible(&x.inputs[i], t) {
				before := some[:len(some):len(some)]
				for _, in := range kind {
					some = append(some, []bt.Input{in})
					for _, others := range before {
						if x.runs { // it may send inputs of several kinds at once
							some = append(some, slices.Concat(others, []bt.Input{in}))
						}
					}
				}
			}
		} else {
			for _, v := range x.inputs[i].Values {
				var group []bt.Input
				for _, other := range together {
					group = append(group, x.possible(&Repertoire{Values: []bt.Status{v}}, other)[0]...)
				}
				if len(group) > 0 {
					some = append(some, group)
				}
			}
		}
		all = append(all, some)
	}
	for _, t := range x.tree.Timers() {
		if x.engine.At(t).Timed {
			all = append(all, [][]bt.Input{{bt.Elapsed(t)}})
		}
	}
	return all
}

// together returns the leaves that change together with a leaf, in their order.
func (r *Result) together(leaf int) []bt.Task {
	if r.inputs[leaf].Input == "" {
		return []bt.Task{r.tree.Leaves()[leaf]}
	}
	return r.groups[r.inputs[leaf].Input]
}

func (x *explorer) load(s int) {
	if snapshot.Load([]byte(x.search.Key(s)), x.engine) != nil {
		panic("reaction: a saved engine cannot be restored")
	}
}

// underWay is the procedure that a status shows.
var underWay = map[bt.Status]executive.Procedure{bt.Activating: executive.Entering, bt.Deactivating: executive.Exiting}

// The criteria by which a leaf gives a truth value, a request, an outcome.
var (
	truth   = map[bt.Status]executive.Criterion{bt.Success: executive.On, bt.Failure: executive.Off}
	request = map[bt.Status]executive.Criterion{bt.Success: executive.SuccessIf, bt.Failure: executive.FailureIf}
	outcome = map[bt.Status]executive.Criterion{bt.Success: executive.Done, bt.Failure: executive.Failed}
)

// possible returns the inputs of a leaf in the engine's state: those of the leaf protocol, with each choice of the
// formulas that hold. They are of three kinds: truth values or requests, outcomes, the ends of procedures.
func (x *explorer) possible(in *Repertoire, t bt.Task) (kinds [3][]bt.Input) {
	status, acts := x.engine.Status(t), x.tree.Kind(t).Acts()
	add := func(kind int, asked bt.Status, holds func(c executive.Criterion) bool) {
		known := executive.Known{Value: status == bt.Success, Request: asked, Outcome: bt.Accept, Procedure: underWay[status]}
		kinds[kind] = known.AppendInputs(kinds[kind], t, !acts, status, holds)
	}
	only := func(by map[bt.Status]executive.Criterion, v bt.Status) func(c executive.Criterion) bool {
		chosen, given := by[v]
		return func(c executive.Criterion) bool { return given && c == chosen }
	}
	for _, v := range in.Values {
		switch {
		case !acts:
			add(0, bt.Accept, only(truth, v))
		case len(in.Values) > 1 || v != bt.Accept: // else it never asks for anything
			add(0, status, only(request, v))
		}
	}
	for _, v := range in.Outcomes {
		add(1, bt.Accept, only(outcome, v))
	}
	if acts {
		add(2, bt.Accept, func(c executive.Criterion) bool { return c == executive.Entered || c == executive.Exited })
	}
	return kinds
}

// instant runs one instant in which the given procedures take time or not, then those in which others that start do;
// from -1, the first one. Alone: it is the reaction to one source.
func (x *explorer) instant(from int, in []bt.Input, choices []timed, alone bool) {
	if x.search.Len() > 0 && !x.search.Spend() {
		return
	}
	x.buffer = x.buffer[:0]
	if from < 0 {
		x.buffer = append(x.buffer, x.slow...)
	}
	for _, c := range choices {
		x.buffer = append(x.buffer, x.procedures(x.place[c.task], choices))
	}
	now := append(x.buffer, in...)
	if from < 0 {
		x.engine, now = bt.NewEngine(x.tree, now, 0), nil
	} else {
		x.load(from)
	}
	settled, err := x.engine.Settle(now)
	at := reached{from, instant{in, slices.Clip(choices), WorkOf(settled)}}
	for _, c := range settled.Commands {
		in := &x.inputs[x.place[c.Task]]
		open := c.Exit && in.Exit == Either || !c.Exit && in.Entry == Either // it may take time or not
		if open && !slices.ContainsFunc(at.timed, func(o timed) bool { return o.task == c.Task && o.exit == c.Exit }) {
			at.timed = append(at.timed, timed{task: c.Task, exit: c.Exit})
		}
	}
	if from < 0 {
		x.Start = x.Start.most(at.work)
	} else if alone {
		x.record(at)
	}
	if err != nil { // there is no state from which to continue
		if x.several = err; alone {
			x.Loop = err
		}
		return
	}
	x.buffer = x.buffer[:0]
	for _, c := range choices {
		x.buffer = append(x.buffer, x.slow[x.place[c.task]])
	}
	x.arrive(at, x.buffer)
	if from < 0 && !x.runs {
		return
	}
	for i := len(choices); i < len(at.timed); i++ {
		other := slices.Clone(at.timed[:i+1])
		other[i].takes = true
		x.instant(from, in, other, alone)
	}
}

// arrive adds the engine's state once these inputs, which change no status, are taken over.
func (x *explorer) arrive(at reached, slow []bt.Input) {
	if _, err := x.engine.Settle(slow); err != nil {
		panic("reaction: a tree does not settle")
	}
	x.saved = snapshot.Save(x.saved[:0], x.engine)
	key := string(x.saved)
	if _, known := x.search.Find(key); !known {
		at.inputs = slices.Clone(at.inputs) // the caller appends to them
		x.search.Arrive(at.from, key, at.instant)
	}
}

func (x *explorer) record(at reached) {
	x.Most = x.Most.most(at.work)
	for _, in := range at.inputs {
		task := &x.Leaves[x.place[in.Task()]]
		task.Most = task.Most.most(at.work)
	}
	for m, value := range at.work.measures() {
		worst := &x.worst[m]
		if most := worst.work.measures()[m]; value > most || value == most && at.work.Changes > worst.work.Changes {
			*worst = at
		}
	}
}

// WorkOf returns the work of an instant.
func WorkOf(i bt.Instant) Work { return Work{i.Iterations, len(i.Changes), i.Visits} }

// Script returns a shortest trace script whose last line takes the maximum that was found of a measure, one of
// Measures, and the work of that line. Without any input the script is empty. Lines with the word `slow` only prepare
// the next; one that begins with `start:` is the start. name names the leaves; nil: as the tree does.
func (r *Result) Script(measure string, name func(bt.Task) string) (lines []string, last Work) {
	if r.name = name; name == nil {
		r.name = r.tree.Name
	}
	m := slices.Index(Measures, measure)
	if m < 0 {
		panic("reaction: there is no such measure")
	}
	worst := r.worst[m]
	if worst.work == (Work{}) {
		return nil, Work{}
	}
	now := map[bt.Task][2]bool{} // the procedures that take time at this point of the script
	var all []timed
	for i, t := range r.tree.Leaves() {
		all = append(all, timed{t, false, r.inputs[i].Entry == Lasting}, timed{t, true, r.inputs[i].Exit == Lasting})
	}
	path := r.search.Path(worst.from)
	start := r.search.Move(path[0])
	if words := append(r.prepare(now, append(all, start.timed...)), r.words(start.inputs)...); len(words) > 0 {
		lines = []string{script.Start + " " + strings.Join(words, "; ")}
	}
	add := func(at instant) {
		if words := r.prepare(now, at.timed); len(words) > 0 {
			lines = append(lines, strings.Join(words, "; "))
		}
		lines = append(lines, strings.Join(r.words(at.inputs), "; "))
	}
	for _, n := range path[1:] {
		add(r.search.Move(n))
	}
	add(worst.instant)
	return lines, worst.work
}

// words returns inputs as words of a script.
func (r *Result) words(inputs []bt.Input) (words []string) {
	for _, in := range inputs {
		words = append(words, in.Text(r.name(in.Task())))
	}
	return words
}

// prepare returns the words that set which procedures take time, of those that are not set yet.
func (r *Result) prepare(now map[bt.Task][2]bool, choices []timed) (words []string) {
	before := maps.Clone(now)
	for _, c := range choices {
		takes := now[c.task]
		if c.exit {
			takes[1] = c.takes
		} else {
			takes[0] = c.takes
		}
		now[c.task] = takes
	}
	for _, t := range r.tree.Leaves() {
		if now[t] != before[t] {
			words = append(words, r.words([]bt.Input{bt.Slow(t, now[t][0], now[t][1])})...)
		}
	}
	return words
}
