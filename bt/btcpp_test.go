package bt_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"canopy/bt"
	"canopy/internal/trees"
)

// cppNode is a node of BehaviorTree.CPP 4.10, written down from its documented behaviour as directly as possible: a
// tick is a recursion from the root, a node is idle, running, or has returned. It shares nothing with the engines but
// the description of the tree and the inputs.
type cppNode struct {
	number   bt.Task
	kind     bt.Kind
	children []*cppNode
	params   []int
	negative bool // the first parameter is written as a negative number
	status   cppStatus

	index     int         // sequences, fallbacks, IfThenElse, TryCatch: the child that is its turn
	caught    bool        // TryCatch: the last child's turn
	completed []cppStatus // parallels
	starts    int         // actions: how often it has been started
	runs      int         // Repeat, RetryUntilSuccessful
	result    cppStatus   // RunOnce
	some      bool        // sequences, fallbacks, TryCatch: a child that was not skipped
	started   bool        // timers
	elapsed   bool        // timers

	truth            bool
	request, outcome cppStatus // of an action: running, success or failure
}

type cppStatus uint8

const (
	cppIdle cppStatus = iota
	cppRunning
	cppSuccess
	cppFailure
	cppSkipped
)

// inCpp maps judgements.
var inCpp = [...]cppStatus{bt.Success: cppSuccess, bt.Failure: cppFailure, bt.Accept: cppRunning, bt.Skipped: cppSkipped}

// newCpp returns the nodes of a description in the order of its tasks; the last one is the root.
func newCpp(d *bt.Node) []*cppNode {
	var all []*cppNode
	var build func(d *bt.Node) *cppNode
	build = func(d *bt.Node) *cppNode {
		n := &cppNode{kind: d.Kind, params: slices.Clone(d.Params), request: cppRunning}
		for _, c := range d.Children {
			n.children = append(n.children, build(c))
		}
		for i, p := range d.Kind.Params() {
			if d.Params == nil {
				n.params = append(n.params, p.Default)
			}
			if p.Type == bt.Children && n.params[i] < 0 {
				n.params[i] += len(n.children) + 1
				n.negative = n.negative || i == 0
			}
		}
		n.number = bt.Task(len(all))
		all = append(all, n)
		return n
	}
	build(d)
	return all
}

// input applies an input of a script.
func (n *cppNode) input(in bt.Input) {
	_, verb, value, _, _ := bt.Decode(in)
	word := inCpp[value]
	switch verb {
	case "set":
		n.truth = word == cppSuccess
	case "request":
		n.request = word
	case "end":
		if n.status == cppRunning {
			n.outcome = word
		}
	case "elapsed":
		n.elapsed = n.elapsed || n.started
	}
}

// tick ticks a node and keeps its status; a node that is skipped keeps the one that it had, and a control node that has
// ticked a child is running.
func (n *cppNode) tick() cppStatus {
	s := n.run()
	switch {
	case s != cppSkipped:
		n.status = s
	case n.kind.Attributed() || n.kind == bt.Precondition: // as documented; in fact it may stay running, and not read its condition again
		n.status = n.end(cppIdle)
	case n.kind != bt.RunOnce || n.result == cppIdle:
		n.status = cppRunning
	}
	return s
}

// reset halts a node that is running, and makes it idle.
func (n *cppNode) reset() {
	if n.status == cppRunning {
		n.forget()
		n.resetChildren()
	}
	n.status = cppIdle
}

// forget is what a halt does; a SequenceWithMemory keeps its place.
func (n *cppNode) forget() {
	if n.kind != bt.SequenceWithMemory {
		n.index, n.some = 0, false
	}
	if n.kind != bt.RunOnce {
		n.result = cppIdle
	}
	n.caught, n.completed, n.runs, n.started, n.elapsed = false, nil, 0, false, false
}

func (n *cppNode) resetChildren() {
	for _, c := range n.children {
		c.reset()
	}
}

// end makes the children idle, forgets, and returns a result.
func (n *cppNode) end(s cppStatus) cppStatus {
	n.resetChildren()
	n.index, n.some = 0, false
	n.forget()
	return s
}

func opposite(s cppStatus) cppStatus {
	return [...]cppStatus{cppSuccess: cppFailure, cppFailure: cppSuccess, cppSkipped: cppSkipped}[s]
}

