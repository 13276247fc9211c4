package stategraph

import (
	"fmt"
	"slices"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/syntax/yamldoc"
)

// leastDelay is the exclusive lower limit of a delay [s]: a hundred times the resolution of numbers near 1, as in the
// library.
const leastDelay = 100 * 0x1p-52

// Read reads a state graph. The list holds all mistakes at once; if one of them is an error there is no graph. Without
// known names (nil), those of conditions and actions are not checked.
func Read(src *diag.Source, known *Vocabulary) (*Graph, diag.List) {
	b := newBuilder(yamldoc.NewReader(src), known)
	if root := b.Parse("a state graph needs at least `steps`"); root != nil {
		b.read(root)
	}
	if b.Diags.HasErrors() {
		return nil, b.Diags.Sorted()
	}
	return b.g, b.Diags.Sorted()
}

// Shape returns what the document of a state graph may contain.
func Shape() *yamldoc.Shape {
	return yamldoc.Describe(nil, func(r *yamldoc.Reader, root *yamldoc.Node) { newBuilder(r, nil).read(root) })
}

func newBuilder(r *yamldoc.Reader, known *Vocabulary) *builder {
	b := &builder{Reader: r, g: &Graph{Source: r.Source}, known: known, names: map[string]Step{}}
	b.compiler = expr.NewCompiler(nil, func(name string) (int, bool) {
		i := slices.Index(b.g.conditions, name)
		return i, i >= 0
	})
	return b
}

// builder fills a graph from its document.
type builder struct {
	*yamldoc.Reader
	g        *Graph
	known    *Vocabulary
	names    map[string]Step
	steps    []writtenStep   // by step
	links    []*yamldoc.Node // by transition: where its target is written
	broken   bool            // connections are missing because of mistakes: a step that seems cut off may not be
	compiler *expr.Compiler
}

// writtenStep is where the parts of a step are written.
type writtenStep struct {
	key, entry, exit *yamldoc.Node
	exits            []*yamldoc.Node // by exit
}

func (b *builder) read(root *yamldoc.Node) {
	var steps, transitions *yamldoc.Node
	loopCheck := true
	b.Fields(root, "the state graph", yamldoc.Keys{
		"graph":       func(n *yamldoc.Node) { b.g.Name = b.Text(n, "graph") },
		"text":        func(n *yamldoc.Node) { b.g.Text = b.Text(n, "text") },
		"loop_check":  func(n *yamldoc.Node) { loopCheck = b.Boolean(n, "loop_check") },
		"steps":       func(n *yamldoc.Node) { steps = n },
		"transitions": func(n *yamldoc.Node) { transitions = n },
	})
	if root.Kind != yamldoc.Mapping {
		return
	}
	if steps == nil {
		b.Add(root, "missing-key", "add `steps`", "the state graph has no steps")
		return
	}
	b.level(steps, "steps", None)
	for s := range b.steps {
		b.ports(Step(s))
	}
	if transitions != nil {
		b.Sequence(transitions, "transitions", func(n *yamldoc.Node) { b.transition(n, loopCheck) })
	}
	b.check(steps)
}

// level reads the steps of one level, those inside them included.
func (b *builder) level(n *yamldoc.Node, what string, parent Step) {
	b.Mapping(n, what, func(key, value *yamldoc.Node) {
		name := key.Value
		if _, taken := b.names[name]; taken { // its inside is not read, so that a document that contains itself ends
			b.Add(key, "duplicate-name", "", "there is already a step %q", name)
			return
		}
		if name == "" {
			b.Add(key, "wrong-type", "", "a step's name must be a text")
			return
		}
		s := Step(len(b.steps))
		b.names[name] = s
		b.steps = append(b.steps, writtenStep{key: key})
		b.g.steps = append(b.g.steps, step{name: name, line: key.Line, parent: parent, end: s + 1})
		if !value.IsNull() {
			b.step(value, s)
		}
		b.g.steps[s].end = Step(len(b.steps))
	})
}

func (b *builder) step(n *yamldoc.Node, s Step) {
	w := &b.steps[s]
	var inside, initial *yamldoc.Node
	first := false
	b.Fields(n, "step "+b.g.steps[s].name, yamldoc.Keys{
		"initial": func(n *yamldoc.Node) { first, initial = b.Boolean(n, "initial"), n },
		"actions": func(n *yamldoc.Node) { b.Sequence(n, "actions", func(n *yamldoc.Node) { b.action(n, s) }) },
		"entry":   func(n *yamldoc.Node) { w.entry = n },
		"exit":    func(n *yamldoc.Node) { w.exit = n },
		"steps":   func(n *yamldoc.Node) { inside = n },
	})
	if first && b.g.steps[s].parent != None {
		first, b.broken = false, true
		b.Add(initial, "inner-initial-step", "name it as an `entry` of the parallel step",
			"step %q inside a parallel step cannot be an initial step", b.g.steps[s].name)
	}
	b.g.steps[s].first = first
	if inside != nil {
		b.g.steps[s].parallel = true
		b.level(inside, "steps", s)
		return
	}
	for _, port := range []*yamldoc.Node{w.entry, w.exit} {
		if port != nil {
			b.Add(port, "not-parallel", "", "step %q has no steps inside for an entry or exit", b.g.steps[s].name)
		}
	}
}

