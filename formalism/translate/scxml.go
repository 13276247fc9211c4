package translate

import (
	"bufio"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/formalism/stategraph"
)

// ErrSCXML is the error of a state graph that [SCXML] does not write.
var ErrSCXML = errors.New("a state graph with parallel steps, delays or several initial steps is not written as SCXML")

// SCXML writes a flat state graph, such as [Graph] makes, as a state chart (W3C, State Chart XML, 2015) with the
// ECMAScript data model. Its transitions have no events: they fire, in the order of the document, as long as their
// conditions hold. The chart has one event, `inputs`, whose data is an object with the truth of the conditions: it is
// an instant of the graph, and the first one begins it. The variable `active` lists the active actions.
func SCXML(w io.Writer, g *stategraph.Graph) error {
	initial := stategraph.None
	for s := range stategraph.Step(g.Len()) {
		if g.Parallel(s) || g.First(s) && initial != stategraph.None {
			return ErrSCXML
		}
		if g.First(s) {
			initial = s
		}
	}
	out := make([][]stategraph.Transition, g.Len())
	for _, t := range g.Transitions() {
		if t.After > 0 {
			return ErrSCXML
		}
		out[t.From] = append(out[t.From], t)
	}
	used := map[string]bool{}
	before, begun, ids := unique("before", "_%d", used), unique("begun", "_%d", used), make([]string, g.Len())
	for s := range ids {
		ids[s] = unique(identifier(g.StepName(stategraph.Step(s))), "_%d", used)
	}
	b := bufio.NewWriter(w)
	fmt.Fprintln(b, `<?xml version="1.0" encoding="UTF-8"?>`)
	fmt.Fprintf(b, "<scxml xmlns=%q version=\"1.0\" datamodel=\"ecmascript\" name=%q initial=%q>\n",
		"http://www.w3.org/2005/07/scxml", identifier(g.Name), before)
	fmt.Fprintln(b, "  <datamodel>")
	fmt.Fprintln(b, `    <data id="inputs" expr="{}"/>`)
	fmt.Fprintln(b, `    <data id="active" expr="[]"/>`)
	fmt.Fprintln(b, "  </datamodel>")
	hear := func(indent, target string) {
		fmt.Fprintf(b, "%s<transition event=\"inputs\"%s>\n", indent, target)
		fmt.Fprintf(b, "%s  <assign location=\"inputs\" expr=\"_event.data\"/>\n%s</transition>\n", indent, indent)
	}
	fmt.Fprintf(b, "  <state id=%q>\n", before)
	hear("    ", fmt.Sprintf(" target=%q", begun))
	fmt.Fprintf(b, "  </state>\n  <state id=%q initial=%q>\n", begun, ids[initial])
	hear("    ", "")
	for s, id := range ids {
		var active []string
		for _, a := range g.StepActions(stategraph.Step(s)) {
			active = append(active, quoted(g.Actions()[a]))
		}
		fmt.Fprintf(b, "    <state id=%q>\n", id)
		fmt.Fprintf(b, "      <onentry><assign location=\"active\" expr=\"[%s]\"/></onentry>\n",
			attribute(strings.Join(active, ", ")))
		for _, t := range out[s] {
			condition := ""
			if t.When != nil {
				condition = fmt.Sprintf(" cond=\"%s\"", attribute(javascript(t.When.Root(), 0)))
			}
			fmt.Fprintf(b, "      <transition%s target=%q/>\n", condition, ids[t.To])
		}
		fmt.Fprintln(b, "    </state>")
	}
	fmt.Fprintf(b, "  </state>\n</scxml>\n")
	return b.Flush()
}

// javascript spells a condition in ECMAScript, its names as members of the object inputs, in parentheses if it binds
// less tightly than required. Both languages have the same precedence of or, and, not.
func javascript(n *expr.Node, bind int) string {
	o, _ := n.Op().Operator()
	var text string
	switch n.Op() {
	case expr.OpTruth:
		return strconv.FormatBool(n.Value() != 0)
	case expr.OpName:
		if strings.ContainsFunc(n.Name(), func(r rune) bool { return r == '.' || r > unicode.MaxASCII }) {
			return "inputs[" + quoted(n.Name()) + "]"
		}
		return "inputs." + n.Name()
	case expr.OpNot:
		text = "!" + javascript(n.Arg(0), o.Bind)
	case expr.OpAnd:
		text = javascript(n.Arg(0), o.Bind) + " && " + javascript(n.Arg(1), o.Bind+1)
	case expr.OpOr:
		text = javascript(n.Arg(0), o.Bind) + " || " + javascript(n.Arg(1), o.Bind+1)
	default:
		panic("translate: a state graph's transition with a condition that no state graph has")
	}
	if o.Bind < bind {
		return "(" + text + ")"
	}
	return text
}

// quoted spells a text in ECMAScript, with everything that is not visible as an escape of UTF-16.
func quoted(text string) string {
	var b strings.Builder
	b.WriteByte('\'')
	for _, r := range text {
		switch {
		case r == '\\' || r == '\'':
			b.WriteByte('\\')
			b.WriteRune(r)
		case unicode.IsGraphic(r) && r != '\u2028' && r != '\u2029':
			b.WriteRune(r)
		default:
			for _, u := range utf16.Encode([]rune{r}) {
				fmt.Fprintf(&b, `\u%04x`, u)
			}
		}
	}
	b.WriteByte('\'')
	return b.String()
}

// attribute spells a text as the value of an XML attribute.
func attribute(text string) string {
	var b strings.Builder
	if err := xml.EscapeText(&b, []byte(text)); err != nil {
		panic("translate: a buffer refuses text")
	}
	return b.String()
}