func (n *cppNode) run() cppStatus {
	over := cppSuccess
	switch n.kind {
	case bt.Fallback, bt.AsyncFallback, bt.ReactiveFallback, bt.RetryUntilSuccessful:
		over = cppFailure
	}
	switch n.kind {
	case bt.Condition:
		if n.truth {
			return cppSuccess
		}
		return cppFailure
	case bt.Action:
		if n.status != cppRunning {
			n.outcome = cppRunning
			if n.request == cppRunning {
				n.starts++
			}
			return n.request
		}
		return n.outcome
	case bt.AlwaysSuccess:
		return cppSuccess
	case bt.AlwaysFailure:
		return cppFailure
	case bt.Sleep:
		if n.started = true; n.elapsed || n.params[0] == 0 {
			return n.end(cppSuccess)
		}
		return cppRunning
	case bt.Sequence, bt.Fallback, bt.AsyncSequence, bt.AsyncFallback, bt.SequenceWithMemory:
		for ; n.index < len(n.children); n.index++ {
			switch s := n.children[n.index].tick(); s {
			case cppRunning:
				return s
			case over:
				n.some = true
			case cppSkipped:
			default:
				n.forget()
				n.resetChildren()
				return s
			}
		}
		if !n.some {
			return n.end(cppSkipped)
		}
		return n.end(over)
	case bt.ReactiveSequence, bt.ReactiveFallback:
		some := false
		for i, c := range n.children {
			switch s := c.tick(); {
			case s == cppSkipped:
				c.reset()
				continue
			case s == cppRunning:
				for j, o := range n.children {
					if j != i {
						o.reset()
					}
				}
				return s
			case s != over:
				return n.end(s)
			}
			some = true
		}
		if !some {
			return n.end(cppSkipped)
		}
		return n.end(over)
	case bt.Parallel, bt.ParallelAll:
		return n.runParallel()
	case bt.Inverter:
		if s := n.children[0].tick(); s != cppRunning {
			return n.end(opposite(s))
		}
		return cppRunning
	case bt.ForceSuccess, bt.ForceFailure:
		if s := n.children[0].tick(); s == cppRunning || s == cppSkipped {
			return s
		}
		if n.kind == bt.ForceSuccess {
			return n.end(cppSuccess)
		}
		return n.end(cppFailure)
	case bt.Repeat, bt.RetryUntilSuccessful:
		if n.params[0] == 0 {
			return n.end(over)
		}
		for {
			switch s := n.children[0].tick(); {
			case s == cppRunning:
				return s
			case s != over:
				return n.end(s)
			}
			n.children[0].reset()
			if n.runs++; n.runs == n.params[0] {
				return n.end(over)
			}
		}
	case bt.KeepRunningUntilFailure:
		if n.children[0].tick() == cppFailure {
			return n.end(cppFailure)
		}
		if n.children[0].status == cppSuccess {
			n.children[0].reset()
		}
		return cppRunning
	case bt.RunOnce:
		if n.result == cppIdle {
			s := n.children[0].tick()
			if s != cppRunning && s != cppSkipped {
				n.result = n.end(s)
			}
			return s
		}
		if n.params[0] == 2 {
			return cppSkipped
		}
		return n.result
	case bt.Delay:
		if n.started = true; !n.elapsed && n.params[0] > 0 {
			return cppRunning
		}
		return n.only(0)
	case bt.Timeout:
		if n.started = true; n.elapsed && n.params[0] > 0 {
			return n.end(cppFailure)
		}
		return n.only(0)
	case bt.IfThenElse, bt.WhileDoElse:
		if n.index == 0 || n.kind == bt.WhileDoElse {
			s := n.children[0].tick()
			if s == cppRunning {
				return s
			}
			n.index = [...]int{cppSuccess: 1, cppFailure: 2}[s]
		}
		return n.only(n.index)
	case bt.Switch2, bt.Switch3, bt.Switch4, bt.Switch5, bt.Switch6: // a condition stands for the equality of a case
		match := len(n.children) - 1
		for i := 0; i+1 < len(n.children); i += 2 {
			if n.children[i].tick() == cppSuccess {
				match = i + 1
				break
			}
		}
		return n.only(match)
	case bt.OnHalted:
		if s := n.children[1].tick(); s != cppRunning {
			return n.end(s)
		}
		return cppRunning
	case bt.OnSuccess, bt.OnFailure, bt.Post: // the script is an action
		if n.result == cppIdle {
			switch s := n.children[1].tick(); {
			case s == cppRunning:
				return s
			case s == cppSkipped, s == cppSuccess && n.kind == bt.OnFailure, s == cppFailure && n.kind == bt.OnSuccess:
				return n.end(s)
			default:
				n.children[1].reset()
				n.result = s
			}
		}
		if n.children[0].tick() == cppRunning {
			return cppRunning
		}
		return n.end(n.result)
	case bt.FailureIf, bt.SuccessIf, bt.SkipIf, bt.While, bt.Precondition:
		holds := n.children[0].truth
		switch {
		case n.kind == bt.While && !holds:
			return cppSkipped
		case n.index == 1 || n.kind == bt.While:
		case n.kind == bt.FailureIf && holds:
			return n.end(cppFailure)
		case n.kind == bt.SuccessIf && holds:
			return n.end(cppSuccess)
		case n.kind == bt.SkipIf && holds:
			return cppSkipped
		case n.kind == bt.Precondition && !holds:
			return [...]cppStatus{1: cppFailure, cppSuccess, cppSkipped, cppRunning}[n.params[0]]
		}
		n.index = 1
		switch s := n.children[1].tick(); s {
		case cppRunning, cppSkipped:
			return s
		default:
			return n.end(s)
		}
	case bt.TryCatch:
		last := len(n.children) - 1
		for ; n.index < last && !n.caught; n.index++ {
			s := n.children[n.index].tick()
			if s == cppRunning {
				return s
			}
			if s == cppFailure {
				n.resetChildren()
				n.caught = true
				break
			}
			n.some = n.some || s == cppSuccess
		}
		if !n.caught && !n.some {
			return n.end(cppSkipped)
		}
		if !n.caught {
			return n.end(cppSuccess)
		}
		if n.children[last].tick() == cppRunning {
			return cppRunning
		}
		return n.end(cppFailure)
	}
	panic("the model does not know the kind " + n.kind.String())
}

