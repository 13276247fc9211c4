package live_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/run/live"
)

// The smallest program: one condition, one action. The action ends when it reports success, and with it the plan.
func Example() {
	x := live.New("greet.xml", `<root BTCPP_format="4"><BehaviorTree ID="main">
	  <ReactiveSequence>
	    <Condition ID="someone_here"/>
	    <Action ID="greet"/>
	  </ReactiveSequence>
	</BehaviorTree></root>`)
	here := x.Condition("someone_here")
	x.Action("greet", live.Action{Start: func(a live.Activation) {
		fmt.Println("Hello!")
		a.Succeed()
	}})
	here.Set(true)
	fmt.Println(x.Run(context.Background()))
	// Output:
	// Hello!
	// <nil>
}

// An action that works in a goroutine of its own. Stop ends the work; as the exit procedure takes time, no other task
// begins before the work has ended.
func ExampleAction() {
	x := live.New("survey.xml", `<root BTCPP_format="4"><BehaviorTree ID="main">
	  <Timeout msec="60000"><Action ID="survey"/></Timeout>
	</BehaviorTree></root>`)
	x.Use(&live.Virtual{})
	var cancel context.CancelFunc
	work := func(ctx context.Context, a live.Activation) {
		<-ctx.Done() // such as a request to a server
		fmt.Println("the work has ended")
		a.Stopped()
	}
	x.Action("survey", live.Action{
		Start: func(a live.Activation) {
			var ctx context.Context
			ctx, cancel = context.WithCancel(context.Background())
			go work(ctx, a)
		},
		Stop:          func(live.Activation) { cancel() },
		StopTakesTime: true,
	})
	err := x.Run(context.Background())
	fmt.Println(errors.Is(err, live.ErrFailed))
	// Output:
	// the work has ended
	// true
}

// Values travel through ports: the action that looks writes where the cup is, the one that grasps reads it, in a subtree
// under another name.
func ExampleGet() {
	x := live.New("fetch.xml", `<root BTCPP_format="4" main_tree_to_execute="main">
	  <BehaviorTree ID="main">
	    <Sequence>
	      <Look object="cup" distance="{range}"/>
	      <ScriptCondition code="range &lt; 1"/>
	      <SubTree ID="take" what="cup" reach="{range}"/>
	    </Sequence>
	  </BehaviorTree>
	  <BehaviorTree ID="take"><Grasp object="{what}" distance="{reach}"/></BehaviorTree>
	</root>`)
	x.Action("Look", live.Action{
		Ports: live.Ports{"object": live.In[string](), "distance": live.Out[float64]("cm")},
		Start: func(a live.Activation) {
			if err := a.Set("distance", 80); err != nil {
				a.Fail(err)
			}
			a.Succeed()
		},
	})
	x.Action("Grasp", live.Action{
		Ports: live.Ports{"object": live.In[string](), "distance": live.In[float64]("mm"), "force": live.In[int]().Or(5)},
		Start: func(a live.Activation) {
			object, err := live.Get[string](a, "object")
			if err != nil {
				a.Fail(err)
			}
			distance, err := live.Get[float64](a, "distance")
			if err != nil {
				a.Fail(err)
			}
			fmt.Printf("grasp the %s at %g mm\n", object, distance)
			a.Succeed()
		},
	})
	fmt.Println(x.Run(context.Background()))
	// Output:
	// grasp the cup at 800 mm
	// <nil>
}

// A condition that the plan asks has ports of its own in each place. It is asked again when one of them has changed, or
// when the program says that the answer may be another one.
func ExampleExecution_ConditionFunc() {
	x := live.New("patrol.xml", `<root BTCPP_format="4"><BehaviorTree ID="main">
	  <ReactiveFallback>
	    <ReactiveSequence><Near goal="dock"/><Action ID="Charge"/></ReactiveSequence>
	    <ReactiveSequence><Near goal="gate"/><Action ID="Look"/></ReactiveSequence>
	    <Action ID="Fly"/>
	  </ReactiveFallback>
	</BehaviorTree></root>`)
	clock := &live.Virtual{}
	x.Use(clock)
	place := "home"
	near := x.ConditionFunc("Near", live.Ports{"goal": live.In[string]()}, func(l live.Leaf) bool {
		goal, err := live.Get[string](l, "goal")
		return err == nil && goal == place
	})
	for _, id := range []string{"Charge", "Look", "Fly"} {
		x.Action(id, live.Action{Start: func(live.Activation) { fmt.Println(clock.Now(), id) }})
	}
	ctx, cancel := context.WithCancel(context.Background())
	for i, p := range []string{"gate", "dock"} {
		clock.At(time.Duration(i+1)*time.Minute, func() { place = p; near.Changed() })
	}
	clock.At(time.Hour, cancel)
	fmt.Println(x.Run(ctx))
	// Output:
	// 0s Fly
	// 1m0s Look
	// 2m0s Charge
	// context canceled
}

