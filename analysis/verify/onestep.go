package verify

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"canopy/bt"
	"canopy/document/plan"
)

// The questions of one step: which tasks are active in a state, whatever comes before and after.

// anyActive returns the states in which one of the tasks is active.
func (m *Model) anyActive(tasks []bt.Task) set {
	sum := m.space.none()
	for _, t := range tasks {
		sum = m.space.or(sum, m.active[t])
	}
	return sum
}

// actions returns the plan's actions in the order of the tree.
func (m *Model) actions() []bt.Task {
	return slices.DeleteFunc(slices.Clone(m.tree.Leaves()), func(t bt.Task) bool { return !m.tree.Kind(t).Acts() })
}

// memoryAdvice is the advice for questions that memory keeps from being concluded.
const memoryAdvice = "reactive composites and actions without outcome have no memory; a subtree can be checked as a" +
	" separate plan"

// conclude returns the finding of a question about a set. Its fields are those of proved or of refuted.
func (m *Model) conclude(a set, violated violation, proved, refuted Finding) Finding {
	c := m.show(a, violated)
	f := refuted
	f.Verdict = c.verdict
	switch c.verdict {
	case Proved:
		f = proved
		f.Verdict, f.Assumes = Proved, c.assumes
		if c.how != "" {
			f.Text += ", " + c.how
		}
		if c.why != "" {
			f.Advice = "not concluded otherwise: " + c.why
		}
	case Refuted:
		f.Script = c.script
		switch {
		case m.slow() && m.empty(a):
			f.Where = []string{m.worldText(c.world)}
			f.Text += ", because procedures take time"
		case m.Remembers():
			f.Text += ", depending on the plan's memory"
			fallthrough
		default:
			f.Where, f.More = m.regions(a)
		}
	case Undecided:
		f.Text, f.Where = "not concluded whether "+f.Text+": "+c.why, nil
		f.Advice = memoryAdvice
	}
	return f
}

// askComplete: gap = not good(root) and not or_a active(a).
func askComplete(m *Model) []Finding {
	s, root, actions := m.space, m.tree.Root(), m.actions()
	gap := s.not(s.or(m.good[root], m.anyActive(actions)))
	violated := func(p *Player, _ []bool) bool {
		return !p.good(root) && !slices.ContainsFunc(actions, p.active)
	}
	return []Finding{m.conclude(gap, violated,
		Finding{Text: "in every state some action is active, or the plan has succeeded"},
		Finding{Text: "no action is active, and the plan has not succeeded",
			Advice: "end the plan's fallbacks with an action that needs no condition"})}
}

// askDead: active(t) is empty. Of nested tasks that are never active, the finding names the outermost.
func askDead(m *Model) []Finding {
	var found []Finding
	asked := 0
	var visit func(t bt.Task)
	visit = func(t bt.Task) {
		if !m.acts[t] || m.space.full() {
			return
		}
		asked++
		if m.idles(t) {
			f := m.deadFinding(t)
			if m.slow() && !m.explored {
				f.Assumes = append(f.Assumes, NoDelay)
			}
			found = append(found, f)
			return
		}
		for _, k := range m.tree.Children(t) {
			visit(k)
		}
	}
	visit(m.tree.Root())
	if m.Remembers() && !m.explored { // a state that the abstraction allows need not be reachable
		found = append(found, m.unreached()...)
	}
	if len(found) == 0 {
		return []Finding{{Text: fmt.Sprintf("each of %s can become active", count(asked, "task"))}}
	}
	return found
}

func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// ends returns the tasks that can be active and have no such task below them: actions, and scripts that wait.
func (m *Model) ends() []bt.Task {
	var tasks []bt.Task
	for t := range bt.Task(m.tree.Len()) {
		if m.acts[t] && !slices.ContainsFunc(m.tree.Children(t), func(k bt.Task) bool { return m.acts[k] }) {
			tasks = append(tasks, t)
		}
	}
	return tasks
}

// observe starts the engine of a plan with memory in states in which each of its ends might be active, and records the
// tasks that it activates: these need no proof. Where procedures take time it visits all states, if it can.
func (m *Model) observe() {
	if m.entered != nil {
		return
	}
	m.entered = make([]bool, m.tree.Len())
	if m.slow() && m.search(func(*Player, []bool) bool { return false }).verdict == Proved {
		m.explored = true
		for t, entered := range m.reachable.entered {
			if entered {
				m.awake(bt.Task(t))
			}
		}
		return
	}
	if !m.Remembers() {
		return
	}
	for _, a := range m.ends() {
		in := m.space.and(m.active[a], m.lawful)
		if m.entered[a] || m.space.empty(in) {
			continue
		}
		world := concrete(m.space.witness(in))
		p, err := m.newPlayer(world)
		if err != nil || !p.lawful(world) {
			continue
		}
		for _, t := range p.entered {
			m.awake(t)
		}
	}
}

