package codegen

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/canopy-uav/canopy/bt"
)

// writer writes the tables of a tree in C.
type writer struct {
	tables
	tree    *bt.Tree
	prefix  string
	made    string
	about   func(bt.Task) string
	numbers []string // the constant of each task
}

func newWriter(name, made string, tree *bt.Tree, about func(bt.Task) string) *writer {
	w := &writer{tables: tablesOf(tree), tree: tree, prefix: prefixOf(name), made: made, about: about}
	taken := map[string]bool{w.constant("tasks"): true, w.constant("h"): true}
	for i := range tree.Len() {
		base := w.constant(tree.Name(bt.Task(i)))
		number := base
		for k := 2; taken[number]; k++ {
			number = fmt.Sprintf("%s_%d", base, k)
		}
		taken[number] = true
		w.numbers = append(w.numbers, number)
	}
	return w
}

// constant returns the name of a constant.
func (w *writer) constant(name string) string {
	return strings.ToUpper(w.prefix + "_" + identifier(name))
}

// identifier returns a name in which every other character than an ASCII letter or a digit is an underscore.
func identifier(name string) string {
	id := strings.Map(func(r rune) rune {
		if r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return r
		}
		return '_'
	}, name)
	if id == "" || unicode.IsDigit(rune(id[0])) {
		id = "_" + id
	}
	return strings.ToLower(id)
}

// taken are the names that C and C++ have, and those of the headers that programs include; functions of math.h also
// with an f or an l at the end.
var taken = strings.Fields(`
	auto break case char const continue default do double else enum extern float for goto if inline int
	long register restrict return short signed sizeof static struct switch typedef union unsigned void
	volatile while bool true false main null and bitand bitor catch class compl delete explicit export
	friend mutable namespace new not operator or private protected public template this throw try typeid
	typename using virtual xor acos asin atan atan2 cos sin tan acosh asinh atanh cosh sinh tanh exp
	exp2 expm1 frexp ilogb ldexp log log10 log1p log2 logb modf scalbn scalbln cbrt fabs hypot pow sqrt
	erf erfc lgamma tgamma ceil floor nearbyint rint lrint llrint round lround llround trunc fmod
	remainder remquo copysign nan nextafter nexttoward fdim fmax fmin fma isnan isinf signbit j0 j1 jn
	y0 y1 yn gamma signgam offsetof
`)

// prefixOf returns a name as that of a program in C, with which its names begin.
func prefixOf(name string) string {
	id := identifier(name)
	if strings.HasPrefix(id, "canopy") || strings.HasSuffix(id, "_t") || slices.Contains(taken, id) ||
		slices.Contains(taken, strings.TrimSuffix(strings.TrimSuffix(id, "f"), "l")) {
		return id + "_plan"
	}
	return id
}

// printable returns a text on one line.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, text)
}

// comment returns a text as a comment of C on one line.
func comment(text string) string {
	return "/* " + strings.ReplaceAll(strings.ReplaceAll(printable(text), "*/", "* /"), "/*", "/ *") + " */"
}

// literal returns a text as a string literal, its other bytes than printable ASCII as numbers in this format.
func literal(text, format string) string {
	var b strings.Builder
	for _, c := range []byte(text) {
		if c < ' ' || c > '~' || c == '"' || c == '\\' || c == '?' {
			fmt.Fprintf(&b, format, c)
		} else {
			b.WriteByte(c)
		}
	}
	return `"` + b.String() + `"`
}

func (w *writer) header(engine, more string) string {
	var b strings.Builder
	guard := w.constant("h")
	fmt.Fprintf(&b, "%s\n#ifndef %s\n#define %s\n\n#include \"%s\"\n\nenum {\n", comment(w.made), guard, guard, engine)
	for i, number := range w.numbers {
		fmt.Fprintf(&b, "  %s = %d, %s\n", number, i, comment(w.about(bt.Task(i))))
	}
	fmt.Fprintf(&b, "  %s = %d\n};\n\nextern const canopy_tree %s_tree;\n%s\n#endif\n", w.constant("tasks"),
		len(w.numbers), w.prefix, more)
	return b.String()
}

