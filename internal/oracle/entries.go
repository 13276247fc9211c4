package oracle

import (
	"fmt"
	"math"
	"slices"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/internal/trees"
)

// scripts are missions with entries and nearly everything else.
var scripts = Shape{Depth: 2, Slots: true, Typed: true, Captured: true, Memory: true, Hysteresis: true, Timers: true,
	Procedures: true, Entries: true}

// guarded are missions with guards and much else.
var guarded = Shape{Depth: 2, Slots: true, Memory: true, Timers: true, Procedures: true, Captured: true, Entries: true,
	Guards: true}

// entries are those of the main tree's blackboard. The first ones are written at the start.
func (k *maker) entries() {
	for _, s := range []slot{{name: "n", kind: "real"}, {name: "ok", kind: "boolean"}, {name: "m", kind: "real"}} {
		s.entry, s.hold, s.first = true, true, math.NaN()
		k.m.slots = append(k.m.slots, s)
	}
}

// initialized is the number of entries that are written at the start.
const initialized = 2

// whole is the name of the root of plans with entries.
const whole = "whole"

// begin lets the plan begin with a script that creates the entries.
func (k *maker) begin() {
	first := len(k.m.slots) - 1 - initialized
	script := k.clerk("Script", assignment{first, k.oneOrTwo()},
		assignment{first + 1, of([]string{"true", "false"}[k.IntN(2)])})
	kinds := slices.DeleteFunc(bt.Kinds(), func(k bt.Kind) bool {
		return k.Family() != bt.Chain || k.Over() != bt.Success || !k.Memory()
	})
	k.m.root = &node{kind: kinds[k.IntN(len(kinds))], name: whole, uses: 1, children: []*node{script, k.m.root},
		leaf: leaf{entryTime: -1, exitTime: -1}}
	last := len(k.m.slots) - 1
	written, read := false, false
	for _, n := range k.m.root.leaves(nil) {
		for _, a := range n.entry {
			written = written || a.slot == last
			a.value.each(func(e *expression) { read = read || e.op == "signal" && e.name == k.m.slots[last].name })
		}
	}
	switch {
	case !written && read:
		script.entry = append(script.entry, assignment{last, number(1)})
	case !written:
		k.m.slots = k.m.slots[:last]
	}
}

// clerk returns an action that writes entries and has ended.
func (k *maker) clerk(element string, list ...assignment) *node {
	k.count++
	return &node{kind: leafKind("Action"), name: fmt.Sprintf("a%d", k.count), uses: 1,
		leaf: leaf{clerk: element, done: of("true"), entry: list, entryTime: -1, exitTime: -1}}
}

func leafKind(name string) bt.Kind {
	kind, _ := bt.ParseKind(name)
	return kind
}

// script returns a random one.
func (k *maker) script() *node {
	first := len(k.m.slots) - 1 - initialized
	switch k.IntN(8) {
	case 0:
		if k.chance(2) {
			return k.clerk("SetBlackboard", assignment{first, k.oneOrTwo()})
		}
		return k.clerk("SetBlackboard", assignment{first + 2*k.IntN(2), reads("n")})
	case 1:
		return k.clerk("UnsetBlackboard", assignment{first + 2, of("unset")})
	}
	return k.clerk("Script", k.statements()...)
}

// statements returns those of a script.
func (k *maker) statements() (list []assignment) {
	for range 1 + k.IntN(3) {
		list = append(list, k.statement(len(k.m.slots)-1-initialized))
	}
	return list
}

// statement returns one that writes an entry, or a slot.
func (k *maker) statement(first int) assignment {
	name := []string{"n", "m"}[k.IntN(8)/7]
	switch k.IntN(9) {
	case 0:
		return assignment{first, k.oneOrTwo()}
	case 1, 2:
		return assignment{first, of("if", of("less", reads(name), number(2)), of("add", reads(name), number(1)), number(1))}
	case 3:
		return assignment{first + 2, of("if", of("eq", reads("n"), number(1)), number(2), number(1))}
	case 4:
		return assignment{first + 1, of([]string{"true", "false"}[k.IntN(2)])}
	case 5:
		return assignment{first + 1, of("not", reads("ok"))}
	case 6:
		return assignment{first + 1, []*expression{k.ofEntry(), k.comparison(true)}[k.IntN(2)]}
	case 7:
		if k.Slots {
			return assignment{1, reads(name)}
		}
	}
	return assignment{first, reads(name)}
}

// oneOrTwo returns a value of n and m: conditions compare signals with both.
func (k *maker) oneOrTwo() *expression { return number(float64(1 + k.IntN(2))) }

// ofEntry returns a condition of an entry.
func (k *maker) ofEntry() *expression {
	if k.chance(3) {
		return reads("ok")
	}
	return of([]string{"eq", "ne", "less", "more"}[k.IntN(4)], reads("n"), number(float64(k.IntN(3))))
}

const halted = "_onHalted"

// attached returns a task with pre- and postconditions in attributes, or without.
func (k *maker) attached(n *node) *node {
	if !k.Entries || k.Shared || n.attached || n.clerk != "" {
		return n
	}
	base, list := n, k.statements
	if k.chance(5) {
		n = k.after(halted, base.name+"."+halted, list(), n)
	}
	var post []assignment
	if k.chance(6) {
		post = list()
	}
	n = k.precondition(base, n)
	for _, attribute := range []string{"_onSuccess", "_onFailure"} {
		if k.chance(12) {
			n = k.after(attribute, base.name+"."+attribute, list(), n)
		}
	}
	if post != nil {
		n = k.after("_post", base.name+"._post", post, n)
	}
	return n
}

// after returns a task with a postcondition.
func (k *maker) after(attribute, name string, list []assignment, n *node) *node {
	kind := slices.IndexFunc(bt.Kinds(), func(k bt.Kind) bool { return k.Effect() == attribute })
	script := &node{kind: leafKind("Action"), name: name + ".do", uses: 1,
		leaf: leaf{clerk: "Script", done: of("true"), entry: list, entryTime: -1, exitTime: -1}}
	return &node{kind: bt.Kinds()[kind], name: name, uses: 1, attached: true, children: []*node{script, n},
		leaf: leaf{entryTime: -1, exitTime: -1}}
}

// precondition returns a task, which has other conditions, with a precondition, or without.
func (k *maker) precondition(base, n *node) *node {
	if !k.chance(4) || base.successIf != nil || base.failureIf != nil {
		return n
	}
	judges := base.kind.Family() == bt.Leaf
	kinds := slices.DeleteFunc(bt.Kinds(), func(k bt.Kind) bool {
		own := slices.Contains([]string{"_successIf", "_failureIf"}, k.Condition())
		return !k.Attributed() || k.Condition() == "" || judges && own
	})
	kind := kinds[k.IntN(len(kinds))]
	name := base.name + "." + kind.Condition()
	on := k.ofEntry()
	if k.chance(3) {
		on = k.condition(2)
	}
	condition := &node{kind: leafKind("Condition"), name: name + ".if", uses: 1,
		leaf: leaf{clerk: "ScriptCondition", on: on, entryTime: -1, exitTime: -1}}
	return &node{kind: kind, name: name, uses: 1, attached: true, children: []*node{condition, n},
		params: trees.Params(k.Rand, kind, 2), leaf: leaf{entryTime: -1, exitTime: -1}}
}
