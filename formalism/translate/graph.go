package translate

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/executive"
	"github.com/canopy-uav/canopy/explore"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/formalism/stategraph"
)

// Assumptions are facts about a tree's inputs. The zero value assumes nothing: at any instant they may all change.
type Assumptions struct {
	Possible   func(inputs []bool) bool // which values the inputs that have a name can have together; nil: all
	OneAtATime bool                     // after the first instant at most one of them changes at an instant
	Limit      int                      // bounds states * 2^inputs * tasks of the tree; 0: 134,217,728
}

// StateGraph translates a plan to a state graph. Its steps are the states of the tree that differ in which actions are
// active, now or later; its conditions are the plan's [Inputs]. Whatever these are at an instant, the same actions are
// active after it in the graph and in the tree; each round of the graph is one settling of the tree in a mission. The
// error wraps [ErrTooLarge], [ErrLasts], [ErrHalts] or [bt.ErrLoop].
func StateGraph(p *plan.Plan, a Assumptions) (*stategraph.Graph, error) {
	for i := range p.Leaves {
		if l := &p.Leaves[i]; p.Tree.Idle(l.Task) && len(l.Entry) > 0 {
			return nil, fmt.Errorf("%w: %s", ErrHalts, p.Tree.Name(l.Task))
		}
	}
	return StateGraphOf(p.Name, p.Tree, Inputs(p), a)
}

// StateGraphOf translates a tree to a state graph with the given conditions. Each condition of the tree should be in
// one of the inputs, otherwise it is always false. The names of the inputs must be unique and such that expressions
// can spell them.
func StateGraphOf(name string, tree *bt.Tree, inputs []Proposition, a Assumptions) (*stategraph.Graph, error) {
	if lasts := tree.Lasts(); len(lasts) > 0 {
		return nil, fmt.Errorf("%w: %s", ErrLasts, tree.Name(lasts[0]))
	}
	m, err := newMachine(tree, inputs, a.Limit)
	if err != nil {
		return nil, err
	}
	var actions []string
	for _, t := range tree.Leaves() {
		if tree.Kind(t).Acts() {
			actions = append(actions, tree.Name(t))
		}
	}
	text := document(name, m.merged().drawn(names(inputs), a), actions, names(inputs))
	g, list := stategraph.Read(&diag.Source{Name: name + ".graph.yaml", Text: text}, nil)
	if list.HasErrors() { // a condition with too many alternatives is the only possible mistake
		return nil, fmt.Errorf("%w: %s", ErrTooLarge, list[0].Text)
	}
	return g, nil
}

// Inputs returns the truth values that the leaves of a plan read from the world, each once: leaves with the same
// expression share an input, and so do conditions without any that have one ID or name. The conditions come first. An
// input has the name of the condition, or of the action followed by its meaning: _done, _failed, _success_if,
// _failure_if, _entered, _exited. The ends of a procedure that takes time and of a task's timer (_elapsed) are
// inputs as well.
func Inputs(p *plan.Plan) []Proposition {
	c := &collector{plan: p, known: map[string]int{}, used: map[string]bool{}}
	for i := range p.Leaves {
		l := &p.Leaves[i]
		if identity, name := p.Input(l, nil); !p.Tree.Kind(l.Task).Acts() && identity != "false" {
			c.share(identity, name, Use{l.Task, executive.On})
		}
	}
	for i := range p.Leaves {
		if l := &p.Leaves[i]; p.Tree.Kind(l.Task).Acts() {
			c.add(l, executive.SuccessIf, "_success_if", l.SuccessIf)
			c.add(l, executive.FailureIf, "_failure_if", l.FailureIf)
			c.add(l, executive.Done, "_done", l.Done)
			c.add(l, executive.Failed, "_failed", l.Failed)
			c.procedure(l, executive.Entered, "_entered", l.EntryTime, l.EntryUntil)
			c.procedure(l, executive.Exited, "_exited", l.ExitTime, l.ExitUntil)
		}
	}
	for _, t := range p.Tree.Timers() {
		c.share(fmt.Sprint("timer ", t), p.Tree.Name(t)+"_elapsed", Use{t, executive.On})
	}
	return c.inputs
}

// collector collects the inputs of a plan.
type collector struct {
	plan   *plan.Plan
	inputs []Proposition
	known  map[string]int // by its source: input
	used   map[string]bool
}