func (w *writer) source(name, more string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n#include \"%s.h\"\n\n#include <math.h>\n#include <stddef.h>\n\n", comment(w.made), name)
	p := constants{tables: map[string][]string{}}
	b.WriteString("static const canopy_node nodes[] = {\n")
	for i := range w.nodes {
		fmt.Fprintf(&b, "    %s, %s\n", p.fields(w.nodes[i].row()), comment(w.about(bt.Task(i))))
	}
	b.WriteString("};\n")
	kids := p.tables["kids"]
	define(&b, "canopy_task", "kids", len(kids), func(i int) string { return kids[i] })
	define(&b, "canopy_state", "states", len(w.states), func(i int) string { return p.row(stateRow(&w.states[i])) })
	define(&b, "canopy_lasting", "lasting", len(w.lasting), func(i int) string { return p.row(lastingRow(w.lasting[i])) })
	define(&b, "char *const", "names", len(w.nodes), func(i int) string {
		return literal(w.tree.Name(bt.Task(i)), `\%03o`)
	})
	fmt.Fprintf(&b, "\nconst canopy_tree %s_tree = {nodes, %s, %s, %s, names, %d, %d, %d};\n", w.prefix,
		pointer("kids", len(kids)), pointer("states", len(w.states)), pointer("lasting", len(w.lasting)), len(w.nodes),
		len(w.lasting), len(w.tree.Shared()))
	return b.String() + more
}

// define writes a constant array, which C does not allow to be empty.
func define(b *strings.Builder, of, name string, n int, text func(i int) string) {
	if n == 0 {
		return
	}
	fmt.Fprintf(b, "\nstatic const %s %s[] = {\n", of, name)
	for i := range n {
		fmt.Fprintf(b, "    %s,\n", text(i))
	}
	b.WriteString("};\n")
}

func pointer(name string, n int) string {
	if n == 0 {
		return "NULL"
	}
	return name
}

// constants prints the rows of tables as initializers, and collects what C has in other tables or in functions.
type constants struct {
	tables   map[string][]string
	task     func(t bt.Task) string
	function func(f formula) string
}

// fields returns an initializer that names the fields. Those that are 0, false or empty are left out.
func (p *constants) fields(r row) string {
	var fields []string
	add := func(name string, v any) {
		if text := p.value(v); !slices.Contains([]string{"0", "false", "NULL", "{0, 0}"}, text) {
			fields = append(fields, "."+name+" = "+text)
		}
	}
	for _, f := range r.fields {
		switch v := f.value.(type) {
		case children:
			first := len(p.tables["kids"])
			for _, c := range v {
				p.tables["kids"] = append(p.tables["kids"], p.value(index(c)))
			}
			add("kids", first)
			add("n", len(v))
		case flags:
			if len(v) > 0 {
				fields = append(fields, ".flags = CANOPY_"+strings.Join(v, " | CANOPY_"))
			}
		case byCriterion:
			for _, c := range v {
				add(fmt.Sprintf("%s[CANOPY_%s]", f.name, strings.ToUpper(c.name)), c.value)
			}
		default:
			add(f.name, v)
		}
	}
	return "{" + strings.Join(fields, ", ") + "}"
}

// row returns an initializer of all fields in their order.
func (p *constants) row(r row) string {
	text := "{" + joined(r.fields, func(f field) string { return p.value(f.value) }) + "}"
	if r.about != "" {
		text = comment(r.about) + " " + text
	}
	return text
}

func (p *constants) value(v any) string {
	switch v := v.(type) {
	case int, bool, criteria:
		return fmt.Sprint(v)
	case bit:
		return fmt.Sprint(number(bool(v)))
	case float64:
		return inC.constant(v).text
	case symbol:
		return "CANOPY_" + strings.ToUpper(string(v))
	case index:
		if v < 0 {
			return "CANOPY_NONE"
		}
		return fmt.Sprint(int(v))
	case task:
		return p.task(bt.Task(v))
	case row:
		return p.row(v)
	case array:
		return "{" + joined(v, p.value) + "}"
	case formula:
		if v.code == nil {
			return "NULL"
		}
		return p.function(v)
	case list:
		if len(v.rows) == 0 {
			return "{0, 0}"
		}
		for _, r := range v.rows {
			text := p.value(r)
			p.tables[v.table] = append(p.tables[v.table], text)
		}
		return fmt.Sprintf("{%d, %d}", len(p.tables[v.table])-len(v.rows), len(v.rows))
	}
	return unknown(v)
}

func number(is bool) int {
	if is {
		return 1
	}
	return 0
}
