package equations

import (
	"slices"

	"canopy/expr"
	"canopy/syntax/yamldoc"
)

// tables reads the functions that are given at points.
func (b *builder) tables(n *yamldoc.Node) {
	if n == nil {
		return
	}
	b.Mapping(n, "tables", func(key, value *yamldoc.Node) {
		switch _, taken := b.scope[key.Value]; {
		case taken:
			b.Add(key, "duplicate-name", "", "there is already a signal or parameter %q", key.Value)
		case !expr.IsName(key.Value) || expr.IsFunction(key.Value):
			b.Add(key, "wrong-name", "use letters, digits, _ and dots, and no word or function of the expression language",
				"%q cannot be a name", key.Value)
		default:
			v := b.table(key, value)
			b.scope[key.Value], b.constants[key.Value] = v, v
		}
	})
}

func (b *builder) table(key, value *yamldoc.Node) expr.Variable {
	t := &expr.Tabulated{}
	v, u, nodes := b.variable(key, value, b.Unit, "arguments", "values", "outside")
	for _, k := range []string{"arguments", "values"} {
		b.needs(key, value, nodes, k, "write `arguments: {x: {points: [0, 1]}}` and `values: [3, 4]`")
	}
	if n := nodes["outside"]; n != nil {
		known := []string{"error", "clamp"}
		i := slices.Index(known, n.Value)
		if i < 0 {
			b.Add(n, "unknown-value", "", "outside is error or clamp, not %q", n.Value)
		}
		t.Clamp = i == 1
	}
	if n := nodes["arguments"]; n != nil {
		b.Mapping(n, "arguments", func(key, value *yamldoc.Node) { t.Axes = append(t.Axes, b.axis(key, value)) })
		if n.Kind == yamldoc.Mapping && (len(t.Axes) < 1 || len(t.Axes) > 2) {
			b.Add(n, "out-of-range", "", "%s has %d arguments, but a table has one or two", v.Name, len(t.Axes))
		}
	}
	if n := nodes["values"]; n != nil && (len(t.Axes) == 1 || len(t.Axes) == 2) {
		t.Values = b.grid(n, t.Axes, u)
	}
	return expr.Variable{Unit: inSI(u), Table: t}
}

// axis reads an argument of a table.
func (b *builder) axis(key, value *yamldoc.Node) expr.Abscissa {
	_, u, nodes := b.variable(key, value, b.Unit, "points")
	b.needs(key, value, nodes, "points", "list the points at which the values are given, in ascending order")
	a := expr.Abscissa{Unit: inSI(u)}
	n := nodes["points"]
	if n == nil {
		return a
	}
	before := len(b.Diags)
	b.Sequence(n, "points", func(n *yamldoc.Node) { a.Points = append(a.Points, u.SI(b.Number(n, u, "a point"))) })
	ascends := true
	for i := 1; i < len(a.Points); i++ {
		ascends = ascends && a.Points[i-1] < a.Points[i]
	}
	if len(b.Diags) == before && (len(a.Points) < 2 || !ascends) {
		b.Add(key, "out-of-range", "", "%s needs two points or more, each above the one before", key.Value)
	}
	return a
}

// grid reads the values of a table: one for each point or, of two arguments, a list for each point of the first one.
func (b *builder) grid(n *yamldoc.Node, axes []expr.Abscissa, u expr.Unit) (list []float64) {
	count := 0
	b.Sequence(n, "values", func(n *yamldoc.Node) {
		count++
		if len(axes) == 2 {
			list = append(list, b.grid(n, axes[1:], u)...)
			return
		}
		list = append(list, u.SI(b.Number(n, u, "a value")))
	})
	if points := len(axes[0].Points); n.Kind == yamldoc.Sequence && points > 0 && count != points {
		b.Add(n, "out-of-range", "", "there are %d values, but %d points", count, points)
	}
	return list
}

// inSI returns the unit of a value in expressions, which are in SI.
func inSI(u expr.Unit) expr.Unit {
	if u == expr.AnyUnit || u == expr.One {
		return u
	}
	return u.Per(expr.One)
}
