package verify

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/declare"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/internal/trees"
	"github.com/canopy-uav/canopy/snapshot"
)

// randomPlan writes plans with at most three conditions that the plan does not explain and two signals with limits at
// 1 and 2: at most 2^3 * 5 * 5 worlds.
type randomPlan struct {
	*rand.Rand
	memory       bool // also kinds and actions that remember
	slow         bool // procedures may take time
	relations    bool // of both signals
	stubs, count int
	guards       int
	held         []string // the resources of the guards above
	actions      []string
	conditions   []string
}

func (r *randomPlan) threshold() string {
	return fmt.Sprintf("%s %s %d", r.pick("x", "y"), r.pick("ge", "gt", "le", "lt"), 1+r.IntN(2))
}

func (r *randomPlan) pick(words ...string) string { return words[r.IntN(len(words))] }

func (r *randomPlan) expression() string {
	if r.relations && r.IntN(3) == 0 {
		return r.pick("x ge y", "x lt y + 1", "x + y ge 3", "2 * x - 2 * y gt -2")
	}
	switch r.IntN(6) {
	case 0:
		return r.threshold() + " and " + r.threshold()
	case 1:
		return r.threshold() + " or " + r.threshold()
	case 2:
		return "not (" + r.threshold() + ")"
	case 3:
		return "abs(x - 1.5) le 0.5"
	}
	return r.threshold()
}

func (r *randomPlan) node(depth int) string {
	if depth == 0 || r.IntN(5) == 0 {
		return r.leaf()
	}
	kind := r.composite()
	n := trees.Width(r.Rand, kind, 4)
	var b strings.Builder
	fmt.Fprintf(&b, "<%s", kind)
	values := trees.Params(r.Rand, kind, n)
	for i, p := range kind.Params() {
		if p.Type == bt.Resource {
			fmt.Fprintf(&b, ` %s=%q`, p.Name, r.resource())
			defer func() { r.held = r.held[:len(r.held)-1] }()
		} else if values != nil {
			fmt.Fprintf(&b, " %s=%q", p.Name, p.Write(values[i]))
		}
	}
	b.WriteString(">")
	for range n {
		b.WriteString(r.node(depth - 1))
	}
	return b.String() + "</" + kind.String() + ">"
}

// resource draws one that no guard above needs; in plans with memory, others may need it.
func (r *randomPlan) resource() string {
	r.guards++
	name := fmt.Sprintf("r%d", r.guards)
	if shared := r.pick("s1", "s2"); r.memory && !slices.Contains(r.held, shared) {
		name = shared
	}
	r.held = append(r.held, name)
	return name
}

// composite draws a family, and a kind of it from the table.
func (r *randomPlan) composite() bt.Kind {
	families := []bt.Family{bt.Chain, bt.Chain, bt.Chain, bt.Chain, bt.Count, bt.Script, bt.Script}
	if r.slow { // tasks that are active side by side
		families = append(families, bt.Count, bt.Count)
	}
	family := families[r.IntN(len(families))]
	var kinds []bt.Kind
	for _, k := range bt.Kinds() {
		if k.Family() != family || k.Memory() && !r.memory || k.Cases() > 2 { // scripts of counterexamples begin with false conditions
			continue
		}
		if kinds = append(kinds, k); family == bt.Chain && k.Over() != bt.Accept { // more often than decorators
			kinds = append(kinds, k)
		}
	}
	return kinds[r.IntN(len(kinds))]
}

