package main

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/internal/trees"
)

// whole is a random mission of whole length: a vehicle of equations, a plan with all kinds of nodes, and declarations.
// It is written as its files, as a user would write them.
type whole struct {
	*rand.Rand
	horizon float64

	states, outputs, discrete, commands, tables, events, signals []string     // lines of YAML
	facts                                                        []string     // true of the vehicle, from every start
	starts                                                       []wholeStart // of the states

	reals      []quantity // that conditions read
	truths     []string   // Boolean signals
	words      [][]string // enumerations: the name, then the values
	slots      []slot
	entries    []string
	plan       string
	count      int
	held       []string // the resources of the guards above
	conditions []string
	actions    []string
	tasks      []string // all that properties may name

	goal                       string
	always, properties, writes []string
	effects, resources         string
	outages, lost              string // of a state
	gain                       bool   // the vehicle has this parameter
	parts                      bool   // the plan has a subtree with ports
	ends, stops                bool   // with the plan, and where events chatter
	period                     float64
}

// quantity is a real signal with the values that it usually has.
type quantity struct {
	name      string
	low, high float64
}

// wholeStart is a state with the range of its initial values.
type wholeStart struct {
	name      string
	low, high float64
	discrete  bool       // 0 or 1
	from      bool       // the mission declares a range of these
	among     [2]float64 // values
}

// slot is a signal that tasks write: one of its values is drawn.
type slot struct {
	name   string
	values func(k *whole) string
	script bool // scripts may write it
}

func newWhole(seed uint64) *whole {
	k := &whole{Rand: rand.New(rand.NewPCG(27, seed))}
	k.horizon = []float64{10, 20, 40, 60}[k.IntN(4)]
	k.command("u")
	if k.chance(2) {
		k.command("v")
	}
	if k.chance(5) {
		k.commands = append(k.commands, "  lift: {type: boolean, hold: "+k.one("true", "false")+"}")
		k.slots = append(k.slots, slot{"lift", func(k *whole) string { return k.one("true", "false", k.outside()) }, true})
		k.truths = append(k.truths, "lift")
	}
	if k.chance(5) {
		k.commands = append(k.commands, "  gear: {type: enumeration, values: [low, middle, high], hold: true}")
		k.slots = append(k.slots, slot{"gear", func(k *whole) string { return k.one("low", "middle", "high") }, true})
		k.words = append(k.words, []string{"gear", "low", "middle", "high"})
	}
	for i := range 1 + k.IntN(3) {
		k.component(i)
	}
	k.own()
	if k.chance(4) {
		k.rules()
	} else {
		k.plan = k.node(1 + k.IntN(4))
	}
	if len(k.entries) > 0 && k.chance(2) {
		k.plan = fmt.Sprintf(`<Sequence name=%q><Script name=%q code="e := 1"/>%s</Sequence>`, k.name("n"), k.name("n"), k.plan)
	}
	k.declare()
	if k.chance(4) {
		k.ranges()
	}
	return k
}

func (k *whole) chance(n int) bool          { return k.IntN(n) == 0 }
func (k *whole) one(texts ...string) string { return texts[k.IntN(len(texts))] }
func (k *whole) between(low, high float64) string {
	return short(low + (high-low)*k.Float64())
}

// short writes a number with two decimals at most.
func short(v float64) string {
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.2f", v), "0"), ".")
}

func (k *whole) command(name string) {
	k.commands = append(k.commands, fmt.Sprintf("  %s: {default: %s, min: -1, max: 1, hold: %t}", name,
		k.one("0", "0", "0.5", "-1"), k.chance(2)))
	k.slots = append(k.slots, slot{name: name, values: (*whole).force})
	k.reals = append(k.reals, quantity{name, -1, 1})
}

// force returns a value of a command between -1 and 1.
func (k *whole) force() string {
	switch k.IntN(8) {
	case 0:
		return fmt.Sprintf("if(%s, 1, %s)", k.outside(), k.one("0", "-1", "-0.5"))
	case 1:
		if q := k.state(); q.name != "" {
			return fmt.Sprintf("max(-1, min(1, %s - %s))", k.between(q.low, q.high), q.name)
		}
	}
	return k.one("1", "-1", "0.5", "-0.5", "0", k.between(-1, 1))
}

