// Package smv writes a plan in the input language of the model checkers NuSMV and nuXmv, with the questions that
// `canopy check` asks, so that an outside tool can answer them again.
//
// A plan without memory becomes equations: a state is an interval for each signal, a truth value for each free input,
// and the last value of each condition with hysteresis, and any world that the facts allow may follow any other. Every
// other plan becomes a graph: the states in which an instant can end, as package flown reaches them. docs/export.md
// describes the output.
package smv

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"canopy/bt"
	"canopy/diag"
	"canopy/document/declare"
	"canopy/document/plan"
	"canopy/executive"
	"canopy/expr"
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
		acts: make([]bool, s.Plan.Tree.Len()), skips: make([]bool, s.Plan.Tree.Len()),
		signals: map[string]*signal{}, free: map[string]string{}, values: map[string]string{}}
	equations := true
	for t := range bt.Task(w.tree.Len()) {
		equations = w.admit(t) && equations
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
		w.constraints = append(w.constraints, fmt.Sprintf("INVAR %s; -- %s", w.formula(w.statement(f)), comment(f.Text)))
	}
	w.questions(func(s declare.Statement) string { return w.formula(w.statement(s)) }, w.active, "")
}

type writer struct {
	declare.Subject
	tree    *bt.Tree
	size    int             // of the definitions and transitions so far, also of those that were left out [bytes]
	names   map[string]bool // that are taken
	task    []string        // by task: its name in the model
	acts    []bool          // by task: it can be active
	skips   []bool          // by task: it can be skipped
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

// admit reports whether a task remembers nothing, and notes whether it can be active or skipped.
func (w *writer) admit(t bt.Task) bool {
	kids := w.tree.Children(t)
	w.acts[t] = w.tree.Kind(t).Acts()
	switch w.tree.Kind(t).Family() { // all of its children, or what its script says
	case bt.Chain:
		w.skips[t] = true
	case bt.Count:
		w.skips[t] = !w.tree.Counts(t).Lenient
	}
	for _, k := range kids {
		w.acts[t] = w.acts[t] || w.acts[k]
		w.skips[t] = w.skips[t] && w.skips[k]
	}
	if w.tree.Kind(t).Family() == bt.Script {
		for _, s := range w.tree.Course(t, w.can).Steps {
			w.acts[t], w.skips[t] = w.acts[t] || s.Waits(), w.skips[t] || s.Says == bt.Skipped
		}
	}
	remembers := w.remembers(t) || len(w.tree.Shared()) > 0
	if i, leaf := slices.BinarySearch(w.tree.Leaves(), t); leaf {
		l := &w.Plan.Leaves[i]
		for _, e := range []*expr.Expr{l.Done, l.Failed, l.SuccessIf, l.FailureIf, l.EntryTime, l.EntryUntil, l.ExitTime,
			l.ExitUntil} {
			remembers = remembers || e != nil
		}
		remembers = remembers || slices.Contains(w.Declared.Free, w.tree.Name(t)) || len(l.Until) > 0 || w.tree.Idle(t)
	}
	return !remembers
}

// can reports whether a task can be undecided (Accept), or skipped.
func (w *writer) can(t bt.Task, be bt.Status) bool {
	return be == bt.Accept && w.acts[t] || be == bt.Skipped && w.skips[t]
}

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
		return e != nil && slices.ContainsFunc(w.expanded(e).Names(), func(n string) bool {
			return written[n] != nil || w.slot(n)
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
		all = append(all, w.statement(s))
	}
	return slices.ContainsFunc(all, func(l *expr.Logic) bool { return l != nil && branches(l) })
}

// slot reports whether a signal of a mission is a slot.
func (w *writer) slot(name string) bool {
	return w.Program != nil && slices.ContainsFunc(w.Program.Slots, func(s executive.Slot) bool { return s.Name == name })
}

// remembers reports whether a composite pins a child or stores a state, and can be active after that.
func (w *writer) remembers(t bt.Task) bool {
	acts := func(k bt.Task) bool { return w.acts[k] }
	kind, kids := w.tree.Kind(t), w.tree.Children(t)
	if !kind.Memory() {
		return false
	}
	switch kind.Family() {
	case bt.Leaf:
		return false
	case bt.Chain:
		return slices.ContainsFunc(kids[1:], acts)
	case bt.Count:
		return len(kids) > 1 && slices.ContainsFunc(kids, acts)
	case bt.Script:
		return slices.Contains(w.tree.Course(t, w.can).Stored[1:], true)
	}
	panic("smv: a composite of an unknown family")
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
	l := w.expanded(e).Logic(nil)
	return &l
}

// expanded replaces computed signals, unless the expression becomes too large.
func (w *writer) expanded(e *expr.Expr) *expr.Expr {
	long := e
	for slices.ContainsFunc(long.Names(), func(n string) bool { return w.Computed[n] != nil }) {
		if long.Parts(w.Computed) > expr.MaxParts {
			return e
		}
		long = long.Substitute(w.Computed)
	}
	return long
}

// statement returns the structure of a declared statement: a -> b -> c is a -> (b -> c).
func (w *writer) statement(s declare.Statement) *expr.Logic {
	task := func(name string) bool { _, ok := w.tree.Find(name); return ok }
	l := w.expanded(s.Parts[len(s.Parts)-1]).Logic(task)
	for _, e := range slices.Backward(s.Parts[:len(s.Parts)-1]) {
		premise := expr.Logic{Op: expr.LogicNot, Args: []expr.Logic{w.expanded(e).Logic(task)}}
		l = expr.Logic{Op: expr.LogicOr, Args: []expr.Logic{premise, l}}
	}
	return &l
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
		w.collect(w.statement(s))
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
		identity, name := w.Plan.Input(l, w.expanded)
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
	identity, _ := w.Plan.Input(l, w.expanded)
	return w.values[identity]
}

// anyOf joins alternatives.
func anyOf(parts []string) string {
	if len(parts) == 0 {
		return "FALSE"
	}
	return strings.Join(parts, " | ")
}

// all joins conditions that hold together; "" is none.
func all(parts ...string) string {
	parts = slices.DeleteFunc(parts, func(p string) bool { return p == "" })
	if len(parts) == 0 {
		return "TRUE"
	}
	return strings.Join(parts, " & ")
}

// judge defines where a task has succeeded, where it has failed, and where it is skipped if it can be.
func (w *writer) judge(t bt.Task) {
	kind, kids := w.tree.Kind(t), w.tree.Children(t)
	by := map[bt.Status][]string{}
	switch kind.Family() {
	case bt.Leaf:
		if i, _ := slices.BinarySearch(w.tree.Leaves(), t); !kind.Acts() {
			value := w.value(&w.Plan.Leaves[i])
			by[bt.Success], by[bt.Failure] = []string{value}, []string{"!" + value}
		}
	case bt.Chain:
		var passed []string
		for i, k := range kids {
			for _, is := range []bt.Status{bt.Success, bt.Failure} {
				says := kind.Verdict(is)
				if says != bt.Accept && (is != kind.Over() || i == len(kids)-1 && !w.skips[k]) {
					by[says] = append(by[says], all(append(passed, w.judged(k, is))...))
				}
			}
			if kind.Over() != bt.Accept {
				passed = append(passed, w.passed(k, kind.Over()))
			}
		}
		over := kind.Verdict(kind.Over())
		if last := kids[len(kids)-1]; w.skips[last] && kind.Over() != bt.Accept { // the last that is not skipped decides
			by[over] = append(by[over], all(append(passed, w.unless(t))...))
		}
		by[bt.Skipped] = []string{all(w.each(kids, bt.Skipped)...)}
	case bt.Count:
		by = w.counted(t)
	case bt.Script:
		for _, s := range w.course(t) {
			if s.Says != bt.Accept {
				by[s.Says] = append(by[s.Says], w.taken(t, s))
			}
		}
	default:
		panic("smv: a composite of an unknown family")
	}
	w.define(w.good(t), "%s", anyOf(by[bt.Success]))
	w.define(w.bad(t), "%s", anyOf(by[bt.Failure]))
	if w.skips[t] {
		w.define(w.skip(t), "%s", anyOf(by[bt.Skipped]))
	}
}

// each returns the conditions that tasks are judged in some way.
func (w *writer) each(tasks []bt.Task, is bt.Status) []string {
	var all []string
	for _, t := range tasks {
		all = append(all, w.judged(t, is))
	}
	return all
}

// unless is the condition that a task is not skipped, "" if it never is.
func (w *writer) unless(t bt.Task) string {
	if w.skips[t] {
		return "!" + w.skip(t)
	}
	return ""
}

// passed is the condition that a chain passes over a child.
func (w *writer) passed(t bt.Task, over bt.Status) string {
	if w.skips[t] {
		return fmt.Sprintf("(%s | %s)", w.judged(t, over), w.skip(t))
	}
	return w.judged(t, over)
}

// judged is the condition that a task is judged in some way.
func (w *writer) judged(t bt.Task, is bt.Status) string {
	switch is {
	case bt.Success:
		return w.good(t)
	case bt.Failure:
		return w.bad(t)
	case bt.Skipped:
		if !w.skips[t] {
			return "FALSE"
		}
		return w.skip(t)
	case bt.Accept:
		if w.skips[t] {
			return fmt.Sprintf("!%s & !%s & !%s", w.good(t), w.bad(t), w.skip(t))
		}
		return fmt.Sprintf("!%s & !%s", w.good(t), w.bad(t))
	}
	panic("smv: a judgement that does not exist")
}

// counted defines the counts of a parallel: from left to right, until one threshold is reached. One that waits for all
// its children returns where all are judged.
func (w *writer) counted(t bt.Task) map[bt.Status][]string {
	counts, kids := w.tree.Counts(t), w.tree.Children(t)
	enough, tooMany := int(counts.Enough), int(counts.TooMany)
	by := map[bt.Status][]string{}
	switch 0 {
	case enough:
		by[bt.Success] = []string{"TRUE"}
		return by
	case tooMany: // with all children judged
		by[bt.Failure] = []string{w.unless(t)}
	}
	at := map[[2]int]string{{0, 0}: ""}
	for i, k := range kids {
		if w.size > maxText {
			return by
		}
		parts := map[[2]int][]string{}
		for g := range enough {
			for b := range tooMany {
				from, ok := at[[2]int{g, b}]
				if !ok {
					continue
				}
				isGood, neither := w.good(k), w.judged(k, bt.Accept)
				switch {
				case w.skips[k] && counts.Lenient:
					isGood = w.passed(k, bt.Success)
				case w.skips[k]:
					neither = fmt.Sprintf("!%s & !%s", w.good(k), w.bad(k))
				}
				good, bad := all(from, isGood), all(from, w.bad(k))
				if g+1 == enough {
					by[bt.Success] = append(by[bt.Success], good)
				} else {
					parts[[2]int{g + 1, b}] = append(parts[[2]int{g + 1, b}], good)
				}
				if b+1 == tooMany {
					by[bt.Failure] = append(by[bt.Failure], bad)
				} else {
					parts[[2]int{g, b + 1}] = append(parts[[2]int{g, b + 1}], bad)
				}
				parts[[2]int{g, b}] = append(parts[[2]int{g, b}], all(from, neither))
			}
		}
		at = map[[2]int]string{}
		for g := range enough {
			for b := range tooMany {
				if p := parts[[2]int{g, b}]; p != nil {
					name := w.name(fmt.Sprintf("count_%s_%d_%d_%d", w.task[t], i+1, g, b))
					w.define(name, "%s", anyOf(p))
					at[[2]int{g, b}] = name
				}
			}
		}
	}
	if counts.Quorum > 0 {
		judged := ""
		for _, k := range kids {
			judged = all(judged, fmt.Sprintf("(%s | %s)", w.passed(k, bt.Success), w.bad(k)))
		}
		for _, parts := range by {
			for i := range parts {
				parts[i] = all(parts[i], judged)
			}
		}
		if slices.ContainsFunc(kids, func(k bt.Task) bool { return w.skips[k] }) { // it waits for fewer results
			by[bt.Success] = []string{all(judged, "!"+w.bad(t), w.unless(t))}
		}
	}
	by[bt.Skipped] = []string{all(w.each(kids, bt.Skipped)...)}
	return by
}

// course returns the steps of a script, and defines where each of its states is reached.
func (w *writer) course(t bt.Task) []bt.CourseStep {
	steps := w.tree.Course(t, w.can).Steps
	reached := map[int][]string{0: {"TRUE"}}
	defined := map[int]bool{}
	for _, s := range steps {
		if !defined[s.From] {
			defined[s.From] = true
			if name := w.state(t, s.From); !w.names[name] {
				w.names[name] = true
				w.define(name, "%s", anyOf(reached[s.From]))
			}
		}
		if s.To != s.From {
			reached[s.To] = append(reached[s.To], w.taken(t, s))
		}
	}
	return steps
}

func (w *writer) state(t bt.Task, number int) string {
	return fmt.Sprintf("at_%s_%d", w.task[t], number)
}

// taken is the condition that a step of a script is taken.
func (w *writer) taken(t bt.Task, s bt.CourseStep) string {
	if s.Child < 0 {
		return w.state(t, s.From)
	}
	return w.state(t, s.From) + " & " + w.judged(s.Child, s.Is)
}

// activate defines where tasks are active, parents first.
func (w *writer) activate() {
	root := w.tree.Root()
	w.define(w.active(root), "%s", w.activity(root))
	for t := root; t >= 0; t-- {
		kind, kids := w.tree.Kind(t), w.tree.Children(t)
		var passed []string
		for _, k := range kids {
			wanted := []string{w.active(t)}
			switch kind.Family() {
			case bt.Leaf, bt.Count:
			case bt.Chain:
				wanted = append(wanted, passed...)
				if kind.Over() != bt.Accept {
					passed = append(passed, w.passed(k, kind.Over()))
				}
			case bt.Script:
				var parts []string
				for _, s := range w.course(t) {
					if s.Child == k && s.Is == bt.Accept {
						parts = append(parts, w.state(t, s.From))
					}
				}
				wanted = append(wanted, "("+anyOf(parts)+")")
			default:
				panic("smv: a composite of an unknown family")
			}
			w.define(w.active(k), "%s", w.activity(k, wanted...))
		}
	}
}

// activity is the condition that a task is active: its parent wants it, and it is not judged.
func (w *writer) activity(t bt.Task, wanted ...string) string {
	if !w.acts[t] {
		return "FALSE"
	}
	return all(append(wanted, w.judged(t, bt.Accept))...)
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
		if w.acts[t] {
			actions = append(actions, w.active(t))
		}
	}
	passing := ""
	for _, t := range w.tree.Timers() {
		passing = " or a task waits for its timer"
		none := []string{w.active(t)}
		for _, k := range w.tree.Children(t) {
			if w.acts[k] {
				none = append(none, "!"+w.active(k))
			}
		}
		actions = append(actions, all(none...))
	}
	w.spec("complete", "in every state some action is active"+passing+", or the plan has succeeded", "%s%s", quiet,
		anyOf(append([]string{w.good(root)}, actions...)))
	for _, t := range w.tree.Leaves() {
		if w.acts[t] {
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