func (r *randomPlan) leaf() string {
	r.count++
	if r.IntN(2) == 0 {
		name := fmt.Sprintf("a%d", r.count)
		r.actions = append(r.actions, name)
		attributes := ""
		if r.IntN(2) == 0 {
			attributes += fmt.Sprintf(` write="%s := 1"`, r.pick("u", "v"))
		}
		for _, a := range []string{"entry_time", "exit_time"} {
			if r.slow && r.IntN(3) == 0 {
				attributes += fmt.Sprintf(` %s="5 [s]"`, a)
				if a == "exit_time" {
					attributes += fmt.Sprintf(` exit="%s := 2"`, r.pick("u", "v"))
				}
			}
		}
		if r.memory {
			for _, a := range []string{"done", "failed", "_successIf", "_failureIf"} {
				if r.IntN(4) == 0 {
					attributes += fmt.Sprintf(` %s="%s"`, a, r.expression())
				}
			}
		}
		return fmt.Sprintf(`<Action name="%s"%s/>`, name, attributes)
	}
	name := fmt.Sprintf("c%d", r.count)
	r.conditions = append(r.conditions, name)
	if r.stubs < 3 && r.IntN(3) == 0 {
		r.stubs++
		return fmt.Sprintf(`<Condition name="%s"/>`, name)
	}
	if r.relations && r.IntN(4) == 0 {
		return fmt.Sprintf(`<Condition name="%s" on="x ge y + 1" off="x lt y"/>`, name)
	}
	if r.IntN(3) == 0 {
		s, c := r.pick("x", "y"), 1+r.IntN(2)
		if r.IntN(2) == 0 {
			return fmt.Sprintf(`<Condition name="%s" on="%s ge 2" off="%s lt %d"/>`, name, s, s, c)
		}
		return fmt.Sprintf(`<Condition name="%s" on="%s lt 1" off="%s gt %d"/>`, name, s, s, c)
	}
	return fmt.Sprintf(`<Condition name="%s" on="%s"/>`, name, r.expression())
}

// statement is a random fact or goal.
func (r *randomPlan) statement() declare.Statement {
	text := r.pick("x >= 1", "y < 2", "x > 2 and y >= 1", "not (x < 1 and y < 1)")
	if len(r.conditions) > 0 {
		c := r.pick(r.conditions...)
		text = r.pick(text, c, "not "+c, c+" -> "+text, "x >= 2 -> not "+c)
	}
	s := declare.Statement{Text: text}
	for part := range strings.SplitSeq(text, "->") {
		e, err := expr.Parse(part)
		if err != nil {
			panic(err)
		}
		s.Parts = append(s.Parts, e)
	}
	return s
}

func (r *randomPlan) subject(t *testing.T) declare.Subject {
	r.stubs, r.count, r.actions, r.conditions = 0, 0, nil, nil
	text := `<root BTCPP_format="4"><BehaviorTree ID="p">` + r.node(1+r.IntN(4)) + `</BehaviorTree></root>`
	p, list := plan.Read(&diag.Source{Name: "p.xml", Text: text}, nil)
	if p == nil {
		t.Fatalf("%s\n%v", text, list)
	}
	s := declare.Subject{Plan: p, Commands: []string{"u", "v"}}
	if strings.Contains(text, "u := 1") {
		s.Declared.Written = []string{"u"}
	}
	for range r.IntN(3) {
		s.Declared.Facts = append(s.Declared.Facts, r.statement())
	}
	g := r.statement()
	s.Declared.Goal = &g
	if len(r.actions) > 1 && r.IntN(3) == 0 {
		a, _ := p.Tree.Find(r.actions[0])
		b, _ := p.Tree.Find(r.actions[1])
		s.Declared.Resources = []declare.Resource{{Name: "lamp", Tasks: []bt.Task{a, b}}}
	}
	return s
}

// brute moves the engine from world to world, with an own reading of the leaves' expressions. It does not use the
// abstraction.
type brute struct {
	declare.Subject
	codes []bruteLeaf
	goal  bruteStatement
}

type bruteLeaf struct {
	task                                        bt.Task
	stub                                        int  // -1: none
	entry, exit                                 bool // takes time
	on, off, done, failed, successIf, failureIf *expr.Code
}

type bruteWorld struct {
	signals []float64
	stubs   []bool
}

type bruteStatement []func(values []float64, truth map[string]bool) bool

var bruteNames = []string{"x", "y"}

func bruteCode(e *expr.Expr) *expr.Code {
	if e == nil {
		return nil
	}
	return expr.NewCompiler(nil, func(n string) (int, bool) { i := slices.Index(bruteNames, n); return i, i >= 0 }).Compile(e)
}

// bruteParts makes relations of the names of conditions, whose sides are their truth.
func bruteParts(s declare.Statement) bruteStatement {
	var parts bruteStatement
	for _, e := range s.Parts {
		var names []string
		for _, n := range e.Propositions() {
			if !slices.Contains(names, n.Name()) {
				names = append(names, n.Name())
			}
		}
		with := map[string]*expr.Expr{}
		for _, n := range names {
			with[n], _ = expr.Parse(n + " >= 1")
		}
		all := append(slices.Clone(bruteNames), names...)
		code := expr.NewCompiler(nil, func(n string) (int, bool) { i := slices.Index(all, n); return i, i >= 0 }).
			Compile(e.Substitute(with))
		parts = append(parts, func(values []float64, truth map[string]bool) bool {
			v := slices.Clone(values)
			for _, n := range names {
				v = append(v, float64(btoi(truth[n])))
			}
			return code.Bool(v, nil)
		})
	}
	return parts
}

