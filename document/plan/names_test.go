package plan

import (
	"encoding/xml"
	"fmt"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/diag"
)

// named returns a plan whose tree "in", which is used in a tree that the main tree uses, reads a name in each way: as
// the port of a free leaf and of a subtree, in a script, a condition, a precondition, a Switch and as a number of runs.
func named(name, use, model, around string) string {
	escape := func(s string) string {
		var b strings.Builder
		_ = xml.EscapeText(&b, []byte(s))
		return b.String()
	}
	name = escape(name)
	return fmt.Sprintf(`<root BTCPP_format="4" main_tree_to_execute="main">
<TreeNodesModel><SubTree ID="in">%s</SubTree><Action ID="Fly"><input_port name="to"/></Action></TreeNodesModel>
<BehaviorTree ID="main"><Sequence><Script code="x := 1; p := 2; _q := 3"/><SubTree ID="around" %s/></Sequence></BehaviorTree>
<BehaviorTree ID="around"><SubTree ID="in" %s/></BehaviorTree>
<BehaviorTree ID="in"><Sequence><Fly to="{%s}"/><SubTree ID="deep" at="{%[4]s}"/><ScriptCondition code="%[4]s == 1"/>
<Condition on="{%[4]s} == 1"/><Condition on="true" _successIf="%[4]s == 1"/>
<Switch2 variable="{%[4]s}" case_1="1" case_2="2"><AlwaysSuccess/><AlwaysSuccess/><AlwaysSuccess/></Switch2>
<Repeat num_cycles="{%[4]s}"><Fly/></Repeat></Sequence></BehaviorTree>
<BehaviorTree ID="deep"><Sequence><Fly to="{at}"/><Condition on="at == 1"/></Sequence></BehaviorTree>
</root>`, model, around, use, name)
}

// A name means the same to all that read it.
func TestOneMeaningOfAName(t *testing.T) {
	const byDefault = `<input_port name="p" default="7"/>`
	for _, c := range []struct{ name, use, model, around, means, port string }{
		{name: "p", means: "p", port: "{around/in/p}"},
		{name: "p", use: `p="1"`, means: "1"},
		{name: "p", model: byDefault, means: "7"},
		{name: "p", model: byDefault, use: `p="1"`, means: "1"},
		{name: "p", model: `<input_port name="p" default="{x}"/>`, means: "x", port: "{around/x}"},
		{name: "p", model: `<input_port name="p" default="{x}"/>`, around: `x="{x}"`, means: "x"},
		{name: "p", use: `p="{@x}"`, means: "x"},
		{name: "@x", use: `x="5"`, means: "x"},
		{name: "@x", use: `_autoremap="true"`, means: "x"},
		{name: "p", use: `p="{x}"`, around: `x="{=}"`, means: "x"},
		{name: "p", use: `p="{=}"`, around: `p="{x}"`, means: "x"},
		{name: "p", use: `p="{x}"`, around: `x="4"`, means: "4"},
		{name: "p", use: `p="{x}"`, around: `_autoremap="true"`, means: "x"},
		{name: "p", use: `_autoremap="true"`, around: `p="{x}"`, means: "x"},
		{name: "p", use: `_autoremap="true"`, model: byDefault, around: `p="{x}"`, means: "x"},
		{name: "p", use: `_autoremap="true"`, model: byDefault, around: `_autoremap="1"`, means: "p"},
		{name: "_q", use: `_autoremap="true"`, around: `_autoremap="true"`, means: "_q", port: "{around/in/_q}"},
		{name: "name", use: `name="in" _autoremap="true"`, around: `_autoremap="true" name="around"`, means: "name"},
		{name: "p", use: `p=" {x} "`, around: `x="{@x}"`, means: "x"},
	} {
		t.Run(c.name+" "+c.use+c.model+" in "+c.around, func(t *testing.T) {
			p, list := Read(&diag.Source{Name: "x.xml", Text: named(c.name, c.use, c.model, c.around)}, nil)
			if p == nil {
				t.Fatal(list)
			}
			port := c.port
			if port == "" && strings.Trim(c.means, "0123456789") != "" {
				port = "{" + c.means + "}"
			}
			for i := range p.Leaves {
				l := &p.Leaves[i]
				for _, q := range l.Ports {
					if q.Value != port && q.Value != c.means {
						t.Errorf("a port is %s, not %s", q.Value, port)
					}
				}
				for _, e := range l.Expressions() {
					text := e.String()
					if strings.Contains(text, "==") && !strings.HasPrefix(text, c.means+" == ") && !strings.Contains(text, ".left ") {
						t.Errorf("an expression is %s, not of %s", text, c.means)
					}
				}
			}
		})
	}
}

// Names that no expression has are those of entries, too: nothing panics, and BehaviorTree.CPP accepts them.
func TestNamesOfPorts(t *testing.T) {
	for _, name := range []string{"a b", "1x", "x:y", "@", "-", "and", "@@x", "@and", "a/b", ".", "é", "p.", " "} {
		use := fmt.Sprintf(`p="{%s}"`, name)
		if _, list := Read(&diag.Source{Name: "x.xml", Text: named("p", use, "", "")}, nil); list.HasErrors() {
			t.Errorf("%s: %v", use, list)
		}
	}
}

// FuzzPorts holds what FuzzRead promises for a plan that passes a value to a subtree, which reads it in each way.
func FuzzPorts(f *testing.F) {
	for _, value := range []string{"", "{}", "{p}", "{@x}", "{a b}", "{1x}", "{x:y}", "{@}", "{-}", "{and}", "{=}", "=", "{@@x}",
		"{{p}}", "{p} + {x}", "1", "-1", "'a'", "true", "json:{}", "1;2", " {x} ", "{_q}", "{x.y}", "{a/b}", "{'}", `{"}`, "{<}"} {
		f.Add("p", value, value, true)
		f.Add("_q", value, value, false)
		f.Add(strings.Trim(value, "{}"), value, "", true)
	}
	f.Fuzz(func(t *testing.T, name, value, around string, known bool) {
		attribute := func(s string) string {
			var b strings.Builder
			if xml.EscapeText(&b, []byte(s)) != nil {
				return ""
			}
			return b.String()
		}
		text := named(name, fmt.Sprintf(`p="%s" _autoremap="%t"`, attribute(value), known),
			fmt.Sprintf(`<input_port name="p" default="%s"/>`, attribute(around)), fmt.Sprintf(`x="%s"`, attribute(around)))
		checkRead(t, text, nil)
		if known {
			checkRead(t, text, signals)
		}
	})
}
