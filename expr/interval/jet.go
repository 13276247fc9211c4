package interval

import (
	"math"

	"github.com/canopy-uav/canopy/expr"
)

// Jet is what is known of a value over a stretch of time.
type Jet struct {
	Interval
	Rate Interval // bounds of its derivative by time; any number if the value may jump
}

// Steady returns the jet of a value that does not change.
func Steady(v float64) Jet { return Jet{Interval: Point(v)} }

// Anything is the jet of a value of which nothing is known.
var Anything = Jet{undefined(), All}

// ofCall are the functions of one argument by the index of their calls; nil: there are no bounds.
var ofCall = func() (list []func(x Interval) (y, slope Interval, jumps bool)) {
	for _, name := range expr.Functions() {
		list = append(list, functions[name])
	}
	return list
}()

// Enclose returns the jet of the value of code that follows frozen sides, from those of the signals; of a condition, it
// is that of 1 or 0. A part of the computation that bounds cannot follow gives Anything.
func Enclose(c *expr.Code, signals []Jet, above []bool) (a Jet) {
	steps, condition := c.Program(true), c.Type() == expr.Boolean
	var registers [16]Jet
	for i := uint(0); i < uint(len(steps)); {
		in := &steps[i]
		r, value := &registers[in.Register%16], Point(in.Value)
		switch i++; in.Op {
		case expr.Constant:
			*r, a = a, Jet{Interval: value}
		case expr.Signal:
			*r, a = a, signals[in.Index]
		case expr.SignalTimes:
			*r, a = a, signals[in.Index].scaled(value)
		case expr.SignalSquare:
			*r, a = a, signals[in.Index].square()
		case expr.Save:
			*r = a
		case expr.Exchange:
			*r, a = a, *r
		case expr.AddValue:
			a.Interval = a.Plus(value)
		case expr.AddSignal:
			a = a.plus(signals[in.Index])
		case expr.Add:
			a = r.plus(a)
		case expr.SubtractSignal:
			a = a.minus(signals[in.Index])
		case expr.Subtract:
			a = r.minus(a)
		case expr.MultiplyValue:
			a = a.scaled(value)
		case expr.MultiplySignal:
			a = a.times(signals[in.Index])
		case expr.Multiply:
			a = r.times(a)
		case expr.DivideValue:
			a = a.over(Jet{Interval: value})
		case expr.DivideSignal:
			a = a.over(signals[in.Index])
		case expr.Divide:
			a = r.over(a)
		case expr.Negate:
			a = Jet{a.Negative(), a.Rate.Negative()}
		case expr.Square:
			a = a.square()
		case expr.Power:
			a = r.power(a)
		case expr.Call:
			a = a.through(ofCall[in.Index])
		case expr.CallTwo:
			if a = r.atan2(a); in.Function() != "atan2" {
				a = Anything
			}
		case expr.Lookup:
			a = lookUp(c, in, a, Jet{}, signals)
		case expr.LookupTwo:
			a = lookUp(c, in, *r, a, signals)
		case expr.Jump:
			i = in.Target
		default:
			holds, known := test(in, *r, a, signals, above)
			if !known {
				return Anything
			}
			if holds != in.Unless {
				i = in.Target
			}
		}
		if condition && i > uint(len(steps)) {
			return Steady(1)
		}
	}
	if condition {
		return Steady(0)
	}
	return a
}

// through returns the jet of a function's value; of one without bounds, Anything.
func (x Jet) through(f func(Interval) (y, slope Interval, jumps bool)) Jet {
	if f == nil {
		return Anything
	}
	y, slope, jumps := f(x.Interval)
	return Jet{y, x.Rate.part(slope)}.unless(jumps)
}

// test returns whether a test holds, if that is the same over the whole stretch.
func test(in *expr.Instruction, r, a Jet, signals []Jet, above []bool) (holds, known bool) {
	sign := func(x Interval) (holds, known bool) { return x.Low >= 0, !x.NaN && (x.Low >= 0 || x.High < 0) }
	equal := func(x, y Interval) (holds, known bool) { return x.Low == y.Low, x.Point() && y.Point() }
	switch value := Point(in.Value); in.Op {
	case expr.Above:
		return above[in.Index], true
	case expr.NonNegative:
		return sign(a.Interval)
	case expr.AtLeast:
		return sign(signals[in.Index].Minus(value))
	case expr.AtMost:
		return sign(value.Minus(signals[in.Index].Interval))
	case expr.Equal:
		return equal(r.Interval, a.Interval)
	case expr.SignalIs:
		return equal(signals[in.Index].Interval, value)
	}
	return false, false
}

// lookUp returns the value of a table on the piece that it holds.
func lookUp(c *expr.Code, in *expr.Instruction, x, y Jet, signals []Jet) Jet {
	if in.Target == 0 {
		return Anything
	}
	patch, ok := c.Tables()[in.Index].Patch(signals[in.Target].Low, signals[uint(in.Value)].Low)
	if !ok {
		return Anything
	}
	between := func(a, b Jet, share Jet) Jet { return a.plus(share.times(b.minus(a))) }
	share := func(x Jet, at, width float64) Jet {
		if math.IsInf(width, 1) {
			return Jet{}
		}
		return x.minus(Steady(at)).scaled(Point(1).Over(Point(width)))
	}
	v := patch.V
	px, py := share(x, patch.X, patch.Width), share(y, patch.Y, patch.Height)
	z := between(between(Steady(v[0]), Steady(v[2]), py), between(Steady(v[1]), Steady(v[3]), py), px)
	z.NaN = z.NaN || x.NaN || y.NaN
	return z
}

// unless returns the jet, with any rate if the value may jump.
func (x Jet) unless(jumps bool) Jet {
	if jumps {
		x.Rate = All
	}
	return x
}

func (x Jet) plus(y Jet) Jet { return Jet{x.Plus(y.Interval), x.Rate.Plus(y.Rate)} }

func (x Jet) minus(y Jet) Jet { return Jet{x.Minus(y.Interval), x.Rate.Minus(y.Rate)} }

func (x Jet) scaled(by Interval) Jet { return Jet{x.Times(by), x.Rate.part(by)} }

func (x Jet) square() Jet {
	return Jet{x.Square(), x.Rate.part(x.Times(Point(2)))}
}

func (x Jet) times(y Jet) Jet {
	return Jet{x.Times(y.Interval), x.Rate.part(y.Interval).Plus(y.Rate.part(x.Interval))}
}

func (x Jet) over(y Jet) Jet {
	v := x.Over(y.Interval)
	rate := x.Rate.Minus(y.Rate.part(v)).Over(y.Interval)
	return Jet{v, rate}.unless(y.Contains(0))
}

func (x Jet) power(y Jet) Jet {
	v := x.Power(y.Interval)
	rate := x.Rate.part(y.Times(x.Power(y.Minus(Point(1)))))
	jumps := !v.Bounded() && x.Contains(0)
	if y.Rate != (Interval{}) {
		rate = rate.Plus(y.Rate.part(v.Times(x.Log())))
		jumps = jumps || x.Low <= 0
	}
	return Jet{v, rate}.unless(jumps)
}

// atan2 returns the angle from the coordinates y = x and abscissa.
func (x Jet) atan2(abscissa Jet) Jet {
	square := x.Square().Plus(abscissa.Square())
	turn := x.Rate.part(abscissa.Interval).Minus(abscissa.Rate.part(x.Interval))
	return Jet{x.Atan2(abscissa.Interval), turn.Over(square)}.unless(x.cut(abscissa.Interval))
}