// awake records that a task and its ancestors can be active.
func (m *Model) awake(t bt.Task) {
	for ; t >= 0 && !m.entered[t]; t = m.tree.Parent(t) {
		m.entered[t] = true
	}
}

// idles reports whether a task is active in no state, including the unsettled states of an instant, in which an action
// may be active and end at once.
func (m *Model) idles(t bt.Task) bool {
	m.observe()
	return !m.entered[t] && (m.explored || m.space.empty(m.space.and(m.active[t], m.passing)))
}

// unreached finds, with the engine, the ends of a plan with memory that never become active, although the
// abstraction allows it.
func (m *Model) unreached() []Finding {
	rest := slices.DeleteFunc(m.ends(), func(t bt.Task) bool { return m.entered[t] || m.idles(t) })
	if len(rest) == 0 {
		return nil
	}
	c := m.search(func(*Player, []bool) bool {
		rest = slices.DeleteFunc(rest, func(t bt.Task) bool { return m.reachable.entered[t] })
		return len(rest) == 0
	})
	var found []Finding
	for _, t := range rest {
		found = append(found, m.neverSeen(t, c.how))
	}
	if c.verdict == Undecided {
		return []Finding{{Tasks: rest, Verdict: Undecided, Advice: memoryAdvice,
			Text: "not concluded whether " + m.some(rest) + " can become active: " + c.why}}
	}
	return found
}

func (m *Model) neverSeen(t bt.Task, how string) Finding {
	return Finding{Tasks: []bt.Task{t}, Verdict: Refuted,
		Text: m.tree.Name(t) + " is never active, found " + how, Advice: "change the tasks before it, or remove it"}
}

// some lists the first of the tasks.
func (m *Model) some(tasks []bt.Task) string {
	var names []string
	for i, t := range tasks {
		if i == maxParts {
			names = append(names, fmt.Sprintf("%d more", len(tasks)-i))
			break
		}
		names = append(names, m.tree.Name(t))
	}
	return strings.Join(names, ", ")
}

// need is a condition for a task to be active.
type need struct {
	text string
	in   set
}

// deadFinding explains why a task is never active, by a minimal set of needs that exclude each other.
func (m *Model) deadFinding(t bt.Task) Finding {
	if m.explored && !m.space.empty(m.space.and(m.active[t], m.passing)) {
		return m.neverSeen(t, m.visited(len(m.reachable.states)))
	}
	of := t // a composite is explained by its first action
	for acting := []bt.Task{t}; len(acting) > 0; {
		of = acting[0]
		acting = slices.DeleteFunc(slices.Clone(m.tree.Children(of)), func(k bt.Task) bool { return !m.acts[k] })
	}
	needs := m.needs(of)
	// Deletion: a need is left out if the others still exclude each other. What remains is minimal.
	for i := 0; i < len(needs); {
		others := slices.Delete(slices.Clone(needs), i, i+1)
		all := m.space.all()
		for _, n := range others {
			all = m.space.and(all, n.in)
		}
		if m.space.empty(all) {
			needs = others
		} else {
			i++
		}
	}
	var texts []string
	for _, n := range needs {
		texts = append(texts, n.text)
	}
	who := "it"
	if of != t {
		who = m.tree.Name(of)
	}
	f := Finding{Tasks: []bt.Task{t}, Verdict: Refuted, Text: m.tree.Name(t) + " is never active",
		Advice: "change one of these, or remove the task"}
	switch len(texts) {
	case 0:
		f.Text += ": the declared facts exclude every state"
		f.Advice = "correct the facts"
	case 1:
		f.Text += ": " + who + " would need that " + texts[0] + ", which never happens"
	default:
		f.Text += ": " + who + " would need that " + strings.Join(texts[:len(texts)-1], ", that ") + " and that " +
			texts[len(texts)-1] + ", which exclude each other"
	}
	return f
}

// needs lists the conditions for an action to be active, from the action upwards.
func (m *Model) needs(t bt.Task) []need {
	s := m.space
	var list []need
	add := func(text string, in set) { list = append(list, need{text: text, in: in}) }
	name := m.tree.Name
	add(name(t)+" has something to do and can run", s.not(s.or(m.good[t], m.bad[t])))
	for child, p := t, m.tree.Parent(t); p >= 0; child, p = p, m.tree.Parent(p) {
		if over := m.passes(p); over != nil {
			for _, k := range m.tree.Children(p) {
				if k == child {
					break
				}
				m.passedNeeds(k, m.tree.Kind(p).Over() == bt.Success, add)
			}
		}
		if in := m.wanted[child]; in != nil {
			add(name(p)+" comes to "+name(child), in)
		}
		if m.tree.Kind(p).Family() == bt.Count {
			add(name(p)+" has not ended", s.not(s.or(m.good[p], m.bad[p])))
		}
		if m.holds[p] != nil {
			add("no result of "+name(p)+" is held", s.not(m.holds[p]))
		}
	}
	if m.latches != nil {
		add("the memory of conditions with hysteresis is consistent", m.latches)
	}
	for i := range m.facts {
		add("the fact `"+m.subject.Declared.Facts[i].Text+"` holds", m.of(&m.facts[i]))
	}
	if len(m.rules) > 0 {
		add("the memory of the tree is consistent", m.obey(s.all(), m.rules))
	}
	slices.Reverse(list) // the first needs are left out first: rules before the conditions near the task
	return list
}

