package oracle

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/internal/trees"
)

// Shape selects what random missions contain.
type Shape struct {
	Depth      int
	Slots      bool // tasks write slots, and conditions read them
	Typed      bool // Boolean signals and enumerations
	Computed   bool // computed signals
	Captured   bool // entry and exit assignments of values that are not constant
	Procedures bool // that take time
	Timers     bool // Delay, Timeout
	Memory     bool // kinds and actions that remember
	Hysteresis bool
	Shared     bool // subtrees that are used twice
	Facts      bool
	Entries    bool // of the blackboard, with scripts
	Guards     bool // of two resources; not with Shared
}

// All is everything.
var All = Shape{Depth: 2, Slots: true, Typed: true, Computed: true, Captured: true, Procedures: true, Timers: true,
	Memory: true, Hysteresis: true, Shared: true, Facts: true}

type maker struct {
	*rand.Rand
	Shape
	m      *Mission
	count  int
	shared []*node
	ready  bool  // the signals are complete
	held   []int // the resources of the guards above
}

// Random returns a random mission.
func Random(r *rand.Rand, s Shape) *Mission {
	k := &maker{Rand: r, Shape: s, m: &Mission{points: []float64{.5, 1, 1.5, 2, 2.5}}}
	k.signals()
	if k.ready = true; k.Entries {
		k.entries()
	}
	if depth := 1 + r.IntN(s.Depth); s.Guards && k.chance(3) {
		k.m.root = k.crossed(depth - 1)
	} else {
		k.m.root = k.attached(k.tree(depth))
	}
	if k.Entries {
		k.begin()
	}
	k.lasting()
	k.declare()
	return k.m
}

var modes = []string{"off", "survey", "home"}

func (k *maker) chance(n int) bool { return k.IntN(n) == 0 }

func (k *maker) signals() {
	m := k.m
	m.slots = []slot{{name: "u", kind: "real"}}
	if k.Slots {
		m.slots = append(m.slots, slot{name: "s", kind: "real", hold: true, first: float64(k.IntN(3))},
			slot{name: "d", kind: "real"})
	}
	if k.Slots && k.Typed {
		m.slots = append(m.slots, slot{name: "armed", kind: "boolean", hold: !k.chance(3), first: float64(k.IntN(2))},
			slot{name: "mode", kind: "enumeration", values: modes, hold: !k.chance(3), first: float64(k.IntN(3))})
	}
	if !k.Computed {
		return
	}
	if k.chance(2) {
		m.computed = append(m.computed, computed{name: "level", kind: "real",
			value: of("if", k.comparison(false), number(2), number(0))})
	}
	if k.Typed && k.chance(2) {
		m.computed = append(m.computed, computed{name: "zone", kind: "enumeration", values: []string{"near", "away"},
			value: of("if", k.comparison(false), k.word("near", 0), k.word("away", 1))})
	}
	if k.Typed && k.chance(2) {
		m.computed = append(m.computed, computed{name: "flag", kind: "boolean", value: of([]string{"and", "or"}[k.IntN(2)],
			k.condition(1), k.condition(1))})
	}
}

func (k *maker) word(name string, index int) *expression {
	return &expression{op: "value", name: name, value: float64(index)}
}

// comparison compares a signal with a number; of the world alone if it is outside.
func (k *maker) comparison(outside bool) *expression {
	names := []string{"x", "y", "x", "y"}
	if k.Slots && !outside {
		names = append(names, "s", "d", "u")
	}
	if !outside {
		for _, c := range k.m.computed {
			if c.kind == "real" {
				names = append(names, c.name)
			}
		}
	}
	with := number(float64(1 + k.IntN(2)))
	if k.Entries && !outside && k.ready && k.chance(4) {
		with = reads("n")
	}
	return of(k.relation(), reads(names[k.IntN(len(names))]), with)
}

func (k *maker) relation() string { return []string{"ge", "gt", "le", "lt"}[k.IntN(4)] }

// condition returns a condition of at most some comparisons.
func (k *maker) condition(size int) *expression {
	if size > 1 {
		switch k.IntN(5) {
		case 0:
			return of("and", k.condition(size-1), k.condition(size-1))
		case 1:
			return of("or", k.condition(size-1), k.condition(size-1))
		case 2:
			return of("not", k.condition(size-1))
		}
	}
	var typed []*expression
	for _, s := range k.m.slots {
		switch s.kind {
		case "boolean":
			typed = append(typed, reads(s.name))
		case "enumeration":
			i := k.IntN(3)
			typed = append(typed, of([]string{"eq", "ne"}[k.IntN(2)], reads(s.name), k.word(modes[i], i)))
		}
	}
	for _, c := range k.m.computed {
		switch c.kind {
		case "boolean":
			typed = append(typed, reads(c.name))
		case "enumeration":
			i := k.IntN(2)
			typed = append(typed, of("eq", reads(c.name), k.word(c.values[i], i)))
		}
	}
	if len(typed) > 0 && k.chance(2) {
		return typed[k.IntN(len(typed))]
	}
	return k.comparison(false)
}

