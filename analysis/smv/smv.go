// Package smv writes a plan in the input language of the model checkers NuSMV and nuXmv, with the questions that
// `canopy check` asks, so that an outside tool can answer them again.
//
// A plan without memory becomes equations: a state is an interval for each signal, a truth value for each free input,
// and the last value of each condition with hysteresis, and any world that the facts allow may follow any other. Every
// other plan becomes a graph: the states in which an instant can end, as package flown reaches them. docs/export.md
// describes the output.
package smv

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/declare"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/executive"
	"github.com/canopy-uav/canopy/expr"
)

// ErrLarge reports a plan whose graph has too many states.
var ErrLarge = errors.New("the plan has too many states")

// Limits of a model.
const (
	maxStates = 100_000  // of a graph
	maxText   = 64 << 20 // bytes
)

// advice follows what is too large.
const advice = "export a smaller plan, such as one of its subtrees; canopy check needs no such model"

// Write returns the model. over is asked often: if it returns a reason to end, or there are too many states, the error
// is ErrLarge.
func Write(s declare.Subject, title string, over func() string) (string, error) {
	w := &writer{Subject: s, tree: s.Plan.Tree, names: map[string]bool{}, task: make([]string, s.Plan.Tree.Len()),
		natures: s.Plan.Tree.Natures(), wanted: make([]*formula, s.Plan.Tree.Len()),
		signals: map[string]*signal{}, free: map[string]string{}, values: map[string]string{}}
	equations := len(w.tree.Shared()) == 0
	for t := range bt.Task(w.tree.Len()) {
		equations = equations && !w.remembers(t)
		w.task[t] = w.name(w.tree.Name(t))
	}
	if equations && !w.feedsBack() && !w.branches() {
		if w.equations(); w.size > maxText {
			return "", w.large()
		}
		return w.text(title, settled), nil
	}
	if err := w.graph(over); err != nil {
		return "", err
	}
	return w.text(title, flownStates), nil
}

// large is the error of a model whose text is too long.
func (w *writer) large() error {
	return fmt.Errorf("%w: its model has more than %d MiB; %s", ErrLarge, maxText>>20, advice)
}

// The states of the two forms.
const (
	settled     = "A state is a settled state of the plan."
	flownStates = "A state is one in which an instant of a run can end."
)

// equations writes a plan whose settled states follow from its inputs.
func (w *writer) equations() {
	w.limits()
	w.conditions()
	for t := range bt.Task(w.tree.Len()) {
		w.judge(t)
	}
	w.activate()
	for _, f := range w.Declared.Facts {
		w.constraints = append(w.constraints, fmt.Sprintf("INVAR %s; -- %s", w.stated(f), comment(f.Text)))
	}
	w.questions(w.stated, w.active, "")
}

type writer struct {
	declare.Subject
	tree    *bt.Tree
	size    int             // of the definitions and transitions so far, also of those that were left out [bytes]
	names   map[string]bool // that are taken
	task    []string        // by task: its name in the model
	natures []bt.Nature     // by task
	wanted  []*formula      // by task: where its parent wants it, if that is active
	signals map[string]*signal
	order   []string          // of the signals
	free    map[string]string // by key: the variable of an input that is simply true or false
	values  map[string]string // by identity of a condition: the definition of its value

	variables, defines, constraints, next, specs []string
}

// signal is a signal with the limits that conditions compare it with.
type signal struct {
	variable string
	cuts     []cut
}

type cut struct {
	limit  float64
	strict bool
}

// remembers reports whether a task remembers something.
func (w *writer) remembers(t bt.Task) bool {
	i, leaf := slices.BinarySearch(w.tree.Leaves(), t)
	if !leaf {
		return w.natures[t].Pins
	}
	l := &w.Plan.Leaves[i]
	given := func(e *expr.Expr) bool { return e != nil }
	return slices.ContainsFunc([]*expr.Expr{l.Done, l.Failed, l.SuccessIf, l.FailureIf, l.EntryTime, l.EntryUntil,
		l.ExitTime, l.ExitUntil}, given) || slices.Contains(w.Declared.Free, w.tree.Name(t)) || len(l.Until) > 0 ||
		w.tree.Idle(t)
}

// acts reports whether a task can be active, or is an action.
func (w *writer) acts(t bt.Task) bool { return w.natures[t].Acts || w.tree.Kind(t).Acts() }

// feedsBack reports whether a condition or a statement reads a slot: what tasks write decides what they do.
func (w *writer) feedsBack() bool {
	written, _ := w.users()
	var all []*expr.Expr
	for i := range w.Plan.Leaves {
		all = append(all, w.Plan.Leaves[i].On, w.Plan.Leaves[i].Off)
	}
	for _, s := range w.statements() {
		all = append(all, s.Parts...)
	}
	return slices.ContainsFunc(all, func(e *expr.Expr) bool {
		return e != nil && slices.ContainsFunc(w.Expanded(e).Names(), func(n string) bool {
			slot := func(s executive.Slot) bool { return s.Name == n }
			return written[n] != nil || w.Program != nil && slices.ContainsFunc(w.Program.Slots, slot)
		})
	})
}

