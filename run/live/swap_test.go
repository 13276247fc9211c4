package live_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/internal/golden"
	"github.com/canopy-uav/canopy/run/live"
)

// exchanged is a run in which plans of a room are exchanged.
type exchanged struct {
	x    *live.Execution
	log  []string
	acts map[string]live.Activation
}

func roomPlan(body string) string {
	return `<root BTCPP_format="4"><BehaviorTree ID="main">` + body + `</BehaviorTree></root>`
}

// newExchanged returns a run with the actions a, b, c, of which b takes time to stop, and with steps at times.
func newExchanged(body, steps string) *exchanged {
	e := &exchanged{x: live.New("first.xml", roomPlan(body)), acts: map[string]live.Activation{}}
	clock := &live.Virtual{}
	e.x.Use(clock)
	for _, id := range []string{"a", "b", "c"} {
		e.x.Action(id, live.Action{
			Start: func(a live.Activation) {
				e.acts[id] = a
				e.log = append(e.log, "+"+a.Task())
			},
			Stop:          func(a live.Activation) { e.log = append(e.log, "-"+a.Task()) },
			StopTakesTime: id == "b",
		})
	}
	for line := range strings.Lines(steps) {
		at, step, _ := strings.Cut(strings.TrimSpace(line), " ")
		verb, what, _ := strings.Cut(step, " ")
		second := time.Duration(at[0]-'0') * time.Second
		clock.At(second, func() { e.step(verb, what) })
	}
	return e
}

func (e *exchanged) step(verb, what string) {
	switch a := e.acts[what]; verb {
	case "swap":
		e.swap(what)
	case "succeed":
		a.Succeed()
	case "fail":
		a.Fail(nil)
	case "stopped":
		a.Stopped()
	}
}

func (e *exchanged) swap(body string) {
	e.x.Swap("next.xml", roomPlan(body), func(err error) {
		word := "exchanged"
		switch {
		case errors.Is(err, live.ErrSwap):
			word = "stays"
		case err != nil:
			word = "mistakes"
		}
		e.log = append(e.log, word)
	})
}

// Plans are exchanged as the scripts say: the body of a plan and, after a line ---, steps, each with its time in s. The
// answer is what starts and stops, and what becomes of the exchanges.
func TestSwap(t *testing.T) {
	golden.Run(t, func() golden.Machine { return swaps }, "testdata/swaps/*.txt")
}

func swaps(t *testing.T, d golden.Directive) string {
	body, steps, _ := strings.Cut(d.Input, "---\n")
	e := newExchanged(body, steps)
	statuses := map[string]bt.Status{}
	e.x.Subscribe(func(x live.Change) {
		if was, known := statuses[x.Task]; known && was != x.From && !(was.Transient() && x.From.Transient()) {
			t.Errorf("%s: %s", d.At, x)
		}
		statuses[x.Task] = x.To
	})
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := e.x.Run(ctx); err != nil {
		e.log = append(e.log, "error: "+err.Error())
	}
	if ctx.Err() != nil {
		t.Errorf("%s: it does not end", d.At)
	}
	return strings.Join(e.log, " ")
}