// state draws one of the vehicle's states, which does not depend on commands at the same instant.
func (k *whole) state() quantity {
	if len(k.starts) == 0 {
		return quantity{}
	}
	s := k.starts[k.IntN(len(k.starts))]
	if s.discrete {
		return quantity{}
	}
	return k.reals[slices.IndexFunc(k.reals, func(q quantity) bool { return q.name == s.name })]
}

// outside returns a relation of the vehicle's states or the time.
func (k *whole) outside() string {
	if q := k.state(); q.name != "" {
		return k.threshold(q)
	}
	return fmt.Sprintf("t %s %s", k.one("ge", "lt"), k.between(0, k.horizon))
}

// rate returns the rate of a state, in most cases one that follows a command, and its bounds.
func (k *whole) rate() (text string, low, high float64) {
	u := k.slots[0].name
	if len(k.slots) > 1 && k.slots[1].name == "v" && k.chance(2) {
		u = "v"
	}
	if len(k.truths) > 0 && k.truths[0] == "lift" && k.chance(2) {
		return "if(lift, 1, -0.6)", -.6, 1
	}
	if len(k.words) > 0 && k.words[0][0] == "gear" && k.chance(2) {
		return "if(gear == high, 1, if(gear == low, 0.2, -0.4))", -.4, 1
	}
	switch k.IntN(7) {
	case 6:
		k.gain = true
		return "gain * " + u, -.8, .8
	case 0:
		a := 0.2 + k.Float64()
		return k.one("", "-") + short(a), -a - .01, a + .01
	case 1:
		return fmt.Sprintf("0.5 * %s + 0.7 * sin(t / 3 [s])", u), -1.2, 1.2
	case 2:
		return fmt.Sprintf("%s + 0.3", u), -.7, 1.3
	case 3:
		return fmt.Sprintf("if(%s gt 0, 1, -0.4)", u), -.4, 1
	case 4:
		return fmt.Sprintf("%s * abs(%s) - 0.1", u, u), -1.1, .9
	}
	return u, -1, 1
}

func (k *whole) newState(name, derivative string, first, low, high, lowest, highest float64) {
	initial := short(first + (low-first)*0)
	k.states = append(k.states, fmt.Sprintf("  %s: {initial: %s, derivative: %q, min: %s, max: %s}", name, initial,
		"("+derivative+") / 1 [s]", short(lowest), short(highest)))
	k.starts = append(k.starts, wholeStart{name: name, low: low, high: high})
	k.reals = append(k.reals, quantity{name, max(lowest, -3), min(highest, 4)})
}

