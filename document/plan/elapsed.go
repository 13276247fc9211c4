package plan

import (
	"slices"

	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/syntax/xmltree"
)

// elapsed is the time since an action was activated, in its own expressions: the clock less an entry that the action
// sets when its entry procedure starts. A signal, a port or another entry of that name precedes it.
const elapsed = "elapsed"

// clock is the signal of the time.
const clock = "t"

// activate lets the expressions that are read until end is called name elapsed.
func (c *compiler) activate() (end func()) {
	if _, taken := c.scope[elapsed]; taken || c.scope == nil {
		return func() {}
	}
	c.scope[elapsed] = expr.Number(expr.Second)
	return func() { delete(c.scope, elapsed) }
}

// explain gives the mistake of an expression that names elapsed while no action is active its own text.
func explain(m *expr.Error) {
	if m.Code == expr.CodeSignal && m.Node != nil && m.Node.Name() == elapsed {
		m.Text, m.Suggest = "elapsed is the time since an action was activated, and no action is active here", nil
		m.Hint = "use it in the attributes write, done, failed, entry_until and exit... of an action"
	}
}

// clocked reports whether there is a clock, which what a leaf does needs, and reports that there is none.
func (c *compiler) clocked(l *Leaf, what string) bool {
	_, known := c.signals[clock]
	if c.signals != nil && !known {
		c.report(l.Offset, l.Length, expr.CodeSignal, "let a timeout or the action's code measure the time",
			"%s needs the clock, the signal %q, which is not known here", what, clock)
	}
	return c.signals == nil || known
}

// measured returns a leaf with elapsed replaced, which sets the entry of its start if it needs it.
func (c *compiler) measured(l Leaf, task string) Leaf {
	if _, taken := c.signals[elapsed]; taken {
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
	if !c.clocked(&l, elapsed) {
		return l
	}
	start := c.unused(task+".start", xmltree.Span{At: l.Offset, End: l.Offset + l.Length})
	with := map[string]*expr.Expr{elapsed: must(clock + " - " + start)}
	for _, e := range list {
		if parts := (*e).Parts(with); parts > expr.MaxParts {
			c.report(l.Offset, l.Length, xmltree.CodeTooLarge, "", "with %s an expression has more than %d parts", elapsed,
				expr.MaxParts)
			return l
		}
		*e = (*e).Substitute(with)
	}
	l.Entry = slices.Insert(slices.Clone(l.Entry), 0, Assignment{Target: start, Value: must(clock), Offset: l.Offset,
		Length: l.Length})
	l.Start = start
	c.entries = append(c.entries, BlackboardEntry{Name: start, Initial: must("0"), Offset: l.Offset, Length: l.Length})
	return l
}
