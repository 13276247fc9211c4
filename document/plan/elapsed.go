package plan

import (
	"slices"

	"canopy/expr"
	"canopy/syntax/xmltree"
)

// elapsed is the time since an action was activated, in its own expressions: the clock less an entry that the action
// sets when its entry procedure starts. A signal, a port or another entry of that name precedes it.
const elapsed = "elapsed"

// clock is the signal of the time.
const clock = "t"

// activate lets the expressions that are read until end is called name elapsed.
func (r *reader) activate() (end func()) {
	if _, taken := r.scope[elapsed]; taken || r.scope == nil {
		return func() {}
	}
	r.scope[elapsed] = expr.Number(expr.Second)
	return func() { delete(r.scope, elapsed) }
}

// explain gives the mistake of an expression that names elapsed while no action is active its own text.
func explain(m *expr.Error) {
	if m.Code == expr.CodeSignal && m.Node != nil && m.Node.Name() == elapsed {
		m.Text, m.Suggest = "elapsed is the time since an action was activated, and no action is active here", nil
		m.Hint = "use it in the attributes write, done, failed, entry_until and exit... of an action"
	}
}

// measured returns a leaf with elapsed replaced, which sets the entry of its start if it needs it.
func (x *expansion) measured(l Leaf, task string) Leaf {
	if _, taken := x.signals[elapsed]; taken {
		return l
	}
	l.Write, l.Exit = slices.Clone(l.Write), slices.Clone(l.Exit) // those of other uses stay as they are
	list := []**expr.Expr{&l.EntryUntil, &l.ExitTime, &l.ExitUntil, &l.Done, &l.Failed}
	for _, assignments := range [][]Assignment{l.Write, l.Exit} {
		for i := range assignments {
			list = append(list, &assignments[i].Value)
		}
	}
	list = slices.DeleteFunc(list, func(e **expr.Expr) bool {
		return *e == nil || !slices.Contains((*e).Names(), elapsed)
	})
	if len(list) == 0 {
		return l
	}
	if _, known := x.signals[clock]; x.signals != nil && !known {
		x.report(l.Offset, l.Length, expr.CodeSignal, "let a timeout or the action's code measure the time",
			"elapsed needs the clock, the signal %q, which is not known here", clock)
		return l
	}
	start := x.unused(task+".start", xmltree.Span{At: l.Offset, End: l.Offset + l.Length})
	with := map[string]*expr.Expr{elapsed: x.parse(clock + " - " + start)}
	for _, e := range list {
		if parts := (*e).Parts(with); parts > expr.MaxParts {
			x.report(l.Offset, l.Length, xmltree.CodeTooLarge, "", "with %s an expression has more than %d parts", elapsed,
				expr.MaxParts)
			return l
		}
		*e = (*e).Substitute(with)
	}
	l.Entry = slices.Insert(slices.Clone(l.Entry), 0, Assignment{Target: start, Value: x.parse(clock), Offset: l.Offset,
		Length: l.Length})
	l.Start = start
	x.entries = append(x.entries, BlackboardEntry{Name: start, Initial: x.parse("0"), Offset: l.Offset, Length: l.Length})
	return l
}