// branches reports whether a relation contains a function with branches, whose values say more than a free input does.
func (w *writer) branches() bool {
	var branches func(l *expr.Logic) bool
	branches = func(l *expr.Logic) bool {
		return l.Relation != nil && l.Relation.Bends() ||
			slices.ContainsFunc(l.Args, func(a expr.Logic) bool { return branches(&a) })
	}
	var all []*expr.Logic
	for i := range w.Plan.Leaves {
		all = append(all, w.logic(w.Plan.Leaves[i].On), w.logic(w.Plan.Leaves[i].Off))
	}
	for _, s := range w.statements() {
		l := w.Logic(s)
		all = append(all, &l)
	}
	return slices.ContainsFunc(all, func(l *expr.Logic) bool { return l != nil && branches(l) })
}

// name returns a name that SMV accepts and that is not taken yet.
func (w *writer) name(text string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' {
			return r
		}
		return '_'
	}, text)
	for n := 2; w.names[name]; n++ {
		name = fmt.Sprintf("%s_%d", strings.TrimSuffix(name, fmt.Sprintf("_%d", n-1)), n)
	}
	w.names[name] = true
	return name
}

// comment is a text that ends no comment.
func comment(text string) string { return diag.Visible(strings.Join(strings.Fields(text), " ")) }

// logic returns the structure of an expression over signals, with computed signals replaced; nil for none.
func (w *writer) logic(e *expr.Expr) *expr.Logic {
	if e == nil {
		return nil
	}
	l := w.Expanded(e).Logic(nil)
	return &l
}

// stated writes a declared statement.
func (w *writer) stated(s declare.Statement) string {
	l := w.Logic(s)
	return w.formula(&l)
}

// statements returns all declared statements that the model contains.
func (w *writer) statements() []declare.Statement {
	all := slices.Concat(w.Declared.Facts, w.Declared.Always)
	if w.Declared.Goal != nil {
		all = append(all, *w.Declared.Goal)
	}
	return all
}

// limits collects the limits of signals and declares a variable for each signal.
func (w *writer) limits() {
	for i := range w.Plan.Leaves {
		w.collect(w.logic(w.Plan.Leaves[i].On))
		w.collect(w.logic(w.Plan.Leaves[i].Off))
	}
	for _, s := range w.statements() {
		l := w.Logic(s)
		w.collect(&l)
	}
	for _, name := range w.order {
		s := w.signals[name]
		var texts []string
		for _, c := range s.cuts {
			texts = append(texts, map[bool]string{false: ">= ", true: "> "}[c.strict]+diag.Number(c.limit, 12))
		}
		s.variable = w.name("s_" + name)
		w.variables = append(w.variables, fmt.Sprintf("%s : 0..%d; -- how many of these hold: %s %s", s.variable, len(s.cuts),
			comment(name), strings.Join(texts, ", ")))
	}
}

func (w *writer) collect(l *expr.Logic) {
	if l == nil {
		return
	}
	if l.Op == expr.LogicThreshold {
		s := w.signals[l.Signal]
		if s == nil {
			s = &signal{}
			w.signals[l.Signal] = s
			w.order = append(w.order, l.Signal)
		}
		c := cut{l.Limit, l.Strict}
		if k, found := slices.BinarySearchFunc(s.cuts, c, compare); !found {
			s.cuts = slices.Insert(s.cuts, k, c)
		}
	}
	for i := range l.Args {
		w.collect(&l.Args[i])
	}
}

// compare orders limits: of one value, >= comes before >.
func compare(a, b cut) int {
	switch {
	case a.limit < b.limit, a.limit == b.limit && !a.strict && b.strict:
		return -1
	case a == b:
		return 0
	}
	return 1
}

// input returns the variable of an input that is simply true or false.
func (w *writer) input(key, text string) string {
	v, ok := w.free[key]
	if !ok {
		v = w.name(fmt.Sprintf("i_%d", len(w.free)+1))
		w.free[key] = v
		w.variables = append(w.variables, v+" : boolean; -- "+comment(text))
	}
	return v
}

