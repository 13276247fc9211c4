package plan

import (
	"cmp"
	"slices"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/syntax/xmltree"
)

// What a condition is while it is unknown, because it depends on signals whose sources are lost.
const (
	unknownFails    = "failure" // false; the default
	unknownHolds    = "hold"    // as before
	unknownSucceeds = "success" // true
)

var unknownWords = []string{unknownFails, unknownHolds, unknownSucceeds}

// unknown reads what a condition is while it is unknown.
func (l leafReader) unknown() string {
	a, _ := l.attribute(attrUnknown)
	switch {
	case a == nil:
		return unknownFails
	case !slices.Contains(unknownWords, a.Value):
		hint := cmp.Or(diag.DidYouMean(a.Value, unknownWords), diag.OneOf("write ", unknownWords))
		l.reportValue(a, codeCount, hint, "an unknown condition cannot be %q", a.Value)
	}
	return a.Value
}

// certain returns a leaf that nothing unknown decides. The formulas of an action hold only for certain. A condition is
// what its attribute says where its formulas are neither true nor false for certain. A slot keeps its value where a
// written one is not known.
func (c *compiler) certain(l Leaf) Leaf {
	if c.scope == nil {
		return l
	}
	sides := func(e *expr.Expr) (holds, fails *expr.Expr) {
		if e == nil {
			return nil, nil
		}
		holds, fails, ok := e.Certain(c.scope)
		if !ok {
			c.large(&l)
			return e, nil
		}
		if fails == nil {
			fails = e.Not()
		}
		return holds, fails
	}
	for _, e := range []**expr.Expr{&l.EntryUntil, &l.ExitUntil, &l.Done, &l.Failed, &l.SuccessIf, &l.FailureIf} {
		*e, _ = sides(*e)
	}
	if l.On != nil && (c.unsure(l.On) || l.Off != nil && c.unsure(l.Off)) {
		on, not := sides(l.On)
		off, stay := sides(l.Off)
		lasts := l.until != nil
		switch {
		case l.unknown == unknownSucceeds:
			l.On, l.Off = not.Not(), off
		case l.unknown == unknownHolds && l.Off == nil && !lasts:
			l.On, l.Off = on, not
		case l.unknown == unknownHolds && l.Off != nil:
			l.On, l.Off = on, not.And(off)
		case l.Off != nil:
			l.On, l.Off = on, stay.Not()
		default:
			l.On = on
		}
	}
	for _, list := range []*[]Assignment{&l.Write, &l.Entry, &l.Exit} {
		*list = slices.Clone(*list) // those of other uses stay as they are
		for i := range *list {
			if a := &(*list)[i]; !a.Unset && a.Value != nil {
				known, ok := a.Value.KnownIn(c.scope)
				if a.Known = known; !ok {
					c.large(&l)
				}
			}
		}
	}
	return l
}

func (c *compiler) unsure(e *expr.Expr) bool { return len(e.Sources(c.scope)) > 0 }

func (c *compiler) large(l *Leaf) {
	c.report(l.Offset, l.Length, xmltree.CodeTooLarge, "let the mission compute the conditions inside as signals",
		"with what must be known an expression has more than %d parts", expr.MaxParts)
}
