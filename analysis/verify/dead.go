package verify

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/analysis/flown"
	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/declare"
)

// Tasks that are never active, and why.

// askDead: active(t) is empty. Of nested tasks that are never active, the findings name the outermost; those that never
// are for the same reason are one finding.
func askDead(m *Model) []Finding {
	var dead, brief []bt.Task
	asked := 0
	var visit func(t bt.Task)
	visit = func(t bt.Task) {
		if !m.natures[t].Acts || m.space.full() {
			return
		}
		asked++
		if m.neverActive(t) {
			dead = append(dead, t)
			return
		}
		if m.tree.Kind(t).Acts() && m.empty(m.lasts(t)) {
			brief = append(brief, t)
		}
		for _, k := range m.tree.Children(t) {
			visit(k)
		}
	}
	visit(m.tree.Root())
	found := m.causes(dead)
	if m.slow() && !m.explored {
		told := m.tellingAlways()
		for i := range found {
			if told == nil || slices.ContainsFunc(found[i].Tasks, func(t bt.Task) bool {
				return !m.tree.Kind(t).Acts() || told.active[t] != never
			}) {
				found[i].Assumes = append(found[i].Assumes, NoDelay)
			}
		}
	}
	if m.overApproximates() {
		found = append(found, m.unreached()...)
	}
	if len(found) == 0 {
		found = []Finding{{Verdict: Proved,
			Text: fmt.Sprintf("each of %s can become active", count(asked, "task")) + m.flown()}}
	}
	if last := found[len(found)-1]; len(brief) > 0 && !m.slow() && last.Verdict != Undecided {
		found[len(found)-1].Text += "; only within an instant, because they end at once: " + m.some(brief)
	}
	if len(m.tree.Shared()) > 0 {
		found = append(found, m.deadlocks())
	}
	return found
}

// flown names the flight that has shown tasks active; "" if there is none.
func (m *Model) flown() string {
	flight := m.subject.Flown
	if flight == nil || len(flight.Active) == 0 {
		return ""
	}
	last := bt.Task(-1)
	for t, at := range flight.Active {
		if last < 0 || at > flight.Active[last] || at == flight.Active[last] && t > last {
			last = t
		}
	}
	return fmt.Sprintf("; %d were flown in %s, %s last at t = %s s", len(flight.Active), flight.Run, m.tree.Name(last),
		diag.Number(flight.Active[last], 9))
}

func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// ends returns the tasks that can be active and have no such task below them: actions, and automata that wait.
func (m *Model) ends() []bt.Task {
	var tasks []bt.Task
	for t := range bt.Task(m.tree.Len()) {
		if m.natures[t].Acts && !slices.ContainsFunc(m.tree.Children(t), func(k bt.Task) bool { return m.natures[k].Acts }) {
			tasks = append(tasks, t)
		}
	}
	return tasks
}

// lasts returns where a task is active and, if it is an action, has no outcome.
func (m *Model) lasts(t bt.Task) set {
	i, ok := m.leafOf[t]
	if !ok {
		return m.active[t]
	}
	l := &m.leaves[i]
	return m.space.and(m.active[t], m.space.not(m.space.or(m.of(l.done), m.of(l.failed))))
}

// observe records tasks that are seen active: these need no proof. Where the sets of states do not tell what is active,
// it visits all states, if it can, or until it has seen all ends.
func (m *Model) observe() {
	if m.entered != nil {
		return
	}
	m.entered = make([]bool, m.tree.Len())
	if flight := m.subject.Flown; flight != nil {
		for t := range flight.Active {
			m.enter(t)
		}
	}
	if !m.stepper().Written() && !m.stepper().Lags() && !m.slow() && !m.Remembers() && !m.uncertain {
		return
	}
	if m.subject.Fly != nil {
		m.enterFlown(m.subject.Fly(m.space.work.more))
	}
	x := m.flights()
	seen := func(t bt.Task) bool { return m.entered[t] || x.entered[t] }
	ends := slices.DeleteFunc(m.ends(), seen)
	for len(ends) > 0 && x.more() {
		ends = slices.DeleteFunc(ends, seen)
	}
	m.explored = len(ends) > 0 && x.conclusion().verdict == Proved
	if ends = slices.DeleteFunc(ends, seen); len(ends) > 0 && !m.explored {
		m.scout(x, ends)
	}
	for t, entered := range x.entered {
		if entered {
			m.enter(bt.Task(t))
		}
	}
}