// component adds a part of the vehicle.
func (k *whole) component(i int) {
	name := fmt.Sprintf("x%d", i)
	text, low, high := k.rate()
	first := float64(k.IntN(7)) / 2
	switch kind := k.IntN(9); kind {
	case 0: // a drift
		k.newState(name, text, first, 0, 3, low*k.horizon-1, 4+high*k.horizon)
	case 1: // a saturated state
		k.newState(name, fmt.Sprintf("if(%s ge 3 and %s gt 0 or %s le 0 and %s lt 0, 0, %s)", name, text, name, text, text),
			first, 0, 3, -0.01, 3.01)
		k.facts = append(k.facts, name+" ge -0.01 and "+name+" le 3.01")
	case 2: // a decay
		k.newState(name, fmt.Sprintf("(%s - %s) / %s", k.one("2 * "+k.slots[0].name, "1", "0", "2.5",
			"1 + "+k.slots[0].name), name, k.one("0.5", "2", "5")), first, 0, 3, -2.01, 3.01)
		if k.chance(2) {
			k.facts = append(k.facts, name+" ge -2.01 and "+name+" le 3.01")
		}
	case 3: // an oscillation
		w := k.one("0.5", "1", "2")
		k.newState(name, w+" * q"+name, first/2, 0, 1.4, -2.01, 2.01)
		k.newState("q"+name, "-"+w+" * "+name, 1, -1.4, 1.4, -2.01, 2.01)
	case 4: // a battery
		k.newState(name, fmt.Sprintf("if(%s le 0, 0, -0.02 - 0.05 * abs(%s))", name, k.slots[0].name), 1, 0.2, 1, -0.01, 1.01)
		k.facts = append(k.facts, fmt.Sprintf("%s ge -0.01 and %s le 1.01", name, name))
		k.reals[len(k.reals)-1] = quantity{name, 0, 1}
	case 5: // a relay
		k.discrete = append(k.discrete, fmt.Sprintf("  heat%d: {type: boolean, initial: %t}", i, k.chance(2)))
		k.starts = append(k.starts, wholeStart{name: fmt.Sprintf("heat%d", i), discrete: true})
		k.newState(name, fmt.Sprintf("if(heat%d, %s, -0.7)", i, k.one("0.5", "1 + 0.3 * u")), 1.5, 1.01, 1.99, 0.99, 2.01)
		k.events = append(k.events, fmt.Sprintf("  - {when: %s le 1, then: heat%d := true}", name, i),
			fmt.Sprintf("  - {when: %s ge 2, then: heat%d := false}", name, i))
		k.truths = append(k.truths, fmt.Sprintf("heat%d gt 0.5", i))
		if k.chance(2) {
			k.facts = append(k.facts, name+" ge 0.99 and "+name+" le 2.01")
		}
	case 6: // a jump
		k.newState(name, k.one("0.5", "1", "0.3 + 0.2 * u"), first/2, 0, 2, -0.01, 3.01)
		k.discrete = append(k.discrete, fmt.Sprintf("  hops%d: {type: integer}", i))
		k.events = append(k.events, fmt.Sprintf("  - {when: %s ge 3, then: %s := %s; hops%d := hops%d + 1}", name, name,
			k.one("0", "1", "2.5"), i, i))
		k.reals = append(k.reals, quantity{fmt.Sprintf("hops%d", i), 0, 3})
	case 7: // a table of the time
		k.tables = append(k.tables, fmt.Sprintf("  f%d: {arguments: {time: {unit: s, points: [0, 3, 7, 15]}}, values: [%s, %s, %s, %s],"+
			" outside: clamp}", i, k.between(0, 3), k.between(0, 3), k.between(0, 3), k.between(0, 3)))
		k.outputs = append(k.outputs, fmt.Sprintf("  %s: {value: \"f%d(t)\"}", name, i))
		k.reals = append(k.reals, quantity{name, 0, 3})
		if k.chance(2) {
			k.facts = append(k.facts, name+" ge 0 and "+name+" le 3")
		}
	case 8: // a wave or pulses
		value := k.one("1.5 + 1.5 * sin(t / 4 [s])", "if(mod(t, 4 [s]) lt 1 [s], 2, 0.5)", "mod(t / 1 [s], 3)", name+"r + 0.5 * u")
		if strings.Contains(value, "0.5 * u") {
			k.newState(name+"r", text, first, 0, 3, low*k.horizon-1, 4+high*k.horizon)
		}
		k.outputs = append(k.outputs, fmt.Sprintf("  %s: {value: %q}", name, value))
		k.reals = append(k.reals, quantity{name, 0, 3})
	}
	if k.chance(4) {
		q := k.reals[len(k.reals)-1]
		k.outputs = append(k.outputs, fmt.Sprintf("  far%d: {type: boolean, value: %q}", i, k.threshold(q)))
		k.truths = append(k.truths, fmt.Sprintf("far%d", i))
	}
}

