package plan

import (
	"fmt"
	"strings"
	"testing"

	"canopy/diag"
	"canopy/expr"
	"canopy/syntax/xmltree"
	"canopy/vehicle/contract"
)

// interfaceOf returns the signals and slots of a contract, with a source for each signal.
func interfaceOf(c *contract.Contract) Vocabulary {
	signals := Vocabulary{"t": {Unit: expr.Second}}
	add := func(name, unitOf, typ string, values []string, s Signal) {
		s.Unit, _ = expr.ParseUnit(unitOf)
		s.Type, _ = expr.TypeNamed(typ)
		s.Values = values
		signals[name] = s
	}
	for _, s := range c.Signals {
		add(s.Name, s.Unit, s.Type, s.Values, Signal{Sources: []string{s.Source.String()}})
	}
	for _, s := range c.Slots {
		add(s.Name, s.Unit, s.Type, s.Values, Signal{Slot: true, Hold: true})
	}
	return signals
}

// Every model and tree of a library can be used on the vehicles of its contract.
func TestLibrariesFitTheirContracts(t *testing.T) {
	for _, c := range contract.Contracts() {
		doc, list := xmltree.Parse(&diag.Source{Name: c.Name, Text: c.Library})
		if len(list) > 0 {
			t.Fatal(list.Err())
		}
		var uses strings.Builder
		for models := range doc.Root.Elements() {
			for m := range models.Elements() {
				if models.Name != elementModels {
					continue
				}
				fmt.Fprintf(&uses, `<%s ID=%q`, m.Name, m.Find("ID").Value)
				for p := range m.Elements() {
					switch name := p.Find("name").Value; {
					case name == attrPolygon:
						uses.WriteString(` polygon="0, 0; 0, 9; 9, 0"`)
					case p.Find("default") == nil:
						fmt.Fprintf(&uses, ` %s="3"`, name)
					}
				}
				uses.WriteString("/>\n")
			}
		}
		text := `<root BTCPP_format="4" main_tree_to_execute="all"><include path="library:` + c.Name +
			`"/><BehaviorTree ID="all"><Sequence>` + uses.String() + `</Sequence></BehaviorTree></root>`
		p, list := Read(&diag.Source{Name: "all.xml", Text: text}, interfaceOf(c))
		if len(list) > 0 {
			var b strings.Builder
			list.Write(&b, false)
			t.Errorf("%s:\n%s", c.Name, b.String())
		}
		if p != nil && len(p.Leaves) < 10 {
			t.Errorf("%s: a library with %d leaves", c.Name, len(p.Leaves))
		}
	}
}

// A plan includes a library by its name, from any folder; trees that it does not use are no mistake.
func TestIncludeALibrary(t *testing.T) {
	read := func(name string) diag.List {
		_, list := Read(&diag.Source{Name: "missions/p.xml", Text: `<root BTCPP_format="4" main_tree_to_execute="p">
			<include path="library:` + name + `"/><BehaviorTree ID="p"><take_off/></BehaviorTree></root>`},
			interfaceOf(contract.Plane))
		return list
	}
	if list := read("plane"); len(list) > 0 {
		t.Error(list.Err())
	}
	list := read("planes")
	if len(list) == 0 || list[0].Code != codeInclude || list[0].Advice() != `did you mean "plane"?` {
		t.Errorf("an unknown library gives %v", list)
	}
}
