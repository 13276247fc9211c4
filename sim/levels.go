package sim

import (
	"cmp"
	"math"
	"slices"
)

// huge bounds the quantities whose difference from a finite level is finite.
const huge = 1e290

// levels is the index of a system's indicators by the quantities that they compare with numbers. It never changes. The
// quantities are the states, followed by the functions.
type levels struct {
	thresholds []Threshold // by indicator
	lines      []line
	lineOf     []int32 // by indicator
	functions  []int   // that indicators compare
	loose      []int   // those that an instant may change
	quantities int
}

// line holds the thresholds of one quantity in one direction, in ascending order of their keys. The key is the level,
// or with falls the negated level: an indicator is above if its key is at most the quantity, or the negated quantity.
type line struct {
	of    int
	falls bool
	keys  []float64
	who   []int // the indicator of each key
}

func newLevels(sys *System) *levels {
	n, functions := len(sys.States), sys.Functions
	if own := func(i Indicator) bool { return i.Threshold == nil }; slices.ContainsFunc(sys.Indicators, own) {
		functions = max(functions, len(sys.Indicators))
	}
	x := &levels{quantities: n + functions, lineOf: make([]int32, len(sys.Indicators))}
	order := make([]int, len(sys.Indicators))
	used := make([]bool, functions)
	for i, indicator := range sys.Indicators {
		h := Threshold{Of: n + i}
		if indicator.Threshold != nil {
			h = *indicator.Threshold
		}
		if !finite(h.Level) || h.Of < 0 || h.Of >= x.quantities {
			panic("sim: bad threshold")
		}
		if h.Of >= n {
			used[h.Of-n] = true
		}
		x.thresholds = append(x.thresholds, h)
		order[i] = i
	}
	for f, u := range used {
		if u {
			x.functions = append(x.functions, f)
		}
	}
	if x.loose = sys.Loose; x.loose == nil {
		x.loose = x.functions
	}
	slices.SortFunc(order, func(i, j int) int {
		a, b := x.thresholds[i], x.thresholds[j]
		return cmp.Or(cmp.Compare(a.Of, b.Of), cmp.Compare(a.sign(), b.sign()),
			cmp.Compare(a.sign()*a.Level, b.sign()*b.Level), cmp.Compare(i, j))
	})
	for _, i := range order {
		h := x.thresholds[i]
		if last := len(x.lines) - 1; last < 0 || x.lines[last].of != h.Of || x.lines[last].falls != h.Falls {
			x.lines = append(x.lines, line{of: h.Of, falls: h.Falls})
		}
		l := &x.lines[len(x.lines)-1]
		l.keys, l.who = append(l.keys, h.sign()*h.Level), append(l.who, i)
		x.lineOf[i] = int32(len(x.lines) - 1)
	}
	return x
}

func (h Threshold) sign() float64 {
	if h.Falls {
		return -1
	}
	return 1
}

// value returns g of an indicator from the quantities.
func (x *levels) value(quantities []float64, i int) float64 {
	h := &x.thresholds[i]
	if h.Falls {
		return h.Level - quantities[h.Of]
	}
	return quantities[h.Of] - h.Level
}

// within returns the indicators with levels from low to high; all, if one of them is not finite or huge.
func (l *line) within(low, high float64) []int {
	if !small(low) || !small(high) {
		return l.who
	}
	if l.falls {
		low, high = -high, -low
	}
	from, _ := slices.BinarySearch(l.keys, low)
	to := from
	for to < len(l.keys) && l.keys[to] <= high {
		to++
	}
	return l.who[from:to]
}

func small(x float64) bool { return math.Abs(x) <= huge }