// own adds the mission's own signals, and entries.
func (k *whole) own() {
	number := func(k *whole) string { return k.one("0", "1", "2", "3", k.outsideNumber()) }
	if k.chance(2) {
		k.signals = append(k.signals, "  s: {default: "+k.one("0", "2")+", hold: true}")
		k.slots = append(k.slots, slot{"s", number, true})
		k.reals = append(k.reals, quantity{"s", 0, 3})
	}
	if k.chance(3) {
		k.signals = append(k.signals, "  legs: {type: integer, hold: true}")
		k.slots = append(k.slots, slot{"legs", func(k *whole) string { return k.one("0", "1", "2") }, true})
		k.reals = append(k.reals, quantity{"legs", 0, 3})
	}
	if k.chance(3) {
		k.signals = append(k.signals, "  armed: {type: boolean, hold: true, default: "+k.one("true", "false")+"}")
		k.slots = append(k.slots, slot{"armed", func(k *whole) string { return k.one("true", "false", k.outside()) }, true})
		k.truths = append(k.truths, "armed")
	}
	if k.chance(3) {
		k.signals = append(k.signals, "  mode: {type: enumeration, values: [survey, transit, home], hold: true}")
		k.slots = append(k.slots, slot{"mode", func(k *whole) string { return k.one("survey", "transit", "home") }, true})
		k.words = append(k.words, []string{"mode", "survey", "transit", "home"})
	}
	if a, b := k.reals[k.IntN(len(k.reals))], k.reals[k.IntN(len(k.reals))]; k.chance(3) {
		k.signals = append(k.signals, fmt.Sprintf("  level: {value: %q}", k.one(a.name+" - "+b.name, "max("+a.name+", "+
			b.name+")", "2 * "+a.name+" - 1", "abs("+a.name+" - 1)")))
		k.reals = append(k.reals, quantity{"level", 0, 2})
	}
	if k.chance(4) {
		k.signals = append(k.signals, fmt.Sprintf("  flag: {type: boolean, value: %q}", k.condition(2)))
		k.truths = append(k.truths, "flag")
	}
	if k.chance(4) {
		k.signals = append(k.signals, fmt.Sprintf("  zone: {type: enumeration, values: [near, away], value: \"if(%s, near, away)\"}",
			k.condition(1)))
		k.words = append(k.words, []string{"zone", "near", "away"})
	}
	if k.chance(3) {
		k.entries = []string{"e"}
	}
	if q := k.state(); q.name != "" && k.chance(6) {
		from := k.horizon * k.Float64()
		k.outages = fmt.Sprintf("outages:\n  - {source: %s, from: %s, to: %s}\n", q.name, short(from), short(from+k.horizon/4))
		k.lost = q.name
	}
}

func (k *whole) outsideNumber() string {
	if q := k.state(); q.name != "" {
		return q.name
	}
	return "1"
}

func (k *whole) threshold(q quantity) string {
	part := []float64{.25, .5, .75, .9}[k.IntN(4)]
	return fmt.Sprintf("%s %s %s", q.name, k.one("ge", "gt", "le", "lt"), short(q.low+part*(q.high-q.low)))
}

// condition returns a condition of at most some relations.
func (k *whole) condition(size int) string {
	if size > 1 {
		switch k.IntN(6) {
		case 0:
			return k.condition(size-1) + " and " + k.condition(size-1)
		case 1:
			return "(" + k.condition(size-1) + " or " + k.condition(size-1) + ")"
		case 2:
			return "not (" + k.condition(size-1) + ")"
		}
	}
	a, b := k.reals[k.IntN(len(k.reals))], k.reals[k.IntN(len(k.reals))]
	switch n := k.IntN(14); {
	case n == 0:
		return fmt.Sprintf("%s %s %s", a.name, k.one("ge", "lt"), b.name)
	case n == 1:
		return fmt.Sprintf("%s - %s %s %s", a.name, b.name, k.one("ge", "lt"), k.one("0.5", "-0.5", "1"))
	case n == 2:
		return fmt.Sprintf("%s + %s %s %s", a.name, b.name, k.one("ge", "lt"), k.one("1", "2", "3"))
	case n == 3:
		return fmt.Sprintf("abs(%s - %s) le %s", a.name, short((a.low+a.high)/2), k.one("0.3", "0.7"))
	case n == 4:
		return fmt.Sprintf("%s * %s gt 1", a.name, b.name)
	case n == 5:
		return fmt.Sprintf("max(%s, %s) ge %s", a.name, b.name, k.one("1", "2"))
	case n == 6 && k.lost != "":
		return k.one("known("+k.lost+")", "age("+k.lost+") lt 1")
	case n == 6:
		return fmt.Sprintf("t %s %s", k.one("ge", "lt"), k.between(0, k.horizon))
	case n <= 9 && len(k.truths) > 0:
		return k.one(k.truths...)
	case n <= 10 && len(k.words) > 0:
		w := k.words[k.IntN(len(k.words))]
		return fmt.Sprintf("%s %s %s", w[0], k.one("==", "!="), k.one(w[1:]...))
	}
	return k.threshold(a)
}

// assignments returns assignments to slots, in most cases one; only to those that scripts may write if once.
func (k *whole) assignments(once bool) string {
	var list []string
	for _, s := range k.slots {
		if k.chance(len(k.slots)) && (s.script || !once) {
			list = append(list, s.name+" := "+s.values(k))
		}
	}
	return strings.Join(list, "; ")
}

