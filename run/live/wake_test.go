package live

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/canopy-uav/canopy/bt"
)

const alternation = `<ReactiveSequence><Condition ID="on"/><Action ID="act"/></ReactiveSequence>`

// TestNoWakeUpIsLost sets a condition from one goroutine and waits until the action has followed, again and again, while
// others wake the loop for nothing. A wake-up that is lost would stop everything.
func TestNoWakeUpIsLost(t *testing.T) {
	tries := 200_000 // of two wake-ups
	if testing.Short() {
		tries = 10_000
	}
	x := New("plan.xml", document(`<Parallel>`+alternation+`<Condition on="level ge 0"/></Parallel>`))
	on, level := x.Condition("on"), x.Number("level", "")
	follows, noise := make(chan bool), make(chan int)
	x.Action("act", Action{Start: func(Activation) { follows <- true }, Stop: func(Activation) { follows <- false }})
	ctx, cancel := context.WithCancel(t.Context())
	var others sync.WaitGroup
	var end error
	others.Go(func() { end = x.Serve(ctx) })
	for range 2 {
		others.Go(func() {
			for i := range noise {
				if level.Set(float64(i)); i%100 == 0 {
					x.Do(func() {})
				}
			}
		})
	}
	for i := range tries {
		select {
		case noise <- i:
		default:
		}
		for _, value := range []bool{true, false} {
			on.Set(value)
			if <-follows != value {
				t.Fatal("the action has not followed")
			}
		}
	}
	cancel()
	close(noise)
	others.Wait()
	if !errors.Is(end, context.Canceled) {
		t.Error(end)
	}
}

// Waking the loop up, settling, and the callbacks allocate nothing.
func TestWakeUpAllocatesNothing(t *testing.T) {
	x := New("plan.xml", document(`<ReactiveSequence><Condition ID="on"/><Condition on="level ge 0"/>
		<Timeout msec="60000"><Action ID="act"/></Timeout></ReactiveSequence>`))
	on, level := x.Condition("on"), x.Number("level", "")
	calls := 0
	x.Action("act", Action{Start: func(Activation) { calls++ }, Stop: func(Activation) { calls++ }})
	x.Subscribe(func(c Change) { c.Cause() })
	p, err := x.read(&x.source)
	if err != nil {
		t.Fatal(err)
	}
	x.forever = true
	if err := x.begin(p); err != nil {
		t.Fatal(err)
	}
	turn := func() {
		for _, value := range []bool{true, false} {
			on.Set(value)
			level.Set(float64(calls))
			if err := errors.Join(x.wait(nil), x.next()); err != nil {
				t.Fatal(err)
			}
			if _, err := x.ring(); err != nil {
				t.Fatal(err)
			}
		}
	}
	turn()
	if n := testing.AllocsPerRun(100, turn); n != 0 {
		t.Errorf("%g allocations", n)
	}
	if calls != 2*102 {
		t.Errorf("%d calls", calls)
	}
}

// counting is the clock of the computer, and counts how often the loop waits.
type counting struct {
	*wall
	waits int
}

func (c *counting) Alarm(due time.Duration) <-chan time.Time {
	c.waits++
	return c.wall.Alarm(due)
}

// The clock of the computer, in a bubble in which its time is not real: no goroutine is left, nothing is polled, and
// timers are exact.
func TestComputersClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		x := New("plan.xml", document(`<Sequence><Delay delay_msec="1500"><Action ID="a"/></Delay><Sleep msec="250"/>
			<Action ID="b"/></Sequence>`))
		r, clock := &recorder{x: x}, &counting{wall: newWall()}
		x.Use(clock)
		for _, id := range []string{"a", "b"} {
			x.Action(id, Action{Start: func(a Activation) {
				r.note("%v %s", time.Since(start), id)
				time.AfterFunc(time.Hour, a.Succeed)
			}})
		}
		if err := x.Run(t.Context()); err != nil {
			t.Error(err)
		}
		r.note("%v", time.Since(start))
		r.expect(t, "1.5s a", "1h0m1.75s b", "2h0m1.75s")
		if clock.waits != 4 { // for two timers and two actions
			t.Errorf("the loop has waited %d times", clock.waits)
		}
	})
}