// scout looks for runs in which tasks are active that the nearest states did not show. It goes on from each state that
// shows one, else from the first in which least has changed, and comes back to the others later.
func (m *Model) scout(x *flights, missing []bt.Task) {
	steps, over := m.abstract(), m.bounds(m.allowance()).Over
	m.plain(steps)
	known, moves, why := map[[sha256.Size]byte]bool{}, 0, ""
	for way := []flown.Key{""}; len(way) > 0 && len(missing) > 0 && why == ""; {
		from := way[len(way)-1]
		way = way[:len(way)-1]
		var next []flown.Key
		steps.Steps(from, func(at *flown.Moment) {
			if !at.Over || at.Err != nil {
				return
			}
			if moves++; moves%64 == 0 {
				why = over(0)
			}
			if at.Stop = why != ""; at.Stop || !at.Possible() {
				return
			}
			for _, t := range at.Entered() {
				at.Stop = at.Stop || !x.entered[t] && slices.Contains(missing, t)
				x.entered[t] = true
			}
			if state := sha256.Sum256([]byte(at.Class())); at.Stop || !known[state] {
				known[state] = true
				next = append(next, at.After())
			}
			if at.Stop { // the others come later
				next = []flown.Key{next[len(next)-1], from}
			}
		})
		slices.Reverse(next)
		way = append(way, next...)
		missing = slices.DeleteFunc(missing, func(t bt.Task) bool { return x.entered[t] })
	}
}

// enter records that a task and its ancestors can be active.
func (m *Model) enter(t bt.Task) {
	for ; t >= 0 && !m.entered[t]; t = m.tree.Parent(t) {
		m.entered[t] = true
	}
}

// enterFlown records the tasks that are active in the mission's own flight, if that keeps the facts.
func (m *Model) enterFlown(s declare.Shown) {
	for _, at := range s.Instants {
		for _, c := range at.Changes {
			if s.Lawful && c.To == bt.Activating {
				m.enter(c.Task)
			}
		}
	}
}

// neverActive reports whether a task is active in no state, including the unsettled states of an instant, in which an
// action may be active and end at once.
func (m *Model) neverActive(t bt.Task) bool {
	m.observe()
	if m.reachable != nil && m.reachable.broken[t] {
		return false
	}
	return !m.entered[t] && (m.explored || m.empty(m.active[t]))
}

// overApproximates reports whether a state that the abstraction allows need not be reachable.
func (m *Model) overApproximates() bool { return m.reachable != nil || m.Remembers() || m.uncertain }

// becomeActive decides whether one of the tasks can become active; why is the reason if it does not.
func (m *Model) becomeActive(tasks []bt.Task) (v Verdict, why string) {
	tasks = slices.DeleteFunc(slices.Clone(tasks), m.neverActive)
	seen := func(of []bool) bool { return slices.ContainsFunc(tasks, func(t bt.Task) bool { return of[t] }) }
	switch {
	case len(tasks) == 0:
		return Refuted, ""
	case !m.overApproximates() || seen(m.entered):
		return Proved, ""
	}
	c := m.search(func(view) bool { return seen(m.reachable.entered) })
	switch x := m.reachable; {
	case seen(x.entered):
		return Proved, ""
	case c.verdict == Undecided:
		return Undecided, c.why
	case seen(x.broken):
		return Undecided, cmp.Or(x.failed, x.unsettled).Error()
	}
	return Refuted, ""
}

// unreached finds, with the engine, the ends of a plan with memory that never become active, although the
// abstraction allows it.
func (m *Model) unreached() []Finding {
	rest := slices.DeleteFunc(m.ends(), func(t bt.Task) bool { return m.entered[t] || m.neverActive(t) })
	if len(rest) == 0 {
		return nil
	}
	seen := func(view) bool {
		rest = slices.DeleteFunc(rest, func(t bt.Task) bool { return m.reachable.entered[t] })
		return len(rest) == 0
	}
	c := m.search(seen)
	switch {
	case seen(nil): // also what the last steps show, which lead to no other state
		return nil
	case c.verdict == Undecided:
		return []Finding{{Tasks: rest, Verdict: Undecided, Advice: cmp.Or(c.advice, memoryAdvice),
			Text: "not concluded whether " + m.some(rest) + " can become active: " + c.why}}
	}
	var found []Finding
	brief := func(t bt.Task) bool { return m.reachable.broken[t] }
	if broken := slices.DeleteFunc(slices.Clone(rest), func(t bt.Task) bool { return !brief(t) }); len(broken) > 0 {
		found = append(found, Finding{Tasks: broken, Verdict: Undecided, Advice: "change a condition that these tasks change",
			Text: fmt.Sprintf("not concluded whether %s can become active: only in instants that do not end: %v", m.some(broken),
				cmp.Or(m.reachable.failed, m.reachable.unsettled))})
	}
	if rest = slices.DeleteFunc(rest, brief); len(rest) > 0 {
		found = append(found, m.neverSeen(rest, c.how))
	}
	return found
}

