package qgc

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"canopy/diag"
	"canopy/document/plan"
)

// flown returns the actions of steps with their ports, to a decimetre.
func flown(steps []step) string {
	var b strings.Builder
	for _, s := range steps {
		fmt.Fprintf(&b, "%s %d", s.action, s.times)
		for _, p := range s.ports {
			fmt.Fprintf(&b, " %s=%.1f", p.name, p.value+0) // no -0
		}
		b.WriteString("\n" + strings.ReplaceAll(flown(s.steps), "\n", "\n  "))
	}
	return strings.ReplaceAll(b.String(), "-0.0", "0.0")
}

// What is imported is exported again as a plan with the same steps.
func TestRoundTrip(t *testing.T) {
	for _, name := range []string{"survey", "copter"} {
		text, err := os.ReadFile("testdata/" + name + ".plan")
		if err != nil {
			t.Fatal(err)
		}
		f, list := Read(&diag.Source{Name: name, Text: string(text)})
		if f == nil {
			t.Fatal(list.Err())
		}
		first, _ := f.convert()
		document, _, list := Import(f, name)
		if list.HasErrors() {
			t.Fatal(list.Err())
		}
		p, list := plan.Read(&diag.Source{Name: name + ".xml", Text: document}, nil)
		if p == nil {
			t.Fatal(list.Err())
		}
		again, list := Export(p.Document, "", f.Home, f.Copter)
		if len(list) > 0 {
			t.Errorf("%s: left out:\n%v", name, list)
		}
		g, list := Read(&diag.Source{Name: name, Text: again})
		if g == nil {
			t.Fatal(list.Err())
		}
		if g.Copter != f.Copter || math.Abs(g.Home.Lat-f.Home.Lat)+math.Abs(g.Home.Lon-f.Home.Lon) > 1e-9 {
			t.Errorf("%s: home or vehicle differ: %v %v", name, g.Home, f.Home)
		}
		second, list := g.convert()
		if len(list) > 0 || flown(first) != flown(second) {
			t.Errorf("%s:\n%sis exported as\n%s%v", name, flown(first), flown(second), list)
		}
	}
}

// A tree is exported as what it does if all goes well; the rest is listed.
func TestExport(t *testing.T) {
	p, list := plan.Read(&diag.Source{Name: "p.xml", Text: `<root BTCPP_format="4" main_tree_to_execute="main">
  <include path="library:plane"/>
  <BehaviorTree ID="main">
    <ReactiveSequence>
      <Condition name="enough" on="battery gt 0.3"/>
      <Fallback>
        <SubTree ID="out" far="300 [m]"/>
        <return_home/>
      </Fallback>
      <fly_to to_north="north + 5" to_east="0" to_h="50"/>
      <Repeat num_cycles="3"><fly_to to_north="1 [km]" to_east="0" to_h="50"/></Repeat>
      <ForceSuccess><land/></ForceSuccess>
    </ReactiveSequence>
  </BehaviorTree>
  <BehaviorTree ID="out">
    <Sequence><fly_to to_north="{far}" to_east="-20" to_h="60"/></Sequence>
  </BehaviorTree>
</root>`}, nil)
	if p == nil {
		t.Fatal(list.Err())
	}
	text, list := Export(p.Document, "", Spot{}, false)
	want := []string{"<Condition> enough is left out: the autopilot's missions have nothing of the kind",
		"<return_home> is left out: it is an alternative",
		`<fly_to> is left out: its to_north is "north + 5", which is no number before the flight`,
		"<ForceSuccess> is left out: the autopilot's missions have nothing of the kind"}
	for i, d := range list {
		if i >= len(want) || d.Text != want[i] {
			t.Errorf("left out: %s", d.Text)
		}
	}
	f, _ := Read(&diag.Source{Text: text})
	if f == nil || len(list) != len(want) {
		t.Fatal(text, list)
	}
	steps, _ := f.convert()
	if got := flown(steps); got != "fly_to 0 to_north=300.0 to_east=-20.0 to_h=60.0\n 3\n"+
		"fly_to 0 to_north=1000.0 to_east=0.0 to_h=50.0\n  " {
		t.Errorf("%q", got)
	}
	if _, list := Export(p.Document, "none", Spot{}, false); !list.HasErrors() {
		t.Error("a tree that does not exist is exported")
	}
}