// A context that ends wakes the loop; exit procedures that take time are awaited.
func TestCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		x := New("plan.xml", document(`<Parallel><Action ID="a"/><Delay delay_msec="3600000"><Action ID="b"/></Delay></Parallel>`))
		x.Action("b", Action{})
		x.Action("a", Action{StopTakesTime: true, Stop: func(a Activation) {
			time.AfterFunc(5*time.Second, a.Stopped)
		}})
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Minute, func() { cancel(errStalled) })
		if err := x.Run(ctx); !errors.Is(err, errStalled) || time.Since(start) != 65*time.Second {
			t.Error(err, time.Since(start))
		}
		y := New("plan.xml", document(`<Action ID="a"/>`))
		y.Action("a", Action{Start: func(Activation) { t.Error("started after the end of the context") }})
		if err := y.Run(ctx); !errors.Is(err, errStalled) {
			t.Error(err)
		}
	})
}

// A callback that panics ends the run with an error that names it; all exit procedures are run, also those that panic.
func TestPanics(t *testing.T) {
	for _, test := range []struct{ where, callback string }{
		{"start", "a"}, {"stop", "a"}, {"subscriber", "a subscriber"}, {"output", "o"}, {"do", "a function given to Do"},
		{"clock", "the clock"},
	} {
		x, clock, r := fixture(`<Parallel><Action ID="a"/><Action ID="b"/><Action name="c" write="o := 1"/></Parallel>`)
		panics := func(where string) {
			if where == test.where {
				panic(errStalled)
			}
		}
		x.Output("o", "", 0, func(v float64) {
			if v == 1 {
				panics("output")
			}
		})
		x.Action("a", Action{StopTakesTime: true,
			Start: func(Activation) { r.note("start a"); panics("start") },
			Stop:  func(a Activation) { r.note("stop a"); panics("stop"); a.Stopped() },
		})
		x.Action("b", r.action())
		x.Subscribe(func(c Change) {
			if c.Task == "b" && c.To == bt.Running {
				panics("subscriber")
			}
		})
		ctx, cancel := context.WithCancel(t.Context())
		clock.At(time.Second, func() { x.Do(func() { panics("do") }) })
		clock.At(2*time.Second, func() { panics("clock") })
		clock.At(3*time.Second, cancel)
		err := x.Run(ctx)
		var p *PanicError
		if !errors.As(err, &p) || p.Callback != test.callback || !errors.Is(err, errStalled) ||
			!strings.Contains(string(p.Stack), "wake_test.go") {
			t.Errorf("%s: %v", test.where, err)
		}
		slices.Sort(r.list)
		r.expect(t, "start a", "start b", "stop a", "stop b")
	}
}

// Callbacks that make a plan go round at one time are found; the tasks are named.
func TestRoundsAtOneTime(t *testing.T) {
	x, _, r := fixture(`<KeepRunningUntilFailure name="k"><Action ID="a"/></KeepRunningUntilFailure>`)
	starts, stops := 0, 0
	x.Action("a", Action{Start: func(a Activation) { starts++; a.Succeed() }, Stop: func(Activation) { stops++ }})
	if err := x.Run(t.Context()); !errors.Is(err, bt.ErrLoop) || !strings.HasSuffix(err.Error(), "still changing: a") {
		t.Error(err)
	}
	if starts != stops || starts < MaxRounds {
		t.Errorf("%d starts, %d stops", starts, stops)
	}
	r.expect(t)
}

// Misuse panics: names registered twice, a second run.
func TestMisuse(t *testing.T) {
	for name, misuse := range map[string]func(x *Execution){
		"name":    func(x *Execution) { x.Condition("on") },
		"action":  func(x *Execution) { x.Action("act", Action{}) },
		"request": func(x *Execution) { x.Action("b", Action{}).Set(bt.Running) },
		"skipped": func(x *Execution) { x.Action("b", Action{}).Set(bt.Skipped) },
		"run":     func(x *Execution) { _ = errors.Join(x.Run(t.Context()), x.Run(t.Context())) },
		"late":    func(x *Execution) { _ = x.Run(t.Context()); x.Number("n", "") },
	} {
		x, _, _ := fixture(alternation)
		x.Condition("on")
		x.Action("act", Action{})
		func() {
			defer func() {
				if text, ok := recover().(string); !ok || !strings.HasPrefix(text, "live: ") {
					t.Errorf("%s: %v", name, text)
				}
			}()
			misuse(x)
		}()
	}
}