// formula writes the structure of a condition.
func (w *writer) formula(l *expr.Logic) string {
	switch l.Op {
	case expr.LogicTruth:
		return map[bool]string{false: "FALSE", true: "TRUE"}[l.Value]
	case expr.LogicThreshold:
		s := w.signals[l.Signal]
		k, _ := slices.BinarySearchFunc(s.cuts, cut{l.Limit, l.Strict}, compare)
		return fmt.Sprintf("%s > %d", s.variable, k)
	case expr.LogicRelation:
		return w.input(l.Key, l.Text)
	case expr.LogicProposition:
		t, _ := w.tree.Find(l.Text)
		if i, leaf := slices.BinarySearch(w.tree.Leaves(), t); leaf && !w.tree.Kind(t).Acts() {
			return w.value(&w.Plan.Leaves[i])
		}
		return w.active(t)
	case expr.LogicNot:
		return "!(" + w.formula(&l.Args[0]) + ")"
	case expr.LogicAnd, expr.LogicOr:
		op := map[expr.LogicOp]string{expr.LogicAnd: " & ", expr.LogicOr: " | "}[l.Op]
		var parts []string
		for i := range l.Args {
			parts = append(parts, "("+w.formula(&l.Args[i])+")")
		}
		return strings.Join(parts, op)
	}
	panic("smv: a formula with an unknown operation")
}

func (w *writer) define(name, format string, args ...any) {
	text := name + " := " + fmt.Sprintf(format, args...) + ";"
	if w.size += len(text); w.size <= maxText {
		w.defines = append(w.defines, text)
	}
}

func (w *writer) good(t bt.Task) string   { return "good_" + w.task[t] }
func (w *writer) bad(t bt.Task) string    { return "bad_" + w.task[t] }
func (w *writer) skip(t bt.Task) string   { return "skip_" + w.task[t] }
func (w *writer) active(t bt.Task) string { return "active_" + w.task[t] }

// conditions defines the value of each input that conditions read: with hysteresis it depends on the value before.
func (w *writer) conditions() {
	for i := range w.Plan.Leaves {
		l := &w.Plan.Leaves[i]
		identity, name := w.Plan.Input(l, w.Expanded)
		if w.tree.Kind(l.Task).Acts() || w.values[identity] != "" {
			continue
		}
		if l.On == nil {
			w.values[identity] = w.input(identity, "the condition "+name)
			continue
		}
		value := w.name("value_" + name)
		w.values[identity] = value
		if l.Off == nil {
			w.define(value, "%s", w.formula(w.logic(l.On)))
			continue
		}
		before := w.name("was_" + name)
		w.variables = append(w.variables, before+" : boolean; -- the last value of "+comment(name))
		w.define(value, "(%s) | %s & !(%s)", w.formula(w.logic(l.On)), before, w.formula(w.logic(l.Off)))
		w.next = append(w.next, fmt.Sprintf("init(%s) := FALSE;", before), fmt.Sprintf("next(%s) := %s;", before, value))
	}
}

func (w *writer) value(l *plan.Leaf) string {
	identity, _ := w.Plan.Input(l, w.Expanded)
	return w.values[identity]
}

// anyOf joins alternatives.
func anyOf(parts []string) string {
	return cmp.Or(strings.Join(parts, " | "), "FALSE")
}

// all joins conditions that hold together; "" is none.
func all(parts ...string) string {
	parts = slices.DeleteFunc(parts, func(p string) bool { return p == "" })
	return cmp.Or(strings.Join(parts, " & "), "TRUE")
}

// judge defines where a task has succeeded, where it has failed, and where it is skipped if it can be.
func (w *writer) judge(t bt.Task) {
	says := bt.Judgement[*formula]{Good: never, Bad: never}
	switch i, leaf := slices.BinarySearch(w.tree.Leaves(), t); {
	case !leaf:
		says = bt.Decide(algebra{w, t}, &w.natures[t].Rule, func(child bt.Task, in *formula) bt.Judgement[*formula] {
			w.wanted[child] = algebra{}.Or(w.wanted[child], in)
			return w.judgement(child)
		})
	case !w.tree.Kind(t).Acts():
		says.Good = &formula{text: w.value(&w.Plan.Leaves[i])}
		says.Bad = algebra{}.Not(says.Good)
	}
	w.define(w.good(t), "%s", says.Good)
	w.define(w.bad(t), "%s", says.Bad)
	if w.natures[t].Skips {
		w.define(w.skip(t), "%s", says.Skipped)
	}
}

// judgement returns the names of a task's judgements.
func (w *writer) judgement(t bt.Task) bt.Judgement[*formula] {
	a := algebra{}
	j := bt.Judgement[*formula]{Good: &formula{text: w.good(t)}, Bad: &formula{text: w.bad(t)}, Skipped: never}
	if w.natures[t].Skips {
		j.Skipped = &formula{text: w.skip(t)}
	}
	j.Open = a.And(a.And(a.Not(j.Good), a.Not(j.Bad)), a.Not(j.Skipped))
	return j
}