// neverSeen is the finding of tasks that the engine never activates.
func (m *Model) neverSeen(tasks []bt.Task, how string) Finding {
	are, them := either(tasks, "is", "are"), either(tasks, "it", "them")
	f := Finding{Tasks: tasks, Units: each(tasks), Verdict: Refuted,
		Text:   m.some(tasks) + " " + are + " never active, found " + how,
		Advice: "change the conditions on the way to " + them + ", or remove " + them}
	if slices.ContainsFunc(tasks, func(t bt.Task) bool { // some action must have ended before it
		return slices.ContainsFunc(m.needs(t), func(n need) bool { return n.passed >= 0 && m.natures[n.passed].Acts })
	}) {
		f.Advice = "let the tasks before " + them + " end, by `done` or a condition, or remove " + them
	}
	return f
}

// either returns a word about one, or about several.
func either[T any](list []T, one, several string) string {
	if len(list) > 1 {
		return several
	}
	return one
}

// each returns several tasks as the units of one finding, nil for one task.
func each(tasks []bt.Task) (units [][]bt.Task) {
	if len(tasks) > 1 {
		units = slices.Collect(slices.Chunk(tasks, 1))
	}
	return units
}

// some lists the first of the tasks.
func (m *Model) some(tasks []bt.Task) string {
	names := m.tree.Names(tasks[:min(maxParts, len(tasks))])
	if more := len(tasks) - maxParts; more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}

// need is a condition for a task to be active.
type need struct {
	text   string
	in     set
	passed bt.Task // that the action comes after; -1: the need is another one
	memory bool    // it is a rule of the memory, which is true of every run
}

// cause is a minimal set of needs that exclude each other, and the tasks that are never active for it.
type cause struct {
	needs []need
	tasks []bt.Task
	of    bt.Task // the action that has these needs: below the first task, or that task itself
}

// causes explains why tasks are never active, each cause once.
func (m *Model) causes(dead []bt.Task) []Finding {
	var list []*cause
	var unseen []bt.Task
	for _, t := range dead {
		if m.explored && !m.space.empty(m.space.and(m.active[t], m.lawful)) {
			unseen = append(unseen, t)
			continue
		}
		of := t // a composite is explained by its first action
		for acting := []bt.Task{t}; len(acting) > 0; {
			of = acting[0]
			acting = slices.DeleteFunc(slices.Clone(m.tree.Children(of)), func(k bt.Task) bool { return !m.natures[k].Acts })
		}
		needs := m.needs(of)
		texts := map[string]bool{}
		for _, n := range needs {
			texts[n.text] = true
		}
		i := slices.IndexFunc(list, func(c *cause) bool {
			return !slices.ContainsFunc(c.needs, func(n need) bool { return !texts[n.text] })
		})
		if i < 0 {
			i, list = len(list), append(list, &cause{needs: m.excluding(needs), of: of})
		}
		list[i].tasks = append(list[i].tasks, t)
	}
	var found []Finding
	for _, c := range list {
		found = append(found, m.causeFinding(c))
	}
	if len(unseen) > 0 {
		found = append(found, m.neverSeen(unseen, visited(m.reachable.states.Len()-1)))
	}
	return found
}

// excluding returns a minimal part of needs that exclude each other; of several, the one that begins last.
func (m *Model) excluding(needs []need) []need {
	var core []need
	in := m.space.all()
	for rest := needs; !m.space.empty(in); {
		all, i := in, len(rest)
		for i > 0 && !m.space.empty(all) {
			i--
			all = m.space.and(all, rest[i].in)
		}
		if !m.space.empty(all) {
			return needs // in a full space nothing is known
		}
		core = append(core, rest[i])
		in = m.space.and(in, rest[i].in)
		rest = rest[i+1:]
	}
	return core
}

