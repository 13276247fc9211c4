package translate

import (
	"slices"
	"strings"
)

// table is a truth table: by word, in which bit i is the truth of variable i.
type table []bool

// product is a conjunction of variables, given as sets of bits: those that must hold and those that must not.
type product struct{ yes, no uint32 }

// sum returns products of n variables whose disjunction holds wherever `must` does and nowhere outside of `may`. None
// of them can be left out, and no variable of any of them. The second result is the disjunction's table. It is the
// recursion of S. Minato, Fast Generation of Irredundant Sum-of-Products Forms from Binary Decision Diagrams, 1992.
func sum(must, may table, n int) ([]product, table) {
	switch {
	case !slices.Contains(must, true):
		return nil, make(table, len(must))
	case !slices.Contains(may, false):
		return []product{{}}, may
	}
	n--
	half := len(must) / 2
	must0, must1, may0, may1 := must[:half], must[half:], may[:half], may[half:]
	if slices.Equal(must0, must1) && slices.Equal(may0, may1) {
		products, f := sum(must0, may0, n)
		return products, slices.Concat(f, f)
	}
	no, f0 := sum(join(must0, may1, minus), may0, n)
	yes, f1 := sum(join(must1, may0, minus), may1, n)
	rest := join(join(must0, f0, minus), join(must1, f1, minus), or)
	both, f := sum(rest, join(may0, may1, and), n)
	for i := range no {
		no[i].no |= 1 << n
	}
	for i := range yes {
		yes[i].yes |= 1 << n
	}
	return slices.Concat(yes, no, both), slices.Concat(join(f0, f, or), join(f1, f, or))
}

func and(a, b bool) bool   { return a && b }
func or(a, b bool) bool    { return a || b }
func minus(a, b bool) bool { return a && !b }

// join combines two tables word by word.
func join(a, b table, op func(a, b bool) bool) table {
	c := make(table, len(a))
	for w := range c {
		c[w] = op(a[w], b[w])
	}
	return c
}

// formula writes a disjunction of products as an expression over the names of the variables; the literals that all
// products have in common come first. It is "" if it always holds, "false" if it never does.
func formula(products []product, names []string) string {
	if len(products) == 0 {
		return "false"
	}
	common := products[0]
	for _, p := range products {
		common.yes &= p.yes
		common.no &= p.no
	}
	var alternatives []string
	var refused product // all of them, if each alternative requires one variable not to hold
	for _, p := range products {
		p.yes &^= common.yes
		p.no &^= common.no
		if p.yes == 0 && p.no&(p.no-1) == 0 {
			refused.yes |= p.no
		} else {
			refused.no = 1
		}
		alternatives = append(alternatives, strings.Join(literals(p, names), " and "))
	}
	parts := literals(common, names)
	switch {
	case len(products) == 1:
	case refused.no == 0:
		parts = append(parts, "not ("+strings.Join(literals(product{yes: refused.yes}, names), " and ")+")")
	case len(parts) == 0:
		return strings.Join(alternatives, " or ")
	default:
		parts = append(parts, "("+strings.Join(alternatives, " or ")+")")
	}
	return strings.Join(parts, " and ")
}

func literals(p product, names []string) []string {
	var texts []string
	for i, name := range names {
		switch {
		case p.yes>>i&1 == 1:
			texts = append(texts, name)
		case p.no>>i&1 == 1:
			texts = append(texts, "not "+name)
		}
	}
	return texts
}
