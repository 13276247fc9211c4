package flown

import (
	"testing"

	"github.com/canopy-uav/canopy/document/mission"
	ranges "github.com/canopy-uav/canopy/expr/interval"
	"github.com/canopy-uav/canopy/internal/cart"
)

// What follows from the declared start is not asked at the first instant, and is asked again later.
func TestStart(t *testing.T) {
	start := map[string]ranges.Interval{"x": ranges.Point(1), "y": ranges.Between(2, 3), "t": ranges.Point(0)}
	for condition, want := range map[string]int{
		"x ge 1": 1, "x gt 1": 1, "2 * x lt 2.5": 1, "y ge 2": 1, "y gt 2": 2, "y ge 2.5": 2, "x + y gt 4.1": 1, "x + y ge 4": 2,
		"(x - 1)^2 + y^2 le 9.1": 1, "x^2 + y^2 gt 9": 2, "x * y ge 1.9": 1, "x / y lt 0.51": 1, "z gt 0": 2, "x + z gt 0": 2,
		"t lt 5": 1, "o gt 5": 4, "o + x lt 9": 4, "e gt 2.9": 1,
	} {
		files := cart.Files{"m.yaml": "plan: p.xml\nvehicle: v.yaml\nhorizon: 10\nsignals: {e: {value: x + y}}\n",
			"p.xml": `<root BTCPP_format="4"><BehaviorTree ID="p"><ReactiveFallback><Condition name="c" on="` + condition +
				`"/><Action name="a" write="u := x"/></ReactiveFallback></BehaviorTree></root>`,
			"v.yaml": "states: {x: {derivative: \"0 [1/s]\"}, y: {derivative: \"0 [1/s]\"}, z: {derivative: \"0 [1/s]\"}}\n" +
				"outputs: {o: {value: u + 2 * x}}\ncommands: {u: {}}\n"}
		m, diags := mission.Read("m.yaml", files.Open, nil, nil)
		if m == nil {
			t.Fatal(condition, diags)
		}
		subject := m.Subject()
		subject.Initial = start
		s := New(subject)
		ways := func(from Key) (n int, to Key) {
			s.Steps(from, func(x *Moment) { n, to = n+btoi(x.Over), x.After() })
			return n, to
		}
		n, next := ways("")
		if later, _ := ways(next); n != want || later < 2 {
			t.Errorf("%s: %d ways to begin, want %d; then %d", condition, n, want, later)
		}
	}
}