// activate defines where tasks are active, parents first.
func (w *writer) activate() {
	root := w.tree.Root()
	w.define(w.active(root), "%s", w.activity(root))
	for t := root; t >= 0; t-- {
		for _, k := range w.tree.Children(t) {
			wanted := []string{w.active(t)}
			switch in := w.wanted[k]; {
			case w.natures[t].Course != nil && in == nil: // it never looks at the child
				wanted = append(wanted, "(FALSE)")
			case w.natures[t].Course != nil:
				wanted = append(wanted, "("+in.String()+")")
			case in != nil && in != always:
				wanted = append(wanted, in.within('&'))
			}
			w.define(w.active(k), "%s", w.activity(k, wanted...))
		}
	}
}

// activity is the condition that a task is active: its parent wants it, and it is not judged.
func (w *writer) activity(t bt.Task, wanted ...string) string {
	if !w.acts(t) {
		return "FALSE"
	}
	return all(append(wanted, w.judgement(t).Open.String())...)
}

// spec adds a question.
func (w *writer) spec(name, about, format string, args ...any) {
	text := fmt.Sprintf("-- %s\nINVARSPEC NAME %s := %s;", comment(about), w.name(name), fmt.Sprintf(format, args...))
	if w.size += len(text); w.size <= maxText {
		w.specs = append(w.specs, text)
	}
}

// questions writes the questions that are about single states, given how statements and activity are written, and the
// condition that no procedure is under way; "": always.
func (w *writer) questions(statement func(declare.Statement) string, active func(bt.Task) string, quiet string) {
	root := w.tree.Root()
	if quiet != "" {
		quiet = "!" + quiet + " | "
	}
	var actions []string
	for _, t := range w.tree.Leaves() {
		if w.acts(t) {
			actions = append(actions, w.active(t))
		}
	}
	passing := ""
	for _, t := range w.tree.Timers() {
		passing = " or a task waits for its timer"
		none := []string{w.active(t)}
		for _, k := range w.tree.Children(t) {
			if w.acts(k) {
				none = append(none, "!"+w.active(k))
			}
		}
		actions = append(actions, all(none...))
	}
	w.spec("complete", "in every state some action is active"+passing+", or the plan has succeeded", "%s%s", quiet,
		anyOf(append([]string{w.good(root)}, actions...)))
	for _, t := range w.tree.Leaves() {
		if w.acts(t) {
			w.spec("dead_"+w.task[t], w.tree.Name(t)+" is never active; false is as it should be", "!(%s)", active(t))
		}
	}
	if g := w.Declared.Goal; g != nil {
		w.spec("goal", "the plan succeeds exactly where its goal holds: "+g.Text, "%s(%s <-> (%s))", quiet, w.good(root),
			statement(*g))
	}
	for i, a := range w.Declared.Always {
		w.spec(fmt.Sprintf("always_%d", i+1), a.Text, "%s", statement(a))
	}
	users, order := w.users()
	for _, thing := range order {
		for i, a := range users[thing] {
			for _, b := range users[thing][i+1:] {
				if w.size > maxText {
					return
				}
				w.spec(fmt.Sprintf("conflict_%s_%s_%s", thing, w.task[a], w.task[b]),
					fmt.Sprintf("%s and %s are not active together: both use %s", w.tree.Name(a), w.tree.Name(b), thing), "!(%s & %s)",
					w.active(a), w.active(b))
			}
		}
	}
	for _, slot := range w.Declared.Written {
		var writers []string
		for _, t := range users[slot] {
			writers = append(writers, w.active(t))
		}
		w.spec("written_"+slot, slot+" is written in every state", "%s%s", quiet, anyOf(writers))
	}
}

// users returns the actions that give each slot a value or hold each resource, and the names of these in order.
func (w *writer) users() (by map[string][]bt.Task, order []string) {
	by = map[string][]bt.Task{}
	add := func(thing string, t bt.Task) {
		if by[thing] == nil {
			order = append(order, thing)
		}
		if !slices.Contains(by[thing], t) {
			by[thing] = append(by[thing], t)
		}
	}
	for i := range w.Plan.Leaves {
		l := &w.Plan.Leaves[i]
		for _, a := range slices.Concat(l.Write, l.Entry) {
			add(a.Target, l.Task)
		}
	}
	for _, r := range w.Declared.Resources {
		for _, t := range r.Tasks {
			add(r.Name, t)
		}
	}
	return by, order
}

// text puts the parts together.
func (w *writer) text(title, states string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "-- %s\n", comment(title))
	b.WriteString("-- " + states + "\n-- good_T, bad_T: the task T has succeeded, has failed. active_T: it is active.\n")
	b.WriteString("MODULE main\n")
	section := func(head string, lines []string) {
		if len(lines) > 0 {
			fmt.Fprintf(&b, "%s\n  %s\n", head, strings.Join(lines, "\n  "))
		}
	}
	section("VAR", w.variables)
	section("DEFINE", w.defines)
	section("ASSIGN", w.next)
	for _, list := range [][]string{w.constraints, w.specs} {
		for _, line := range list {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}
