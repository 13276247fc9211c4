package report

import (
	"math"
	"slices"

	"github.com/canopy-uav/canopy/bt"
)

// Limits of a page, however long the run: data beyond them is thinned out, with a note.
const (
	mostColumns = 4000       // of a thinned curve, and up to twice as many; more than a screen has pixels
	mostSamples = 16_000     // of a curve that is kept unchanged
	mostRobust  = 5_000      // points of how robustly a run has a property
	mostHeld    = 1 << 20    // values by which the causes of status changes are found
	mostHeard   = 10_000     // readings of the quality of a link
	mostOthers  = 48         // signals of which curves are kept without a plot
	mostChanges = 100_000    // of status in all lanes together
	mostLines   = 2 * 10_000 // of the table: status changes, and as many events
)

// columns divide the time from a first time on into equal parts. A log does not tell in advance how long it is:
// where it needs more columns than wanted, their width is doubled.
type columns struct{ from, width float64 } // [s]; width 0: there are none

// of returns the column of a time.
func (c columns) of(t float64) float64 { return math.Floor((t - c.from) / c.width) }

// narrow are columns of which about n last from a time to another.
func narrow(from, to float64, n int) columns {
	return columns{from, max((to-from)/float64(n), 1e-9)}
}

// point is the n-th sample of a curve.
type point struct {
	n    int
	t, v float64
}

// whole is how many samples of a column are kept all.
const whole = 4

// curveThinner keeps the samples that show a curve in columns: of each column the first, the minimum, the maximum, the
// first that is NaN and the last. A column with few samples keeps them all, so that a step remains a step.
type curveThinner struct {
	columns
	kept   []point
	column float64 // the present one

	count                      int // samples in it
	few                        [whole]point
	least, greatest, gap, last point // n is -1 if there is none
}

// add takes in a sample.
func (c *curveThinner) add(p point) {
	if at := c.of(p.t); at != c.column {
		c.endColumn()
		c.column = at
	}
	if c.count == 0 {
		none := point{n: -1}
		c.least, c.greatest, c.gap = none, none, none
	}
	if c.count < whole {
		c.few[c.count] = p
	}
	c.count++
	c.last = p
	if math.IsNaN(p.v) {
		if c.gap.n < 0 {
			c.gap = p
		}
		return
	}
	if c.least.n < 0 || p.v < c.least.v {
		c.least = p
	}
	if c.greatest.n < 0 || p.v > c.greatest.v {
		c.greatest = p
	}
}

func (c *curveThinner) endColumn() {
	if c.count <= whole {
		c.kept = append(c.kept, c.few[:c.count]...)
	} else {
		few := []point{c.few[0], c.least, c.greatest, c.gap, c.last}
		slices.SortFunc(few, func(a, b point) int { return a.n - b.n })
		for i, p := range few {
			if p.n >= 0 && (i == 0 || p.n != few[i-1].n) {
				c.kept = append(c.kept, p)
			}
		}
	}
	c.count = 0
}

// thin changes to wider columns: each has whole columns of the present ones.
func (c *curveThinner) thin(to columns) {
	c.endColumn()
	old := c.kept
	c.columns, c.column, c.kept = to, 0, nil
	for _, p := range old {
		c.add(p)
	}
}

// points returns the points kept of a curve that has ended.
func (c *curveThinner) points() (t, v []float64) {
	c.endColumn()
	t, v = make([]float64, len(c.kept)), make([]float64, len(c.kept))
	for i, p := range c.kept {
		t[i], v[i] = p.t, p.v
	}
	return t, v
}

// fairShare is the largest number such that the counts, each limited to it, sum to at most total.
func fairShare(counts []int, total int) int {
	sorted := slices.Sorted(slices.Values(counts))
	for i, n := range sorted {
		if share := total / (len(sorted) - i); n > share {
			return share
		}
		total -= n
	}
	return math.MaxInt
}

// perColumn is the maximum number of changes of a thinned lane in a column: the first to each status, and the last.
const perColumn = int(bt.Dropped) + 2

// laneThinner keeps of each column of time the first change of a task to every status and the last change. Without
// columns it keeps all changes.
type laneThinner struct {
	columns
	t []float64
	s []int

	column float64 // the present one
	seen   [bt.Dropped + 1]bool
	last   float64 // change in it, if it is not kept so far
	status int
	open   bool
}

func (l *laneThinner) add(t float64, s int) {
	if l.width == 0 {
		l.t, l.s = append(l.t, t), append(l.s, s)
		return
	}
	if at := l.of(t); at != l.column {
		l.end()
		l.column, l.seen = at, [bt.Dropped + 1]bool{}
	}
	l.last, l.status, l.open = t, s, true
	if !l.seen[s] {
		l.seen[s] = true
		l.end()
	}
}

// end keeps the last change.
func (l *laneThinner) end() {
	if l.open {
		l.t, l.s, l.open = append(l.t, l.last), append(l.s, l.status), false
	}
}

// thin chooses columns so wide that at most n changes are kept, or one column is left.
func (l *laneThinner) thin(n int) {
	l.end()
	for len(l.t) > max(n, perColumn) {
		if l.width == 0 {
			l.columns = narrow(l.t[0], l.t[len(l.t)-1], len(l.t)/2)
		}
		l.width *= 2
		t, s := l.t, l.s
		l.t, l.s, l.column, l.seen = nil, nil, 0, [bt.Dropped + 1]bool{}
		for i := range t {
			l.add(t[i], s[i])
		}
		l.end()
	}
}

// ends keeps the first and the last of many elements, each half of mostLines.
type ends[T any] struct {
	first, last []timed[T]
	oldest      int     // of last, where the next element goes
	left        int     // elements between
	from, to    float64 // when they were [s]
}

type timed[T any] struct {
	t float64 // [s]
	v T
}

func (e *ends[T]) add(t float64, v T) {
	const most = mostLines / 2
	x := timed[T]{t, v}
	switch {
	case len(e.first) < most:
		e.first = append(e.first, x)
		return
	case len(e.last) < most:
		e.last = append(e.last, x)
		return
	}
	old := &e.last[e.oldest]
	if e.left == 0 {
		e.from = old.t
	}
	e.to = old.t
	e.left++
	*old = x
	e.oldest = (e.oldest + 1) % most
}

// each calls visit for the elements kept, in their order.
func (e *ends[T]) each(visit func(T)) {
	for _, list := range [][]timed[T]{e.first, e.last[e.oldest:], e.last[:e.oldest]} {
		for _, x := range list {
			visit(x.v)
		}
	}
}