func (k *whole) name(prefix string) string {
	k.count++
	name := fmt.Sprintf("%s%d", prefix, k.count)
	k.tasks = append(k.tasks, name)
	return name
}

func (k *whole) node(depth int) string {
	if depth == 0 || k.chance(6) {
		return k.leaf()
	}
	switch k.IntN(14) {
	case 0:
		return k.selecting(depth)
	case 1:
		return fmt.Sprintf("<Precondition name=%q if=%q else=%q>%s</Precondition>", k.name("p"), k.condition(2),
			k.one("FAILURE", "SUCCESS", "SKIPPED", "RUNNING"), k.node(depth-1))
	case 2:
		if len(k.entries) > 0 {
			return k.waiting(depth)
		}
	}
	kind := k.kind()
	var b strings.Builder
	name, n := k.name("n"), trees.Width(k.Rand, kind, 3)
	fmt.Fprintf(&b, "<%s name=%q%s%s>", kind, name, k.params(kind, n), k.around())
	held := len(k.held)
	for i := range n {
		switch {
		case kind.Cases() > 0 && i < n-1 && i%2 == 0, kind.Family() == bt.Chain && n > 1 && i == 0 && k.chance(2):
			b.WriteString(k.conditionLeaf())
		case kind.Runs():
			b.WriteString("<Sequence>" + k.action() + k.node(depth-1) + "</Sequence>")
		default:
			b.WriteString(k.node(depth - 1))
		}
	}
	if kind == bt.Guard {
		k.held = k.held[:held-1]
	}
	return b.String() + "</" + kind.String() + ">"
}

// kind draws a kind with children that is an element of its own.
func (k *whole) kind() bt.Kind {
	if k.chance(3) {
		return []bt.Kind{bt.ReactiveFallback, bt.ReactiveSequence, bt.Sequence, bt.Fallback}[k.IntN(4)]
	}
	for {
		kind := trees.Composite(k.Rand)
		if k.chance(12) {
			kind = bt.Guard
		}
		if kind == bt.Guard && len(k.held) > 0 {
			continue
		}
		if kind.Condition() == "" && kind.Effect() == "" && !kind.Attributed() && kind.Ranked() == 0 && !kind.Halts() && !kind.Childless() && kind.Cases() <= 3 {
			return kind
		}
	}
}

// params writes the parameters of a kind with n children.
func (k *whole) params(kind bt.Kind, n int) string {
	var b strings.Builder
	values := trees.Params(k.Rand, kind, n)
	for i, p := range kind.Params() {
		switch p.Type {
		case bt.Resource:
			k.held = append(k.held, k.one("lamp", "radio"))
			fmt.Fprintf(&b, " %s=%q", p.Name, k.held[len(k.held)-1])
		case bt.Duration:
			fmt.Fprintf(&b, " %s=%q", p.Name, k.one("500", "1000", "2500", "4000", "700"))
		case bt.Times:
			fmt.Fprintf(&b, " %s=%q", p.Name, k.one("1", "2", "3", "2", "-1"))
		default:
			if values != nil {
				fmt.Fprintf(&b, " %s=%q", p.Name, p.Write(values[i]))
			}
		}
	}
	return b.String()
}

// around sometimes returns attributes of any node that stand for nodes around it.
func (k *whole) around() string {
	switch k.IntN(24) {
	case 0:
		return fmt.Sprintf(" timeout=%q", k.one("1 [s]", "3 [s]"))
	case 1:
		return fmt.Sprintf(" retry=%q", k.one("2", "3"))
	case 2:
		return fmt.Sprintf(" every=%q", k.one("2 [s]", "0.7 [s]"))
	case 3:
		return fmt.Sprintf(" _skipIf=%q", k.condition(1))
	case 4:
		return fmt.Sprintf(" _while=%q", k.condition(1))
	case 5:
		return fmt.Sprintf(" _failureIf=%q", k.condition(1))
	case 6:
		return fmt.Sprintf(" _successIf=%q", k.condition(1))
	case 7, 8:
		if a := k.assignments(true); a != "" {
			return fmt.Sprintf(" %s=%q", k.one("_onSuccess", "_onFailure", "_post", "_onHalted"), a)
		}
	}
	return ""
}