// add adds an expression; nil never holds.
func (c *collector) add(l *plan.Leaf, says executive.Criterion, suffix string, e *expr.Expr) {
	if e == nil {
		return
	}
	logic := e.Logic(nil)
	identity := logic.Identity()
	if identity == "false" && says < executive.Entered {
		return
	}
	c.share(identity, c.plan.Tree.Name(l.Task)+suffix, Use{l.Task, says})
}

// procedure adds the end of a procedure that takes time.
func (c *collector) procedure(l *plan.Leaf, says executive.Criterion, suffix string, time, until *expr.Expr) {
	if time != nil {
		c.share(fmt.Sprint("time ", l.Task, suffix), c.plan.Tree.Name(l.Task)+suffix, Use{l.Task, says})
	}
	c.add(l, says, suffix, until)
}

// share adds a use to the input of a source.
func (c *collector) share(key, name string, u Use) {
	i, known := c.known[key]
	if !known {
		i = len(c.inputs)
		c.known[key] = i
		if key == "true" {
			name = ""
		} else {
			name = unique(identifier(name), "_%d", c.used)
		}
		c.inputs = append(c.inputs, Proposition{Name: name})
	}
	c.inputs[i].Uses = append(c.inputs[i].Uses, u)
}

// names returns the names of the inputs that have one.
func names(inputs []Proposition) []string {
	var names []string
	for _, in := range inputs {
		if in.Name != "" {
			names = append(names, in.Name)
		}
	}
	return names
}

