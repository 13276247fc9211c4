package qgc

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/vehicle/earth"

	diff "github.com/google/go-cmp/cmp"
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
	for _, name := range []string{"survey", "copter", "fence", "payload"} {
		text, err := os.ReadFile("testdata/" + name + ".plan")
		if err != nil {
			t.Fatal(err)
		}
		f, list := Read(&diag.Source{Name: name, Text: string(text)})
		if f == nil {
			t.Fatal(list.Err())
		}
		first, _ := f.convert()
		limits, rally, list := f.limits()
		if len(list) > 0 {
			t.Fatal(list)
		}
		document, _, list := Import(f, name)
		if list.HasErrors() {
			t.Fatal(list.Err())
		}
		p, list := plan.Read(&diag.Source{Name: name + ".xml", Text: document}, nil)
		if p == nil {
			t.Fatal(list.Err())
		}
		again, list := Export(p.Document, "", f.Home, f.Copter, limits, rally, nil)
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
		sameLimits, sameRally, _ := g.limits()
		if d := diff.Diff([]any{limits, rally}, []any{sameLimits, sameRally}); d != "" {
			t.Errorf("%s: the fence or the rally points differ: %s", name, d)
		}
		second, list := g.convert()
		if len(list) > 0 || flown(first) != flown(second) {
			t.Errorf("%s:\n%sis exported as\n%s%v", name, flown(first), flown(second), list)
		}
	}
}

// A fence that a mission cannot have, and a vehicle that has no contract, are refused with their reason.
func TestRefusals(t *testing.T) {
	for _, c := range []struct{ firmware, kind, fence, rally, want string }{
		{"3", "1", "", "", ""},
		{"3", "10", "", "", "a plan for a ground rover (MAV_TYPE 10) cannot be imported"},
		{"3", "12", "", "", "a submarine"},
		{"3", "99", "", "", "a vehicle of an unknown kind (MAV_TYPE 99)"},
		{"4", "1", "", "", "the autopilot 4 (MAV_AUTOPILOT)"},
		{"3", "1", `"circles": [{"circle": {"center": [48.1, 11], "radius": 500}, "inclusion": true}]`, "",
			"the planned home is not inside of the fence"},
		{"3", "1", `"circles": [{"circle": {"center": [48, 11], "radius": 500}, "inclusion": false}]`, "",
			"the planned home is not inside of the fence"},
		{"3", "1", `"circles": [{"circle": {"center": [58, 11], "radius": 500}, "inclusion": false}]`, "", "farther than 100 km"},
		{"3", "1", `"polygons": [{"polygon": [[47.9, 10.9], [48.1, 11.1], [47.9, 11.1], [48.1, 10.9]], "inclusion": true}]`, "",
			"the sides 1 and 3 of the polygon cross"},
		{"3", "1", `"circles": [{"circle": {"center": [48, 11], "radius": 500}, "inclusion": true}]`, "[48.01, 11, 50]",
			"rally point 1 is not inside of the fence"},
		{"3", "1", "", "[48.01, 11, -50]", "rally point 1 is far away, or not above home"},
		{"12", "1", `"circles": [{"circle": {"center": [48, 11], "radius": 500}, "inclusion": true},
			{"circle": {"center": [48, 11], "radius": 600}, "inclusion": true}]`, "", "a PX4 may be inside any of several"},
	} {
		text := strings.Replace(document([8]float64{cmdTakeOff, 0, 0, 0, 0, 48, 11, 50}), `"firmwareType":3`,
			`"firmwareType":`+c.firmware, 1)
		text = strings.Replace(text, `"vehicleType":1`, `"vehicleType":`+c.kind, 1)
		text = `{"geoFence": {"version": 2, ` + cmp.Or(c.fence, `"circles": []`) + `}, "rallyPoints": {"points": [` + c.rally + `]}, ` +
			text[1:]
		f, list := Read(&diag.Source{Name: "p.plan", Text: text})
		if f != nil {
			_, _, list = Import(f, "p")
		}
		if c.want == "" && len(list) == 0 { // it is accepted
			continue
		}
		if len(list) != 1 || c.want == "" || !strings.Contains(list[0].Text, c.want) || list[0].Severity != diag.Error {
			t.Errorf("%s: %v", c.want, list)
		}
	}
}

// What is imported all the same, and may surprise, has a warning.
func TestWarnings(t *testing.T) {
	text := document([8]float64{cmdLoiterTurns, 2, 0, 1, 0, 48.001, 11, 50})
	text = `{"geoFence": {"version": 2, "breachReturn": [48, 11, 50]}, ` + text[1:]
	f, list := Read(&diag.Source{Name: "p.plan", Text: text})
	_, _, more := Import(f, "p")
	all := fmt.Sprint(list, more)
	for _, want := range []string{"the breach return point of the fence is left out", "has a radius of 1 m",
		"the plan has no take-off"} {
		if !strings.Contains(all, want) {
			t.Errorf("no %q in\n%s", want, all)
		}
	}
	if f == nil || list.HasErrors() || more.HasErrors() {
		t.Error(all)
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
	text, list := Export(p.Document, "", Spot{}, false, earth.Fence{}, nil, nil)
	want := []string{"<Condition> enough is left out: the autopilot's missions have nothing of the kind",
		"<return_home> is left out: it is an alternative",
		`<fly_to> is left out: its to_north is "north + 5", which is not known before the flight`,
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
	if _, list := Export(p.Document, "none", Spot{}, false, earth.Fence{}, nil, nil); !list.HasErrors() {
		t.Error("a tree that does not exist is exported")
	}
}

// A place in degrees that the port of a subtree gives is that of the item.
func TestExportPlacesOfSubtrees(t *testing.T) {
	text := `<root BTCPP_format="4" main_tree_to_execute="m"><include path="library:copter"/><BehaviorTree ID="m">` +
		`<SubTree ID="go" la="48.0820" lo="11.2840 [deg]" al="640"/></BehaviorTree><BehaviorTree ID="go">` +
		`<fly_to lat="{la}" lon="{lo}" alt="{al}"/></BehaviorTree></root>`
	p, list := plan.Read(&diag.Source{Name: "p.xml", Text: text}, nil)
	if p == nil {
		t.Fatal(list.Err())
	}
	at := earth.Position{Lat: 48.0814, Lon: 11.2831}
	plane, scope := earth.NewPlane(at), expr.Scope{}
	metre, _ := expr.ParseUnit("m")
	for name, v := range map[string]float64{"home_lat": at.Lat * math.Pi / 180, "home_lon": at.Lon * math.Pi / 180,
		"home_meridian": plane.Meridian(), "home_parallel": plane.Parallel(), "home_alt": 590} {
		scope[name] = expr.Variable{Unit: metre, Constant: &v}
	}
	again, list := Export(p.Document, "", Spot{Position: at, H: 590}, true, earth.Fence{}, nil, scope)
	f, more := Read(&diag.Source{Name: "p.plan", Text: again})
	if f == nil || len(list) > 0 {
		t.Fatal(list, more)
	}
	if q := f.Items[0].Params; math.Abs(q[4]-48.0820)+math.Abs(q[5]-11.2840) > 1e-9 || math.Abs(q[6]-50) > 1e-9 {
		t.Errorf("the item is at %v", q)
	}
}