func (b *builder) action(n *yamldoc.Node, s Step) {
	name := b.Text(n, "an action")
	if name == "" {
		return
	}
	if b.known != nil && !slices.Contains(b.known.Actions, name) {
		b.Unknown(n, "unknown-action", "the plan", b.known.Actions)
		return
	}
	a := slices.Index(b.g.actions, name)
	if a < 0 {
		a = len(b.g.actions)
		b.g.actions = append(b.g.actions, name)
	}
	list := &b.g.steps[s].actions
	if slices.Contains(*list, Action(a)) {
		b.Add(n, "duplicate-name", "", "%s occurs twice", name)
		return
	}
	*list = append(*list, Action(a))
}

// ports reads the entries and exits of a parallel step.
func (b *builder) ports(s Step) {
	st, w := &b.g.steps[s], &b.steps[s]
	if !st.parallel {
		return
	}
	var inside []string
	for i := s + 1; i < st.end; i = b.g.steps[i].end {
		inside = append(inside, b.g.steps[i].name)
	}
	read := func(list *yamldoc.Node, what string, add func(i Step, n *yamldoc.Node) bool) {
		if list == nil {
			return
		}
		b.Sequence(list, what, func(n *yamldoc.Node) {
			if !b.single(n, "a branch has one "+what+" step") {
				b.broken = true
				return
			}
			i, ok := b.names[n.Value]
			if !ok || b.g.steps[i].parent != s {
				b.broken = true
				b.Unknown(n, "unknown-step", "the inside of "+st.name, inside)
			} else if !add(i, n) {
				b.Add(n, "duplicate-name", "", "%s occurs twice", n.Value)
			}
		})
	}
	read(w.entry, "entry", func(i Step, _ *yamldoc.Node) bool {
		known := b.g.steps[i].first
		b.g.steps[i].first = true
		return !known
	})
	read(w.exit, "exit", func(i Step, n *yamldoc.Node) bool {
		if slices.Contains(st.exits, i) {
			return false
		}
		st.exits, w.exits = append(st.exits, i), append(w.exits, n)
		return true
	})
	if w.entry == nil || w.entry.Kind == yamldoc.Sequence && len(w.entry.Items) == 0 {
		b.Add(w.key, "missing-entry", "add `entry: [...]` with the first step of each branch",
			"parallel step %q has no entry", st.name)
	}
}

// single reports whether a node is a single text, as a connection of a port must be.
func (b *builder) single(n *yamldoc.Node, rule string) bool {
	if n.Kind == yamldoc.Sequence {
		b.Add(n, "one-connection", "a parallel step begins several branches at once: list their first steps as `entry`",
			"%s, not a list of them", rule)
		return false
	}
	return b.Text(n, "a step's name") != ""
}

// end reads one end of a transition.
func (b *builder) end(n *yamldoc.Node, port bool) (Step, bool) {
	if b.single(n, "a transition leads from one step to one step") {
		s, ok := b.names[n.Value]
		switch {
		case !ok:
			b.Add(n, "unknown-step", "", "there is no step %q", n.Value)
			b.Suggest(diag.Near(n.Value, b.stepNames))
		case port && !b.g.steps[s].parallel:
			b.Add(n, "not-parallel", "write `from` or `to`", "step %q has no steps inside to suspend or resume", n.Value)
		default:
			return s, true
		}
	}
	b.broken = true
	return 0, false
}

func (b *builder) stepNames() []string {
	names := make([]string, len(b.g.steps))
	for i := range names {
		names[i] = b.g.steps[i].name
	}
	return names
}