// passedNeeds adds the conditions for a task to have succeeded or failed; those of each child, if all are needed.
func (m *Model) passedNeeds(t bt.Task, good bool, add func(string, set)) {
	kind, kids := m.tree.Kind(t), m.tree.Children(t)
	switch {
	case m.holds[t] != nil: // a held result does not depend on the children
	case kind.Family() == bt.Chain && kind.Over() == bt.Accept && kind.Verdict(bt.Success) == bt.Failure &&
		kind.Verdict(bt.Failure) == bt.Success: // it inverts the result
		m.passedNeeds(kids[0], !good, add)
		return
	case good && kind.Over() == bt.Success, !good && kind.Over() == bt.Failure:
		for _, k := range kids {
			m.passedNeeds(k, good, add)
		}
		return
	}
	name, in, did := m.tree.Name(t), m.bad[t], "has failed"
	if good {
		in, did = m.good[t], "has succeeded"
	}
	if i, ok := m.leafOf[t]; ok && m.leaves[i].condition {
		if did = "is false"; good {
			did = "is true"
		}
		if m.plan.Leaves[i].On != nil {
			did += " (" + m.plan.Leaves[i].On.String() + ")"
		}
	}
	add(name+" "+did, in)
}

// askGoal: good(root) and not goal; goal and not good(root).
func askGoal(m *Model) []Finding {
	if m.goal == nil {
		return nil
	}
	s, root, goal := m.space, m.tree.Root(), m.of(m.goal)
	text, at := m.subject.Declared.Goal.Text, m.subject.Declared.Goal.Place
	holds := func(p *Player, w []bool) bool { return p.holds(m.goal, w) }
	return []Finding{
		m.conclude(s.and(m.good[root], s.not(goal)),
			func(p *Player, w []bool) bool { return p.good(root) && !holds(p, w) },
			Finding{Place: at, Text: "the plan succeeds only where its goal holds: " + text},
			Finding{Place: at, Text: "the plan succeeds where its goal does not hold: " + text,
				Advice: "let the plan test the rest of the goal as well"}),
		m.conclude(s.and(goal, s.not(m.good[root])),
			func(p *Player, w []bool) bool { return holds(p, w) && !p.good(root) },
			Finding{Place: at, Text: "the plan succeeds wherever its goal holds: " + text},
			Finding{Place: at, Text: "the plan does not succeed where its goal holds: " + text,
				Advice: "let the plan test the goal first: a fallback whose first child is the goal"}),
	}
}

// askAlways: not property.
func askAlways(m *Model) []Finding {
	var found []Finding
	for i := range m.always {
		property, text, at := &m.always[i], m.subject.Declared.Always[i].Text, m.subject.Declared.Always[i].Place
		found = append(found, m.conclude(m.space.not(m.of(property)),
			func(p *Player, w []bool) bool { return !p.holds(property, w) },
			Finding{Place: at, About: text, Text: "holds in every state: " + text},
			Finding{Place: at, About: text, Text: "does not hold in every state: " + text,
				Advice: "find the first task in the tree that is active there"}))
	}
	return found
}

// writers returns the actions that give a slot a value while they are active, by slot, and the names in the order of
// the plan.
func (m *Model) writers() (by map[string][]bt.Task, names []string) {
	by = map[string][]bt.Task{}
	for i := range m.plan.Leaves {
		l := &m.plan.Leaves[i]
		for _, list := range [...][]plan.Assignment{l.Write, l.Entry} {
			for _, a := range list {
				if by[a.Target] == nil {
					names = append(names, a.Target)
				}
				if !slices.Contains(by[a.Target], l.Task) {
					by[a.Target] = append(by[a.Target], l.Task)
				}
			}
		}
	}
	return by, names
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
	for _, name := range names {
		before := m.space.none()
		for i, t := range by[name] {
			both := m.space.and(before, m.active[t])
			before = m.space.or(before, m.active[t])
			if m.empty(both) {
				continue
			}
			for _, u := range by[name][:i] {
				found = append(found, m.conflictFinding(name, u, t)...)
			}
		}
	}
	if m.slow() {
		found = append(found, m.conflictsInPassing(by, found)...)
	}
	if len(found) == 0 && len(names) > 0 {
		found = []Finding{{Text: fmt.Sprintf("no two active tasks share one of %s", count(len(names), "slot"))}}
	}
	return found
}

