package flight

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/autopilot/adapter"
	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/internal/cart"
	"github.com/canopy-uav/canopy/run"
	"github.com/canopy-uav/canopy/run/record"
	"github.com/canopy-uav/canopy/vehicle/contract"
)

// cartContract lists the signals of the test vehicle.
var cartContract = &contract.Contract{Name: "cart", Signals: []contract.Signal{
	{Name: "x", Unit: "m", Type: contract.Real}, {Name: "T", Unit: "K", Type: contract.Real},
	{Name: "nearly", Unit: "m", Type: contract.Boolean}, {Name: "elsewhere", Unit: "m", Type: contract.Real},
}}

// observed is a run of the cart in the world of telemetry, with its log.
type observed struct {
	record.Nothing
	*run.Run
	w       *world
	names   []string
	events  []record.Event
	changes []string // time, task, status
	samples map[float64]float64
}

func (o *observed) Sample(t float64, values []float64) error {
	o.samples[t] = values[0]
	return nil
}

func (o *observed) Event(e record.Event) error {
	o.events = append(o.events, e)
	return nil
}

func (o *observed) Status(t float64, _ int, c bt.Change) error {
	o.changes = append(o.changes, fmt.Sprintf("%.3f %s %v", t, o.names[c.Task], c.To))
	return nil
}

// observe begins a run of a plan's body, with x = first at its start.
func observe(t *testing.T, body, yaml string, first float64) *observed {
	t.Helper()
	m, diags := cart.Read(body, yaml)
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	w := newWorld(m, cartContract)
	r, err := run.New(m, w, run.Continuous{}, math.Inf(1))
	if err != nil {
		t.Fatal(err)
	}
	o := &observed{Run: r, w: w, samples: map[float64]float64{}}
	for i := range m.Plan.Tree.Len() {
		o.names = append(o.names, m.Plan.Tree.Name(bt.Task(i)))
	}
	r.Attach(o)
	o.see(t, 0, known(0, first, math.NaN()))
	return o
}

func known(signal int, v, rate float64) adapter.Value {
	return adapter.Value{Signal: signal, V: v, Rate: rate, Known: true}
}

// see shows a sample at a time and lets the run react.
func (o *observed) see(t *testing.T, at float64, values ...adapter.Value) {
	o.show(t, adapter.Sample{T: ns(at), Values: values})
}

func ns(t float64) int64 { return int64(math.Round(t * second)) }

func (o *observed) show(t *testing.T, s adapter.Sample) {
	t.Helper()
	if !o.w.see(&s) {
		t.Fatalf("the sample at %d is late", s.T)
	}
	o.react(t)
}

// wait lets time pass without a sample.
func (o *observed) wait(t *testing.T, at float64) {
	t.Helper()
	o.w.pass(ns(at))
	o.react(t)
}

func (o *observed) react(t *testing.T) {
	t.Helper()
	for {
		more, err := o.Step()
		if err != nil {
			t.Fatal(err)
		}
		if !more || o.Waiting() {
			return
		}
	}
}

// crossings returns the dates of the state events, and checks that each was decided at a sample.
func (o *observed) crossings() []float64 {
	var list []float64
	for _, e := range o.events {
		if e.Kind == "state" && e.Crossed != nil {
			list = append(list, *e.Crossed)
		}
	}
	return list
}

