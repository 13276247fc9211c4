package verify

import (
	"slices"

	"github.com/canopy-uav/canopy/explore"
)

// successors returns the nodes that follow a node of a directed graph.
type successors func(n int) []int

// path returns a shortest path from one of the nodes to a wanted one; nil if there is none.
func path(starts []int, next successors, wanted func(n int) bool) (path []int) {
	found := explore.New[int, struct{}](explore.Budget{})
	for _, n := range starts {
		found.Arrive(-1, n, struct{}{})
	}
	for k := range found.Leave() {
		n := found.Key(k)
		if wanted(n) {
			for _, k := range found.Path(k) {
				path = append(path, found.Key(k))
			}
			return path
		}
		for _, to := range next(n) {
			found.Arrive(k, to, struct{}{})
		}
	}
	return nil
}

// leading returns from which of the first nodes some path leads to a wanted one of them.
func leading(nodes int, next successors, wanted func(n int) bool) []bool {
	before, leads := make([][]int, nodes), make([]bool, nodes)
	var found []int
	for n := range nodes {
		for _, to := range next(n) {
			before[to] = append(before[to], n)
		}
		if leads[n] = wanted(n); leads[n] {
			found = append(found, n)
		}
	}
	for ; len(found) > 0; found = found[1:] {
		for _, n := range before[found[0]] {
			if !leads[n] {
				leads[n] = true
				found = append(found, n)
			}
		}
	}
	return leads
}

// components finds the strongly connected parts of the graph of some of the first nodes, those that others lead to
// first (R. Tarjan, Depth-first search and linear graph algorithms, 1972).
func components(nodes int, some []int, next successors, part func([]int)) {
	type frame struct {
		node int
		next []int
	}
	index, low, pending := make([]int, nodes), make([]int, nodes), make([]bool, nodes)
	among := make([]bool, nodes)
	for _, n := range some {
		among[n] = true
	}
	var stack []int
	var frames []frame
	count := 0
	enter := func(n int) {
		count++
		index[n], low[n], pending[n] = count, count, true
		stack, frames = append(stack, n), append(frames, frame{n, next(n)})
	}
	for _, start := range some {
		if index[start] == 0 {
			enter(start)
		}
		for len(frames) > 0 {
			f := &frames[len(frames)-1]
			v := f.node
			if len(f.next) > 0 {
				to := f.next[0]
				f.next = f.next[1:]
				switch {
				case !among[to]:
				case index[to] == 0:
					enter(to)
				case pending[to]:
					low[v] = min(low[v], index[to])
				}
				continue
			}
			if frames = frames[:len(frames)-1]; len(frames) > 0 {
				above := frames[len(frames)-1].node
				low[above] = min(low[above], low[v])
			}
			if low[v] == index[v] {
				first := len(stack) - 1
				for stack[first] != v {
					first--
				}
				whole := slices.Clone(stack[first:])
				stack = stack[:first]
				for _, u := range whole {
					pending[u] = false
				}
				part(whole)
			}
		}
	}
}
