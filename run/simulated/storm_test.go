package simulated

import (
	"bytes"
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/internal/cart"
	"github.com/canopy-uav/canopy/run"
	"github.com/canopy-uav/canopy/run/record"
	"github.com/canopy-uav/canopy/sim"
	"github.com/canopy-uav/canopy/vehicle/model"
)

// turns are two actions that take turns without end: each leads to the condition of the other, and takes a time to end.
func turns(seconds string) string {
	return `<ReactiveFallback><ReactiveSequence><Condition ID="fast" on="gear ge 3"/>` +
		`<Action ID="brake" write="gear := 0" exit_time="` + seconds + `"/></ReactiveSequence>` +
		`<Action ID="go" write="gear := 4" exit_time="` + seconds + `"/></ReactiveFallback>`
}

// stormy advances a run by a bounded number of steps and returns it with its log.
func stormy(t *testing.T, body, yaml string, set ...string) (*run.Run, *log, error) {
	t.Helper()
	m := cartMission(t, body, yaml, set...)
	l := &log{}
	r := begin(t, m, run.Continuous{}, math.Inf(1), l)
	more, err := true, error(nil)
	for n := 0; more && err == nil; n++ {
		if n > 20000 {
			t.Fatalf("the run does not end: t = %g s, %d events", r.T(), len(l.events))
		}
		more, err = r.Step()
	}
	return r, l, err
}

// Procedures of 1e-9 s that start each other would write a log without end.
func TestProceduresWithoutTimeStop(t *testing.T) {
	r, l, err := stormy(t, turns("1e-9"), "")
	if !errors.Is(err, run.ErrStorm) || r.Summary().Outcome != record.Failed || r.T() > 1e-3 || len(l.events) > 3000 {
		t.Errorf("%v, %v at %g s, %d lines", err, r.Summary().Outcome, r.T(), len(l.events))
	} else if want := "1000 time events (the time of a procedure is over) advance the time by 9.99e-07 s, " +
		"less than 0.0001 s while the status of brake, go changes"; !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
}

// There is no sliding motion between procedures: `chattering: continue` stops as well.
func TestProceduresWithoutTimeDoNotGoOn(t *testing.T) {
	r, _, err := stormy(t, turns("1e-9"), "chattering: continue\n")
	if !errors.Is(err, run.ErrStorm) || r.Summary().Outcome != record.Failed {
		t.Errorf("%v, %v", err, r.Summary().Outcome)
	}
}

// What is chattering depends on the horizon, up to a millisecond. The ticks of a ticked tree are none.
func TestShortProceduresAreNoChattering(t *testing.T) {
	for _, test := range []struct {
		seconds, horizon string
		chatter          bool
	}{{"1e-3", "1e9", false}, {"9e-7", "50", false}, {"9e-7", "1e3", true}, {"9e-7", "1e9", true},
		{"1.1e-6", "1e9", false}, {"1e-8", "5", false}, {"1e-9", "5", true}} {
		m := cartMission(t, turns(test.seconds), "", "horizon="+test.horizon)
		seconds, err := strconv.ParseFloat(test.seconds, 64)
		if err != nil {
			t.Fatal(err)
		}
		r := begin(t, m, run.Continuous{}, 2000*seconds, &log{})
		err = r.Fly(t.Context(), nil)
		if errors.Is(err, run.ErrStorm) != test.chatter || !test.chatter && err != nil {
			t.Errorf("%s s of %s s: %v", test.seconds, test.horizon, err)
		}
	}
	ticked, _ := flyInto(t, cartMission(t, turns("1e-3"), "", "horizon=0.01"), run.Ticked{Period: 1e-5})
	if n := ticked.Summary().TimeEvents; n < 900 {
		t.Errorf("%d ticks", n)
	}
}

// A ball whose height is a function of the time and of entries has an exact indicator: it chatters where its flights get
// as short as the resolution of time, in closed form at t = 2 v / g / (1 - 0.9). Its files are as small as its log.
func TestExactZenoStops(t *testing.T) {
	m := cartMission(t, `<Sequence><Script name="start" code="t0 := 0; w := 10"/><KeepRunningUntilFailure><Sequence>`+
		`<Action name="fall" done="w * (t - t0) - 4.905 * (t - t0) * (t - t0) lt 0"/>`+
		`<Script name="bounce" code="t0 := t; w := 0.9 * w"/></Sequence></KeepRunningUntilFailure></Sequence>`, "", "horizon=100")
	r, err := New(m, run.Continuous{}, math.Inf(1))
	if err != nil {
		t.Fatal(err)
	}
	var status bytes.Buffer
	w, err := record.NewWriter(r.Header(), record.Files{Status: &status})
	if err != nil {
		t.Fatal(err)
	}
	r.Attach(w)
	err = r.Fly(t.Context(), func(bool) error {
		if r.Summary().StateEvents > 1000 {
			return errors.New("it does not stop")
		}
		return nil
	})
	if c := (*sim.ChatterError)(nil); !errors.As(err, &c) {
		t.Fatal(err)
	}
	near(t, "the end", []float64{r.T()}, 1e-9, 200/9.81)
	if err := w.Close(r.Summary()); err != nil || status.Len() > 60*r.StatusChanges() {
		t.Errorf("%v, %d changes in %d bytes", err, r.StatusChanges(), status.Len())
	}
}

