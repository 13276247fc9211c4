package codegen

import (
	"fmt"
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
	w := &writer{tables: tablesOf(tree), tree: tree, prefix: identifier(name), made: made, about: about}
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

// comment returns a text as a comment on one line.
func comment(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, text)
	return "/* " + strings.ReplaceAll(strings.ReplaceAll(text, "*/", "* /"), "/*", "/ *") + " */"
}

// literal returns a text as a string literal, its other bytes than printable ASCII in octal.
func literal(text string) string {
	var b strings.Builder
	for _, c := range []byte(text) {
		if c < ' ' || c > '~' || c == '"' || c == '\\' || c == '?' {
			fmt.Fprintf(&b, "\\%03o", c)
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
	b.WriteString("static const canopy_node nodes[] = {\n")
	for i := range w.nodes {
		fmt.Fprintf(&b, "    %s, %s\n", w.nodes[i].text(), comment(w.about(bt.Task(i))))
	}
	b.WriteString("};\n")
	list(&b, "canopy_task", "kids", len(w.kids), func(i int) string { return fmt.Sprintf("%d", w.kids[i]) })
	list(&b, "canopy_state", "states", len(w.states), func(i int) string { return stateText(&w.states[i]) })
	list(&b, "canopy_lasting", "lasting", len(w.lasting), func(i int) string {
		return fmt.Sprintf("{%d, %d}", w.lasting[i][0], w.lasting[i][1])
	})
	list(&b, "char *const", "names", len(w.nodes), func(i int) string { return literal(w.tree.Name(bt.Task(i))) })
	fmt.Fprintf(&b, "\nconst canopy_tree %s_tree = {nodes, %s, %s, %s, names, %d, %d, %d};\n", w.prefix,
		pointer("kids", len(w.kids)), pointer("states", len(w.states)), pointer("lasting", len(w.lasting)), len(w.nodes),
		len(w.lasting), len(w.tree.Shared()))
	return b.String() + more
}

// list writes a constant array, which C does not allow to be empty.
func list(b *strings.Builder, of, name string, n int, text func(i int) string) {
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

// text returns an initializer. Fields that are 0 are left out.
func (n *node) text() string {
	fields := []string{".family = CANOPY_" + strings.ToUpper(n.family.String())}
	if len(n.flags) > 0 {
		fields = append(fields, ".flags = CANOPY_"+strings.Join(n.flags, " | CANOPY_"))
	}
	if n.verdict != [3]bt.Status{} {
		fields = append(fields, fmt.Sprintf(".over = %s, .verdict = {%s, %s, %s}", status(n.over), status(n.verdict[0]),
			status(n.verdict[1]), status(n.verdict[2])))
	}
	if n.parent < 0 {
		fields = append(fields, ".parent = CANOPY_NONE")
	}
	for _, f := range []struct {
		name  string
		value int
	}{{"parent", max(0, int(n.parent))}, {"kids", n.kids}, {"n", n.n}, {"enough", int(n.counts.Enough)},
		{"too_many", int(n.counts.TooMany)}, {"quorum", int(n.counts.Quorum)}, {"shared", n.shared}, {"states", n.states},
		{"limit", int(n.limit)}, {"msec", n.msec}} {
		if f.value != 0 {
			fields = append(fields, fmt.Sprintf(".%s = %d", f.name, f.value))
		}
	}
	return "{" + strings.Join(fields, ", ") + "}"
}

func status(s bt.Status) string { return "CANOPY_" + strings.ToUpper(s.String()) }

func stateText(r *bt.StateRow) string {
	var moves []string
	for _, m := range r.On {
		moves = append(moves, fmt.Sprintf("{%s, %d, %d, %d, %d}", status(m.Says), m.To, m.Then, m.Step, number(m.Again)))
	}
	return fmt.Sprintf("{%d, %s, %d, %d, {%s}}", r.Child, status(r.Says), r.After, number(r.Whole),
		strings.Join(moves, ", "))
}

func number(is bool) int {
	if is {
		return 1
	}
	return 0
}
