package script

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/syntax/xmltree"
)

// author writes random plans with scripts, as people write them: guards before actions, counters, state machines,
// subtrees with ports. Leaves are conditions c1 to c4 and actions a1 to a7, entries are x, y (numbers), m, s (texts),
// b (a truth value) and n, a number from outside; subtrees have p, k (numbers), g (a text) and v of their own.
type author struct {
	*rand.Rand
	scope   []entry // which may be read
	actions int
	uses    int // of subtrees
	depth   int
	inside  bool // a subtree
	trees   []*tree
}

// entry is an entry of a kind: n, a number; t, a text; b, a truth value. One that is given is not written.
type entry struct {
	name, kind string
	given      bool
}

// tree is a subtree with its ports, or one that takes all entries of where it is used.
type tree struct {
	id    string
	body  *xmltree.Markup
	ports []entry
	auto  bool
}

// play is a plan with a script. In the script, `end ?N` ends one of the running actions.
type play struct {
	trees  []*xmltree.Markup // the main one first
	script []string
}

var states = []string{"go", "stop", "idle"}

func element(name string, children ...*xmltree.Markup) *xmltree.Markup {
	return &xmltree.Markup{Name: name, Children: children}
}

// with adds an attribute.
func with(m *xmltree.Markup, name, value string) *xmltree.Markup {
	m.Add(name, value)
	return m
}

func script(code string) *xmltree.Markup { return with(element("Script"), "code", code) }

// once reports true with a probability.
func (a *author) once(p float64) bool { return a.Float64() < p }

func (a *author) pick(of ...string) string { return of[a.IntN(len(of))] }

// entry returns an entry of one of some kinds, or false.
func (a *author) entry(kinds string, write bool) (entry, bool) {
	can := slices.DeleteFunc(slices.Clone(a.scope), func(e entry) bool {
		return !strings.Contains(kinds, e.kind) || write && e.given
	})
	if len(can) == 0 {
		return entry{}, false
	}
	return can[a.IntN(len(can))], true
}

func (a *author) literal(kind string) string {
	switch kind {
	case "n":
		return fmt.Sprint(a.IntN(4))
	case "t":
		return "'" + a.pick(states...) + "'"
	}
	return a.pick("true", "false")
}

// condition writes one over entries.
func (a *author) condition() string {
	e, ok := a.entry("ntb", false)
	switch {
	case !ok:
		return "true"
	case e.kind == "t":
		return e.name + a.pick(" == ", " == ", " != ") + a.literal("t")
	case e.kind == "b":
		return a.pick(e.name, "!"+e.name, e.name+" == true", e.name+" == false")
	}
	if f, _ := a.entry("n", false); a.once(0.15) && f.name != e.name {
		return e.name + a.pick(" == ", " < ", " >= ") + f.name
	}
	text := e.name + a.pick(" == ", " != ", " < ", " > ", " >= ") + a.literal("n")
	if a.once(0.15) {
		text += a.pick(" && ", " || ") + a.condition()
	}
	return text
}

func (a *author) statement() string {
	e, ok := a.entry("ntb", true)
	switch {
	case !ok:
		return "w := 1"
	case e.kind == "b" && a.once(0.3):
		return e.name + " := !" + e.name
	case e.kind != "n":
		return e.name + " := " + a.literal(e.kind)
	}
	if f, _ := a.entry("n", false); a.once(0.15) && f.name != e.name {
		return e.name + " := " + f.name + a.pick("", " + 1")
	}
	return e.name + a.pick(" += 1", " += 1", " -= 1", " := "+a.literal("n"), " := "+a.literal("n"))
}

func (a *author) statements() string {
	text := a.statement()
	for a.once(0.2) {
		text += "; " + a.statement()
	}
	return text
}

func (a *author) check() *xmltree.Markup {
	return with(element("Condition"), "ID", fmt.Sprint("c", 1+a.IntN(4)))
}

func (a *author) action() *xmltree.Markup {
	if a.actions == 7 {
		return a.check()
	}
	a.actions++
	return with(element("Action"), "ID", fmt.Sprint("a", a.actions))
}

func (a *author) compare() *xmltree.Markup {
	return with(element("ScriptCondition"), "code", a.condition())
}

