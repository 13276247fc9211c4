package report

import (
	"fmt"
	"math"
	"slices"

	"canopy/bt"
)

// Limits of a page, however long the run: data beyond them is thinned out, with a note.
const (
	mostColumns = 4000       // of a thinned curve; more than a screen has pixels
	mostSamples = 16_000     // of a curve that is kept unchanged
	mostChanges = 100_000    // of status in all lanes together
	mostLines   = 2 * 10_000 // of the table: status changes, and as many events
)

// column returns the index of the part that contains the time t, of n equal parts of the time from a to b; n from b on.
func column(t, a, b float64, n int) int {
	if !(b > a) {
		return 0
	}
	return int(min((t-a)/(b-a), 1) * float64(n))
}

// point is the n-th sample of a curve.
type point struct {
	n    int
	t, v float64
}

// whole is how many samples of a column are kept all.
const whole = 4

// curveThinner keeps the samples that show a curve in columns: of each column the first, the minimum, the maximum, the
// first that is not finite and the last. A column with few samples keeps them all, so that a step remains a step.
// Without columns it keeps all samples.
type curveThinner struct {
	until   float64 // [s]
	columns int
	n       int // samples so far
	kept    []point
	from    float64 // [s], the first sample
	column  int     // the present one

	count                      int // samples in it
	few                        [whole]point
	least, greatest, gap, last point // n is -1 if there is none
}

func (c *curveThinner) add(t, v float64) {
	p := point{c.n, t, v}
	if c.n == 0 {
		c.from = t
	}
	c.n++
	if c.columns == 0 {
		c.kept = append(c.kept, p)
		return
	}
	if at := column(t, c.from, c.until, c.columns); at != c.column {
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
	if v-v != 0 {
		if c.gap.n < 0 {
			c.gap = p
		}
		return
	}
	if c.least.n < 0 || v < c.least.v {
		c.least = p
	}
	if c.greatest.n < 0 || v > c.greatest.v {
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
const perColumn = int(bt.Deactivating) + 2

// laneThinner keeps of each column of time the first change of a task to every status and the last change. Without
// columns it keeps all changes.
type laneThinner struct {
	from, until float64 // [s]
	columns     int
	t           []float64
	s           []int
	left        int // changes that are not kept

	column int // the present one
	seen   [bt.Deactivating + 1]bool
	last   float64 // change in it, if it is not kept so far
	status int
	open   bool
}

func (l *laneThinner) add(t float64, s bt.Status) {
	if l.columns == 0 {
		l.t, l.s = append(l.t, t), append(l.s, int(s))
		return
	}
	if at := column(t, l.from, l.until, l.columns); at != l.column {
		l.end()
		l.column, l.seen = at, [bt.Deactivating + 1]bool{}
	}
	if l.open {
		l.left++
	}
	l.last, l.status, l.open = t, int(s), true
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

// ends chooses the first and the last of n elements, if there are more than most.
type ends struct {
	n, most  int
	i        int     // elements so far
	left     int     // those between
	from, to float64 // when they were [s]
}

// keep reports whether the next element, of time t, is kept.
func (e *ends) keep(t float64) bool {
	i := e.i
	e.i++
	if e.n <= e.most || i < e.most/2 || i >= e.n-e.most/2 {
		return true
	}
	if e.left == 0 {
		e.from = t
	}
	e.to = t
	e.left++
	return false
}

// leftOut describes the rows that the table of the page leaves out; empty if it has all.
func leftOut(changes, events ends) []string {
	var notes []string
	if changes.left > 0 {
		notes = append(notes, fmt.Sprintf("%d status changes from %s to %s are left out here; status.csv has all.",
			changes.left, Clock(changes.from), Clock(changes.to)))
	}
	if events.left > 0 {
		notes = append(notes, fmt.Sprintf("%d events from %s to %s are left out here; run.mcap has all, on /events.",
			events.left, Clock(events.from), Clock(events.to)))
	}
	return notes
}
