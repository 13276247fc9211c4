package verify

import (
	"math/bits"
	"slices"
)

// Bounds of decision diagrams: their nodes, some 150 MB with the table that finds them, and the results of operations
// that are kept, 32 MB.
const (
	maxNodes   = 4_000_000
	maxResults = 1 << 21
)

// value is the value of a variable in a witness.
type value int8

const (
	no value = iota
	yes
	open
)

// diagrams is an algebra of sets of assignments of truth values to variables: reduced ordered binary decision diagrams
// with complemented edges (R. Bryant, Graph-Based Algorithms for Boolean Function Manipulation, 1986; K. Brace, R.
// Rudell and R. Bryant, Efficient Implementation of a BDD Package, 1990). The last variable is at the top: the set of
// states in which a composite has passed over its first children is then extended at the top, in constant time for
// inputs that occur once. Nodes are never dropped. When an operation would exceed a bound, the algebra is full: from
// then on its results have no meaning.
type diagrams struct {
	n       int
	nodes   []node
	unique  []int32  // hash table of nodes; 0: free
	results []result // of conjunctions: cache by hash
	most    int      // nodes
	work    *meter
	steps   int // nodes that were made
	lost    bool
}

// set is a set of assignments: twice a node's place, plus 1 for the complement. The set of node 0 is empty. Operations
// combine only sets of one algebra.
type set int32

const (
	never  set = 0
	always set = 1
)

// node tests a variable. Its low edge is not a complement, so that each set has one edge.
type node struct {
	variable  int32
	low, high set
}

// result is the conjunction of two sets; a == 0: none.
type result struct{ a, b, is set }

func newDiagrams(variables int) *diagrams {
	return newDiagramsWithin(&meter{})(variables)
}

// meter counts the work of searches and of diagrams.
type meter struct {
	goOn        func() bool // it is false when time or memory is over; nil: never
	spent, most int         // units of work; most is 0 if there is no bound
}

// workPerSecond is the units of work that a machine does in a second, about.
const workPerSecond = 2_000_000

// more reports whether work may go on. Once it may not, answers in progress have no meaning.
func (w *meter) more() bool { return (w.most == 0 || w.spent <= w.most) && (w.goOn == nil || w.goOn()) }

// newDiagramsWithin returns a maker of algebras that are full as soon as the work may not go on.
func newDiagramsWithin(work *meter) func(variables int) *diagrams {
	return func(variables int) *diagrams {
		// The cache drops colliding results: too small a cache makes an operation on deep diagrams exponential.
		size := 1 << min(18, 8+bits.Len(uint(variables)))
		return &diagrams{n: variables, most: maxNodes, nodes: []node{{variable: -1}}, unique: make([]int32, 1<<10),
			results: make([]result, size), work: work}
	}
}

func (d *diagrams) full() bool { return d.lost }

func (d *diagrams) none() set { return never }

func (d *diagrams) all() set { return always }

func (d *diagrams) variable(i int) set { return d.done(d.make(int32(i), never, always)) }

func (d *diagrams) not(a set) set { return a ^ 1 }

func (d *diagrams) and(a, b set) set { return d.done(d.both(a, b)) }

func (d *diagrams) or(a, b set) set { return d.done(d.both(a^1, b^1) ^ 1) }

func (d *diagrams) empty(a set) bool { return d.lost || a == never }

// has reports whether an assignment is in a set; what is open is true.
func (d *diagrams) has(a set, assignment []value) bool {
	e := a
	for e > always {
		low, high := d.below(e, d.nodes[e>>1].variable)
		if assignment[d.nodes[e>>1].variable] != no {
			low = high
		}
		e = low
	}
	return e == always
}

// done ends an operation.
func (d *diagrams) done(e set) set {
	d.lost = d.lost || !d.work.more()
	return e
}

func hash(a, b, c uint32) uint32 {
	h := (uint64(a)*0x9e3779b97f4a7c15 ^ uint64(b)) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>29 ^ uint64(c)) * 0x94d049bb133111eb
	return uint32(h >> 32)
}