// guard writes what stands before an action that depends on it.
func (a *author) guard() *xmltree.Markup {
	var m *xmltree.Markup
	switch r := a.Float64(); {
	case r < 0.5:
		m = a.check()
	case r < 0.9:
		m = a.compare()
	case r < 0.95:
		m = element("Inverter", a.check())
	default:
		if m = element("Fallback", a.check(), a.compare()); a.once(0.2) {
			m.Children[0].Add("_onFailure", a.statement())
		}
	}
	if a.once(0.07) {
		m.Add(a.pick("_onSuccess", "_onFailure", "_post"), a.statement())
	}
	return m
}

// some writes one of some things, each as often as its weight says; nil: it cannot be written here.
func (a *author) some(of []writer) *xmltree.Markup {
	sum := 0.0
	for _, w := range of {
		sum += w.weight
	}
	r := a.Float64() * sum
	for _, w := range of {
		if r -= w.weight; r < 0 {
			return w.write(a)
		}
	}
	return nil
}

type writer struct {
	weight float64
	write  func(*author) *xmltree.Markup
}

func leaves() []writer {
	return []writer{{46, (*author).action}, {14, (*author).check}, {10, (*author).compare},
		{20, func(a *author) *xmltree.Markup { return script(a.statements()) }},
		{3, (*author).set},
		{0.7, func(a *author) *xmltree.Markup { return a.about("UnsetBlackboard", "key", "%s") }},
		{2, func(a *author) *xmltree.Markup { return element("AlwaysSuccess") }},
		{2, func(a *author) *xmltree.Markup { return element("AlwaysFailure") }},
		{2, func(a *author) *xmltree.Markup { return a.about("WasEntryUpdated", "entry", "{%s}") }}}
}

func (a *author) leaf() *xmltree.Markup {
	if m := a.some(leaves()); m != nil {
		return m
	}
	return a.action()
}

// about writes an element that names an entry which scripts write.
func (a *author) about(name, attribute, format string, children ...*xmltree.Markup) *xmltree.Markup {
	e, ok := a.entry("nt", true)
	if !ok {
		return nil
	}
	return with(element(name, children...), attribute, fmt.Sprintf(format, e.name))
}

func (a *author) set() *xmltree.Markup {
	e, ok := a.entry("nt", true)
	if !ok {
		return nil
	}
	value := strings.Trim(a.literal(e.kind), "'")
	if f, _ := a.entry(e.kind, false); f.name == e.name {
		return nil
	} else if e.kind == "n" || a.once(0.6) {
		value = "{" + f.name + "}"
	}
	return with(with(element("SetBlackboard"), "value", value), "output_key", e.name)
}

// node writes a node of a size, with conditions and scripts in its attributes.
func (a *author) node(size int) *xmltree.Markup {
	var m *xmltree.Markup
	if size <= 1 {
		m = a.leaf()
	} else {
		a.depth++
		if m = a.some(nodes(size - 1)); m == nil {
			m = element("Sequence", a.children(size-1, 2, 3)...)
		}
		a.depth--
	}
	often := 1.0
	if strings.HasPrefix(m.Name, "Script") {
		often = 0.4
	}
	for _, name := range []string{"_failureIf", "_successIf", "_skipIf", "_while"} {
		if a.once(0.018 * often) {
			m.Add(name, a.condition())
		}
	}
	for _, name := range []string{"_onSuccess", "_onFailure", "_post", "_onHalted"} {
		if a.once(0.022 * often) {
			m.Add(name, a.statements())
		}
	}
	return m
}

