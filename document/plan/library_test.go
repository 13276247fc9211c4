package plan

import (
	"fmt"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/syntax/xmltree"
	"github.com/canopy-uav/canopy/vehicle/contract"
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
					case name == "polygon":
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
	if len(list) == 0 || list[0].Code != "bad-include" || list[0].Advice() != `did you mean "plane"?` {
		t.Errorf("an unknown library gives %v", list)
	}
}

// surveyed reads a plan with a survey.
func surveyed(class, attributes string) (*Plan, diag.List) {
	c := contract.Plane
	if class == "copter" {
		c = contract.Copter
	}
	return Read(&diag.Source{Name: "s.xml", Text: `<root BTCPP_format="4" main_tree_to_execute="m">
<include path="library:` + class + `"/>
<BehaviorTree ID="m"><Sequence><SubTree ID="survey" ` + attributes + `/></Sequence></BehaviorTree>
</root>`}, interfaceOf(c))
}

// A survey is a sequence of lines, with the height and the speed that it gives. A plan without the library has none.
func TestSurvey(t *testing.T) {
	text := `<root BTCPP_format="4"><BehaviorTree ID="m"><SubTree ID="survey" polygon="x"/></BehaviorTree></root>`
	if _, list := Read(&diag.Source{Name: "s.xml", Text: text}, interfaceOf(contract.Plane)); !strings.Contains(
		fmt.Sprint(list), `there is no tree "survey"`) {
		t.Error(list)
	}
	for class, wanted := range map[string]string{
		"plane":  "set_speed align fly_line align fly_line",
		"copter": "set_speed begin fly_line begin fly_line",
	} {
		p, list := surveyed(class, `name="field" polygon=" 0,0 ;0, 100; 90.5,100;90.5 , 0;" spacing="60 [m]" heading="90 [deg]"
			to_h="0.05 [km]" to_speed="18" _skipIf="false"`)
		if len(list) > 0 {
			t.Fatal(list.Err())
		}
		var names []string
		for _, l := range p.Leaves {
			if p.Tree.Kind(l.Task) == bt.Action {
				name := p.Tree.Name(l.Task)
				names = append(names, name[strings.LastIndex(name, "/")+1:])
			}
		}
		if got := strings.Join(names, " "); got != wanted {
			t.Errorf("%s: the actions are %s, want %s", class, got, wanted)
		}
		last := p.Leaves[len(p.Leaves)-1]
		h := fmt.Sprint(last.Write)
		if !strings.Contains(h, "target_h") {
			t.Errorf("%s: the last line writes %s", class, h)
		}
	}
}
