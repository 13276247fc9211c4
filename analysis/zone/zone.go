// Package zone computes with sets of clock readings: which clocks can be over now, and in which order, if all of them
// advance together.
//
// A Zone is the set of all readings of the running clocks that satisfy bounds on each clock and on the differences
// of two clocks, kept as a closed difference bound matrix (D. Dill, Timing Assumptions and Verification of Finite-State
// Concurrent Systems, 1989; J. Bengtsson and W. Yi, Timed Automata: Semantics, Algorithms and Tools, 2004). It belongs
// to a state of a search:
//
//	z.Start(c)                   // clocks start at 0
//	z.Pass()                     // some time passes
//	z.Restrict(c, AtLeast, t)    // false: this clock cannot be over yet
//	z.Widen(most)                // before the state is stored: the zones of a search are then finitely many
//
// Times are whole nanoseconds, so that bounds are exact.
package zone

import (
	"math"
	"slices"

	"github.com/canopy-uav/canopy/snapshot"
)

// Time is a reading of a clock or a length [ns].
type Time int64

// Forever is a time that no clock reaches. Longest is the longest time below it, 18 years.
const (
	Forever Time = math.MaxInt64
	Longest Time = 1 << 59
)

// Seconds returns the times next to a number of seconds, from below and from above; the same time if it is a whole
// number of nanoseconds. A NaN or a negative number is an error of the caller.
func Seconds(s float64) (below, above Time) {
	if !(s >= 0) {
		panic("zone: a time that is negative or NaN")
	}
	if s *= 1e9; s >= float64(Longest) {
		return Longest, Forever
	}
	return Time(math.Floor(s)), Time(math.Ceil(s))
}

// Relation compares the reading of a clock with a time.
type Relation uint8

// The relations.
const (
	AtLeast Relation = iota
	After
	AtMost
	Before
)

// bound is an upper bound of a difference: 2 t + 1 is at most t, 2 t less than t.
type bound int64

const (
	unbounded bound = math.MaxInt64
	zero      bound = 1 // at most 0
)

func (b bound) add(c bound) bound {
	if b == unbounded || c == unbounded {
		return unbounded
	}
	return b&^1 + c&^1 + b&c&1
}

// Zone is a set of readings, never empty. The zero value has no clock.
type Zone struct {
	clocks []int32 // those that run, ascending
	// For each pair of rows i, j the bound of reading i - reading j, at i*n + j. Row 0 is always 0, clocks[k] is row
	// k+1. The matrix is closed: no bound follows from others but is not stated.
	d []bound
}

// CopyFrom makes the zone equal to another one.
func (z *Zone) CopyFrom(o *Zone) {
	z.clocks = append(z.clocks[:0], o.clocks...)
	z.d = append(z.d[:0], o.d...)
}

// Clocks returns the running clocks, ascending; to be read.
func (z *Zone) Clocks() []int32 { return z.clocks }

// Runs reports whether a clock runs.
func (z *Zone) Runs(clock int) bool {
	_, runs := z.row(clock)
	return runs
}

func (z *Zone) row(clock int) (row int, runs bool) {
	k, runs := slices.BinarySearch(z.clocks, int32(clock))
	return k + 1, runs
}

// Start starts a clock at 0, also one that runs already.
func (z *Zone) Start(clock int) {
	k, runs := z.row(clock)
	if !runs {
		old, n := z.d, len(z.clocks)+1
		z.clocks = slices.Insert(z.clocks, k-1, int32(clock))
		z.d = make([]bound, (n+1)*(n+1))
		if n == 1 {
			old = []bound{zero}
		}
		for i := range n {
			for j := range n {
				z.d[beyond(i, k)*(n+1)+beyond(j, k)] = old[i*n+j]
			}
		}
	}
	n := len(z.clocks) + 1
	for j := range n {
		z.d[k*n+j], z.d[j*n+k] = z.d[j], z.d[j*n]
	}
	z.d[k*n+k] = zero
}

// beyond returns the row i of a matrix after row k has been inserted.
func beyond(i, k int) int {
	if i < k {
		return i
	}
	return i + 1
}