func (b bruteStatement) holds(values []float64, truth map[string]bool) bool {
	for _, p := range b[:len(b)-1] {
		if !p(values, truth) {
			return true
		}
	}
	return b[len(b)-1](values, truth)
}

func newBrute(s declare.Subject) *brute {
	b := &brute{Subject: s, goal: bruteParts(*s.Declared.Goal)}
	stubs := 0
	for _, l := range s.Plan.Leaves {
		x := bruteLeaf{l.Task, -1, l.EntryTime != nil, l.ExitTime != nil, bruteCode(l.On), bruteCode(l.Off), bruteCode(l.Done), bruteCode(l.Failed),
			bruteCode(l.SuccessIf), bruteCode(l.FailureIf)}
		if s.Plan.Tree.Kind(l.Task) == bt.Condition && l.On == nil {
			x.stub = stubs
			stubs++
		}
		b.codes = append(b.codes, x)
	}
	return b
}

type bruteState struct {
	engine *bt.Engine
	truth  []bool // by leaf
}

func (b *brute) key(s bruteState) string { return string(snapshot.Save(packed(s.truth), s.engine)) }

func packed(values []bool) (b []byte) {
	for _, v := range values {
		b = append(b, byte(btoi(v)))
	}
	return b
}

// timers returns the tasks whose timers run.
func (b *brute) timers(e *bt.Engine) []bt.Task {
	return slices.DeleteFunc(slices.Clone(b.Plan.Tree.Timers()), func(t bt.Task) bool { return !e.At(t).Timed })
}

// under returns the actions whose procedures are under way, and the tasks whose timers run.
func (b *brute) under(e *bt.Engine) []bt.Task {
	tasks := b.timers(e)
	for _, l := range b.codes {
		if s := e.Status(l.task); s == bt.Activating || s == bt.Deactivating {
			tasks = append(tasks, l.task)
		}
	}
	return tasks
}

func (b *brute) enter(s *bruteState, w bruteWorld, over map[bt.Task]bool) bool {
	is := func(c *expr.Code) bool { return c != nil && c.Bool(w.signals, nil) }
	for round := range 200 {
		var in []bt.Input
		for i, l := range b.codes {
			if b.Plan.Tree.Kind(l.task) == bt.Condition {
				if l.stub >= 0 {
					s.truth[i] = w.stubs[l.stub]
				} else {
					s.truth[i] = is(l.on) || s.truth[i] && l.off != nil && !is(l.off)
				}
				in = append(in, bt.Set(l.task, s.truth[i]))
				continue
			}
			request, outcome := bt.Accept, bt.Accept
			if is(l.successIf) {
				request = bt.Success
			}
			if is(l.failureIf) {
				request = bt.Failure
			}
			if is(l.done) {
				outcome = bt.Success
			}
			if is(l.failed) {
				outcome = bt.Failure
			}
			in = append(in, bt.Request(l.task, request))
			if s.engine == nil {
				in = append(in, bt.Slow(l.task, l.entry, l.exit))
				continue
			}
			status := s.engine.Status(l.task)
			if (status == bt.Activating || status == bt.Running) && outcome != bt.Accept {
				in = append(in, bt.End(l.task, outcome))
			}
			if over[l.task] && round == 0 {
				in = append(in, bt.Entered(l.task), bt.Exited(l.task))
			}
		}
		for t := range over {
			if round == 0 && over[t] && b.Plan.Tree.Kind(t).Timer() {
				in = append(in, bt.Elapsed(t))
			}
		}
		if s.engine == nil {
			s.engine = bt.NewEngine(b.Plan.Tree, in, 0)
			in = nil
		}
		instant, err := s.engine.Settle(in)
		if err != nil {
			return false
		}
		ended := slices.ContainsFunc(b.codes, func(l bruteLeaf) bool {
			return s.engine.Status(l.task) == bt.Running && (is(l.done) || is(l.failed))
		})
		if len(instant.Changes) == 0 && !ended {
			return true
		}
	}
	return false
}

func byQuestion(all []Finding, q string) []Finding {
	var some []Finding
	for _, f := range all {
		if f.Question == q {
			some = append(some, f)
		}
	}
	return some
}
