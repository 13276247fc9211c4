// Package explore searches the states of something that moves in steps: breadth first, the nearest first, within a
// budget. The caller knows what the states are and how one follows another; the search knows which have been found, by
// which way, and which comes next.
//
//	s := explore.New[K, M](budget)
//	s.Arrive(-1, start, none)
//	for n := range s.Leave() {
//		for each move that is possible in state n, if s.Spend():
//			s.Arrive(n, key of the state that follows, move)
//	}
//	if s.Short() == "" { the states found are all that can be reached }
package explore

import (
	"fmt"
	"iter"
	"slices"
)

// Budget bounds a search. Zero values bound nothing.
type Budget struct {
	States int                   // found
	Moves  int                   // made
	Bytes  int                   // of the states' keys, as far as they are texts
	GoOn   func(states int) bool // asked at each 64th move, with the number of states found; false ends the search
}

// Search is a search under way. Equal keys are equal states: what can follow them is the same. A move is what the
// caller notes of how a state was reached first. States are numbered from 0 in the order in which they are found.
type Search[K comparable, M any] struct {
	budget Budget
	number map[K]int32
	states []state[K, M]
	next   int // the state that is left next
	moves  int
	bytes  int
	short  string // why not all are found
	ended  bool
}

type state[K comparable, M any] struct {
	key  K
	from int32
	move M
}

// New returns a search that has found nothing.
func New[K comparable, M any](b Budget) *Search[K, M] {
	return &Search[K, M]{budget: b, number: map[K]int32{}}
}

// Arrive notes the state that follows another one by a move; from is -1 for a start. It returns the number of the
// state, and whether it is new; -1 if it is new and the budget has no room for it.
func (s *Search[K, M]) Arrive(from int, key K, move M) (n int, fresh bool) {
	if n, known := s.number[key]; known {
		return int(n), false
	}
	text, _ := any(key).(string)
	switch b := s.budget; {
	case b.States > 0 && len(s.states) >= b.States:
		s.short = fmt.Sprintf("there are more than %d states", b.States)
		return -1, true
	case b.Bytes > 0 && s.bytes+len(text) > b.Bytes:
		s.short = fmt.Sprintf("%d states fill %.3g MB, and there are more", len(s.states), float64(b.Bytes)/1e6)
		return -1, true
	}
	n = len(s.states)
	s.bytes += len(text)
	s.number[key] = int32(n)
	s.states = append(s.states, state[K, M]{key, int32(from), move})
	return n, true
}

// Leave yields the states whose successors are to be found, one after the other, those that are found meanwhile as
// well. A loop that breaks off can be followed by another one, which goes on behind it.
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
	case b.GoOn != nil && s.moves%64 == 0 && !b.GoOn(len(s.states)):
		s.ended, s.short = true, "the search was ended"
	default:
		s.moves++
	}
	return !s.ended
}

// Short returns why not all states are found, of those that the loops over Leave asked for; "" if they are.
func (s *Search[K, M]) Short() string { return s.short }

// Len returns how many states are found.
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

// Path returns the states on a shortest way to a state, from a start to the state itself; of -1 there are none.
func (s *Search[K, M]) Path(n int) []int {
	var path []int
	for ; n >= 0; n = int(s.states[n].from) {
		path = append(path, n)
	}
	slices.Reverse(path)
	return path
}