// conflictsInPassing finds the pairs of tasks that share a slot or resource only because procedures take time; an exit
// procedure uses the slots that it writes.
func (m *Model) conflictsInPassing(by map[string][]bt.Task, found []Finding) []Finding {
	type pair struct {
		name string
		t, u bt.Task
	}
	known := map[pair]bool{}
	for _, f := range found {
		known[pair{f.About, min(f.Tasks[0], f.Tasks[1]), max(f.Tasks[0], f.Tasks[1])}] = true
	}
	leaving := map[string][]bt.Task{}
	for i := range m.plan.Leaves {
		for _, a := range m.plan.Leaves[i].Exit {
			leaving[a.Target] = append(leaving[a.Target], m.plan.Leaves[i].Task)
		}
	}
	names := slices.AppendSeq(slices.Collect(maps.Keys(by)), maps.Keys(leaving))
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) == 0 {
		return nil
	}
	users := func(p *Player, name string) []bt.Task {
		tasks := slices.DeleteFunc(slices.Clone(by[name]), func(t bt.Task) bool { return !p.active(t) })
		for _, t := range leaving[name] {
			if p.engine.Status(t) == bt.Deactivating {
				tasks = append(tasks, t)
			}
		}
		slices.Sort(tasks)
		return slices.Compact(tasks)
	}
	var more []pair
	c := m.search(func(p *Player, _ []bool) bool {
		for _, name := range names {
			for i, tasks := 0, users(p, name); i < len(tasks); i++ {
				for _, u := range tasks[i+1:] {
					if x := (pair{name, tasks[i], u}); !known[x] {
						known[x], more = true, append(more, x)
					}
				}
			}
		}
		return false
	})
	var passing []Finding
	for _, x := range more {
		c := m.search(func(p *Player, _ []bool) bool {
			tasks := users(p, x.name)
			return slices.Contains(tasks, x.t) && slices.Contains(tasks, x.u)
		})
		passing = append(passing, Finding{Verdict: Refuted, Tasks: []bt.Task{x.t, x.u}, About: x.name, Script: c.script,
			Text: fmt.Sprintf("%s and %s both use %s, because procedures take time", m.tree.Name(x.t), m.tree.Name(x.u),
				x.name),
			Advice: "let only one of them be active: the first in the tree has priority, which the second rarely expects"})
	}
	if c.verdict == Undecided {
		passing = append(passing, Finding{Verdict: Undecided, Advice: memoryAdvice,
			Text: "not concluded whether tasks share a slot where procedures take time: " + c.why})
	}
	return passing
}

func (m *Model) conflictFinding(name string, t, u bt.Task) []Finding {
	f := m.conclude(m.space.and(m.active[t], m.active[u]),
		func(p *Player, _ []bool) bool { return p.active(t) && p.active(u) },
		Finding{},
		Finding{Tasks: []bt.Task{t, u}, About: name, Text: fmt.Sprintf("%s and %s are active together and both use %s",
			m.tree.Name(t), m.tree.Name(u), name),
			Advice: "let only one of them be active: the first in the tree has priority, which the second rarely expects"})
	if f.Verdict == Proved {
		return nil
	}
	return []Finding{f}
}

// askCommand: or_w active(w) over the writers w of a command is empty: no task ever writes it. For commands declared to
// be always written: not or_w active(w).
func askCommand(m *Model) []Finding {
	by, _ := m.writers()
	var found []Finding
	written := 0
	for _, c := range m.subject.Commands {
		if slices.ContainsFunc(by[c], func(t bt.Task) bool { return !m.idles(t) }) {
			written++
			continue
		}
		found = append(found, Finding{Verdict: Refuted, Tasks: by[c], About: c, Text: "no task ever writes " + c,
			Advice: "it keeps its default; if that is intended, accept this finding"})
	}
	if written > 0 {
		found = append(found, Finding{Text: fmt.Sprintf("%s can be written by a task", count(written, "command"))})
	}
	for _, slot := range m.subject.Declared.Written {
		writers := by[slot]
		found = append(found, m.conclude(m.space.not(m.anyActive(writers)),
			func(p *Player, _ []bool) bool { return !slices.ContainsFunc(writers, p.active) },
			Finding{About: slot, Text: slot + " is written in every state"},
			Finding{Tasks: writers, About: slot, Text: "no active task writes " + slot,
				Advice: "write it in every task that can be active there"}))
	}
	return found
}
