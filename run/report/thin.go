package report

import (
	"fmt"
	"math"
	"slices"

	"canopy/bt"
	"canopy/run/record"
)

// Limits of a page, however long the run: data beyond them is thinned out, with a note.
const (
	mostColumns = 4000       // of a thinned curve; more than a screen has pixels
	mostSamples = 16_000     // of a curve that is kept unchanged
	mostChanges = 100_000    // of status in all lanes together
	mostLines   = 2 * 10_000 // of the table: status changes, and as many events
)

// column returns the index of the part, of n equal parts of the time from a to b, that contains the time t.
func column(t, a, b float64, n int) int {
	if !(b > a) {
		return 0
	}
	return int((t - a) / (b - a) * float64(n))
}

// thinCurve returns the samples that show a curve in columns: of each column the first, the minimum, the maximum, the
// first that is not finite and the last. A column with few samples keeps them all, so that a step remains a step.
func thinCurve(t, values []float64, until float64, columns int) []int {
	var kept []int
	for a := 0; a < len(t); {
		at := column(t[a], t[0], until, columns)
		least, greatest, gap := -1, -1, -1
		b := a
		for ; b < len(t) && column(t[b], t[0], until, columns) == at; b++ {
			v := values[b]
			if math.IsNaN(v) || math.IsInf(v, 0) {
				if gap < 0 {
					gap = b
				}
				continue
			}
			if least < 0 || v < values[least] {
				least = b
			}
			if greatest < 0 || v > values[greatest] {
				greatest = b
			}
		}
		if b-a <= 4 {
			for k := a; k < b; k++ {
				kept = append(kept, k)
			}
		} else {
			few := slices.DeleteFunc([]int{a, least, greatest, gap, b - 1}, func(k int) bool { return k < 0 })
			slices.Sort(few)
			kept = append(kept, slices.Compact(few)...)
		}
		a = b
	}
	return kept
}

// pick returns the values of the given indices.
func pick(values []float64, indices []int) []float64 {
	list := make([]float64, len(indices))
	for i, k := range indices {
		list[i] = values[k]
	}
	return list
}

// thinLanes thins out the busiest lanes until the total number of status changes is at most most, and returns the
// number removed.
func thinLanes(list []lane, until float64, most int) int {
	counts := make([]int, len(list))
	for i, l := range list {
		counts[i] = len(l.T)
	}
	share := fairShare(counts, most)
	left := 0
	for i := range list {
		if l := &list[i]; len(l.T) > share {
			left += l.thin(until, max(1, share/perColumn))
		}
	}
	return left
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

// thin keeps, in each column of time, the first change to every status and the last change, and returns the number
// removed.
func (l *lane) thin(until float64, columns int) int {
	before := len(l.T)
	t, s := []float64{}, []int{}
	for a := 0; a < len(l.T); {
		at := column(l.T[a], l.T[0], until, columns)
		var seen [bt.Deactivating + 1]bool
		b := a
		for ; b < len(l.T) && column(l.T[b], l.T[0], until, columns) == at; b++ {
			last := b+1 == len(l.T) || column(l.T[b+1], l.T[0], until, columns) != at
			if !seen[l.S[b]] || last {
				seen[l.S[b]] = true
				t, s = append(t, l.T[b]), append(s, l.S[b])
			}
		}
		a = b
	}
	l.T, l.S = t, s
	return before - len(t)
}

// ends returns the first and last elements of a list with more than most elements, and those in between.
func ends[E any](list []E, most int) (kept, left []E) {
	if len(list) <= most {
		return list, nil
	}
	tail := len(list) - most/2
	return slices.Concat(list[:most/2], list[tail:]), list[most/2 : tail]
}

// leftOut describes what the table of the page omits; "" if it is complete.
func leftOut(changes []record.Change, events []record.Event) []string {
	var notes []string
	if n := len(changes); n > 0 {
		notes = append(notes, fmt.Sprintf("%d status changes from %s to %s are left out here; status.csv has all.",
			n, Clock(changes[0].T), Clock(changes[n-1].T)))
	}
	if n := len(events); n > 0 {
		notes = append(notes, fmt.Sprintf("%d events from %s to %s are left out here; run.mcap has all, on /events.",
			n, Clock(events[0].T), Clock(events[n-1].T)))
	}
	return notes
}