// Crossings of sampled smooth signals are dated within the error of the interpolation: the value of a linear one is
// wrong by at most a dt^2/8, with the largest second derivative a; that of a cubic one by at most b dt^4/384, with the
// largest fourth derivative b (P. J. Davis, Interpolation and Approximation, 3.3 and theorem 3.5.1).
func TestCrossingsAgreeWithClosedForms(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		amplitude, rate, phase := 1+9*random.Float64(), 0.3+2*random.Float64(), 6*random.Float64()
		level := amplitude * (1.6*random.Float64() - 0.8)
		dt := 0.05 + 0.2*random.Float64()
		x := func(t float64) float64 { return amplitude * math.Sin(rate*t+phase) }
		var exact []float64 // rate t + phase = asin(level/amplitude) + 2 pi n, or pi - that
		for n := -20.0; n < 20; n++ {
			for _, angle := range []float64{math.Asin(level / amplitude), math.Pi - math.Asin(level/amplitude)} {
				if at := (angle + 2*math.Pi*n - phase) / rate; at > 0 && at < 10 {
					exact = append(exact, at)
				}
			}
		}
		slices.Sort(exact)
		slope := rate * math.Sqrt(amplitude*amplitude-level*level)
		for _, cubic := range []bool{false, true} {
			o := observe(t, fmt.Sprintf(`<Condition name="high" on="x ge %.17g"/>`, level), "", x(0))
			tolerance := amplitude * rate * rate * dt * dt / 8
			if cubic {
				tolerance = amplitude * math.Pow(rate, 4) * math.Pow(dt, 4) / 384
			}
			end := 0.0
			for k := 0; end < 10; k++ {
				end = float64(k) * dt
				derivative := math.NaN()
				if cubic {
					derivative = amplitude * rate * math.Cos(rate*end+phase)
				}
				o.see(t, end, known(0, x(end), derivative))
			}
			got := o.crossings()
			if len(got) < len(exact) { // the last lies behind the last sample at most
				t.Fatalf("%d crossings of %d were seen", len(got), len(exact))
			}
			for i, at := range exact {
				// Beside the crossing the slope is smaller by at most a dt.
				if bound := tolerance/(slope-amplitude*rate*rate*dt) + 2e-9; math.Abs(got[i]-at) > bound && bound > 0 {
					t.Errorf("dt = %g s, cubic %v: %.9f s instead of %.9f s, the bound is %.2g s", dt, cubic, got[i], at, bound)
				}
			}
		}
	}
}

// What one sample shows is decided at its time, in one instant; the log has the order in which it happened.
func TestSimultaneousEventsAreInTheOrderOfTheirDates(t *testing.T) {
	o := observe(t, `<Parallel name="all"><Condition name="b" on="x ge 8"/><Condition name="a" on="x ge 2"/></Parallel>`,
		"", 0)
	o.see(t, 1, known(0, 10, math.NaN()))
	var got []string
	for _, e := range o.events {
		got = append(got, fmt.Sprintf("%g %s", e.T, e.Text))
		if !e.Holds || !strings.HasPrefix(e.Relation, "x >= ") {
			t.Errorf("%+v", e)
		}
	}
	want := "1 x >= 2 becomes true, since t = 0.200 s; 1 x >= 8 becomes true, since t = 0.800 s"
	if strings.Join(got, "; ") != want {
		t.Errorf("%s, want %s", strings.Join(got, "; "), want)
	}
	for _, c := range o.changes[len(o.changes)-2:] {
		if !strings.HasPrefix(c, "1.000 ") {
			t.Errorf("decided: %s", c)
		}
	}
}

// A signal is not interpolated across a long gap, a break or a time in which it was unknown; a discrete one never is.
// Its change is then dated at the sample that shows it.
func TestNothingIsInterpolatedAcrossGaps(t *testing.T) {
	unknown := adapter.Value{Signal: 0}
	for name, c := range map[string]struct {
		between []adapter.Sample
		last    adapter.Sample
		crossed bool
	}{
		"continued": {last: adapter.Sample{T: ns(1), Period: ns(0.4)}, crossed: true},
		"gap":       {last: adapter.Sample{T: ns(1), Period: ns(0.3)}},
		"break":     {last: adapter.Sample{T: ns(1), Break: true}},
		"unknown":   {between: []adapter.Sample{{T: ns(0.5), Values: []adapter.Value{unknown}}}, last: adapter.Sample{T: ns(1)}},
	} {
		o := observe(t, `<Condition name="high" on="x ge 5"/>`, "", 0)
		for _, s := range c.between {
			o.show(t, s)
		}
		c.last.Values = []adapter.Value{known(0, 10, math.NaN())}
		o.show(t, c.last)
		if e := o.events[len(o.events)-1]; e.Kind != "state" || e.T != 1 || (e.Crossed != nil) != c.crossed {
			t.Errorf("%s: %+v", name, e)
		}
	}
	o := observe(t, `<Condition name="high" on="nearly ge 0.5"/>`, "", 0)
	o.see(t, 1, known(2, 0, math.NaN()))
	o.see(t, 2, known(2, 1, math.NaN()))
	if e := o.events[len(o.events)-1]; e.Kind != "state" || e.T != 2 || e.Crossed != nil {
		t.Errorf("a discrete signal: %+v", e)
	}
}