// selecting returns a switch over a variable or a selector by utility.
func (k *whole) selecting(depth int) string {
	name := k.name("n")
	if len(k.words) > 0 && k.chance(2) {
		w := k.words[k.IntN(len(k.words))]
		return fmt.Sprintf("<Switch2 name=%q variable=%q case_1=%q case_2=%q>%s%s%s</Switch2>", name, w[0], w[1], w[2],
			k.node(depth-1), k.node(depth-1), k.node(depth-1))
	}
	a, b := k.reals[k.IntN(len(k.reals))], k.reals[k.IntN(len(k.reals))]
	margin := k.one("", ` margin="0.5"`)
	return fmt.Sprintf("<UtilitySelector name=%q utility_1=%q utility_2=%q%s>%s%s</UtilitySelector>", name, a.name,
		k.one("1", b.name), margin, k.node(depth-1), k.node(depth-1))
}

// waiting returns a node about an entry.
func (k *whole) waiting(depth int) string {
	kind := k.one("SkipUnlessUpdated", "WaitValueUpdate", "LoopInt")
	if kind == "LoopInt" {
		return fmt.Sprintf("<LoopInt name=%q queue=%q value=\"{e}\">%s</LoopInt>", k.name("n"), k.one("1;2", "3", "1;2;3"),
			k.node(depth-1))
	}
	return fmt.Sprintf("<%s name=%q entry=\"{e}\">%s</%s>", kind, k.name("n"), k.node(depth-1), kind)
}

// rules makes the plan a list of rules: the goal, then conditions with an action each.
func (k *whole) rules() {
	first := k.state()
	if first.name == "" {
		first = k.reals[0]
	}
	goal := k.threshold(first)
	text := fmt.Sprintf(`<ReactiveFallback name=%q><Condition name=%q on=%q/>`, k.name("n"), k.name("c"), goal)
	for range 1 + k.IntN(3) {
		condition := k.conditionLeaf()
		if q := k.state(); q.name != "" && k.chance(2) {
			name := k.name("c")
			k.conditions = append(k.conditions, name)
			condition = fmt.Sprintf(`<Condition name=%q on=%q%s/>`, name, k.threshold(q), k.one("", fmt.Sprintf(" off=%q", k.threshold(q))))
		}
		text += fmt.Sprintf("<ReactiveSequence name=%q>%s%s</ReactiveSequence>", k.name("n"), condition, k.push())
	}
	if !k.chance(3) {
		text += k.push()
	}
	if k.plan = text + "</ReactiveFallback>"; !k.chance(3) {
		k.goal = goal
	}
}

// push returns an action that moves the vehicle, in most cases at a constant rate.
func (k *whole) push() string {
	if k.chance(5) {
		return k.action()
	}
	name := k.name("a")
	k.actions = append(k.actions, name)
	return fmt.Sprintf(`<Action name=%q write="u := %s"/>`, name, k.one("1", "-1", "0.5", "-0.5", "1", "-1", "0"))
}

func (k *whole) leaf() string {
	switch n := k.IntN(21); {
	case n == 20:
		k.parts = true
		return fmt.Sprintf(`<SubTree ID="part" force=%q limit=%q/>`, k.one("1", "-1", "0.5"), k.between(0, k.horizon/2))
	case n < 6:
		return k.conditionLeaf()
	case n == 6:
		return fmt.Sprintf("<%s name=%q/>", k.one("AlwaysSuccess", "AlwaysFailure"), k.name("n"))
	case n == 7:
		return fmt.Sprintf("<Sleep name=%q msec=%q/>", k.name("n"), k.one("500", "1000", "3000"))
	case n <= 9:
		return k.script()
	}
	return k.action()
}

// script returns a leaf with a script.
func (k *whole) script() string {
	if len(k.entries) > 0 {
		switch k.IntN(5) {
		case 0:
			return fmt.Sprintf("<SetBlackboard name=%q output_key=\"{e}\" value=%q/>", k.name("n"), k.one("1", "2"))
		case 1:
			return fmt.Sprintf("<Script name=%q code=\"e %s\"/>", k.name("n"), k.one(":= 1", ":= 2", ":= 0", "+= 1"))
		case 2:
			return fmt.Sprintf("<ScriptCondition name=%q code=\"e %s\"/>", k.name("n"), k.one("== 1", "> 0", ">= 2"))
		case 3:
			return fmt.Sprintf("<%s name=%q %s=\"{e}\"/>", "WasEntryUpdated", k.name("n"), "entry")
		}
	}
	a := k.assignments(true)
	if a == "" {
		return k.action()
	}
	return fmt.Sprintf("<Script name=%q code=\"%s\"/>", k.name("n"), strings.ReplaceAll(a, "\"", "'"))
}

