package backchain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/plan"
)

// maxTasks bounds a plan, which may grow exponentially with the length of the chains.
const maxTasks = 100_000

// wanted is a required fact and the ways to bring it about.
type wanted struct {
	literal
	place place
	ways  []way
}

// place is the place where a fact is required.
type place struct {
	source *diag.Source
	fact   plan.Fact
}

// way is an action that brings a fact about, after its preconditions.
type way struct {
	action *action
	needs  []*wanted
}

// link is a fact above a required one, and the action that is to bring it about.
type link struct {
	literal
	action string
}

// builder builds one plan.
type builder struct {
	world    *World
	found    diag.List
	reported map[string]bool
	tasks    int
	leaves   []plan.Leaf
	names    map[string]int // how often each name was given
}

// Build builds the plan that reaches a goal, a list of facts that [World.Goal] has read from a source; the name is the
// plan's. The list holds errors, then there is no plan, and warnings: about facts that no action brings about or that
// need themselves, for which the plan can only wait, and about facts that undo each other.
//
// Each fact is expanded wherever it is needed. An action is left out where it needs the fact that it is to bring about,
// directly or by the chain above it. The facts that a chain is to bring about are false while it is active, so their
// opposites need not be brought about there and are left out. Of facts that are needed together, those whose ways undo
// others come first.
func (w *World) Build(name string, src *diag.Source, goal []plan.Fact) (*plan.Plan, diag.List) {
	b := &builder{world: w, reported: map[string]bool{}, names: map[string]int{}}
	for _, f := range goal {
		b.checkGoal(place{src, f})
	}
	if b.found.HasErrors() {
		return nil, b.found
	}
	var all []*wanted
	for _, f := range goal {
		all = append(all, b.want(place{src, f}, nil))
	}
	if b.tasks > maxTasks {
		b.report(place{src, goal[0]}, diag.Error, codeTooLarge, "reach the goal in stages, each with a plan of its own",
			"the plan has more than %d tasks", maxTasks)
		return nil, b.found.Sorted()
	}
	p, list := plan.New(name, b.sequence("goal", all, nil), b.leaves)
	return p, append(b.found.Sorted(), list...)
}

// report adds a finding about a place, once.
func (b *builder) report(at place, severity diag.Severity, code, hint, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if b.reported[text] {
		return
	}
	b.reported[text] = true
	b.found = append(b.found, diag.Diagnostic{Source: at.source, Offset: at.fact.Offset, Length: at.fact.Length,
		Severity: severity, Code: code, Text: text, Hint: hint})
}

// checkGoal reports a fact of the goal that no action can bring about.
func (b *builder) checkGoal(at place) {
	l := literalOf(at.fact)
	var all []string
	self := ""
	for _, a := range b.world.actions {
		for _, f := range a.post {
			all = append(all, f.String())
		}
		switch {
		case !l.in(a.post):
		case !l.in(a.pre):
			return
		default:
			self = a.name
		}
	}
	if self != "" {
		b.report(at, diag.Error, codeCycle, fmt.Sprintf("add an action that brings %q about without needing it", l),
			"%q can only be brought about where it holds already: %s", l, cycle(l, []link{{l, self}}))
		return
	}
	hint := diag.DidYouMean(l.String(), all)
	if hint == "" {
		hint = fmt.Sprintf("add an action with post=%q", l)
	}
	b.report(at, diag.Error, codeNoAchiever, hint, "no action brings about %q", l)
}

// cycle describes the part of a chain that begins with a fact and needs it again.
func cycle(l literal, chain []link) string {
	from := slices.IndexFunc(chain, func(c link) bool { return c.literal == l })
	var b strings.Builder
	for _, c := range chain[from:] {
		fmt.Fprintf(&b, "%s <- %s <- ", c.literal, c.action)
	}
	return b.String() + l.String()
}