// A sample that is older than another one of its signals is refused, and changes nothing. One that is only older than
// the world's time, which a wake-up advanced, is the newest of its signal: it counts, at once.
func TestLateSamples(t *testing.T) {
	o := observe(t, `<Condition name="high" on="x ge 5"/>`, "", 0)
	o.see(t, 1, known(0, 1, math.NaN()))
	if o.w.see(&adapter.Sample{T: ns(0.9), Values: []adapter.Value{known(0, 9, math.NaN())}}) {
		t.Error("a sample that was overtaken is accepted")
	}
	if o.react(t); o.w.Signals()[1] != 1 {
		t.Error("a late sample changed the present")
	}
	o.wait(t, 3)
	o.see(t, 2, known(0, 9, math.NaN()))
	if e := o.events[len(o.events)-1]; e.T != 3 || e.Crossed == nil || math.Abs(*e.Crossed-1.5) > 1e-9 {
		t.Errorf("%+v", e)
	}
}

// Time events occur by the clock: at an alarm, and where a relation of the time changes. The world gives these times in
// advance, and a sample behind them does not delay them.
func TestTimeEvents(t *testing.T) {
	o := observe(t, `<Delay name="d" delay_msec="2500"><Condition name="c" on="x ge 0"/></Delay>`, "", 0)
	if due := o.w.due(); due != 2.5 {
		t.Fatalf("the alarm is due at %g", due)
	}
	o.see(t, 2.6, known(0, 0, math.NaN()))
	if last := o.changes[len(o.changes)-1]; !strings.HasPrefix(last, "2.500 d ") {
		t.Errorf("after the alarm: %s", last)
	}
	for _, x := range []struct{ relation, begins, ends string }{
		{"t - x / 1 [m/s] ge 3 and t - x / 1 [m/s] lt 4", "3.000 later Success", "4.000 later Failure"},
		{"t - x / 1 [m/s] gt 3 and t - x / 1 [m/s] le 4", "3.000 later Success", "4.000 later Failure"},
	} {
		o := observe(t, `<Condition name="later" on="`+x.relation+`"/>`, "", 0)
		if due := o.w.due(); math.Abs(due-3) > 1e-8 {
			t.Errorf("%s changes at %g", x.relation, due)
		}
		o.wait(t, 3.5)
		o.see(t, 5, known(0, 0, math.NaN()))
		if got := strings.Join(o.changes, ", "); got != x.begins+", "+x.ends {
			t.Errorf("%s: %s", x.relation, got)
		}
	}
}

// A suspended world shows what happens and decides nothing; afterwards, everything that has changed is one instant.
func TestSuspended(t *testing.T) {
	o := observe(t, `<Condition name="high" on="x ge 5"/>`, "", 0)
	before := len(o.changes)
	o.w.suspend(true)
	o.see(t, 10, known(0, 9, math.NaN()))
	o.see(t, 20, known(0, 6, math.NaN()))
	if len(o.changes) != before || o.samples[10] != 9 {
		t.Errorf("suspended: %v, recorded %v", o.changes[before:], o.samples)
	}
	o.w.suspend(false)
	o.react(t)
	if got := strings.Join(o.changes[before:], ", "); got != "20.000 high Success" {
		t.Errorf("resumed: %s", got)
	}
}

// The recording grid has values between two samples.
func TestTheGridIsInterpolated(t *testing.T) {
	o := observe(t, `<Condition name="high" on="x ge 50"/>`, "", 0)
	o.see(t, 9, known(0, 9, 1))
	o.see(t, 31, known(0, 31, 1))
	for at, want := range map[float64]float64{0: 0, 10: 10, 20: 20, 30: 30} {
		if got, ok := o.samples[at]; !ok || math.Abs(got-want) > 1e-9 {
			t.Errorf("x(%g) = %g", at, got)
		}
	}
}

// The vehicle's clock may begin anew: time goes on, and nothing is interpolated across it.
func TestANewClockOfTheVehicle(t *testing.T) {
	o := observe(t, `<Condition name="high" on="x ge 5"/>`, "", 0)
	o.see(t, 7, known(0, 1, math.NaN()))
	o.w.move(ns(0.5))
	o.see(t, 1.5, known(0, 9, math.NaN()))
	if e := o.events[len(o.events)-1]; e.T != 8 || e.Crossed != nil {
		t.Errorf("%+v", e)
	}
}