// only ticks one child and halts the others; if there is no such child it fails.
func (n *cppNode) only(place int) cppStatus {
	for i, c := range n.children {
		if i != place {
			c.reset()
		}
	}
	if place >= len(n.children) {
		return n.end(cppFailure)
	}
	if s := n.children[place].tick(); s != cppRunning {
		return n.end(s)
	}
	return cppRunning
}

func (n *cppNode) runParallel() cppStatus {
	if n.completed == nil {
		n.completed = make([]cppStatus, len(n.children))
	}
	count := map[cppStatus]int{}
	for _, s := range n.completed {
		if s != cppIdle {
			count[s]++
		}
	}
	for i, c := range n.children {
		if n.completed[i] == cppIdle {
			s := c.tick()
			if count[s]++; s == cppSuccess || s == cppFailure {
				n.completed[i] = s
			}
		}
		switch {
		case n.kind == bt.ParallelAll:
		case count[cppSuccess] >= n.params[0], n.negative && count[cppSuccess]+count[cppSkipped] >= n.params[0]:
			return n.end(cppSuccess)
		case count[cppFailure] >= n.params[1] || len(n.children)-count[cppFailure] < n.params[0]:
			return n.end(cppFailure)
		}
	}
	switch {
	case count[cppSkipped] == len(n.children):
		return cppSkipped
	case n.kind == bt.Parallel || count[cppRunning] > 0:
		return cppRunning
	}
	if count[cppFailure] >= n.params[0] {
		return n.end(cppFailure)
	}
	return n.end(cppSuccess)
}

// cppInstant applies the inputs of an instant, and ticks the root until a tick changes nothing or the root returns. It
// returns the root's result, running if there is none, and whether the ticks came to rest.
func cppInstant(all []*cppNode, inputs []bt.Input) (result cppStatus, rest bool) {
	root := all[len(all)-1]
	for _, in := range inputs {
		all[in.Task()].input(in)
	}
	state := func() (text string) {
		for _, n := range all {
			text += fmt.Sprint(n.status, n.index, n.completed, n.runs, " ")
		}
		return text
	}
	for range 100 {
		before := state()
		if s := root.tick(); s != cppRunning {
			root.status = cppIdle
			return s, true
		}
		if state() == before {
			return cppRunning, true
		}
	}
	return cppRunning, false
}

// runs reports whether a node can return that it is running.
func runs(d *bt.Node) bool {
	switch d.Kind {
	case bt.Action, bt.Sleep, bt.Delay, bt.KeepRunningUntilFailure:
		return true
	case bt.Precondition:
		if d.Params != nil && d.Params[0] == 4 {
			return true
		}
	}
	return slices.ContainsFunc(d.Children, runs)
}

// skips reports whether a node can return that it is skipped.
func skips(d *bt.Node) bool {
	switch d.Kind {
	case bt.RunOnce, bt.SkipIf, bt.While:
		return true
	case bt.Precondition:
		if d.Params != nil && d.Params[0] == 3 {
			return true
		}
	}
	return slices.ContainsFunc(d.Children, skips)
}

