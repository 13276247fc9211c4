package verify

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/canopy-uav/canopy/analysis/flown"
	"github.com/canopy-uav/canopy/explore"
)

// system is a transition system: the states of a plan between two instants, or of two plans in one world. A transition
// is an instant with the answers to all that is open in it (package flown).
type system interface {
	// Steps visits all transitions from a state, settling by settling; from the empty state a run begins.
	Steps(from flown.Key, visit func(*flown.Moment))
	// Follow visits the transition with these answers.
	Follow(from flown.Key, answers flown.Tape, visit func(*flown.Moment))
	// At visits a state.
	At(state flown.Key, visit func(*flown.Moment))
}

// observer follows runs and judges them: a monitor automaton. What it remembers of a run is a mark, a small value.
// docs/extending.md shows how a question is added.
type observer[M comparable] interface {
	// step follows a settling of an instant after what was remembered, and judges it. Over is set at the last one. It may
	// ask whether formulas hold, where each answer that is open makes another transition, and restrict clocks of its own.
	step(at *flown.Moment, before M) (after M, now event)
}

// observing is an observer that remembers nothing and looks at the ends of instants: a violation is a hit.
type observing func(at *flown.Moment) (hit bool)

func (o observing) step(at *flown.Moment, _ struct{}) (struct{}, event) {
	if at.Over && o(at) {
		return struct{}{}, hit
	}
	return struct{}{}, nothing
}

// event is how an observer judges a settling.
type event uint8

const (
	nothing    event = iota // the run goes on
	hit                     // what is searched for: the run may end with this instant
	late                    // what is searched for is there before this instant: the run ends with the one before
	done                    // whatever follows in this run does not matter
	impossible              // there is no such run
)

// search is the search for the states that runs of a system reach, the nearest first, together with the marks of an
// observer. The observer judges each transition before states merge.
type search[M comparable] struct {
	system
	observer[M]
	states  *explore.Search[state[M], flown.Tape] // a move is the answers of the instant before
	merge   merging
	classes map[string]int // by class and mark: states that merge only if they are equal
	left    flown.Cover    // the states that were left, if they merge when they are left
	cover   flown.Cover
	edges   bool    // record which states follow each other
	skips   bool    // a run may be done before an instant is over, whether it is possible or not
	next    [][]int // by state: those that follow; finished: nothing that matters does

	within []partial[M] // what is remembered within an instant; Moment.Mark counts from 1
	number map[partial[M]]int

	decided   bool  // a transition was done
	failed    error // of a transition after which there is no state
	unsettled error // the same, where signals and tasks change each other without end
	from      int   // the state before the transition that was hit; -1: none was
	last      flown.Tape
	late      bool

	// Hooks of an observer; nil: it has none.
	depart  func(mark M)                         // before the transitions from a state are visited
	still   func(mark M) bool                    // no time passes after a state: the next instant follows at once
	arrived func(at *flown.Moment, from, to int) // after a transition
	stopped func(at *flown.Moment, from int)     // after one that ends with an error
}

// merging tells which states with the same mark are one.
type merging uint8

const (
	// Of one class, with clock readings that are all among those of the other (C. Daws and S. Tripakis, Model Checking of
	// Real-Time Reachability Properties Using Abstractions, 1998).
	mergeCovered merging = iota
	// As mergeCovered, but not before they are left: until then they keep all that a question about them may ask.
	mergeLeft
	// Of one class, with the readings between theirs. More is reached than by runs: nothing is refuted.
	mergeJoined
	// Of one class with the same readings.
	mergeEqual
)

// state is a state of the system between two instants with a mark; the key is empty before a run.
type state[M comparable] struct {
	key  flown.Key
	mark M
}

// Bytes returns the size of the state, whose class the covering keeps.
func (s state[M]) Bytes() int { return 2 * len(s.key) }

// partial is what is remembered within an instant: a mark, and whether a settling was hit or done.
type partial[M comparable] struct {
	mark      M
	hit, done bool
}

const (
	finished = -1 // in search.next
	excluded = -1 // as Moment.Mark: there is no such run
)

// newSearch returns a search that begins in a state: before a run it has the mark of the observer alone.
func newSearch[M comparable](s system, o observer[M], start state[M], merge merging, b explore.Budget) *search[M] {
	x := &search[M]{system: s, observer: o, states: explore.New[state[M], flown.Tape](b), merge: merge,
		classes: map[string]int{}, number: map[partial[M]]int{}, from: -1}
	x.states.Arrive(-1, start, nil)
	return x
}

// run leaves states until a run is hit or there are no others.
func (x *search[M]) run() {
	for x.from < 0 && x.more() {
	}
}

// more leaves the next state; it reports false if there is none.
func (x *search[M]) more() bool {
	for n := range x.states.Leave() {
		x.leave(n)
		return true
	}
	return false
}

