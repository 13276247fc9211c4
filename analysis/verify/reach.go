package verify

import (
	"cmp"
	"errors"
	"fmt"

	"canopy/analysis/flown"
	"canopy/explore"
)

// reach is the search for the states that runs of a plan reach, the nearest first, with a mark: what an observer
// remembers of the run. What follows a state that a later one covers is left to that one (C. Daws and S. Tripakis,
// Model Checking of Real-Time Reachability Properties Using Abstractions, 1998).
type reach[M comparable] struct {
	*flown.Stepper
	states    *explore.Search[state[M], flown.Tape] // a move is the answers of the instant before
	cover     flown.Cover                           // by the numbers of states
	joined    bool                                  // the times at which one state is reached are joined
	failed    error                                 // of a course after which there is no state
	unsettled error                                 // the same, where signals and tasks change each other without end
}

// state is a state of the plan between two instants with a mark; the key is empty before a run.
type state[M comparable] struct {
	key  flown.Key
	mark M
}

// Bytes returns the size of the state, whose class the covering keeps.
func (s state[M]) Bytes() int { return 2 * len(s.key) }

func newReach[M comparable](s *flown.Stepper, b explore.Budget) *reach[M] {
	return &reach[M]{Stepper: s, states: explore.New[state[M], flown.Tape](b)}
}

// begin adds the state before a run.
func (x *reach[M]) begin(mark M) { x.states.Arrive(-1, state[M]{mark: mark}, nil) }

// expand visits the moments of all courses of the instant after a state that go on; stopped is called with the last
// moment of the others.
func (x *reach[M]) expand(n int, stopped, visit func(m *flown.Moment)) {
	x.Steps(x.states.Key(n).key, func(m *flown.Moment) {
		switch {
		case errors.Is(m.Err, flown.ErrUnsettled):
			x.unsettled = cmp.Or(x.unsettled, m.Err)
			stopped(m)
		case m.Err != nil:
			x.failed = cmp.Or(x.failed, m.Err)
			stopped(m)
		case m.Over && !x.states.Spend():
			m.Stop = true
		default:
			visit(m)
		}
	})
}

// arrive records the state at the end of an instant. Those of one class with one mark have one future, apart from their
// times. It returns the number of the state or of one that covers it; -1 if there is no room for it. Without a wait the
// next instant follows at once.
func (x *reach[M]) arrive(m *flown.Moment, class string, from int, mark M, wait bool) int {
	more := fmt.Sprint(mark)
	if x.joined {
		class = x.cover.Join(m, class, more)
	}
	n, fresh := x.cover.Arrive(m, class, more, wait, x.states.Len())
	if fresh {
		n, _ = x.states.Arrive(from, state[M]{m.After(), mark}, m.Tape())
	}
	return n
}

func ignore(*flown.Moment) {}