// make returns the set that is low where a variable is false, and high where it is true.
func (d *diagrams) make(variable int32, low, high set) set {
	switch {
	case low == high:
		return low
	case low&1 == 1:
		return d.make(variable, low^1, high^1) ^ 1
	}
	want := node{variable, low, high}
	mask := uint32(len(d.unique) - 1)
	at := hash(uint32(variable), uint32(low), uint32(high)) & mask
	for ; d.unique[at] != 0; at = (at + 1) & mask {
		if d.nodes[d.unique[at]] == want {
			return set(d.unique[at]) << 1
		}
	}
	if d.lost || len(d.nodes) == d.most {
		d.lost = true
		return never
	}
	if d.steps++; d.steps%(1<<16) == 0 {
		d.work.spent += 1 << 14
		d.lost = !d.work.more()
	}
	i := int32(len(d.nodes))
	d.unique[at] = i
	d.nodes = append(d.nodes, want)
	if 2*len(d.nodes) > len(d.unique) {
		d.grow()
	}
	return set(i) << 1
}

// grow doubles the tables.
func (d *diagrams) grow() {
	d.unique = make([]int32, 2*len(d.unique))
	mask := uint32(len(d.unique) - 1)
	for i, n := range d.nodes[1:] {
		at := hash(uint32(n.variable), uint32(n.low), uint32(n.high)) & mask
		for d.unique[at] != 0 {
			at = (at + 1) & mask
		}
		d.unique[at] = int32(i + 1)
	}
	if old := d.results; len(old) < min(2*len(d.unique), maxResults) {
		d.results = make([]result, 2*len(old))
		for _, r := range old {
			*d.cached(r.a, r.b) = r
		}
	}
}

// cached returns the place of a result.
func (d *diagrams) cached(a, b set) *result {
	return &d.results[hash(uint32(a), uint32(b), 1)&uint32(len(d.results)-1)]
}

// below returns the edges of a set whose top variable is at most the given one.
func (d *diagrams) below(a set, variable int32) (low, high set) {
	n := &d.nodes[a>>1]
	if n.variable < variable {
		return a, a
	}
	return n.low ^ a&1, n.high ^ a&1
}

func (d *diagrams) both(a, b set) set {
	switch {
	case a > b:
		a, b = b, a
	case a == b:
		return a
	}
	switch { // a < b
	case a == never, a^1 == b:
		return never
	case a == always:
		return b
	case d.lost:
		return never
	}
	if r := d.cached(a, b); *r == (result{a, b, r.is}) {
		return r.is
	}
	v := max(d.nodes[a>>1].variable, d.nodes[b>>1].variable)
	aLow, aHigh := d.below(a, v)
	bLow, bHigh := d.below(b, v)
	is := d.make(v, d.both(aLow, bLow), d.both(aHigh, bHigh))
	*d.cached(a, b) = result{a, b, is}
	return is
}

// witness returns an assignment in a set that is not empty; values that do not matter are open.
func (d *diagrams) witness(a set) []value {
	w := slices.Repeat([]value{open}, d.n)
	for e := a; e > always && !d.lost; { // every edge except the empty set leads to the full set
		v := d.nodes[e>>1].variable
		low, high := d.below(e, v)
		if w[v], e = no, low; low == never {
			w[v], e = yes, high
		}
	}
	return w
}

// shortest is a witness with few values: it follows a shortest path to the full set.
func (d *diagrams) shortest(a set) []value {
	w := slices.Repeat([]value{open}, d.n)
	if d.lost {
		return w
	}
	const unreachable = 1 << 30
	far := map[set]int{never: unreachable, always: 0} // from the full set
	var measure func(e set) int
	measure = func(e set) int {
		n, known := far[e]
		if !known {
			low, high := d.below(e, d.nodes[e>>1].variable)
			n = min(measure(low), measure(high), unreachable-1) + 1
			far[e] = n
		}
		return n
	}
	measure(a)
	for e := a; e > always; {
		v := d.nodes[e>>1].variable
		low, high := d.below(e, v)
		if w[v], e = no, low; far[low] > far[high] {
			w[v], e = yes, high
		}
	}
	return w
}

// deciding is the algebra in which a task decides. For a task that remembers something it is rounded up (memory.go).
type deciding struct {
	*diagrams
	up bool
}

func (d deciding) Constant(is bool) set {
	if is {
		return always
	}
	return never
}

func (d deciding) Not(x set) set {
	if d.up {
		return always
	}
	return d.not(x)
}

func (d deciding) And(x, y set) set { return d.and(x, y) }

func (d deciding) Or(x, y set) set { return d.or(x, y) }

func (d deciding) Part(x set, _ ...int) set { return x }

func (d deciding) Full() bool { return d.full() }