// nodes returns what writes nodes with children; size is that of the children together.
func nodes(size int) []writer {
	plain := func(name string, least, most int) func(a *author) *xmltree.Markup {
		return func(a *author) *xmltree.Markup { return element(name, a.children(size, least, most)...) }
	}
	decorator := func(name, attribute string, value func(a *author) string) func(a *author) *xmltree.Markup {
		return func(a *author) *xmltree.Markup {
			m := element(name, a.node(size))
			if attribute != "" {
				m.Add(attribute, value(a))
			}
			return m
		}
	}
	watcher := func(name string) func(a *author) *xmltree.Markup {
		return func(a *author) *xmltree.Markup { return a.about(name, "entry", "{%s}", a.node(size)) }
	}
	branch := func(name string) func(a *author) *xmltree.Markup {
		return func(a *author) *xmltree.Markup {
			first := a.guard()
			return element(name, append([]*xmltree.Markup{first}, a.children(max(2, size-1), 1+a.IntN(2), 2)...)...)
		}
	}
	return []writer{{20, plain("Sequence", 2, 4)}, {15, plain("Fallback", 2, 4)}, {3, plain("SequenceWithMemory", 2, 4)},
		{1, plain("AsyncSequence", 2, 4)}, {1, plain("AsyncFallback", 2, 4)},
		{11, func(a *author) *xmltree.Markup { return a.reactive("ReactiveSequence", size) }},
		{9, func(a *author) *xmltree.Markup { return a.reactive("ReactiveFallback", size) }},
		{7, func(a *author) *xmltree.Markup { return a.parallel(size) }},
		{1.5, func(a *author) *xmltree.Markup {
			return with(element("ParallelAll", a.children(size, 2, 3)...), "max_failures", a.pick("1", "2"))
		}},
		{4, branch("IfThenElse")}, {5, branch("WhileDoElse")},
		{5, func(a *author) *xmltree.Markup { return a.choice(size) }},
		{2.5, func(a *author) *xmltree.Markup { return a.try(size) }},
		{4, decorator("Inverter", "", nil)}, {3, decorator("ForceSuccess", "", nil)}, {2, decorator("ForceFailure", "", nil)},
		{3, decorator("Repeat", "num_cycles", (*author).count)},
		{4, decorator("RetryUntilSuccessful", "num_attempts", (*author).count)},
		{4, decorator("KeepRunningUntilFailure", "", nil)},
		{1.8, decorator("RunOnce", "", nil)},
		{1.2, decorator("RunOnce", "then_skip", func(*author) string { return "false" })},
		{2, func(a *author) *xmltree.Markup {
			m := with(element("Precondition", a.node(size)), "if", a.condition())
			return with(m, "else", a.pick("FAILURE", "SUCCESS", "SKIPPED", "RUNNING"))
		}},
		{1, watcher("SkipUnlessUpdated")}, {1, watcher("WaitValueUpdate")},
		{2, func(a *author) *xmltree.Markup { return a.loop(size) }},
		{7, func(a *author) *xmltree.Markup { return a.use(size) }}}
}

// children writes between least and most nodes, of a size together.
func (a *author) children(size, least, most int) []*xmltree.Markup {
	n := least
	for n < most && n < size && a.once(0.6) {
		n++
	}
	sizes := make([]int, n)
	for i := range max(n, size) {
		if i < n {
			sizes[i]++
		} else {
			sizes[a.IntN(n)]++
		}
	}
	var all []*xmltree.Markup
	for _, s := range sizes {
		all = append(all, a.node(s))
	}
	return all
}

// reactive writes guards before one node; seldom anything.
func (a *author) reactive(name string, size int) *xmltree.Markup {
	if a.once(0.03) {
		return element(name, a.children(size, 2, 3)...)
	}
	m := element(name, a.guard())
	for size--; size > 1 && a.once(0.35); size-- {
		if a.once(0.3) {
			m.Children = append(m.Children, script(a.statements()))
		} else {
			m.Children = append(m.Children, a.guard())
		}
	}
	if m.Children = append(m.Children, a.node(max(1, size))); a.once(0.2) {
		m.Children = append(m.Children, script(a.statements()))
	}
	return m
}

func (a *author) parallel(size int) *xmltree.Markup {
	m := element("Parallel", a.children(size, 2, 3)...)
	if a.once(0.6) {
		m.Add("success_count", a.pick("1", "2", "-1"))
	}
	if a.once(0.4) {
		m.Add("failure_count", a.pick("1", "2", "-1"))
	}
	return m
}

func (a *author) choice(size int) *xmltree.Markup {
	e, ok := a.entry("nt", false)
	if !ok {
		return nil
	}
	cases, from := 2+a.IntN(2), a.IntN(2)
	m := with(element(fmt.Sprint("Switch", cases)), "variable", "{"+e.name+"}")
	for i := range cases {
		value := fmt.Sprint(from + i)
		if e.kind == "t" {
			value = states[(from+i)%3]
		}
		m.Add(fmt.Sprint("case_", i+1), value)
	}
	m.Children = a.children(size, cases+1, cases+1)
	return m
}

