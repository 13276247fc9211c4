package explore

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// follow searches a graph that is given by the successors of each node.
func follow(next [][]int, b Budget) *Search[int, int] {
	s := New[int, int](b)
	s.Arrive(-1, 0, 0)
	for n := range s.Leave() {
		for _, to := range next[s.Key(n)] {
			if s.Spend() {
				s.Arrive(n, to, to)
			}
		}
	}
	return s
}

// All states that can be reached are found, each by a shortest path.
func TestSearchRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		size := 1 + r.IntN(30)
		next := make([][]int, size)
		for range r.IntN(2 * size) {
			from := r.IntN(size)
			next[from] = append(next[from], r.IntN(size))
		}
		distance := slices.Repeat([]int{size}, size) // by relaxing all edges as often as there are nodes
		distance[0] = 0
		for range size {
			for from := range next {
				for _, to := range next[from] {
					distance[to] = min(distance[to], distance[from]+1)
				}
			}
		}
		s := follow(next, Budget{})
		found := make([]bool, size)
		for n := range s.Len() {
			node, path := s.Key(n), s.Path(n)
			found[node] = true
			if len(path) != distance[node]+1 || path[0] != 0 || path[len(path)-1] != n || s.Move(n) != node {
				t.Fatalf("node %d at distance %d: path %v", node, distance[node], path)
			}
			for i, p := range path[1:] {
				if !slices.Contains(next[s.Key(path[i])], s.Key(p)) {
					t.Fatalf("path %v uses an edge that there is not", path)
				}
			}
		}
		for node, ok := range found {
			if ok != (distance[node] < size) {
				t.Fatalf("node %d found: %t, at distance %d of %d nodes", node, ok, distance[node], size)
			}
		}
		if s.Short() != "" {
			t.Fatal(s.Short())
		}
	}
}

// Each bound ends a search on an endless line of states and gives its reason; a bound that is just met is none.
func TestBudget(t *testing.T) {
	line := func(length int, b Budget) *Search[string, int] {
		s := New[string, int](b)
		s.Arrive(-1, "", 0)
		for n := range s.Leave() {
			if n < length && s.Spend() {
				s.Arrive(n, s.Key(n)+"x", n)
			}
		}
		return s
	}
	const endless = 1 << 40
	for _, c := range []struct {
		budget Budget
		states int
		why    string
	}{
		{Budget{States: 10}, 10, "there are more than 10 states"},
		{Budget{Moves: 10}, 11, "10 moves did not find all states"},
		{Budget{Bytes: 45}, 10, "10 states fill 4.5e-05 MB, and there are more"},
		{Budget{Over: func(states int) string {
			return map[bool]string{true: "enough"}[states >= 65]
		}}, 65, "enough"},
	} {
		if s := line(endless, c.budget); s.Len() != c.states || s.Short() != c.why {
			t.Errorf("%d states: %q, want %d: %q", s.Len(), s.Short(), c.states, c.why)
		}
	}
	if s := New[sized, int](Budget{Bytes: 5}); true {
		s.Arrive(-1, sized{2}, 0)
		if s.Arrive(0, sized{3}, 0); s.Len() != 2 || s.Short() != "" {
			t.Errorf("states of 5 bytes: %d states, %q", s.Len(), s.Short())
		}
		if s.Arrive(0, sized{1}, 0); s.Len() != 2 || s.Short() == "" {
			t.Errorf("states of 6 bytes: %d states, %q", s.Len(), s.Short())
		}
	}
	if s := line(9, Budget{States: 10, Moves: 9, Bytes: 45}); s.Len() != 10 || s.Short() != "" {
		t.Errorf("a budget that is just enough: %d states, %q", s.Len(), s.Short())
	}
}

// A search that breaks off continues after the last state, and finds the same.
func TestLeaveAgain(t *testing.T) {
	next := [][]int{{1, 2}, {3}, {3, 4}, {0}, {5}, {}}
	whole, parts := follow(next, Budget{}), New[int, int](Budget{})
	parts.Arrive(-1, 0, 0)
	for loops := 0; loops < len(next); loops++ {
		for n := range parts.Leave() {
			for _, to := range next[parts.Key(n)] {
				parts.Arrive(n, to, to)
			}
			break
		}
	}
	for n := range whole.Len() {
		if parts.Key(n) != whole.Key(n) || !slices.Equal(parts.Path(n), whole.Path(n)) {
			t.Errorf("state %d is %d by %v, in one loop %d by %v", n, parts.Key(n), parts.Path(n), whole.Key(n), whole.Path(n))
		}
	}
}

type sized struct{ bytes int }

func (s sized) Bytes() int { return s.bytes }