// Stop stops a clock: nothing is known of it any more. A clock that does not run is left alone.
func (z *Zone) Stop(clock int) {
	k, runs := z.row(clock)
	if !runs {
		return
	}
	n := len(z.clocks) + 1
	at := 0
	for i := range n {
		for j := range n {
			if i != k && j != k {
				z.d[at] = z.d[i*n+j]
				at++
			}
		}
	}
	z.d = z.d[:at]
	if z.clocks = slices.Delete(z.clocks, k-1, k); len(z.clocks) == 0 {
		z.d = z.d[:0]
	}
}

// Pass lets some time pass, more than none: all clocks advance by the same time.
func (z *Zone) Pass() {
	n := len(z.clocks) + 1
	for i := 1; i < n; i++ {
		z.d[i*n] = unbounded
		z.d[i] &^= 1
	}
}

// as returns a relation as a bound of the difference of two rows.
func (z *Zone) as(clock int, is Relation, t Time) (i, j int, b bound) {
	k, runs := z.row(clock)
	switch {
	case !runs:
		panic("zone: a clock that does not run")
	case t < 0 || t > Longest && t != Forever:
		panic("zone: an impossible time")
	}
	switch is {
	case AtLeast:
		return 0, k, 1 - 2*bound(t)
	case After:
		return 0, k, -2 * bound(t)
	case AtMost:
		return k, 0, 2*bound(t) + 1
	case Before:
		return k, 0, 2 * bound(t)
	}
	panic("zone: an unknown relation")
}

// Allows reports whether some reading in the zone has the relation.
func (z *Zone) Allows(clock int, is Relation, t Time) bool {
	if t == Forever {
		return is == AtMost || is == Before
	}
	i, j, b := z.as(clock, is, t)
	return z.d[j*(len(z.clocks)+1)+i].add(b) >= zero
}

// Restrict keeps the readings that have the relation. It reports false, and changes nothing, if there are none.
func (z *Zone) Restrict(clock int, is Relation, t Time) bool {
	if !z.Allows(clock, is, t) {
		return false
	}
	if t == Forever {
		return true
	}
	n := len(z.clocks) + 1
	if i, j, b := z.as(clock, is, t); b < z.d[i*n+j] {
		z.d[i*n+j] = b
		for k := range n {
			through := z.d[k*n+i].add(b)
			for l := range n {
				z.d[k*n+l] = min(z.d[k*n+l], through.add(z.d[j*n+l]))
			}
		}
	}
	return true
}

// Includes reports whether all readings of another zone with the same clocks are in the zone.
func (z *Zone) Includes(o *Zone) bool {
	if !slices.Equal(z.clocks, o.clocks) {
		return false
	}
	for i, b := range z.d {
		if o.d[i] > b {
			return false
		}
	}
	return true
}

// Join adds the readings of another zone with the same clocks, and those that no bound of both excludes.
func (z *Zone) Join(o *Zone) {
	if !slices.Equal(z.clocks, o.clocks) {
		panic("zone: zones of other clocks are joined")
	}
	for i, b := range o.d {
		z.d[i] = max(z.d[i], b)
	}
}

// Widen adds readings that no later relation distinguishes from those in the zone, where most is the maximum time with
// which each clock is compared: what is above it does not matter (extrapolation by maximum constants). Only finitely
// many zones result. Differences of clocks must not be compared.
func (z *Zone) Widen(most func(clock int) Time) {
	limit := []bound{zero}
	for _, c := range z.clocks {
		limit = append(limit, 2*bound(most(int(c)))+1)
	}
	n, changed := len(limit), false
	for at, b := range z.d {
		switch i, j := at/n, at%n; {
		case i == j || b == unbounded:
		case i > 0 && b > limit[i]:
			z.d[at], changed = unbounded, true
		case b < 1-limit[j]:
			z.d[at], changed = 1-limit[j], true
		}
	}
	if changed {
		z.close()
	}
}

// close states every bound that follows from others (R. Floyd, Algorithm 97: Shortest Path, 1962).
func (z *Zone) close() {
	n := len(z.clocks) + 1
	for k := range n {
		for i := range n {
			for j := range n {
				z.d[i*n+j] = min(z.d[i*n+j], z.d[i*n+k].add(z.d[k*n+j]))
			}
		}
	}
}

// State passes the zone to the codec.
func (z *Zone) State(c *snapshot.Codec) {
	snapshot.List(c, &z.clocks, snapshot.Int)
	snapshot.List(c, &z.d, snapshot.Int)
}