// define changes a description so that BehaviorTree.CPP defines its outcome: in a reactive composite, at most one child
// can run; a child that is run again without end does not end at once; what remembers its result beyond the end of a
// tick runs actions, since a mere judgement is not remembered in Canopy (docs/btcpp.md).
func define(d *bt.Node) {
	if d.Kind.Ranked() > 0 {
		d.Kind = bt.ReactiveFallback
	}
	for i, c := range d.Children {
		if i == 0 && d.Kind.Condition() != "" { // a script
			c = &bt.Node{Kind: bt.Condition}
			d.Children[i] = c
		}
		if i == 0 && d.Kind.Effect() != "" { // a script
			c = &bt.Node{Kind: bt.Action}
			d.Children[i] = c
		}
		define(c)
		isCondition := i == 0 || i%2 == 0 && i < len(d.Children)-1
		switch d.Kind {
		case bt.IfThenElse:
			if isCondition && skips(c) { // an error
				d.Children[i] = &bt.Node{Kind: bt.Action}
			}
		case bt.SequenceWithMemory, bt.RunOnce:
			d.Children[i] = &bt.Node{Kind: bt.Action, Name: "steady"}
		case bt.Repeat, bt.RetryUntilSuccessful:
			if d.Params[0] == -1 {
				d.Children[i] = &bt.Node{Kind: bt.Action, Name: "steady"}
			}
		case bt.ReactiveSequence, bt.ReactiveFallback:
			if runs(c) && slices.ContainsFunc(d.Children[:i], runs) {
				d.Children[i] = &bt.Node{Kind: bt.Condition}
			}
		case bt.WhileDoElse, bt.Switch2, bt.Switch3, bt.Switch4, bt.Switch5, bt.Switch6:
			if (runs(c) || skips(c)) && isCondition && (i == 0 || d.Kind != bt.WhileDoElse) {
				d.Children[i] = &bt.Node{Kind: bt.Condition}
			}
		}
	}
	if d.Kind == bt.ReactiveParallel {
		d.Kind = bt.Parallel
	}
}

// TestBehaviorTreeCpp compares the engine with the model of BehaviorTree.CPP, ticked after each instant until nothing
// changes, on random trees of all kinds for which it defines the outcome: the actions that run after each instant and
// the root's results are the same, until the root has ended.
func TestBehaviorTreeCpp(t *testing.T) {
	ended, judged := 0, 0
	for seed := range uint64(trees.Count(100_000, 5_000)) {
		r := rand.New(rand.NewPCG(12, seed))
		d := trees.Random(r, 1+r.IntN(16))
		define(d)
		if seed%10 == 9 {
			trees.Zero(rand.New(rand.NewPCG(13, seed)), d)
		}
		tree := trees.Compile(t, d)
		e, all := bt.NewEngine(tree, nil, 0), newCpp(d)
		parallel := slices.ContainsFunc(all, func(n *cppNode) bool { return n.kind.Family() == bt.Count })
		var inputs []bt.Input
		var script []string
		for range 15 {
			instant, err := e.Settle(inputs)
			if err != nil {
				t.Fatalf("seed %d: %v\n%s", seed, err, trees.Outline(d))
			}
			want, rest := cppInstant(all, inputs)
			if !rest {
				t.Fatalf("seed %d: the ticks do not come to rest after %v\n%s", seed, script, trees.Outline(d))
			}
			got, over := rootResult(e, instant)
			fail := got != want
			var a, b []string
			for _, n := range all {
				if n.kind == bt.Action && n.status == cppRunning {
					a = append(a, tree.Name(n.number))
				}
				if n.kind == bt.Action && e.Status(n.number) == bt.Running {
					b = append(b, tree.Name(n.number))
				}
			}
			for _, c := range instant.Commands {
				if !c.Exit {
					all[c.Task].starts--
				}
			}
			if !parallel && slices.ContainsFunc(all, func(n *cppNode) bool { return n.starts != 0 }) {
				t.Logf("starts differ")
				fail = true
			}
			if !over {
				fail = fail || !slices.Equal(a, b)
			}
			if fail {
				t.Fatalf("seed %d: after %s\n ticks  %d %v\n engine %d %v\n%s", seed, strings.Join(script, "\n      "), want, a,
					got, b, trees.Outline(d))
			}
			if over {
				ended++
				break
			}
			if got != cppRunning {
				judged++
			}
			inputs = nil
			for len(inputs) == 0 {
				in := trees.Input(r, tree, e.Status)
				task, verb, _, _, _ := bt.Decode(in)
				if verb == "set" || verb == "elapsed" || verb == "end" || verb == "request" && !strings.Contains(tree.Name(task), "steady") {
					inputs = append(inputs, in)
				}
			}
			line := ""
			for _, in := range inputs {
				line += in.Text(tree.Name(in.Task())) + "; "
			}
			script = append(script, line)
		}
	}
	t.Logf("%d roots ended, %d results were judged", ended, judged)
}

// rootResult returns the root's result after an instant, running if there is none, and whether the root has ended.
func rootResult(e *bt.Engine, instant bt.Instant) (result cppStatus, over bool) {
	root := e.Tree().Root()
	for _, c := range instant.Changes {
		if c.Task == root && c.To.Ended() {
			return inCpp[c.To.Judgement()], true
		}
	}
	return inCpp[e.Status(root).Judgement()], false
}