// identifier returns the text itself if expressions can name it, else a similar name.
func identifier(text string) string {
	if expr.IsName(text) {
		return text
	}
	words := strings.FieldsFunc(text, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if text = strings.Join(words, "_"); !expr.IsName(text) {
		text = "_" + text
	}
	return text
}

// unique returns the name, with a number in the given format if it is used already.
func unique(name, format string, used map[string]bool) string {
	text := name
	for k := 2; used[text]; k++ {
		text = name + fmt.Sprintf(format, k)
	}
	used[text] = true
	return text
}

// drawing is a machine whose steps are joined by transitions with conditions.
type drawing struct {
	steps   [][]phase
	initial int
	edges   []edge // by from, then by to
}

type edge struct {
	from, to int
	when     string // empty: always
}

// drawn determines the steps and transitions that the machine needs under the assumptions.
func (m *machine) drawn(names []string, a Assumptions) *drawing {
	possible := make(table, 1<<len(names))
	values := make([]bool, len(names))
	for w := range possible {
		for i := range values {
			values[i] = w>>i&1 == 1
		}
		possible[w] = a.Possible == nil || a.Possible(values)
	}
	met := m.meet(possible, a.OneAtATime, len(names))
	begin := m.start(met, possible)
	order := slices.SortedFunc(maps.Keys(met), func(s, t int32) int { return m.compare(s, t, begin) })
	place := map[int32]int{}
	d := &drawing{initial: slices.Index(order, begin)}
	for i, s := range order {
		place[s] = i
		d.steps = append(d.steps, m.outputs[s])
	}
	for i, s := range order {
		must := make([]table, len(order))
		for w, next := range m.next[s] {
			if to := place[next]; met[s][w] && next != s {
				if must[to] == nil {
					must[to] = make(table, len(possible))
				}
				must[to][w] = true
			}
		}
		for to, t := range must {
			if t != nil {
				products, _ := sum(t, join(t, met[s], func(must, met bool) bool { return must || !met }), len(names))
				d.edges = append(d.edges, edge{i, to, formula(products, names)})
			}
		}
	}
	return d
}

// meet determines which words are possible in which states, from the first instant on.
func (m *machine) meet(possible table, oneAtATime bool, n int) map[int32]table {
	met := map[int32]table{}
	type pair struct {
		state int32
		word  int // the last one; it matters only if words change one bit at a time
	}
	search := explore.New[pair, struct{}](explore.Budget{})
	visit := func(s int32, w int) {
		if !possible[w] {
			return
		}
		met[s][w] = true
		p := pair{m.next[s][w], 0}
		if oneAtATime {
			p.word = w
		}
		search.Arrive(-1, p, struct{}{})
	}
	all := func(s int32) {
		met[s] = make(table, len(possible))
		for w := range possible {
			visit(s, w)
		}
	}
	all(m.begin)
	for k := range search.Leave() {
		p := search.Key(k)
		switch {
		case !oneAtATime && met[p.state] == nil:
			all(p.state)
		case oneAtATime:
			if met[p.state] == nil {
				met[p.state] = make(table, len(possible))
			}
			visit(p.state, p.word)
			for bit := range n {
				visit(p.state, p.word^1<<bit)
			}
		}
	}
	return met
}

// start chooses the initial step. If nothing leads to the state in which the tree begins, a state with the same
// continuation takes its place: it is active before the first round only. Of several, the one that needs the fewest
// additional transitions is chosen.
func (m *machine) start(met map[int32]table, possible table) int32 {
	leads := func(s int32) map[int32]bool {
		to := map[int32]bool{}
		for w, next := range m.next[s] {
			if met[s][w] {
				to[next] = true
			}
		}
		return to
	}
	for s := range met {
		if leads(s)[m.begin] {
			return m.begin
		}
	}
	best, least := m.begin, len(met)+1
	for _, s := range slices.Sorted(maps.Keys(met)) {
		if s == m.begin || !alike(m.next[s], m.next[m.begin], possible) {
			continue
		}
		to, more := leads(s), 0
		for next := range leads(m.begin) {
			if next != s && !to[next] {
				more++
			}
		}
		if more < least || more == least && s == m.next[m.begin][0] {
			best, least = s, more
		}
	}
	if best != m.begin {
		met[best] = join(met[best], possible, or)
		delete(met, m.begin)
	}
	return best
}

// alike reports whether two rows are equal where it matters.
func alike(a, b []int32, where table) bool {
	for w, holds := range where {
		if holds && a[w] != b[w] {
			return false
		}
	}
	return true
}

// compare orders steps by their actions, from left to right in the tree; steps without actions come last, except an
// initial one.
func (m *machine) compare(s, t, begin int32) int {
	rank := func(s int32) []int {
		var r []int
		for i, p := range m.outputs[s] {
			if p != idle {
				r = append(r, i, int(p))
			}
		}
		if r == nil {
			r = []int{len(m.outputs[s])}
			if s == begin {
				r = []int{-1}
			}
		}
		return append(r, -1, int(s))
	}
	return slices.Compare(rank(s), rank(t))
}

// phaseNames are the additions to a step's name for an action that is not simply running.
var phaseNames = [...]string{entering: " (entering)", running: "", leaving: " (leaving)"}

// document writes a state graph.
func document(name string, d *drawing, actions, inputs []string) string {
	var b strings.Builder
	steps, used := make([]string, len(d.steps)), map[string]bool{}
	fmt.Fprintf(&b, "graph: %s\n", scalar(name))
	fmt.Fprintf(&b, "text: %s\n", scalar("translated from a plan; inputs: "+strings.Join(inputs, " ")))
	fmt.Fprintf(&b, "loop_check: false\n\nsteps:\n")
	for i, phases := range d.steps {
		var parts, active []string
		for k, p := range phases {
			if p != idle {
				parts = append(parts, actions[k]+phaseNames[p])
			}
			if p == entering || p == running {
				active = append(active, scalar(actions[k]))
			}
		}
		if parts == nil {
			parts = []string{"nothing"}
		}
		steps[i] = scalar(unique(strings.Join(parts, " + "), " (%d)", used))
		initial := ""
		if i == d.initial {
			initial = "initial: true, "
		}
		fmt.Fprintf(&b, "  %s: {%sactions: [%s]}\n", steps[i], initial, strings.Join(active, ", "))
	}
	if len(d.edges) > 0 {
		b.WriteString("\ntransitions:\n")
	}
	for _, e := range d.edges {
		fmt.Fprintf(&b, "  - {from: %s, to: %s", steps[e.from], steps[e.to])
		if e.when != "" {
			fmt.Fprintf(&b, ", when: %s", scalar(e.when))
		}
		b.WriteString("}\n")
	}
	return b.String()
}

// scalar writes a text as YAML, which takes some words for other values.
func scalar(text string) string {
	switch strings.ToLower(text) {
	case "true", "false", "null", "yes", "no", "on", "off", "y", "n":
	default:
		if isPlain(text) {
			return text
		}
	}
	return strconv.Quote(text)
}

// isPlain reports whether YAML reads a text without quotes as itself in any context.
func isPlain(text string) bool {
	of := func(c byte, signs string) bool {
		return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || strings.IndexByte(signs, c) >= 0
	}
	const digits = "0123456789"
	for i := range len(text) {
		if !of(text[i], digits+"_.+() ") {
			return false
		}
	}
	return text != "" && of(text[0], "(") && (len(text) == 1 || of(text[len(text)-1], digits+"_.)"))
}
