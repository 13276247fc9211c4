package interval

import (
	"math"

	"github.com/canopy-uav/canopy/expr"
)

// table returns the value of a table at (x, y); y does not matter to one of a single argument. Between its points a
// table is linear in each argument, so that its values and its slopes are extreme at corners.
func table(t *expr.Tabulated, x, y Value) Value {
	xs, firstX, lastX, outX := along(&t.Axes[0], x.Interval)
	ys, firstY, lastY, outY := []float64{0}, 0, 0, false
	if len(t.Axes) == 2 {
		ys, firstY, lastY, outY = along(&t.Axes[1], y.Interval)
	}
	nan := x.NaN || y.NaN || (outX || outY) && !t.Clamp
	var v, slopeX, slopeY hull
	slope := func(h *hull, low, high, over float64) {
		slack := 4 * relative * max(math.Abs(low), math.Abs(high))
		h.add(Point(high).Minus(Point(low)).Plus(Between(-slack, slack)).Over(Point(over)))
	}
	for _, a := range xs {
		for _, b := range ys {
			v.add(Point(t.Value(a, b)))
		}
	}
	for i := firstX; i < lastX; i++ {
		from, to := t.Axes[0].Points[i], t.Axes[0].Points[i+1]
		for _, b := range ys {
			slope(&slopeX, t.Value(from, b), t.Value(to, b), to-from)
		}
	}
	for j := firstY; j < lastY; j++ {
		from, to := t.Axes[1].Points[j], t.Axes[1].Points[j+1]
		for _, a := range xs {
			slope(&slopeY, t.Value(a, from), t.Value(a, to), to-from)
		}
	}
	if outX {
		slopeX.add(Point(0))
	}
	if outY {
		slopeY.add(Point(0))
	}
	all := widened(v.Low, v.High, 2*relative, nan)
	return Value{all, combined(x.Slope, slopeX.rounded(), y.Slope, slopeY.rounded()), x.Jumps || y.Jumps}
}

// along returns the places on an axis at which a table may be extreme over an interval, the pieces that the interval
// touches, from a point to a point, and whether a part of it lies outside of the axis.
func along(a *expr.Abscissa, x Interval) (at []float64, first, last int, out bool) {
	end := len(a.Points) - 1
	out = x.Low < a.Points[0] || x.High > a.Points[end]
	low, high := min(max(x.Low, a.Points[0]), a.Points[end]), min(max(x.High, a.Points[0]), a.Points[end])
	for first < end-1 && a.Points[first+1] < low {
		first++
	}
	last = first + 1
	for last < end && a.Points[last] <= high {
		last++
	}
	at = []float64{low}
	for _, p := range a.Points[first : last+1] {
		if low < p && p < high {
			at = append(at, p)
		}
	}
	return append(at, high), first, last, out
}

// hull is the smallest interval around some; its zero value is around none.
type hull struct {
	Interval
	some bool
}

func (h *hull) add(x Interval) {
	if h.some {
		x = h.Join(x)
	}
	h.Interval, h.some = x, true
}

// rounded returns the interval with the errors of a table's values; nothing has the slope 0.
func (h *hull) rounded() Interval { return widened(h.Low, h.High, 2*relative, false) }
