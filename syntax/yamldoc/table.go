package yamldoc

import "github.com/canopy-uav/canopy/expr"

// Tables reads functions that are given at points, and declares each. Taken reports whether a name has another meaning.
func (r *Reader) Tables(n *Node, taken func(name string) bool, declare func(name string, v expr.Variable)) {
	if n == nil {
		return
	}
	r.Mapping(n, "tables", func(key, value *Node) {
		switch {
		case taken(key.Value):
			r.Add(key, "duplicate-name", "", "there is already a signal, parameter or table %q", key.Value)
		case !expr.IsName(key.Value) || expr.IsFunction(key.Value):
			r.Add(key, "wrong-name", "use letters, digits, _ and dots, and no word or function of the expression language",
				"%q cannot be a name", key.Value)
		default:
			declare(key.Value, r.table(key, value))
		}
	})
}

// entries reads the unit and the text of a part of a table, and returns the others of its entries, which are required.
func (r *Reader) entries(key, value *Node, hint string, required ...string) (
	u expr.Unit, text string, nodes map[string]*Node) {
	u, nodes = expr.One, map[string]*Node{}
	known := Keys{
		"unit": func(n *Node) { u = r.Unit(n) },
		"text": func(n *Node) { text = r.Text(n, "text") },
	}
	for _, k := range append(required, "outside") {
		known[k] = func(n *Node) { nodes[k] = n }
	}
	if len(required) == 1 {
		delete(known, "outside")
	}
	r.Fields(value, key.Value, known)
	for _, k := range required {
		if nodes[k] == nil && value.Kind == Mapping {
			r.Add(key, "missing-key", hint, "%s has no %s", key.Value, k)
		}
	}
	return u, text, nodes
}

func (r *Reader) table(key, value *Node) expr.Variable {
	t := &expr.Tabulated{}
	u, text, nodes := r.entries(key, value, "write `arguments: {x: {points: [0, 1]}}` and `values: [3, 4]`",
		"arguments", "values")
	if t.Text = text; nodes["outside"] != nil {
		switch n := nodes["outside"]; n.Word("error", "clamp") {
		case "error":
		case "clamp":
			t.Clamp = true
		default:
			r.Add(n, "unknown-value", "", "outside is error or clamp, not %q", n.Value)
		}
	}
	if n := nodes["arguments"]; n != nil {
		r.Mapping(n, "arguments", func(key, value *Node) { t.Axes = append(t.Axes, r.axis(key, value)) })
		if n.Kind == Mapping && (len(t.Axes) < 1 || len(t.Axes) > 2) {
			r.Add(n, "out-of-range", "", "%s has %d arguments, but a table has one or two", key.Value, len(t.Axes))
		}
	}
	if n := nodes["values"]; n != nil && (len(t.Axes) == 1 || len(t.Axes) == 2) {
		t.Values = r.grid(n, t.Axes, u)
	}
	return expr.Variable{Unit: u.InSI(), Table: t}
}

// axis reads an argument of a table.
func (r *Reader) axis(key, value *Node) expr.Abscissa {
	u, _, nodes := r.entries(key, value, "list the points at which the values are given, in ascending order", "points")
	a := expr.Abscissa{Name: key.Value, Unit: u.InSI()}
	n := nodes["points"]
	if n == nil {
		return a
	}
	before := len(r.Diags)
	r.Sequence(n, "points", func(n *Node) { a.Points = append(a.Points, u.SI(r.Number(n, u, "a point"))) })
	ascends := true
	for i := 1; i < len(a.Points); i++ {
		ascends = ascends && a.Points[i-1] < a.Points[i]
	}
	if len(r.Diags) == before && (len(a.Points) < 2 || !ascends) {
		r.Add(key, "out-of-range", "", "%s needs two points or more, each above the one before", key.Value)
	}
	return a
}

// grid reads the values of a table: one for each point or, of two arguments, a list for each point of the first one.
func (r *Reader) grid(n *Node, axes []expr.Abscissa, u expr.Unit) (list []float64) {
	count := 0
	r.Sequence(n, "values", func(n *Node) {
		count++
		if len(axes) == 2 {
			list = append(list, r.grid(n, axes[1:], u)...)
			return
		}
		list = append(list, u.SI(r.Number(n, u, "a value")))
	})
	if points := len(axes[0].Points); n.Kind == Sequence && points > 0 && count != points {
		r.Add(n, "out-of-range", "", "there are %d values, but %d points", count, points)
	}
	return list
}