// leave visits the transitions from a state.
func (x *search[M]) leave(n int) {
	for x.edges && len(x.next) <= n {
		x.next = append(x.next, nil)
	}
	if by, covered := x.cover.Later(n); covered { // what follows it follows that one
		x.link(n, by)
		return
	}
	s := x.states.Key(n)
	if x.merge == mergeLeft && n > 0 {
		first := n
		x.At(s.key, func(at *flown.Moment) { first, _ = x.left.Arrive(at, at.Class(), fmt.Sprint(s.mark), true, n) })
		if first != n {
			return
		}
	}
	x.prepare(s.mark)
	x.Steps(s.key, func(at *flown.Moment) { x.visit(at, n) })
}

func (x *search[M]) prepare(mark M) {
	if x.depart != nil {
		x.depart(mark)
	}
}

// visit follows a settling of a transition from a state.
func (x *search[M]) visit(at *flown.Moment, from int) {
	switch {
	case at.Err != nil:
		if errors.Is(at.Err, flown.ErrUnsettled) {
			x.unsettled = cmp.Or(x.unsettled, at.Err)
		} else {
			x.failed = cmp.Or(x.failed, at.Err)
		}
		if x.stopped != nil {
			x.stopped(at, from)
		}
		return
	case at.Over && !x.states.Spend():
		at.Stop = true
		return
	}
	now, event := x.follow(at, x.states.Key(from).mark)
	if !at.Over && (event == impossible || x.skips && now.done && !now.hit) {
		at.Skip, at.Stop = true, !x.states.Spend()
		if now.done {
			x.decided = true
			x.link(from, finished)
		}
		return
	}
	switch {
	case event == late:
		x.from, x.last, x.late, at.Stop = from, at.Tape(), true, true
	case !at.Over || event == impossible || !at.Possible():
	case now.hit:
		x.from, x.last, at.Stop = from, at.Tape(), true
	case now.done:
		x.decided = true
		x.link(from, finished)
	default:
		if to := x.arrive(at, from, now.mark); to >= 0 {
			x.link(from, to)
			if x.arrived != nil {
				x.arrived(at, from, to)
			}
		}
	}
}

// follow lets the observer follow a settling of a transition from a state with a mark.
func (x *search[M]) follow(at *flown.Moment, mark M) (now partial[M], e event) {
	if at.Mark == excluded {
		return now, impossible
	}
	if now = x.soFar(at, mark); now.done {
		return now, nothing
	}
	now.mark, e = x.step(at, now.mark)
	now.hit, now.done = now.hit || e == hit, e == done
	switch {
	case e == impossible:
		at.Mark = excluded
	case !at.Over:
		n, known := x.number[now]
		if !known {
			x.within = append(x.within, now)
			n = len(x.within)
			x.number[now] = n
		}
		at.Mark = n
	}
	return now, e
}

// soFar returns what is remembered before a settling of a transition from a state with a mark.
func (x *search[M]) soFar(at *flown.Moment, mark M) partial[M] {
	if at.Mark > 0 {
		return x.within[at.Mark-1]
	}
	return partial[M]{mark: mark}
}

// arrive records the state at the end of an instant. It returns the number of the state or of one that it merges with;
// -1 if there is no room for it.
func (x *search[M]) arrive(at *flown.Moment, from int, mark M) (n int) {
	class, key, more, fresh := "", flown.Key(""), fmt.Sprint(mark), false
	if x.merge == mergeLeft {
		key = at.After()
	} else {
		class = at.Class()
	}
	if x.merge == mergeJoined {
		class = x.cover.Join(at, class, more)
	}
	switch x.merge {
	case mergeCovered, mergeJoined:
		n, fresh = x.cover.Arrive(at, class, more, x.still == nil || !x.still(mark), x.states.Len())
	case mergeLeft:
		n, fresh = x.cover.Arrive(at, string(key), more, true, x.states.Len())
	case mergeEqual:
		known := false
		if n, known = x.classes[class+more]; !known {
			n, fresh = x.states.Len(), true
			x.classes[class+more] = n
		}
	}
	if fresh {
		if key == "" {
			key = at.After()
		}
		x.states.Arrive(from, state[M]{key, mark}, at.Tape())
	}
	if n >= x.states.Len() {
		return -1
	}
	return n
}

// link records that a state follows another one.
func (x *search[M]) link(from, to int) {
	if x.edges && !slices.Contains(x.next[from], to) {
		x.next[from] = append(x.next[from], to)
	}
}

// final returns the state that covers one at last.
func (x *search[M]) final(n int) int {
	for by, covered := x.cover.Later(n); covered; by, covered = x.cover.Later(n) {
		n = by
	}
	return n
}
