package live_test

import (
	"context"
	"fmt"
	"math/cmplx"
	"time"

	"github.com/canopy-uav/canopy/run/live"
)

// The circuit of A. Klöckner, Behavior Trees for UAV Mission Management (2013), section 6: take
// off, then fly round the waypoints for ever. The four actions are Go code that moves a simple aircraft.
func Example_circuit() {
	x := live.New("circuit.xml", `<root BTCPP_format="4"><BehaviorTree ID="circuit">
	  <ReactiveSequence name="circuit">
	    <ReactiveFallback><Condition on="altitude ge 200 [m]" off="altitude lt 180 [m]"/>
	                      <Action ID="take_off"/></ReactiveFallback>
	    <ReactiveFallback><Condition on="distance le 60 [m]"/>
	                      <Action ID="fly"/></ReactiveFallback>
	    <ReactiveFallback><Action ID="advance" _successIf="distance gt 60 [m]"/>
	                      <Action ID="reset"/></ReactiveFallback>
	  </ReactiveSequence>
	</BehaviorTree></root>`)
	clock := &live.Virtual{}
	x.Use(clock)
	altitude, distance := x.Number("altitude", "m"), x.Number("distance", "m")
	route := []complex128{1000, 1000 + 500i, 500i, 0}
	var place, velocity complex128 // [m], [m/s]
	var height, climb float64
	target := 0
	look := func() {
		altitude.Set(height)
		distance.Set(cmplx.Abs(route[target] - place))
	}
	turn := func(a live.Activation, to int) {
		target = to
		fmt.Println(clock.Now(), a.Task(), "to waypoint", to+1)
		look()
		a.Succeed()
	}
	x.Action("take_off", live.Action{
		Start: func(a live.Activation) { climb = 5; fmt.Println(clock.Now(), a.Task()) },
		Stop:  func(live.Activation) { climb = 0 }})
	x.Action("fly", live.Action{
		Start: func(live.Activation) {
			velocity = (route[target] - place) * complex(18/cmplx.Abs(route[target]-place), 0)
		},
		Stop: func(live.Activation) { velocity = 0 }})
	x.Action("advance", live.Action{Start: func(a live.Activation) {
		if target == len(route)-1 {
			a.Fail(nil)
			return
		}
		turn(a, target+1)
	}})
	x.Action("reset", live.Action{Start: func(a live.Activation) { turn(a, 0) }})
	ctx, cancel := context.WithCancel(context.Background())
	for second := range time.Duration(240) {
		clock.At(second*time.Second, func() { height += climb; place += velocity; look() })
	}
	clock.At(4*time.Minute, cancel)
	fmt.Println(x.Run(ctx))
	// Output:
	// 0s take_off
	// 1m32s advance to waypoint 2
	// 1m57s advance to waypoint 3
	// 2m50s advance to waypoint 4
	// 3m15s reset to waypoint 1
	// context canceled
}