// The delays of a state graph chatter as procedures do.
func TestDelaysWithoutTimeStop(t *testing.T) {
	f := cart.Files{"m/test.yaml": cart.Head + "graph: g.yaml\n",
		"m/plan.xml": cart.Plan(`<Fallback><Action ID="a" failed="gear gt 2"/><Action name="b"/></Fallback>`),
		"m/g.yaml": "graph: g\nsteps: {one: {initial: true, actions: [a]}, two: {actions: [b]}}\ntransitions:\n" +
			"  - {from: one, to: two, after: 1e-9}\n  - {from: two, to: one, after: 1e-9}\n"}
	m := read(t, "m/test.yaml", f.Open, model.Offers(cart.Vehicle), nil)
	r := begin(t, m, run.StateGraph{}, math.Inf(1), &log{})
	err := r.Fly(t.Context(), nil)
	if !errors.Is(err, run.ErrStorm) {
		t.Fatal(err)
	}
	contains(t, "the error", err.Error(), "1000 time events (a delayed transition can fire) advance", "the status of a, b changes")
}

// A relay with a hysteresis of 1 mm flies through: after 5.67 s it switches 94,330 times up to 100 s. Up to a time that
// it does not reach within hours, it stops after a million times, with the names of the actions.
func TestRelayFliesThrough(t *testing.T) {
	fly := func(horizon string) (switches int, err error) {
		m := cartMission(t, `<ReactiveFallback><ReactiveSequence><Condition ID="far" on="x ge 5.6705 [m]" off="x lt 5.6695 [m]"/>`+
			`<Action ID="back" write="v := -1"/></ReactiveSequence><Action ID="go" write="v := 1"/></ReactiveFallback>`, "",
			"horizon="+horizon)
		r, err := New(m, run.Continuous{}, math.Inf(1))
		if err != nil {
			t.Fatal(err)
		}
		count := counter{tasks: r.Header().Tasks}
		r.Attach(&count)
		err = r.Fly(t.Context(), nil)
		return count.switches, err
	}
	if testing.Short() {
		if switches, err := fly("15"); err != nil || switches != 9330 {
			t.Errorf("%v, %d switches", err, switches)
		}
		return
	}
	if switches, err := fly("100"); err != nil || switches != 94330 {
		t.Errorf("%v, %d switches", err, switches)
	}
	const want = "a million within 1.01e+03 s by x >= 5.6705 [m], x < 5.6695 [m]; at this pace, 9.9e+11 would follow up to 1e+09 s " +
		"while the status of back, go changes"
	if _, err := fly("1e9"); !errors.Is(err, sim.ErrEndless) || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
}

// counter counts the activations of actions after the start.
type counter struct {
	record.Nothing
	tasks    []record.Task
	switches int
}

func (c *counter) Status(at float64, _ int, change bt.Change) error {
	if at > 0 && change.To == bt.Activating && c.tasks[change.Task].Kind == bt.Action.String() {
		c.switches++
	}
	return nil
}

// The record of a sliding motion has the mean command that the states follow, until a change ends the motion: the log
// has both times. Signals that do not differ are as they are.
func TestRecordWhileThePlanSlides(t *testing.T) {
	m := equationsMission(t, `
states: {x: {unit: m, derivative: u + wind}}
outputs: {wind: {unit: m/s, value: "if(t lt 60 [s], 0.25 [m/s] + t * 0.005 [m/s^2], 3 [m/s])"}}
commands: {u: {unit: m/s}}
`, `<ReactiveParallel><ReactiveFallback><ReactiveSequence><Condition name="far" on="x ge 3 [m]"/>
	<Action name="back" write="u := -1 [m/s]; mode := home"/></ReactiveSequence><Action name="go" write="u := 1 [m/s]; mode := out"/>
	</ReactiveFallback><Action name="light" write="lamp := if(t ge 30.5 [s], 1, 0)"/></ReactiveParallel>`,
		"horizon: 100\nchattering: continue\nrecord: {interval: 1}\n"+
			"signals: {lamp: {default: 0}, mode: {type: enumeration, values: [out, home]}}\n")
	_, l := flown(t, m)
	reports := l.kinds("chattering")
	if len(reports) != 2 {
		t.Fatalf("%q", reports)
	}
	contains(t, "the end", reports[1], "the motion slides no more")
	near(t, "the end", []float64{l.events[len(l.events)-1].T}, 1e-6, 60)
	for i, at := range l.times {
		u, lamp, mode := l.column(m, "u")[i], l.column(m, "lamp")[i], l.column(m, "mode")[i]
		want := -(0.25 + at*0.005)
		switch {
		case at < 4: // before it slides
			continue
		case at > 60.001:
			want = -1
		case at > 59.999:
			continue
		}
		if math.Abs(u-want) > 1e-6 || lamp != map[bool]float64{true: 1}[at > 30.5] && at != 30.5 || mode != 0 && mode != 1 {
			t.Errorf("at %g s: u = %g, want %g; lamp = %g, mode = %g", at, u, want, lamp, mode)
		}
	}
}
