package live_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"canopy/bt"
	"canopy/run/live"
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

// newExchanged returns a run with the actions a, b, c, of which b takes time to stop, at whose times functions are called.
func newExchanged(body string, at map[time.Duration]func(*exchanged)) *exchanged {
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
	for t, f := range at {
		clock.At(t, func() { f(e) })
	}
	return e
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

// TestSwap: what both plans have goes on, with its activations; what is removed is stopped first, for as long as it
// takes; entries keep their values; a plan with mistakes, one that does not settle, and a request that is replaced leave
// the present plan as it is; the same plan changes nothing.
func TestSwap(t *testing.T) {
	const both = `<Parallel name="p" success_count="-1" failure_count="1"><Action ID="a"/><Action ID="b"/></Parallel>`
	second := func(n int) time.Duration { return time.Duration(n) * time.Second }
	for name, c := range map[string]struct {
		first string
		at    map[time.Duration]func(*exchanged)
		want  string
	}{
		"kept and slow": {both, map[time.Duration]func(*exchanged){
			second(1): func(e *exchanged) {
				e.swap(`<Sequence name="s"><Action ID="a"/><Action ID="c"/></Sequence>`)
			},
			second(2): func(e *exchanged) { e.acts["b"].Stopped() },
			second(3): func(e *exchanged) { e.acts["a"].Succeed() },
			second(4): func(e *exchanged) { e.acts["c"].Succeed() },
		}, "+a +b -b exchanged -a +c -c"},
		"the same": {both, map[time.Duration]func(*exchanged){
			second(1): func(e *exchanged) { e.swap(both) },
			second(2): func(e *exchanged) { e.acts["a"].Succeed(); e.acts["b"].Succeed() },
			second(3): func(e *exchanged) { e.acts["b"].Stopped() },
		}, "+a +b exchanged -a -b"},
		"mistakes": {`<Action ID="a"/>`, map[time.Duration]func(*exchanged){
			second(1): func(e *exchanged) { e.swap(`<Action ID="unknown"/>`) },
			second(2): func(e *exchanged) { e.acts["a"].Succeed() },
		}, "+a mistakes -a"},
		"endless": {`<Action ID="a"/>`, map[time.Duration]func(*exchanged){
			second(1): func(e *exchanged) { e.swap(`<Repeat num_cycles="-1"><Script code="n := 1"/></Repeat>`) },
			second(2): func(e *exchanged) { e.acts["a"].Succeed() },
		}, "+a -a stays +a -a"},
		"replaced": {both, map[time.Duration]func(*exchanged){
			second(1): func(e *exchanged) { e.swap(`<Sequence name="s"><Action ID="a"/></Sequence>`) },
			second(2): func(e *exchanged) { e.swap(both) },
			second(3): func(e *exchanged) { e.acts["b"].Stopped() },
			second(4): func(e *exchanged) { e.acts["a"].Succeed(); e.acts["b"].Succeed() },
			second(5): func(e *exchanged) { e.acts["b"].Stopped() },
		}, "+a +b -b stays exchanged +b -a -b"},
		"entries": {`<Sequence name="s"><Script name="set" code="n := 2; text := 'x'"/><Action ID="a"/></Sequence>`,
			map[time.Duration]func(*exchanged){
				second(1): func(e *exchanged) {
					e.swap(`<Sequence name="s"><Script name="set" code="n := 2; text := 'x'"/><Action ID="a"/>` +
						`<ScriptCondition name="kept" code="text == 'x' and n == 2"/><Action ID="c"/></Sequence>`)
				},
				second(2): func(e *exchanged) { e.acts["a"].Succeed() },
				second(3): func(e *exchanged) { e.acts["c"].Succeed() },
			}, "+a exchanged -a +c -c"},
		"the run ends": {both, map[time.Duration]func(*exchanged){
			second(1): func(e *exchanged) { e.swap(`<Action ID="a"/>`) },
			second(2): func(e *exchanged) { e.acts["a"].Fail(nil) },
			second(3): func(e *exchanged) { e.acts["b"].Stopped() },
		}, "+a +b -b -a stays"},
	} {
		t.Run(name, func(t *testing.T) {
			e := newExchanged(c.first, c.at)
			statuses := map[string]bt.Status{}
			var torn []string
			e.x.Subscribe(func(x live.Change) {
				if was, known := statuses[x.Task]; known && was != x.From && !(was.Transient() && x.From.Transient()) {
					torn = append(torn, x.String())
				}
				statuses[x.Task] = x.To
			})
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			err := e.x.Run(ctx)
			if got := strings.Join(e.log, " "); got != c.want || len(torn) > 0 || ctx.Err() != nil {
				t.Errorf("%s\nwant %s\n%v, %v", got, c.want, torn, err)
			}
			if slices.Contains(e.log, "mistakes") && err != nil {
				t.Error(err)
			}
		})
	}
}
