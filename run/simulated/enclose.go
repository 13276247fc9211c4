package simulated

import (
	"slices"

	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/expr/interval"
	"github.com/canopy-uav/canopy/ode"
	"github.com/canopy-uav/canopy/sim"
)

// enclosing is an instance of a vehicle whose outputs and indicators of switches can be bounded over a stretch of time,
// with the sides and the memory that are held.
type enclosing interface {
	// Enclose begins a stretch: its time, and the states and commands during it by number.
	Enclose(time interval.Jet, state, command func(i int) interval.Jet)
	// Output returns bounds of an output during the stretch, interval.Anything if none are known.
	Output(i int) interval.Jet
	// Zero returns bounds of the indicator of a switch during the stretch.
	Zero(i int) interval.Jet
}

// enclosure bounds the functions of the world over a stretch of time.
type enclosure struct {
	*interval.Stretch
	vehicle enclosing // nil: its outputs cannot be bounded

	time    interval.Jet // of the present stretch, as are
	y       []ode.Enclosure
	u       []float64
	read    []int
	opaque  bool // something was asked for that cannot be bounded
	asked   bool // the vehicle knows the stretch
	state   func(i int) interval.Jet
	command func(i int) interval.Jet
}

func (w *world) newEnclosure() *enclosure {
	e, l := new(enclosure), &w.m.Program.Layout
	e.vehicle, _ = w.vehicle.(enclosing)
	e.Stretch = interval.NewStretch(l.Signals+2*len(w.m.Program.Cells), w.source)
	e.state = func(i int) interval.Jet {
		if !slices.Contains(e.read, i) {
			e.read = append(e.read, i)
		}
		r := &e.y[i]
		return interval.Jet{Interval: interval.Interval{Low: r.Low, High: r.High},
			Rate: interval.Interval{Low: r.SlopeLow, High: r.SlopeHigh}}
	}
	e.command = func(i int) interval.Jet { return e.Signal(l.Slots + i) }
	return e
}

// source is where a signal comes from.
func (w *world) source(i int) (code *expr.Code, known interval.Jet) {
	e, p := w.enclosure, w.m.Program
	switch l := &p.Layout; {
	case i == 0:
		return nil, e.time
	case i < l.Outputs:
		return nil, e.state(i - 1)
	case i < l.Slots:
		return nil, w.ask(func(v enclosing) interval.Jet { return v.Output(i - l.Outputs) })
	case i < l.Computed:
		code, input := p.Source(i-l.Slots, e.u)
		if code == nil {
			known = interval.Steady(e.u[input])
		}
		return code, known
	default:
		return p.Computed[i-l.Computed], known
	}
}

// ask asks the vehicle.
func (w *world) ask(question func(enclosing) interval.Jet) interval.Jet {
	e := w.enclosure
	if e.vehicle == nil {
		e.opaque = true
		return interval.Anything
	}
	if !e.asked {
		e.asked = true
		e.vehicle.Enclose(e.time, e.state, e.command)
	}
	return question(e.vehicle)
}

// enclose bounds a function, whose value is that on the sides in d, from a to b, during which the states are in y.
func (w *world) enclose(a, b float64, y []ode.Enclosure, d *sim.Discrete, f int) (r ode.Enclosure, of []int,
	known bool,
) {
	w.hold(d)
	e, p := w.enclosure, w.m.Program
	e.time = interval.Jet{Interval: interval.Between(a, b), Rate: interval.Point(1)}
	e.y, e.u, e.read, e.opaque, e.asked = y, d.U, e.read[:0], false, false
	e.Begin(d.Above, d.U[p.Inputs():p.Inputs()+2*len(p.Cells)])
	var jet interval.Jet
	switch x := w.compare[f]; {
	case x.general:
		jet = e.Value(p.Indicators[x.number].Difference())
	case x.number < 0:
		jet = w.ask(func(v enclosing) interval.Jet { return v.Zero(-1 - x.number) })
	default:
		jet = e.Signal(x.number)
	}
	r = ode.Enclosure{Low: jet.Low, High: jet.High, SlopeLow: jet.Rate.Low, SlopeHigh: jet.Rate.High}
	if jet.NaN {
		r = sim.Unknown
	}
	return r, e.read, !e.opaque
}