// The error with which an action fails is part of the error of the plan.
func ExampleActivation_Fail() {
	errJammed := errors.New("the gripper is jammed")
	x := live.New("grasp.xml", `<root BTCPP_format="4"><BehaviorTree ID="main">
	  <Sequence><Grasp object="cup"/></Sequence>
	</BehaviorTree></root>`)
	x.Action("Grasp", live.Action{Start: func(a live.Activation) {
		object, _ := live.Get[string](a, "object")
		a.Fail(fmt.Errorf("grasp the %s: %w", object, errJammed))
	}})
	err := x.Run(context.Background())
	fmt.Println(err)
	fmt.Println(errors.Is(err, errJammed))
	// Output:
	// the plan has failed: Grasp: grasp the cup: the gripper is jammed
	// true
}

// All mistakes are found before anything runs, each with its place.
func ExampleExecution_Check() {
	x := live.New("patrol.xml", `<root BTCPP_format="4"><BehaviorTree ID="main">
  <Sequence>
    <Condition on="batery ge 20 [%]"/>
    <Action ID="patrole"/>
  </Sequence>
</BehaviorTree></root>`)
	x.Number("battery", "%")
	x.Action("patrol", live.Action{})
	fmt.Println(x.Check())
	// Output:
	// patrol.xml:3:20: error: unknown signal "batery" [unknown-signal]
	//     3 |     <Condition on="batery ge 20 [%]"/>
	//       |                    ^~~~~~
	//   hint: did you mean "battery"?
	// patrol.xml:4:5: error: no Go code is registered for the action "patrole" [no-code]
	//     4 |     <Action ID="patrole"/>
	//       |     ^~~~~~~~~~~~~~~~~~~~~~
	//   hint: did you mean "patrol"?
}

// A subscriber receives every change of a status. The causes lead from each to the input behind it.
func ExampleChange_Cause() {
	x := live.New("fly.xml", `<root BTCPP_format="4"><BehaviorTree ID="main">
	  <ReactiveSequence name="mission">
	    <Condition name="healthy" on="battery ge 20 [%]"/>
	    <Action ID="fly"/>
	  </ReactiveSequence>
	</BehaviorTree></root>`)
	battery := x.Number("battery", "%")
	x.Action("fly", live.Action{})
	x.Subscribe(func(c live.Change) {
		if c.Task != "fly" || c.To != bt.Deactivating {
			return
		}
		for ok := true; ok; {
			fmt.Println(c)
			cause, more := c.Cause()
			if !more {
				fmt.Println("because", c.Input())
			}
			c, ok = cause, more
		}
	})
	clock := &live.Virtual{}
	x.Use(clock)
	battery.Set(80)
	clock.At(90*time.Minute, func() { battery.Set(19.5) })
	_ = x.Run(context.Background())
	// Output:
	// 1h30m0s fly: Running -> Deactivating
	// 1h30m0s mission: Running -> Aborted
	// 1h30m0s healthy: Success -> Failure
	// because battery < 20 [%] (battery = 19.5 %)
}

// The plan's own expressions read numbers, with hysteresis; its own actions write outputs.
func ExampleExecution_Output() {
	x := live.New("heat.xml", `<root BTCPP_format="4"><BehaviorTree ID="main">
	  <ReactiveFallback>
	    <Inverter><Condition name="cold" on="temperature lt 18" off="temperature gt 21"/></Inverter>
	    <Action name="heat" write="heater := 500 [W]"/>
	  </ReactiveFallback>
	</BehaviorTree></root>`)
	clock := &live.Virtual{}
	x.Use(clock)
	temperature := x.Number("temperature", "")
	x.Output("heater", "W", 0, func(v float64) { fmt.Printf("%v: %g W\n", clock.Now(), v) })
	ctx, cancel := context.WithCancel(context.Background())
	temperature.Set(20)
	for hour, celsius := range []float64{17.5, 19, 20.5, 21.5, 19} {
		clock.At(time.Duration(hour+1)*time.Hour, func() { temperature.Set(celsius) })
	}
	clock.At(24*time.Hour, cancel)
	fmt.Println(x.Serve(ctx))
	// Output:
	// 0s: 0 W
	// 1h0m0s: 500 W
	// 4h0m0s: 0 W
	// context canceled
}

// Inputs that are set in one function given to Do act at one instant: in between, the plan sees nothing.
func ExampleExecution_Do() {
	x := live.New("both.xml", `<root BTCPP_format="4"><BehaviorTree ID="main">
	  <Sequence>
	    <KeepRunningUntilFailure><Condition on="a gt b"/></KeepRunningUntilFailure>
	    <Action ID="never"/>
	  </Sequence>
	</BehaviorTree></root>`)
	a, b := x.Number("a", ""), x.Number("b", "")
	x.Action("never", live.Action{Start: func(live.Activation) { fmt.Println("a was not greater than b") }})
	a.Set(2)
	b.Set(1)
	ctx, cancel := context.WithCancel(context.Background())
	go func() { // any goroutine
		x.Do(func() { b.Set(3); a.Set(4) })
		x.Do(cancel)
	}()
	fmt.Println(x.Run(ctx))
	// Output: context canceled
}