// want expands a fact that is required below a chain.
func (b *builder) want(at place, chain []link) *wanted {
	w := &wanted{literal: literalOf(at.fact), place: at}
	b.tasks += 2
	cut := ""
	for i := range b.world.actions {
		a := &b.world.actions[i]
		if !w.in(a.post) || b.tasks > maxTasks {
			continue
		}
		longer := append(slices.Clip(chain), link{w.literal, a.name})
		if again := slices.IndexFunc(a.pre, func(f plan.Fact) bool { return wants(longer, literalOf(f)) }); again >= 0 {
			cut = cycle(literalOf(a.pre[again]), longer)
			continue
		}
		b.tasks += 2
		by := way{action: a}
		for _, f := range a.pre {
			if !wants(longer, literalOf(f).opposite()) {
				by.needs = append(by.needs, b.want(place{b.world.source, f}, longer))
			}
		}
		w.ways = append(w.ways, by)
	}
	switch {
	case len(w.ways) > 0 || b.tasks > maxTasks:
	case cut != "":
		b.report(at, diag.Warning, codeCycle, "the plan can only use it where it holds already",
			"here %q would need itself: %s", w.literal, cut)
	default:
		b.report(at, diag.Warning, codeNoAchiever, "the plan can only use it where it holds already",
			"no action brings about %q", w.literal)
	}
	return w
}

// wants reports whether a chain is to bring a fact about.
func wants(chain []link, l literal) bool {
	return slices.ContainsFunc(chain, func(c link) bool { return c.literal == l })
}

// undoes reports whether one of the actions by which a fact is brought about undoes another fact.
func (w *wanted) undoes(l literal) bool {
	return slices.ContainsFunc(w.ways, func(by way) bool {
		return l.opposite().in(by.action.post) ||
			slices.ContainsFunc(by.needs, func(n *wanted) bool { return n.undoes(l) })
	})
}

// order returns facts that are needed together in the order in which they are brought about: those that undo others
// before them.
func (b *builder) order(all []*wanted) []*wanted {
	rest, ordered := slices.Clone(all), []*wanted(nil)
	for len(rest) > 0 {
		threatened := func(w *wanted) bool {
			return slices.ContainsFunc(rest, func(o *wanted) bool { return o != w && o.undoes(w.literal) })
		}
		i := slices.IndexFunc(rest, func(w *wanted) bool { return !threatened(w) })
		if i < 0 {
			i = 0
			var names []string
			for _, w := range rest {
				names = append(names, w.String())
			}
			b.report(rest[0].place, diag.Warning, codeThreat, "the plan may go round in circles: see the result of the check",
				"an action that brings about one of these facts may undo another: %s", strings.Join(names, ", "))
		}
		ordered = append(ordered, rest[i])
		rest = slices.Delete(rest, i, i+1)
	}
	return ordered
}

// name returns a name that no task has yet: the given one, then the same with a number.
func (b *builder) name(name string) string {
	if b.names[name]++; b.names[name] > 1 {
		return fmt.Sprintf("%s %d", name, b.names[name])
	}
	return name
}

// sequence describes a sequence of facts and of the action that needs them, if there is one.
func (b *builder) sequence(name string, needs []*wanted, a *action) *bt.Node {
	n := &bt.Node{Kind: bt.ReactiveSequence}
	for _, w := range b.order(needs) {
		n.Children = append(n.Children, b.describe(w))
	}
	if a != nil {
		b.leaves = append(b.leaves, a.leaf)
		n.Children = append(n.Children, &bt.Node{Kind: bt.Action, Name: b.name(a.name)})
	}
	if len(n.Children) == 1 {
		return n.Children[0]
	}
	n.Name = b.name(name)
	return n
}

// describe describes the subtree of a fact.
func (b *builder) describe(w *wanted) *bt.Node {
	b.leaves = append(b.leaves, b.world.conditions[w.name])
	n := &bt.Node{Kind: bt.Condition, Name: b.name(w.name)}
	if w.not {
		n = &bt.Node{Kind: bt.Inverter, Name: b.name(w.String()), Children: []*bt.Node{n}}
	}
	if len(w.ways) == 0 {
		return n
	}
	n = &bt.Node{Kind: bt.ReactiveFallback, Name: b.name("get " + w.String()), Children: []*bt.Node{n}}
	for _, by := range w.ways {
		n.Children = append(n.Children, b.sequence("by "+by.action.name, by.needs, by.action))
	}
	return n
}