func (a *author) try(size int) *xmltree.Markup {
	m := element("TryCatch", a.children(size, 2, 3)...)
	if a.once(0.25) {
		m.Add("catch_on_halt", "true")
		last := &m.Children[len(m.Children)-1]
		if *last = script(a.statements()); a.once(0.3) {
			*last = a.guard()
		}
	}
	return m
}

// count writes a number of runs.
func (a *author) count() string {
	if e, ok := a.entry("n", false); ok && a.once(0.08) {
		return "{" + e.name + "}"
	}
	return a.pick("2", "3", "2", "-1")
}

func (a *author) loop(size int) *xmltree.Markup {
	e, name, queue := entry{a.pick("i", "j"), "n", true}, "LoopInt", a.pick("1;2", "1;2;3", "2")
	if a.once(0.25) {
		e, name, queue = entry{"l", "t", true}, "LoopString", "go;idle"
	}
	if a.inside {
		e.name += "s"
	}
	scope := a.scope
	a.scope = append(slices.Clone(scope), e)
	m := element(name, a.node(size))
	a.scope = scope
	return with(with(m, "queue", queue), "value", "{"+e.name+"}")
}

// machine writes a state machine.
func (a *author) machine(size int) *xmltree.Markup {
	a.scope = append(a.scope, entry{"s", "t", false})
	m := with(element("Switch3"), "variable", "{s}")
	for i, state := range states {
		m.Add(fmt.Sprint("case_", i+1), state)
		step := element(a.pick("Sequence", "Sequence", "Sequence", "Sequence", "ReactiveSequence", "Fallback"))
		if a.once(0.5) {
			step.Children = append(step.Children, a.guard())
		}
		step.Children = append(step.Children, a.node(max(1, size/4)), script("s := '"+states[(i+1+a.IntN(2))%3]+"'"))
		m.Children = append(m.Children, step)
	}
	m.Children = append(m.Children, element(a.pick("AlwaysFailure", "AlwaysSuccess")))
	switch a.IntN(4) {
	case 0:
		m = element("KeepRunningUntilFailure", m)
	case 1:
		m = with(element("Repeat", m), "num_cycles", a.pick("3", "-1"))
	default:
		m = element(a.pick("ReactiveSequence", "ReactiveFallback"), a.guard(), m)
	}
	return element("Sequence", script("s := 'go'"), m)
}

// use writes a use of a subtree, often a new one; nil: there are enough.
func (a *author) use(size int) *xmltree.Markup {
	if a.uses == 4 {
		return nil
	}
	var t *tree
	if n := len(a.trees); n > 0 && a.trees[n-1].body != nil && a.once(0.35) {
		t = a.trees[n-1]
	} else if n < 2 && size >= 2 && !(a.inside && a.depth > 3) {
		t = a.subtree(size)
	} else {
		return nil
	}
	a.uses++
	m := with(with(element("SubTree"), "ID", t.id), "name", fmt.Sprint("u", a.uses))
	if t.auto {
		return with(m, "_autoremap", "true")
	}
	for _, e := range t.ports {
		f, ok := a.entry(e.kind, true)
		switch {
		case e.name == "p" && a.inside && a.once(0.1):
			m.Add("p", "{@x}")
		case ok && a.once(0.8):
			m.Add(e.name, "{"+f.name+"}")
		default:
			m.Add(e.name, strings.Trim(a.literal(e.kind), "'"))
		}
	}
	return m
}

// subtree writes one.
func (a *author) subtree(size int) *tree {
	t := &tree{id: string(rune('S' + len(a.trees))), auto: a.once(0.2)}
	a.trees = append(a.trees, t)
	scope, inside, depth := a.scope, a.inside, a.depth
	a.inside, a.depth = true, 0
	own := ""
	if t.auto {
		a.scope = slices.Clone(scope)
	} else {
		for _, e := range []entry{{"p", "n", false}, {"g", "t", false}, {"k", "n", false}} {
			if a.once(0.6) {
				t.ports = append(t.ports, e)
			}
		}
		a.scope = slices.Clone(t.ports)
		if len(t.ports) == 0 || a.once(0.4) {
			a.scope, own = append(a.scope, entry{"v", "n", false}), "v := "+a.literal("n")
		}
		if a.once(0.1) {
			a.scope = append(a.scope, entry{"@x", "n", false})
		}
	}
	body := a.node(size)
	if own != "" {
		body = element("Sequence", script(own), body)
	}
	t.body = body
	a.scope, a.inside, a.depth = scope, inside, depth
	return t
}