// causeFinding describes a cause.
func (m *Model) causeFinding(c *cause) Finding {
	var texts []string
	for _, n := range c.needs {
		if !n.memory {
			texts = append(texts, n.text)
		}
	}
	f := Finding{Tasks: c.tasks, Units: each(c.tasks), Verdict: Refuted,
		Text:   m.some(c.tasks) + either(c.tasks, " is", " are") + " never active",
		Advice: "change one of these, or remove the task"}
	who := either(c.tasks, "it", "each")
	if len(c.tasks) == 1 && c.of != c.tasks[0] {
		who = m.tree.Name(c.of)
	}
	switch len(texts) {
	case 0:
		f.Text += ": the declared facts exclude every state"
		f.Advice = "correct the facts"
	case 1:
		f.Text += ": " + who + " would need that " + texts[0] + ", which never happens"
		if p := c.needs[0].passed; p >= 0 && len(c.needs) == 1 {
			f.Advice = fmt.Sprintf("move it before %s, or let %s end: give it a condition or an outcome", m.tree.Name(p),
				m.tree.Name(p))
		}
	default:
		f.Text += ": " + who + " would need that " + strings.Join(texts[:len(texts)-1], ", that ") + " and that " +
			texts[len(texts)-1] + ", which exclude each other"
	}
	return f
}

// needs lists the conditions for an action to be active, from the action upwards.
func (m *Model) needs(t bt.Task) []need {
	var list []need
	passed := func(t bt.Task, text string, in set) { list = append(list, need{text: text, in: in, passed: t}) }
	add := func(text string, in set) { passed(-1, text, in) }
	rule := func(in set) { list = append(list, need{in: in, passed: -1, memory: true}) }
	name := m.tree.Name
	add(name(t)+" has something to do and can run", m.judged[t].Open)
	for child, p := t, m.tree.Parent(t); p >= 0; child, p = p, m.tree.Parent(p) {
		if m.tree.Kind(p).Over() != bt.Accept {
			for _, k := range m.tree.Children(p) {
				if k == child {
					break
				}
				m.passedNeeds(k, m.tree.Kind(p).Over() == bt.Success, passed)
			}
		}
		if m.natures[p].Course != nil {
			add(name(p)+" comes to "+name(child)+m.after(p, child), m.wanted[child])
		}
		if m.tree.Kind(p).Family() == bt.Count {
			add(name(p)+" has not ended", m.judged[p].Open)
		}
	}
	if m.latches != always {
		rule(m.latches)
	}
	for i := range m.facts {
		if m.decides(&m.facts[i]) {
			add("the fact `"+m.subject.Declared.Facts[i].Text+"` holds", m.of(&m.facts[i]))
		}
	}
	slices.Reverse(list) // the first needs are left out first: rules before the conditions near the task
	return list
}

// after returns after which results of other children an automaton comes to a child, "" if it begins with it.
func (m *Model) after(p, child bt.Task) string {
	var texts []string
	steps := m.natures[p].Course.Steps
	for _, to := range steps {
		for _, s := range steps {
			did := map[bt.Status]string{bt.Success: " has succeeded", bt.Failure: " has failed", bt.Skipped: " is skipped"}[s.Is]
			if to.Child == child && s.To == to.From && s.From != s.To && s.Child >= 0 && s.Child != child && did != "" {
				texts = append(texts, m.tree.Name(s.Child)+did)
			}
		}
	}
	if slices.Sort(texts); len(texts) == 0 {
		return ""
	}
	return " after " + strings.Join(slices.Compact(texts), " or ")
}

// passedNeeds adds the conditions for a task to have succeeded or failed, or to be skipped; those of each child, if all
// are needed.
func (m *Model) passedNeeds(t bt.Task, good bool, add func(bt.Task, string, set)) {
	kind, kids := m.tree.Kind(t), m.tree.Children(t)
	switch {
	case m.keeps(t), m.natures[t].Skips: // a held result does not depend on the children
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
	name, in, did := m.tree.Name(t), m.judged[t].Bad, "has failed"
	if good {
		in, did = m.judged[t].Good, "has succeeded"
	}
	if m.natures[t].Skips {
		in, did = m.space.or(in, m.judged[t].Skipped), did+" or is skipped"
	}
	if i, ok := m.leafOf[t]; ok && m.leaves[i].condition {
		if did = "is false"; good {
			did = "is true"
		}
		if m.plan.Leaves[i].On != nil {
			did += " (" + m.plan.Leaves[i].On.String() + ")"
		}
	}
	add(t, name+" "+did, in)
}