func (b *builder) transition(n *yamldoc.Node, loopCheck bool) {
	t := Transition{LoopCheck: loopCheck, Line: n.Line}
	var code *expr.Code
	ends := map[string]*yamldoc.Node{}
	keep := func(key string) func(*yamldoc.Node) { return func(n *yamldoc.Node) { ends[key] = n } }
	b.Fields(n, "a transition", yamldoc.Keys{
		"from":       keep("from"),
		"suspend":    keep("suspend"),
		"to":         keep("to"),
		"resume":     keep("resume"),
		"when":       func(n *yamldoc.Node) { t.When, code = b.condition(n) },
		"after":      func(n *yamldoc.Node) { t.After = b.delay(n) },
		"loop_check": func(n *yamldoc.Node) { t.LoopCheck = b.Boolean(n, "loop_check") },
	})
	if n.Kind != yamldoc.Mapping {
		return
	}
	which := func(plain, port string) (*yamldoc.Node, bool) {
		switch {
		case ends[plain] != nil && ends[port] != nil:
			b.Add(ends[port], "conflicting-keys", "", "a transition has either `%s` or `%s`", plain, port)
		case ends[plain] == nil && ends[port] == nil:
			b.Add(n, "missing-key", fmt.Sprintf("add `%s`, or `%s` for a parallel step", plain, port),
				"the transition has no `%s`", plain)
			b.broken = true
		}
		if ends[port] != nil {
			return ends[port], true
		}
		return ends[plain], false
	}
	var from, to *yamldoc.Node
	from, t.Suspends = which("from", "suspend")
	to, t.Resumes = which("to", "resume")
	ok := from != nil && to != nil
	for _, e := range []struct {
		node *yamldoc.Node
		port bool
		s    *Step
	}{{from, t.Suspends, &t.From}, {to, t.Resumes, &t.To}} {
		if e.node != nil {
			s, known := b.end(e.node, e.port)
			*e.s, ok = s, ok && known
		}
	}
	if !ok {
		return
	}
	if st := &b.g.steps[t.From]; st.parallel && !t.Suspends && b.steps[t.From].exit == nil {
		b.Add(from, "missing-exit", "add `exit: [...]` with the last step of each branch to wait for, or write `suspend`",
			"parallel step %q cannot be left: it has no exit", st.name)
	}
	if b.crosses(t, from, to) {
		b.broken = true
		return
	}
	k := len(b.g.transitions)
	b.g.transitions = append(b.g.transitions, t)
	b.g.codes = append(b.g.codes, code)
	b.links = append(b.links, to)
	if st := &b.g.steps[t.From]; t.Suspends {
		st.suspend = append(st.suspend, k)
	} else {
		st.out = append(st.out, k)
	}
}

func (b *builder) delay(n *yamldoc.Node) float64 {
	before := len(b.Diags)
	v := b.Number(n, expr.Second, "after")
	if v <= leastDelay && len(b.Diags) == before {
		b.Add(n, "out-of-range", "omit `after` for a transition that fires at once", "after must be a positive time")
	}
	return v
}

// condition reads a transition's condition and compiles it; nil if it has a mistake.
func (b *builder) condition(n *yamldoc.Node) (*expr.Expr, *expr.Code) {
	text := b.Text(n, "when")
	if text == "" {
		return nil, nil
	}
	e, err := expr.Parse(text)
	if err != nil {
		b.Inside(n, err)
		return nil, nil
	}
	var names []string
	before := len(b.Diags)
	b.formula(n, e.Root(), &names)
	if len(b.Diags) > before {
		return nil, nil
	}
	for _, name := range names {
		if !slices.Contains(b.g.conditions, name) {
			b.g.conditions = append(b.g.conditions, name)
		}
	}
	return e, b.compiler.CompileFor(e, expr.Variable{Type: expr.Boolean})
}

// formula appends the conditions that a formula joins to names. A formula of anything else is reported.
func (b *builder) formula(n *yamldoc.Node, x *expr.Node, names *[]string) {
	at, end := x.Span()
	m := &expr.Error{Offset: at, Length: end - at}
	switch x.Op() {
	case expr.OpTruth, expr.OpAnd, expr.OpOr, expr.OpNot:
		for i := range x.Len() {
			b.formula(n, x.Arg(i), names)
		}
		return
	case expr.OpName:
		if b.known == nil || slices.Contains(b.known.Conditions, x.Name()) {
			*names = append(*names, x.Name())
			return
		}
		m.Code, m.Text = "unknown-condition", fmt.Sprintf("the plan has no condition %q", x.Name())
		m.Suggest = diag.Near(x.Name(), func() []string { return b.known.Conditions })
	case expr.OpEqual, expr.OpNotEqual:
		m.Code, m.Text = expr.CodeEquality, "conditions cannot be compared"
		m.Hint = "to compare two conditions, write `a and b or not a and not b`"
	default:
		m.Code, m.Text = expr.CodeType, "a transition waits for conditions, not for numbers"
		m.Hint = "join conditions of the plan by and, or, not; comparisons belong in the plan"
	}
	b.Inside(n, m)
}