// A request is judged without activating the action: the door that is already open need not be opened.
func ExampleRequest_Set() {
	x := live.New("enter.xml", `<root BTCPP_format="4"><BehaviorTree ID="main">
	  <Sequence><Action ID="open_door"/><Action ID="enter"/></Sequence>
	</BehaviorTree></root>`)
	door := x.Action("open_door", live.Action{Start: func(a live.Activation) { fmt.Println("open"); a.Succeed() }})
	x.Action("enter", live.Action{Start: func(a live.Activation) { fmt.Println("enter"); a.Succeed() }})
	door.Set(bt.Success)
	fmt.Println(x.Run(context.Background()))
	// Output:
	// enter
	// <nil>
}

// Serve keeps reacting when the plan has ended: here each order is an end of the plan.
func ExampleExecution_Serve() {
	x := live.New("deliver.xml", `<root BTCPP_format="4"><BehaviorTree ID="main">
	  <ReactiveSequence><Condition ID="ordered"/><Action ID="deliver"/></ReactiveSequence>
	</BehaviorTree></root>`)
	clock := &live.Virtual{}
	x.Use(clock)
	ordered := x.Condition("ordered")
	x.Action("deliver", live.Action{Start: func(a live.Activation) {
		fmt.Println(clock.Now(), "deliver")
		clock.After(20*time.Minute, func() { a.Succeed(); ordered.Set(false) })
	}})
	ctx, cancel := context.WithCancel(context.Background())
	for hour := range 3 {
		clock.At(time.Duration(hour+1)*time.Hour, func() { ordered.Set(true) })
	}
	clock.At(8*time.Hour, cancel)
	fmt.Println(x.Serve(ctx))
	// Output:
	// 1h0m0s deliver
	// 2h0m0s deliver
	// 3h0m0s deliver
	// context canceled
}

// A test of a program runs on a virtual clock: a day takes no time, and always goes the same way.
func ExampleVirtual() {
	x := live.New("watch.xml", `<root BTCPP_format="4"><BehaviorTree ID="main">
	  <Repeat num_cycles="3">
	    <Sequence><Sleep msec="28800000"/><Action ID="look"/></Sequence>
	  </Repeat>
	</BehaviorTree></root>`)
	clock := &live.Virtual{}
	x.Use(clock)
	x.Action("look", live.Action{Start: func(a live.Activation) {
		fmt.Println(clock.Now(), "look around")
		clock.After(time.Minute, a.Succeed)
	}})
	fmt.Println(x.Run(context.Background()))
	// Output:
	// 8h0m0s look around
	// 16h1m0s look around
	// 24h2m0s look around
	// <nil>
}

// Values with types: the program sets words and whole numbers, the plan's scripts write entries that the program gets.
func ExampleExecution_WordOutput() {
	x := live.New("deliver.xml", `<root BTCPP_format="4"><BehaviorTree ID="main">
	  <Sequence>
	    <Script code="phase := loading; parcels := parcels + waiting"/>
	    <Condition ID="Loaded" on="door == closed"/>
	    <Script code="phase := driving; lights := parcels > 2"/>
	    <Action ID="Drive" _onSuccess="phase := done; parcels := 0"/>
	  </Sequence>
	</BehaviorTree></root>`)
	door, waiting := x.Word("door", "open", "closed"), x.Whole("waiting")
	x.WordOutput("phase", []string{"idle", "loading", "driving", "done"}, func(phase string) { fmt.Println("phase:", phase) })
	x.WholeOutput("parcels", func(n int) { fmt.Println("parcels:", n) })
	x.TruthOutput("lights", func(on bool) { fmt.Println("lights:", on) })
	x.Action("Drive", live.Action{Start: func(a live.Activation) { a.Succeed() }})
	door.Set("closed")
	waiting.Set(3)
	fmt.Println(x.Run(context.Background()))
	// Output:
	// phase: driving
	// parcels: 3
	// lights: true
	// phase: done
	// parcels: 0
	// <nil>
}

// The plan is exchanged while it runs: watching goes on, fetching is stopped, and tidying begins when that is complete.
func ExampleExecution_Swap() {
	plan := func(work string) string {
		return `<root BTCPP_format="4"><BehaviorTree ID="main"><Parallel success_count="1" failure_count="1">
		  <Action ID="watch"/><Action ID="` + work + `"/></Parallel></BehaviorTree></root>`
	}
	x := live.New("fetch.xml", plan("fetch"))
	x.Use(&live.Virtual{})
	for _, id := range []string{"watch", "fetch", "tidy"} {
		x.Action(id, live.Action{
			Start: func(a live.Activation) {
				fmt.Println("start", id)
				if id == "tidy" {
					a.Succeed()
				}
			},
			Stop: func(live.Activation) { fmt.Println("stop", id) },
		})
	}
	x.Swap("tidy.xml", plan("tidy"), func(err error) { fmt.Println("exchanged:", err) })
	fmt.Println(x.Run(context.Background()))
	// Output:
	// start watch
	// start fetch
	// stop fetch
	// exchanged: <nil>
	// start tidy
	// stop watch
	// stop tidy
	// <nil>
}
