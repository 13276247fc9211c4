package oracle

import (
	"errors"
	"math"
	"slices"

	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/executive"
	"github.com/canopy-uav/canopy/run"
	"github.com/canopy-uav/canopy/run/record"
	"github.com/canopy-uav/canopy/snapshot"
)

// ErrUnsettled reports a mission that does not come to rest at an instant.
var ErrUnsettled = errors.New("the mission does not settle")

// Point is the value of the signals x and y from a time on.
type Point struct{ T, X, Y float64 }

// World is a world for runs whose states jump along a path: it replaces the simulator, and nothing else.
type World struct {
	executive.Numbers
	m       *mission.Mission
	path    []Point // still to come
	signals *executive.Signals
	t       float64
	y       []float64
	u       []float64
	above   []bool
	watched []bool
	alarm   float64
	changed bool
	again   int // events at one time
}

// NewWorld returns a world that begins at the first point of the path.
func NewWorld(m *mission.Mission, path []Point) *World {
	p := m.Program
	w := &World{m: m, path: path[1:], y: []float64{path[0].X, path[0].Y}, u: p.Initial(), alarm: math.Inf(1),
		above: make([]bool, len(p.Indicators)), watched: make([]bool, len(p.Indicators)),
		signals: executive.NewSignals(p, func(float64, []float64, []float64, []float64) {})}
	w.Numbers = executive.NewNumbers(w)
	for _, i := range w.strays() {
		w.above[i] = !w.above[i]
	}
	return w
}

// strays returns the indicators that are not on their side.
func (w *World) strays() []int {
	var list []int
	v := w.Signals()
	for i := range w.above {
		if (w.m.Program.Indicators[i].Value(v, nil) >= 0) != w.above[i] {
			list = append(list, i)
		}
	}
	return list
}

// T returns the time [s].
func (w *World) T() float64 { return w.t }

// Signals evaluates all signals.
func (w *World) Signals() []float64 {
	w.signals.Fill(w.m.Program.All, w.t, w.y, w.u, w.above)
	return w.signals.Values
}

// Discrete returns the inputs and sides.
func (w *World) Discrete() (u []float64, above []bool) { return w.u, w.above }

// Memory returns nothing: there is nothing else.
func (w *World) Memory() []float64 { return nil }

// Set changes an input.
func (w *World) Set(input int, value float64) {
	w.u[input] = value
	w.changed = true
}

// Watch sets whether an indicator's changes are events.
func (w *World) Watch(indicator int, a executive.Attention) {
	w.watched[indicator] = a == executive.Watched
}

// Look does nothing: all sides are kept.
func (w *World) Look([]int) {}

// Restart does nothing.
func (w *World) Restart() {}

// SetAlarm sets the next time event [s].
func (w *World) SetAlarm(t float64) { w.alarm = t }

// Advance goes to the next point, event or alarm.
func (w *World) Advance(until float64) (run.Segment, error) {
	w.changed = false
	if events := w.events(); len(events) > 0 {
		if w.again++; w.again > 100 {
			return run.Segment{To: w.t}, ErrUnsettled
		}
		return run.Segment{To: w.t, Events: events}, nil
	}
	w.again = 0
	w.t = min(until, w.alarm)
	if len(w.path) > 0 && w.path[0].T <= w.t {
		w.t, w.y[0], w.y[1] = w.path[0].T, w.path[0].X, w.path[0].Y
		w.path = w.path[1:]
	}
	return run.Segment{To: w.t, Events: w.events(), Alarm: w.t >= w.alarm}, nil
}

func (w *World) events() []int {
	return slices.DeleteFunc(w.strays(), func(i int) bool { return !w.watched[i] })
}

// Iterate commits the sides.
func (w *World) Iterate() (changed []int, err error) {
	changed = w.strays()
	for _, i := range changed {
		w.above[i] = !w.above[i]
	}
	return changed, nil
}

// States returns x and y.
func (w *World) States() []float64 { return w.y }

// At returns the signals.
func (w *World) At(float64) []float64 { return w.Signals() }

// Left returns the signals.
func (w *World) Left() []float64 { return w.Signals() }

// Changed reports whether an input was set at this instant.
func (w *World) Changed() bool { return w.changed }

// Cost adds nothing.
func (w *World) Cost(*record.Summary) {}

// Adopt implements run.Adopter.
func (w *World) Adopt(m *mission.Mission, u []float64, same []int) (run.World, error) {
	p := m.Program
	n := &World{m: m, path: w.path, t: w.t, y: w.y, u: u, alarm: w.alarm, changed: w.changed, again: w.again,
		above: make([]bool, len(p.Indicators)), watched: make([]bool, len(p.Indicators)),
		signals: executive.NewSignals(p, func(float64, []float64, []float64, []float64) {})}
	n.Numbers = executive.NewNumbers(n)
	n.Numbers.Follow(&w.Numbers)
	for _, i := range n.strays() {
		n.above[i] = !n.above[i]
	}
	for i, k := range same {
		if k >= 0 {
			n.above[i] = w.above[k]
		}
	}
	return n, nil
}

// State passes the world, with the rest of its path, to the codec.
func (w *World) State(c *snapshot.Codec) {
	snapshot.List(c, &w.path, func(c *snapshot.Codec, p *Point) {
		snapshot.Float(c, &p.T)
		snapshot.Float(c, &p.X)
		snapshot.Float(c, &p.Y)
	})
	snapshot.Float(c, &w.t)
	w.Numbers.State(c)
	snapshot.Floats(c, w.y)
	snapshot.Floats(c, w.u)
	snapshot.Each(c, w.above, snapshot.Bool)
	snapshot.Each(c, w.watched, snapshot.Bool)
	snapshot.Float(c, &w.alarm)
	snapshot.Bool(c, &w.changed)
	snapshot.Int(c, &w.again)
}