func (k *whole) conditionLeaf() string {
	name := k.name("c")
	k.conditions = append(k.conditions, name)
	attributes := ""
	switch k.IntN(6) {
	case 0:
		attributes = fmt.Sprintf(" off=%q", k.condition(1))
	case 1:
		q := k.reals[k.IntN(len(k.reals))]
		middle, width := (q.low+q.high)/2, (q.high-q.low)/6
		return fmt.Sprintf(`<Condition name=%q on="%s ge %s" off="%s lt %s"/>`, name, q.name, short(middle+width), q.name,
			short(middle-width))
	case 2:
		if len(k.actions) > 0 && k.chance(2) {
			attributes = fmt.Sprintf(" until=%q", k.one(k.actions...))
		}
	}
	if k.lost != "" && k.chance(2) {
		attributes += fmt.Sprintf(" unknown=%q", k.one("hold", "success"))
	}
	return fmt.Sprintf(`<Condition name=%q on=%q%s/>`, name, k.condition(2), attributes)
}

func (k *whole) action() string {
	name := k.name("a")
	attributes := ""
	add := func(key, value string) {
		if value != "" {
			attributes += fmt.Sprintf(" %s=%q", key, value)
		}
	}
	if !k.chance(5) {
		add("write", k.assignments(false))
	}
	switch k.IntN(6) {
	case 0, 1:
		add("done", k.condition(1))
	case 2:
		add("done", "elapsed ge "+k.one("1", "2.5", "0.7"))
	}
	if k.chance(6) {
		add("failed", k.one(k.condition(1), "elapsed gt 4"))
	}
	if k.chance(5) {
		add("entry", k.assignments(true))
	}
	if k.chance(5) {
		add("exit", k.assignments(k.chance(2)))
	}
	if k.chance(5) {
		add(k.one("entry_time", "exit_time"), k.one("0.5", "1", "2", "0.2"))
	} else if k.chance(10) {
		add(k.one("entry_until", "exit_until"), k.condition(1))
	}
	around := k.around()
	if !strings.Contains(around, "timeout") && !strings.Contains(around, "retry") && !strings.Contains(around, "every") {
		k.actions = append(k.actions, name)
	}
	return fmt.Sprintf("<Action name=%q%s%s/>", name, attributes, around)
}

// part returns a condition of one time, over signals or tasks.
func (k *whole) part() string {
	not := k.one("", "", "not ")
	if k.chance(2) && len(k.tasks) > 0 {
		return not + k.one(k.tasks...)
	}
	return not + "(" + k.condition(1) + ")"
}

func (k *whole) property() string {
	time := k.one("0.5", "1", "2 [s]", "5 [s]", "30 [s]", "3.5")
	switch k.IntN(15) {
	case 0:
		return "eventually " + k.part()
	case 1:
		return "never " + k.part()
	case 2:
		return fmt.Sprintf("never both(%s, %s)", k.part(), k.part())
	case 3:
		return fmt.Sprintf("%s until %s", k.part(), k.part())
	case 4:
		return fmt.Sprintf("%s before %s", k.part(), k.part())
	case 5:
		return fmt.Sprintf("within %s %s", time, k.part())
	case 6:
		return fmt.Sprintf("for %s %s", time, k.part())
	case 7:
		return fmt.Sprintf("always (%s -> within %s %s)", k.part(), time, k.part())
	case 8:
		return fmt.Sprintf("always (%s -> eventually %s)", k.part(), k.part())
	case 9:
		return fmt.Sprintf("after %s before %s, never %s", k.part(), k.part(), k.part())
	case 10:
		return fmt.Sprintf("after %s, %s", k.part(), k.part())
	case 11:
		return fmt.Sprintf("after %s before %s, always %s", k.part(), k.part(), k.part())
	case 12:
		return fmt.Sprintf("always (%s -> for %s %s)", k.part(), time, k.part())
	}
	return fmt.Sprintf("always (%s -> %s)", k.part(), k.part())
}

