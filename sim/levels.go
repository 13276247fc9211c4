package sim

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

// huge bounds the quantities whose difference from a finite level is finite.
const huge = 1e290

// levels is the index of a system's indicators by the quantities that they compare with numbers. It never changes. The
// quantities are the states, followed by the functions.
type levels struct {
	thresholds []Threshold // by indicator
	lines      []line
	lineOf     []int32 // by indicator
	placeOf    []int32 // by indicator: in its line
	loose      []bool  // by function: an instant may change it
	states     int
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
	x := &levels{states: n, quantities: n + functions, lineOf: make([]int32, len(sys.Indicators)),
		placeOf: make([]int32, len(sys.Indicators))}
	order := make([]int, len(sys.Indicators))
	x.loose = slices.Repeat([]bool{sys.Loose == nil}, functions)
	for _, f := range sys.Loose {
		x.loose[f] = true
	}
	for i, indicator := range sys.Indicators {
		h := Threshold{Of: n + i}
		if indicator.Threshold != nil {
			h = *indicator.Threshold
		}
		if !finite(h.Level) || h.Of < 0 || h.Of >= x.quantities {
			panic("sim: bad threshold")
		}
		if h.Of >= n && sys.Zeros == nil {
			panic("sim: no function for the indicators")
		}
		x.thresholds = append(x.thresholds, h)
		order[i] = i
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
		x.lineOf[i], x.placeOf[i] = int32(len(x.lines)-1), int32(len(l.who)-1)
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

// within returns, of ascending places in the line, those with levels from low to high; all, if one of these is not
// finite or huge.
func (l *line) within(places []int32, low, high float64) []int32 {
	if !small(low) || !small(high) {
		return places
	}
	if l.falls {
		low, high = -high, -low
	}
	from := sort.Search(len(places), func(i int) bool { return l.keys[places[i]] >= low })
	to := from
	for to < len(places) && l.keys[places[to]] <= high {
		to++
	}
	return places[from:to]
}

func small(x float64) bool { return math.Abs(x) <= huge }

// kept is the index of the indicators whose sides are kept: all that do not rest.
type kept struct {
	resting []bool
	places  [][]int32 // by line, ascending
	lines   []int     // that have such places, ascending
	stale   bool      // whole and loose are those before lines have changed

	// Quantities to evaluate: all functions of the lines, and those that an instant may change.
	whole, loose scope
}

func newKept(x *levels) kept {
	return kept{resting: make([]bool, len(x.thresholds)), places: make([][]int32, len(x.lines)), whole: scope{all: true}}
}

// renew computes the index from what rests.
func (k *kept) renew(x *levels) {
	k.lines, k.stale = k.lines[:0], true
	for l := range x.lines {
		k.places[l] = k.places[l][:0]
		for place, i := range x.lines[l].who {
			if !k.resting[i] {
				k.places[l] = append(k.places[l], int32(place))
			}
		}
		if len(k.places[l]) > 0 {
			k.lines = append(k.lines, l)
		}
	}
}

// rest removes an indicator from the index, or brings it back. It reports whether no other one of its line is kept.
func (k *kept) rest(x *levels, indicator int, rests bool) (alone bool) {
	k.resting[indicator] = rests
	l := int(x.lineOf[indicator])
	places := &k.places[l]
	at, _ := slices.BinarySearch(*places, x.placeOf[indicator])
	line, _ := slices.BinarySearch(k.lines, l)
	if rests {
		*places = slices.Delete(*places, at, at+1)
		if alone = len(*places) == 0; alone {
			k.lines, k.stale = slices.Delete(k.lines, line, line+1), true
		}
		return alone
	}
	if alone = len(*places) == 0; alone {
		k.lines, k.stale = slices.Insert(k.lines, line, l), true
	}
	*places = slices.Insert(*places, at, x.placeOf[indicator])
	return alone
}

// scopes determines the functions to evaluate.
func (k *kept) scopes(x *levels) {
	k.stale = false
	k.whole.functions, k.loose.functions = k.whole.functions[:0], k.loose.functions[:0]
	for _, l := range k.lines {
		f := x.lines[l].of - x.states
		if n := len(k.whole.functions); f < 0 || n > 0 && k.whole.functions[n-1] == f {
			continue
		}
		k.whole.functions = append(k.whole.functions, f)
		if x.loose[f] {
			k.loose.functions = append(k.loose.functions, f)
		}
	}
}
