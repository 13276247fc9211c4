// Package explore searches the states of a discrete system: breadth first, within a budget. The caller defines the
// states and their successors; the search records which states have been found, by which path, and which comes next.
//
//	s := explore.New[K, M](budget)
//	s.Arrive(-1, start, none)
//	for n := range s.Leave() {
//		for each possible move in state n, if s.Spend():
//			s.Arrive(n, key of the next state, move)
//	}
//	if s.Short() == "" { the states found are all reachable states }
package explore

import (
	"fmt"
	"iter"
	"slices"
)

// Budget bounds a search. A zero field is no bound.
type Budget struct {
	States int // found
	Moves  int // made
	Bytes  int // of the states' keys that are texts or have a method Bytes() int
	// Over is called at every 64th move with the number of states found; the search ends for the reason that it
	// returns, unless that is "".
	Over func(states int) string
}

// Search is a running search. Equal keys are equal states with equal successors. A move is the caller's record of how a
// state was first reached. States are numbered from 0 in the order in which they are found.
type Search[K comparable, M any] struct {
	budget Budget
	number map[K]int32
	states []state[K, M]
	next   int // the state to leave next
	moves  int
	bytes  int
	short  string // why not all states were found
	ended  bool
}

type state[K comparable, M any] struct {
	key  K
	from int32
	move M
}

// New returns a search that has not found any state.
func New[K comparable, M any](b Budget) *Search[K, M] {
	return &Search[K, M]{budget: b, number: map[K]int32{}}
}

// Arrive records the state reached from another one by a move; from is -1 for a start. It returns the number of the
// state, and whether it is new; -1 if it is new and the budget has no room for it.
func (s *Search[K, M]) Arrive(from int, key K, move M) (n int, fresh bool) {
	if n, known := s.number[key]; known {
		return int(n), false
	}
	size := 0
	switch k := any(key).(type) {
	case string:
		size = len(k)
	case interface{ Bytes() int }:
		size = k.Bytes()
	}
	switch b := s.budget; {
	case b.States > 0 && len(s.states) >= b.States:
		s.short = fmt.Sprintf("there are more than %d states", b.States)
		return -1, true
	case b.Bytes > 0 && s.bytes+size > b.Bytes:
		s.short = fmt.Sprintf("%d states fill %.3g MB, and there are more", len(s.states), float64(b.Bytes)/1e6)
		return -1, true
	}
	n = len(s.states)
	s.bytes += size
	s.number[key] = int32(n)
	s.states = append(s.states, state[K, M]{key, int32(from), move})
	return n, true
}

// Leave yields the states whose successors are to be found, one after the other, including those found in the meantime.
// After a break, another loop continues where the last one stopped.
func (s *Search[K, M]) Leave() iter.Seq[int] {
	return func(yield func(n int) bool) {
		for s.next < len(s.states) && !s.ended {
			s.next++
			if !yield(s.next - 1) {
				return
			}
		}
	}
}

// Spend reports whether one more move may be made. If not, Leave ends.
func (s *Search[K, M]) Spend() bool {
	switch b := s.budget; {
	case s.ended:
	case b.Moves > 0 && s.moves >= b.Moves:
		s.ended, s.short = true, fmt.Sprintf("%d moves did not find all states", s.moves)
	default:
		if b.Over != nil && s.moves%64 == 0 {
			if why := b.Over(len(s.states)); why != "" {
				s.ended, s.short = true, why
				return false
			}
		}
		s.moves++
	}
	return !s.ended
}

// Resume lets a search go on that a bound of its moves has ended: the state that was being left is left again.
func (s *Search[K, M]) Resume() {
	if s.ended {
		s.ended, s.short = false, ""
		s.next--
	}
}

// Short returns the reason why the loops over Leave did not find all states, "" if they did.
func (s *Search[K, M]) Short() string { return s.short }

// Len returns the number of states found.
func (s *Search[K, M]) Len() int { return len(s.states) }

// Find returns the number of the state with a key.
func (s *Search[K, M]) Find(key K) (n int, ok bool) {
	number, ok := s.number[key]
	return int(number), ok
}

// Key returns the key of a state.
func (s *Search[K, M]) Key(n int) K { return s.states[n].key }

// Move returns the move by which a state was found.
func (s *Search[K, M]) Move(n int) M { return s.states[n].move }

// Path returns the states on a shortest path to a state, from a start to the state itself; none for -1.
func (s *Search[K, M]) Path(n int) []int {
	var path []int
	for ; n >= 0; n = int(s.states[n].from) {
		path = append(path, n)
	}
	slices.Reverse(path)
	return path
}
