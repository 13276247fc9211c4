package verify

import (
	"fmt"
	"maps"
	"slices"

	"github.com/canopy-uav/canopy/bt"
)

// Conflicts: two tasks that are active at one time write one slot or hold one resource. The pairs below one parallel
// are one finding: a designer corrects them together.

// pair is two tasks, the first in the tree first.
type pair [2]bt.Task

func pairOf(t, u bt.Task) pair { return pair{min(t, u), max(t, u)} }

// unitsOf returns pairs as the units of a finding.
func unitsOf(pairs []pair) [][]bt.Task {
	units := make([][]bt.Task, len(pairs))
	for i, p := range pairs {
		units[i] = p[:]
	}
	return units
}

// conflict is the pairs of tasks with one last task above both that use a slot or resource together.
type conflict struct {
	name  string
	below bt.Task // that task: a parallel, or one that has a script in front of an action
	brief bool    // only within an instant
	pairs []pair
}

// together returns the states in which both tasks of a pair are active.
func (c *conflict) together(m *Model) set {
	in := m.space.none()
	for _, p := range c.pairs {
		in = m.space.or(in, m.space.and(m.active[p[0]], m.active[p[1]]))
	}
	return in
}

// tasks returns the tasks of the pairs.
func (c *conflict) tasks() []bt.Task {
	var all []bt.Task
	for _, p := range c.pairs {
		all = append(all, p[:]...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// met returns the pairs of which both are active.
func (c *conflict) met(active func(t bt.Task) bool) []pair {
	now := slices.DeleteFunc(c.tasks(), func(t bt.Task) bool { return !active(t) })
	return slices.DeleteFunc(slices.Clone(c.pairs), func(p pair) bool {
		return len(now) < 2 || !slices.Contains(now, p[0]) || !slices.Contains(now, p[1])
	})
}

// with returns the same with other pairs.
func (c *conflict) with(pairs []pair) *conflict {
	return &conflict{c.name, c.below, c.brief, pairs}
}

// askConflict: active(a) and active(b) for two that write one slot or hold one resource. Where procedures take time,
// the engine also searches the states that are not settled.
func askConflict(m *Model) []Finding {
	by, names := m.writers()
	for _, r := range m.subject.Declared.Resources {
		names = append(names, r.Name)
		by[r.Name] = r.Tasks
	}
	var found []Finding
	known := map[string][]pair{}
	for _, name := range names {
		for _, c := range m.conflicts(name, by[name]) {
			for _, f := range m.conflictFindings(c) {
				found = append(found, f)
				for _, u := range f.Units {
					known[name] = append(known[name], pair(u))
				}
			}
		}
	}
	if m.slow() {
		found = append(found, m.conflictsInPassing(by, known)...)
	}
	if len(found) == 0 && len(names) > 0 {
		text := "no two active tasks use " + names[0] + " together"
		if len(names) > 1 {
			text = fmt.Sprintf("no two active tasks share one of %d slots", len(names))
		}
		found = []Finding{{Verdict: Proved, Text: text}}
	}
	return found
}

// aboveBoth returns the last task that is above both, and its child that is above the first one.
func (m *Model) aboveBoth(p pair) (above, first bt.Task) {
	t, u := p[0], p[1]
	for t != u {
		if t < u {
			first, t = t, m.tree.Parent(t)
		} else {
			u = m.tree.Parent(u)
		}
	}
	return t, first
}

// exclusive reports whether never both tasks are active or have an exit procedure under way: the last task above both
// hands activity over from one child to the other. Else one of them may be prompt: active beside the other within an
// instant. A task that pins the first child does not run it again beside the other one.
func (m *Model) exclusive(p pair) (is, prompt bool) {
	above, first := m.aboveBoth(p)
	family := m.tree.Kind(above).Family()
	prompt = m.tree.Prompt(first) && !(family == bt.Chain && m.natures[above].Pins)
	return family != bt.Count && !prompt, prompt
}

// gather returns pairs that use one thing, by the parallel above them.
func (m *Model) gather(name string, pairs []pair, brief bool) []*conflict {
	var list []*conflict
	for _, p := range pairs {
		below, _ := m.aboveBoth(p)
		i := slices.IndexFunc(list, func(c *conflict) bool { return c.below == below })
		if i < 0 {
			i, list = len(list), append(list, &conflict{name: name, below: below, brief: brief})
		}
		list[i].pairs = append(list[i].pairs, p)
	}
	return list
}

// conflicts returns the tasks that the sets allow to be active together, in settled states or only within an instant,
// in which actions may be active and end at once.
func (m *Model) conflicts(name string, tasks []bt.Task) []*conflict {
	var settled, brief []pair
	before := m.space.none()
	for i, t := range tasks {
		both := m.space.and(m.space.and(before, m.active[t]), m.lawful)
		before = m.space.or(before, m.active[t])
		parallel := !m.space.empty(both) && m.hasParallelAbove(t)
		for _, u := range tasks[:i] {
			p := pairOf(t, u)
			switch exclusive, prompt := m.exclusive(p); {
			case prompt:
				brief = append(brief, p)
			case !parallel || exclusive:
			case !m.empty(m.space.and(m.lasts(t), m.lasts(u))):
				settled = append(settled, p)
			case !m.empty(m.space.and(m.active[t], m.active[u])):
				brief = append(brief, p)
			}
		}
	}
	return append(m.gather(name, settled, false), m.gather(name, brief, true)...)
}

func (m *Model) hasParallelAbove(t bt.Task) bool {
	for t = m.tree.Parent(t); t >= 0 && m.tree.Kind(t).Family() != bt.Count; t = m.tree.Parent(t) {
	}
	return t >= 0
}

const conflictAdvice = "let only one of them be active, or let one write and the others read: the first in the tree" +
	" has priority, which the others rarely expect"

// conflictFindings returns what is left of a conflict after the engine has confirmed it.
func (m *Model) conflictFindings(c *conflict) []Finding {
	look := m.meet
	if c.brief {
		look = m.meetAtOnce
	}
	seen, open, why := look(c)
	var found []Finding
	shows := func(p pair) evidence { return m.together(p, c.brief) }
	for _, part := range m.divided(seen, shows) {
		c := c.with(part)
		f := Finding{Verdict: Refuted, Text: m.who(c) + " are active together within one instant, and both use " + c.name,
			Advice: conflictAdvice}
		if !c.brief {
			f = m.conclude(c.together, func(x view) bool { return len(c.met(x.Active)) > 0 }, Finding{},
				Finding{Text: m.who(c) + " are active together and both use " + c.name, Advice: conflictAdvice})
		}
		f.fault = &fault{f.Text, f.Advice, shows(part[0])}
		if f.Tasks, f.Units, f.About = c.tasks(), unitsOf(part), c.name; f.Verdict == Proved {
			seen = slices.DeleteFunc(seen, func(p pair) bool { return slices.Contains(part, p) })
		} else {
			found = append(found, f)
		}
	}
	rest := slices.DeleteFunc(slices.Clone(c.pairs), func(p pair) bool {
		return slices.Contains(seen, p) || slices.Contains(open, p)
	})
	if !c.brief && len(rest) > 0 { // no state shows what the abstraction allows, but an instant may
		atOnce := c.with(rest)
		atOnce.brief = true
		found = append(found, m.conflictFindings(atOnce)...)
	}
	if len(open) > 0 {
		c := c.with(open)
		found = append(found, Finding{Verdict: Undecided, Tasks: c.tasks(), Units: unitsOf(open), About: c.name,
			Advice: memoryAdvice, Text: "not concluded whether " + m.who(c) + " use " + c.name + " together: " + why})
	}
	return found
}

// meetAtOnce searches with the engine for instants in which pairs are active together.
func (m *Model) meetAtOnce(c *conflict) (seen, open []pair, why string) {
	x := m.search(func(view) bool { return false })
	for _, p := range c.pairs {
		if m.reachable != nil && m.reachable.met[p] {
			seen = append(seen, p)
		} else if x.verdict != Proved {
			open = append(open, p)
		}
	}
	return seen, open, x.why
}

// meetings returns the pairs of actions of which one became active by changes while the other was active; active are
// those before.
func (m *Model) meetings(active []bt.Task, changes []bt.Change) []pair {
	var all []pair
	active = slices.Clone(active)
	for _, c := range changes {
		switch {
		case !m.tree.Kind(c.Task).Acts():
		case c.To == bt.Activating:
			for _, t := range active {
				all = append(all, pairOf(t, c.Task))
			}
			active = append(active, c.Task)
		case c.To == bt.Deactivating:
			active = slices.DeleteFunc(active, func(t bt.Task) bool { return t == c.Task })
		}
	}
	return all
}

// meet searches with the engine for settled states in which pairs are active together.
func (m *Model) meet(c *conflict) (seen, open []pair, why string) {
	open = slices.Clone(c.pairs)
	met := func(now []pair) {
		seen = append(seen, now...)
		open = slices.DeleteFunc(open, func(p pair) bool { return slices.Contains(now, p) })
	}
	if !m.slow() && !m.stepper().Lags() && !m.Remembers() {
		for _, p := range c.pairs {
			if !slices.Contains(open, p) {
				continue
			}
			f, ok := m.find(m.space.and(m.active[p[0]], m.active[p[1]]))
			if !ok {
				open = slices.DeleteFunc(open, func(o pair) bool { return o == p })
				continue
			}
			var now []pair
			if m.guided(append(f.before, f.world), func(x view) bool {
				now = c.with(open).met(x.Active)
				return slices.Contains(now, p)
			}) != nil {
				met(now)
			}
		}
	}
	if len(open) == 0 {
		return seen, nil, ""
	}
	x := m.search(func(x view) bool {
		if x.Quiet() {
			met(c.with(open).met(x.Active))
		}
		return len(open) == 0
	})
	if x.verdict == Proved {
		open = nil
	}
	return seen, open, x.why
}

// who names the pairs, in words before "are active together".
func (m *Model) who(c *conflict) string {
	tasks := c.tasks()
	if len(c.pairs) == 1 {
		return m.tree.Name(tasks[0]) + " and " + m.tree.Name(tasks[1])
	}
	for _, hub := range tasks {
		if !slices.ContainsFunc(c.pairs, func(p pair) bool { return p[0] != hub && p[1] != hub }) {
			rest := slices.DeleteFunc(slices.Clone(tasks), func(t bt.Task) bool { return t == hub })
			return m.tree.Name(hub) + " and each of " + m.some(rest)
		}
	}
	if len(c.pairs) == len(tasks)*(len(tasks)-1)/2 {
		return "any two of " + m.some(tasks)
	}
	return fmt.Sprintf("%d pairs of %s", len(c.pairs), m.some(tasks))
}

// allExclusive reports whether never two of the tasks are active, or have an exit procedure under way, together.
func (m *Model) allExclusive(tasks []bt.Task) bool {
	for i, t := range tasks {
		for _, u := range tasks[:i] {
			if is, _ := m.exclusive(pairOf(t, u)); !is && t != u {
				return false
			}
		}
	}
	return true
}

// conflictsInPassing finds the pairs of tasks that share a slot or resource only because procedures take time; an exit
// procedure uses the slots that it writes.
func (m *Model) conflictsInPassing(by map[string][]bt.Task, known map[string][]pair) []Finding {
	leaving := map[string][]bt.Task{}
	for i := range m.plan.Leaves {
		for _, a := range m.plan.Leaves[i].Exit {
			leaving[a.Target] = append(leaving[a.Target], m.plan.Leaves[i].Task)
		}
	}
	names := slices.AppendSeq(slices.Collect(maps.Keys(by)), maps.Keys(leaving))
	slices.Sort(names)
	names = slices.DeleteFunc(slices.Compact(names), func(name string) bool {
		return m.allExclusive(slices.Concat(by[name], leaving[name]))
	})
	if len(names) == 0 {
		return nil
	}
	users := func(x view, name string) []bt.Task {
		tasks := slices.DeleteFunc(slices.Clone(by[name]), func(t bt.Task) bool { return !x.Active(t) })
		for _, t := range leaving[name] {
			if x.Status(t) == bt.Deactivating {
				tasks = append(tasks, t)
			}
		}
		slices.Sort(tasks)
		return slices.Compact(tasks)
	}
	more := map[string][]pair{}
	c := m.search(func(s view) bool {
		for _, name := range names {
			for i, tasks := 0, users(s, name); i < len(tasks); i++ {
				for _, u := range tasks[i+1:] {
					if x := pairOf(tasks[i], u); !slices.Contains(known[name], x) && !slices.Contains(more[name], x) {
						more[name] = append(more[name], x)
					}
				}
			}
		}
		return false
	})
	var passing []Finding
	for _, name := range names {
		shows := func(p pair) evidence {
			return m.at(func(s view) bool {
				tasks := users(s, name)
				return slices.Contains(tasks, p[0]) && slices.Contains(tasks, p[1])
			})
		}
		for _, part := range m.divided(more[name], shows) {
			for _, x := range m.gather(name, part, false) {
				c := m.search(func(s view) bool {
					tasks := users(s, name)
					return len(x.met(func(t bt.Task) bool { return slices.Contains(tasks, t) })) > 0
				})
				f := Finding{Verdict: Refuted, Tasks: x.tasks(), Units: unitsOf(x.pairs), About: name, Script: c.script,
					Text: m.who(x) + " both use " + name + ", because procedures take time", Advice: conflictAdvice}
				f.fault = &fault{f.Text, f.Advice, shows(part[0])}
				passing = append(passing, f)
			}
		}
	}
	if c.verdict == Undecided {
		passing = append(passing, Finding{Verdict: Undecided, Advice: memoryAdvice,
			Text: "not concluded whether tasks share a slot where procedures take time: " + c.why})
	}
	return passing
}