// write writes the play of a seed.
func write(seed uint64) *play {
	a := &author{Rand: rand.New(rand.NewPCG(seed, 26))}
	var first []string
	for _, e := range []entry{{"x", "n", false}, {"y", "n", false}, {"m", "t", false}, {"b", "b", false}} {
		if e.name == "x" || a.once(0.6) {
			a.scope, first = append(a.scope, e), append(first, e.name+" := "+a.literal(e.kind))
		}
	}
	if a.once(0.3) {
		a.scope = append(a.scope, entry{"n", "n", true})
	}
	top := element("Sequence", script(strings.Join(first, "; ")), a.body(2+a.IntN(7)))
	if a.once(0.5) {
		top.Children = append(top.Children, a.node(1))
	}
	if a.once(0.15) {
		top.Name, top.Children[0] = "Fallback", element("ForceFailure", top.Children[0])
	}
	p := &play{trees: []*xmltree.Markup{with(element("BehaviorTree", top), "ID", "main")}}
	for _, t := range a.trees {
		p.trees = append(p.trees, with(element("BehaviorTree", t.body), "ID", t.id))
	}
	p.script = a.instants(p)
	return p
}

// body writes the plan proper; half of them last.
func (a *author) body(size int) *xmltree.Markup {
	if a.once(0.1) {
		return a.machine(size)
	}
	m := a.node(size)
	if !a.once(0.45) {
		return m
	}
	switch a.IntN(6) {
	case 0:
		return with(element("RetryUntilSuccessful", element("Sequence", a.action(), m)), "num_attempts", a.pick("-1", "5"))
	case 1:
		return element("KeepRunningUntilFailure", element("Sequence", a.action(), m))
	case 2:
		return element("Fallback", m, a.action())
	case 3:
		return element("Parallel", m, a.action())
	}
	return element(a.pick("ReactiveSequence", "ReactiveFallback"), a.guard(), m)
}

// instants writes a script for a plan.
func (a *author) instants(p *play) (lines []string) {
	var inputs, start []string
	text := p.document()
	for i := range 4 {
		if name := fmt.Sprint("c", i+1); strings.Contains(text, `"`+name+`"`) {
			if inputs = append(inputs, name); a.once(0.6) {
				start = append(start, "set "+name+" true")
			}
		}
	}
	if slices.ContainsFunc(p.trees, func(m *xmltree.Markup) bool { return reads(m, "n") }) {
		inputs, start = append(inputs, "n"), append(start, "set n "+a.literal("n"))
	}
	if len(start) > 0 {
		lines = append(lines, Start+" "+strings.Join(start, "; "))
	}
	input := func() string {
		if len(inputs) == 0 || a.once(0.55) {
			return fmt.Sprintf("end ?%d %s", a.IntN(3), a.pick("success", "success", "failure"))
		}
		name := inputs[a.IntN(len(inputs))]
		if name == "n" {
			return "set n " + a.literal("n")
		}
		return "set " + name + " " + a.pick("true", "false")
	}
	for range 4 + a.IntN(7) {
		lines = append(lines, input())
	}
	return lines
}

// reads reports whether an attribute in an element has a name.
func reads(m *xmltree.Markup, name string) bool {
	other := func(r rune) bool { return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789_", r) }
	for _, a := range m.Attributes {
		if slices.Contains(strings.FieldsFunc(a.Value, other), name) {
			return true
		}
	}
	return slices.ContainsFunc(m.Children, func(c *xmltree.Markup) bool { return reads(c, name) })
}

// document writes the plan on one line.
func (p *play) document() string {
	var b strings.Builder
	b.WriteString(`<root BTCPP_format="4" main_tree_to_execute="main">`)
	for _, m := range p.trees {
		for line := range strings.Lines(m.String()) {
			b.WriteString(strings.TrimSpace(line))
		}
	}
	return b.String() + "</root>"
}