func (k *whole) declare() {
	if k.chance(2) {
		k.facts = nil
	}
	if k.chance(4) {
		k.facts = append(k.facts, fmt.Sprintf("t le %g", k.horizon))
	}
	if k.goal == "" {
		k.goal = k.condition(2)
	}
	if len(k.conditions) > 0 && k.chance(8) {
		k.goal = k.one(k.conditions...)
	}
	for range k.IntN(3) {
		k.always = append(k.always, k.part()+k.one(" -> ", " or ")+k.part())
	}
	for range 4 {
		k.properties = append(k.properties, k.property())
	}
	for _, s := range k.slots {
		if k.chance(2) && regexp.MustCompile(`(write|entry)="[^"]*\b`+s.name+` :=`).MatchString(k.plan) {
			k.writes = append(k.writes, s.name)
		}
	}
	if len(k.actions) > 1 && k.chance(3) {
		k.resources = fmt.Sprintf("    camera: [%s, %s]", k.actions[0], k.actions[len(k.actions)-1])
	}
	k.ends, k.stops = k.chance(4), k.chance(2)
	k.period = []float64{0.5, 1, 3, 10}[k.IntN(4)]
}

// files returns the files of the mission, with some initial values of the vehicle.
func (k *whole) files(initial string) map[string]string {
	var v, m strings.Builder
	section := func(b *strings.Builder, name string, lines []string) {
		if len(lines) > 0 {
			fmt.Fprintf(b, "%s:\n%s\n", name, strings.Join(lines, "\n"))
		}
	}
	v.WriteString("vehicle: v\n")
	states := k.states
	if len(states) == 0 {
		states = []string{"  idle: {derivative: 0, min: -1, max: 1}"}
	}
	if k.gain {
		v.WriteString("parameters:\n  gain: {default: 0.3, min: 0.1, max: 1}\n")
		initial += "parameters: {gain: 0.8}\n"
	}
	section(&v, "states", states)
	section(&v, "discrete", k.discrete)
	section(&v, "outputs", k.outputs)
	section(&v, "commands", k.commands)
	section(&v, "tables", k.tables)
	section(&v, "events", k.events)
	fmt.Fprintf(&m, "mission: m\nplan: p.xml\nvehicle: v.yaml\nhorizon: %g\nchattering: %s\nends_with_plan: %t\n"+
		"record: {interval: 0.5}\n%s", k.horizon, map[bool]string{true: "stop", false: "continue"}[k.stops], k.ends, initial)
	m.WriteString(k.outages)
	section(&m, "signals", k.signals)
	m.WriteString("check:\n")
	quoted := func(name string, texts []string) {
		if len(texts) > 0 {
			fmt.Fprintf(&m, "  %s:\n", name)
		}
		for _, t := range texts {
			fmt.Fprintf(&m, "    - %q\n", t)
		}
	}
	quoted("facts", k.facts)
	quoted("always", k.always)
	quoted("properties", k.properties)
	quoted("written", k.writes)
	fmt.Fprintf(&m, "  goal: %q\n  period: %g\n", k.goal, k.period)
	if k.effects != "" {
		m.WriteString("  effects:\n" + k.effects)
	}
	if k.resources != "" {
		m.WriteString("  resources:\n" + k.resources + "\n")
	}
	plan := `<BehaviorTree ID="main">` + k.plan + `</BehaviorTree>`
	if k.parts {
		plan += `<BehaviorTree ID="part"><ReactiveSequence name="do"><Condition name="early" on="t lt limit"/>` +
			`<Action name="push" write="u := force"/></ReactiveSequence></BehaviorTree>`
	}
	return map[string]string{"m.yaml": m.String(), "v.yaml": v.String(),
		"p.xml": `<root BTCPP_format="4" main_tree_to_execute="main">` + plan + `</root>`}
}

// filesUntil returns the files with another horizon, if that is not 0.
func (k *whole) filesUntil(initial string, horizon float64) map[string]string {
	long := *k
	initial = cmp.Or(initial, k.declaredStart())
	long.horizon = cmp.Or(horizon, k.horizon)
	return long.files(initial)
}
