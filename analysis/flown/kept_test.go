package flown

import (
	"slices"
	"testing"

	"github.com/canopy-uav/canopy/document/declare"
	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/explore"
	"github.com/canopy-uav/canopy/internal/cart"
)

// keeping returns a mission whose plan writes the slots s and d, from the signals x and y.
func keeping(t *testing.T, plan, facts string) declare.Subject {
	t.Helper()
	files := cart.Files{
		"m.yaml": "mission: m\nplan: p.xml\nvehicle: v.vehicle.yaml\nhorizon: 10\nsignals:\n  s: {type: real, hold: true}\n" +
			"  d: {type: real, hold: true}\n" + facts,
		"p.xml": `<root BTCPP_format="4"><BehaviorTree ID="main">` + plan + `</BehaviorTree></root>`,
		"v.vehicle.yaml": "vehicle: v\nstates:\n  x: {derivative: \"0 [1/s]\"}\n  y: {derivative: \"0 [1/s]\"}\n" +
			"commands:\n  u: {}\n",
	}
	m, diags := mission.Read("m.yaml", files.Open, nil, nil)
	if m == nil {
		t.Fatal(diags)
	}
	return m.Subject()
}

// What a slot keeps is the same in every instant: what was found out about it, and what was known of the signal when it
// was written.
func TestKeptValues(t *testing.T) {
	for _, test := range []struct {
		name, plan, facts string
		never             []string
	}{
		{name: "found out later", plan: `<Sequence><Action name="a" entry="s := x" done="y ge 1"/>
			<Fallback><Condition name="c" on="s ge 2"/><Action name="low" done="y lt 1"/></Fallback>
			<ReactiveFallback><Condition name="d" on="s lt 2"/><Action name="high"/></ReactiveFallback>
			<Condition name="e" on="s ge 2"/><Action name="both"/></Sequence>`, never: []string{"both"}},
		{name: "known of the signal", plan: `<Sequence><Condition name="c" on="x ge 2"/>
			<Action name="a" entry="s := x" done="y ge 1"/><ReactiveFallback><Condition name="d" on="s ge 2"/>
			<Action name="low"/></ReactiveFallback></Sequence>`, never: []string{"low"}},
		{name: "of facts", plan: `<Sequence><Action name="a" entry="s := x" done="y ge 1"/>
			<ReactiveFallback><Condition name="d" on="s ge 1"/><Action name="low"/></ReactiveFallback></Sequence>`,
			facts: "check:\n  facts: [\"x ge 1\"]\n", never: []string{"low"}},
		{name: "of facts in one of two ways", plan: `<Sequence><Action name="a" entry="s := x" done="y ge 1"/>
			<ReactiveFallback><Condition name="d" on="s ge 1"/><Action name="low"/></ReactiveFallback></Sequence>`,
			facts: "check:\n  facts: [\"x ge 1 or y ge 1\"]\n"},
		{name: "sums", plan: `<Sequence><Condition name="c" on="x ge 2"/><Action name="a" entry="s := 3 - 2 * x" done="y ge 1"/>
			<ReactiveFallback><Condition name="d" on="s le -1"/><Action name="high"/></ReactiveFallback></Sequence>`,
			never: []string{"high"}},
		{name: "equal values", plan: `<Sequence><Action name="a" entry="s := x; d := s" done="y ge 1"/>
			<Condition name="c" on="s ge 2"/><Action name="b" done="y lt 1"/>
			<ReactiveFallback><Condition name="e" on="d ge 2"/><Action name="low"/></ReactiveFallback></Sequence>`,
			never: []string{"low"}},
		{name: "held after it followed", plan: `<Sequence><Action name="a" write="s := x" done="x ge 2"/>
			<ReactiveFallback><Condition name="d" on="s ge 2"/><Action name="low"/></ReactiveFallback></Sequence>`,
			never: []string{"low"}},
	} {
		s := New(keeping(t, test.plan, test.facts))
		active := map[string]bool{}
		search := explore.New[Key, struct{}](explore.Budget{States: 60})
		search.Arrive(-1, "", struct{}{})
		for n := range search.Leave() {
			s.Steps(search.Key(n), func(m *Moment) {
				entered := m.Entered()
				if m.Err != nil {
					t.Errorf("%s: %v", test.name, m.Err)
				} else if m.Over && m.Possible() {
					for _, task := range entered {
						active[s.Tree.Name(task)] = true
					}
					search.Arrive(n, m.After(), struct{}{})
				}
			})
		}
		if short := search.Short(); short != "" {
			t.Errorf("%s: %s", test.name, short)
		}
		for _, l := range s.Tree.Leaves() {
			if name := s.Tree.Name(l); s.Tree.Kind(l).Acts() && active[name] == slices.Contains(test.never, name) {
				t.Errorf("%s: %s becomes active: %t", test.name, name, active[name])
			}
		}
	}
}