// assignment gives a slot a value: continuously, so that it must not depend on slots, or once.
func (k *maker) assignment(slot int, once bool) assignment {
	s := k.m.slots[slot]
	a := assignment{slot: slot}
	once = once && k.Captured
	switch s.kind {
	case "boolean":
		a.value = of([]string{"true", "false"}[k.IntN(2)])
		if k.chance(4) {
			a.value = k.comparison(true)
		} else if once && k.chance(4) {
			a.value = of("not", reads("armed"))
		}
	case "enumeration":
		i := k.IntN(3)
		a.value = k.word(modes[i], i)
		if once && k.chance(4) {
			a.value = of("if", of("eq", reads("mode"), k.word(modes[1], 1)), k.word(modes[2], 2), k.word(modes[1], 1))
		}
	case "real":
		a.value = number(float64(k.IntN(4)))
		switch n := k.IntN(8); {
		case n == 0:
			a.value = reads([]string{"x", "y"}[k.IntN(2)])
		case n == 1:
			a.value = of("if", k.comparison(true), number(2), number(0))
		case n == 2 && once && s.name != "u":
			a.value = of("if", of("ge", reads(s.name), number(2)), number(0), of("add", reads(s.name), number(1)))
		case n == 3 && once:
			a.value = reads("d")
		}
	}
	return a
}

func (k *maker) assignments(once bool) []assignment {
	var list []assignment
	for i, s := range k.m.slots {
		if !s.entry && k.chance(len(k.m.slots)) {
			list = append(list, k.assignment(i, once))
		}
	}
	return list
}

func (k *maker) leaf() *node {
	k.count++
	n := &node{uses: 1, leaf: leaf{entryTime: -1, exitTime: -1}}
	if n.kind = trees.Leaf(k.Rand); !n.kind.Acts() {
		n.name = fmt.Sprintf("c%d", k.count)
		n.on = k.condition(2)
		if k.Entries && k.chance(2) {
			n.clerk, n.on = "ScriptCondition", []*expression{k.ofEntry(), n.on}[k.IntN(2)]
			return n
		}
		if k.Hysteresis && k.chance(3) {
			n.off = k.condition(1)
		}
		return n
	}
	n.name = fmt.Sprintf("a%d", k.count)
	if k.Entries && k.chance(2) {
		return k.script()
	}
	if k.Memory && k.Slots && k.chance(5) { // a script: it assigns and ends at once
		n.done, n.entry = of("true"), k.assignments(true)
		return n
	}
	n.write = k.assignments(false)
	if k.Memory && k.chance(2) {
		n.done = k.condition(2)
	}
	if k.Memory && k.chance(6) {
		n.failed = k.condition(1)
	}
	if k.Memory && k.chance(5) {
		n.successIf = k.condition(1)
	}
	if k.Memory && k.chance(5) {
		n.failureIf = k.condition(1)
	}
	if k.Slots && k.chance(3) {
		n.entry = k.assignments(true)
	}
	if k.Slots && k.chance(4) {
		n.exit = k.assignments(true)
	}
	if k.Procedures && k.chance(4) {
		if n.entryTime = float64(k.IntN(3)); k.chance(2) {
			n.entryTime, n.entryUntil = -1, k.condition(1)
		}
	}
	if k.Procedures && k.chance(4) {
		if n.exitTime = float64(k.IntN(3)); k.chance(2) {
			n.exitTime, n.exitUntil = -1, k.condition(1)
		}
	}
	return n
}

// possible reports whether random missions have tasks of a kind.
func possible(k bt.Kind) bool { return k.Cases() <= 2 && !k.Halts() && !trees.Guards(k) }

// tree returns a task, sometimes below a guard; not of a resource that one above it has.
func (k *maker) tree(depth int) *node {
	resource := 1 + k.IntN(2)
	if !k.Guards || slices.Contains(k.held, resource) || !k.chance(3) {
		return k.task(depth)
	}
	return k.guard(resource, func() *node { return k.task(depth) })
}

// guard returns a task below a guard.
func (k *maker) guard(resource int, task func() *node) *node {
	k.held = append(k.held, resource)
	n := k.composite(trees.Guards, k.attached(task()))
	n.params = []int{resource}
	k.held = k.held[:len(k.held)-1]
	return n
}

// crossed returns tasks side by side that take two resources in opposite orders.
func (k *maker) crossed(depth int) *node {
	branch := func(first, second int) *node {
		return k.guard(first, func() *node {
			return k.composite(func(k bt.Kind) bool { return k.Family() == bt.Chain && k.Over() == bt.Success && k.Memory() },
				k.attached(k.leaf()), k.guard(second, func() *node { return k.task(depth) }))
		})
	}
	return k.composite(func(k bt.Kind) bool { return k.Family() == bt.Count }, branch(1, 2), branch(2, 1))
}

// composite returns a task of a kind that is possible.
func (k *maker) composite(may func(bt.Kind) bool, children ...*node) *node {
	k.count++
	kinds := slices.DeleteFunc(bt.Kinds(), func(k bt.Kind) bool { return !may(k) })
	kind := kinds[k.IntN(len(kinds))]
	return &node{kind: kind, name: fmt.Sprintf("n%d", k.count), uses: 1, params: trees.Params(k.Rand, kind, len(children)),
		children: children, leaf: leaf{entryTime: -1, exitTime: -1}}
}

func (k *maker) task(depth int) *node {
	if k.Shared && len(k.shared) > 0 && k.chance(8) {
		n := k.shared[k.IntN(len(k.shared))]
		n.uses++
		return n
	}
	if depth == 0 || k.chance(6) {
		return k.leaf()
	}
	kind := trees.Composite(k.Rand)
	for kind.Memory() && !k.Memory || kind.Timer() && !k.Timers || !possible(kind) {
		kind = trees.Composite(k.Rand)
	}
	k.count++
	n := &node{kind: kind, name: fmt.Sprintf("n%d", k.count), uses: 1, leaf: leaf{entryTime: -1, exitTime: -1}}
	width := trees.Width(k.Rand, kind, 3)
	for i := range width {
		if c := k.attached(k.tree(depth - 1)); kind.Cases() == 0 || i%2 == 1 || i == width-1 {
			n.children = append(n.children, c)
			continue
		}
		c := k.leaf()
		for c.kind.Acts() {
			c = k.leaf()
		}
		n.children = append(n.children, c)
	}
	n.params = trees.Params(k.Rand, kind, width)
	if kind.Timer() {
		n.params = []int{1000 * (1 + k.IntN(2))}
	}
	k.cases(n)
	if k.Shared && kind.Cases() == 0 {
		k.shared = append(k.shared, n)
	}
	return n
}

// cases sometimes makes a switch one over the mode, which is written with its cases.
func (k *maker) cases(n *node) {
	if n.kind.Cases() == 0 || !k.Slots || !k.Typed || k.chance(3) {
		return
	}
	n.variable = reads("mode")
	for i := range n.kind.Cases() {
		c := n.children[2*i]
		c.clerk, c.off, c.on = "", nil, of("eq", reads("mode"), k.word(modes[i], i))
	}
}

// lasting lets some conditions last until an action has ended; both are at one place only.
func (k *maker) lasting() {
	count := map[string]int{}
	k.m.root.each(func(n *node) { count[n.name]++ })
	var actions []string
	k.m.root.each(func(n *node) {
		if n.kind.Acts() && count[n.name] == 1 && !strings.Contains(n.name, ".") {
			actions = append(actions, n.name)
		}
	})
	k.m.root.each(func(n *node) {
		if n.on != nil && n.off == nil && n.clerk == "" && count[n.name] == 1 && len(actions) > 0 && k.Hysteresis &&
			k.chance(6) {
			n.until = actions[k.IntN(len(actions))]
		}
	})
}

// declare adds facts about the signals, properties about tasks that are named once, a goal and written slots.
func (k *maker) declare() {
	count := map[string]int{}
	k.m.root.each(func(n *node) { count[n.name]++ })
	var tasks []*expression
	k.m.root.each(func(n *node) {
		if count[n.name] == 1 && n.variable == nil && !strings.Contains(n.name, ".") {
			tasks = append(tasks, &expression{op: "task", name: n.name})
		}
	})
	for i := 0; i < 2 && len(tasks) > 0; i++ {
		a, b := tasks[k.IntN(len(tasks))], tasks[k.IntN(len(tasks))]
		k.m.Always = append(k.m.Always, []*expression{of("not", a), of("or", of("not", a), b),
			of("or", of("not", a), of("not", b)), of("or", of("not", a), of(k.relation(), reads("x"), number(1)))}[k.IntN(4)])
	}
	if last := k.m.slots[len(k.m.slots)-1]; last.name == "m" { // it may have no value
		late := of([]string{"ge", "lt", "eq"}[k.IntN(3)], reads(last.name), number(float64(k.IntN(4))))
		if k.chance(2) && len(tasks) > 0 {
			late = of("or", of("not", tasks[k.IntN(len(tasks))]), late)
		}
		k.m.Always = append(k.m.Always, late)
	}
	if k.Facts && k.chance(4) {
		k.m.Facts = append(k.m.Facts, []*expression{of("ge", reads("x"), number(1)), of("lt", reads("y"), number(2)),
			of("or", of("ge", reads("x"), number(1)), of("ge", reads("y"), number(1)))}[k.IntN(3)])
	}
	if k.chance(2) {
		k.m.Goal = k.condition(2)
	}
	for i := range k.m.slots {
		if k.m.writes(i) && !k.m.slots[i].entry && k.chance(2) {
			k.m.Written = append(k.m.Written, i)
		}
	}
}

// writes reports whether a task writes a slot.
func (m *Mission) writes(slot int) bool {
	return slices.ContainsFunc(m.root.leaves(nil), func(n *node) bool { return n.writes(slot) })
}

// writes reports whether a leaf gives a slot a value while it is active.
func (n *node) writes(slot int) bool {
	return slices.ContainsFunc(slices.Concat(n.write, n.entry), func(a assignment) bool { return a.slot == slot })
}
