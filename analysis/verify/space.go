package verify

import "github.com/dalzilio/rudd"

// Bounds of decision diagrams: the nodes in their table, some 200 MB, and the results of operations, some 100 MB.
const (
	maxNodes = 1_000_000
	maxKept  = 1_000_000
)

// set is a set of assignments of truth values to a space's variables. Operations combine only sets of one space.
type set any

// space is an algebra of sets. When an operation would exceed the space's bound, the space is full: from then on its
// results have no meaning.
type space interface {
	none() set
	all() set
	variable(i int) set
	not(a set) set
	and(a, b set) set
	or(a, b set) set
	// hide returns the assignments that are in a for some values of the variables.
	hide(a set, variables []int) set
	empty(a set) bool
	// top returns the last variable that a set depends on, -1 if there is none.
	top(a set) int
	// witness returns an assignment in a set that is not empty; values that do not matter are open.
	witness(a set) []value
	// shortest is a witness with as few values as the space can find directly.
	shortest(a set) []value
	full() bool
}

// value is the value of a variable in a witness.
type value int8

const (
	no value = iota
	yes
	open
)

// diagrams is the space of reduced ordered binary decision diagrams (Bryant, Graph-Based Algorithms for Boolean
// Function Manipulation, 1986). The last variable is at the top: the set of states in which a composite has passed over
// its first children is then extended at the top, in constant time for inputs that occur once.
type diagrams struct {
	bdd *rudd.BDD
	n   int
	// The library counts references in finalizers, which run concurrently. All sets are kept until the space is
	// dropped, so that no finalizer runs while it is in use.
	kept  []rudd.Node
	below map[int][2]rudd.Node // by node: low and high, once they were requested
	goOn  func() bool
	lost  bool
}

func newDiagrams(variables int) space {
	return newDiagramsWhile(func() bool { return true })(variables)
}

// newDiagramsWhile returns a maker of spaces that are full as soon as goOn, which they ask between operations, returns
// false.
func newDiagramsWhile(goOn func() bool) func(variables int) space {
	return func(variables int) space {
		d := diagramsOf(variables)
		d.goOn = goOn
		return d
	}
}

func diagramsOf(variables int) *diagrams {
	// The library's caches drop colliding results: too small a cache makes an operation exponential.
	size := min(max(1<<13, 256*variables), 1<<18)
	b, err := rudd.New(max(1, variables), rudd.Nodesize(size), rudd.Cachesize(size), rudd.Cacheratio(25),
		rudd.Maxnodesize(maxNodes))
	if err != nil {
		panic("verify: decision diagrams of an impossible size")
	}
	return &diagrams{bdd: b, n: variables, below: map[int][2]rudd.Node{}}
}

func (d *diagrams) keep(n rudd.Node) set {
	if d.lost || n == nil || d.bdd.Errored() || len(d.kept) == maxKept || !d.goOn() {
		d.lost = true
		return d.bdd.False()
	}
	d.kept = append(d.kept, n)
	return n
}

func (d *diagrams) full() bool { return d.lost }

func (d *diagrams) none() set { return d.bdd.False() }

func (d *diagrams) all() set { return d.bdd.True() }

func (d *diagrams) level(i int) int { return d.n - 1 - i }

func (d *diagrams) variable(i int) set { return d.keep(d.bdd.Ithvar(d.level(i))) }

func (d *diagrams) not(a set) set {
	if d.lost {
		return a
	}
	return d.keep(d.bdd.Not(a.(rudd.Node)))
}

func (d *diagrams) and(a, b set) set {
	if d.lost {
		return a
	}
	return d.keep(d.bdd.Apply(a.(rudd.Node), b.(rudd.Node), rudd.OPand))
}

func (d *diagrams) or(a, b set) set {
	if d.lost {
		return a
	}
	return d.keep(d.bdd.Apply(a.(rudd.Node), b.(rudd.Node), rudd.OPor))
}

func (d *diagrams) hide(a set, variables []int) set {
	if d.lost || len(variables) == 0 {
		return a
	}
	cube := d.all() // not the library's Makeset, which drops its intermediate results
	for _, v := range variables {
		cube = d.and(cube, d.variable(v))
	}
	if d.lost {
		return a
	}
	return d.keep(d.bdd.Exist(a.(rudd.Node), cube.(rudd.Node)))
}

func (d *diagrams) empty(a set) bool { return d.lost || *a.(rudd.Node) == 0 }

func (d *diagrams) witness(a set) []value {
	w := d.anything()
	for node := a.(rudd.Node); *node > 1; { // every node except the empty set leads to the full set
		v := d.n - 1 - d.bdd.Label(node)
		below, ok := d.below[*node]
		if !ok {
			below = [2]rudd.Node{d.keep(d.bdd.Low(node)).(rudd.Node), d.keep(d.bdd.High(node)).(rudd.Node)}
			d.below[*node] = below
		}
		if d.lost {
			break
		}
		if w[v], node = no, below[0]; *node == 0 {
			w[v], node = yes, below[1]
		}
	}
	return w
}

func (d *diagrams) anything() []value {
	w := make([]value, d.n)
	for i := range w {
		w[i] = open
	}
	return w
}

func (d *diagrams) top(a set) int {
	if n := a.(rudd.Node); *n > 1 {
		return d.n - 1 - d.bdd.Label(n)
	}
	return -1
}

// shortest follows a shortest path to the full set.
func (d *diagrams) shortest(a set) []value {
	w := d.anything()
	if d.lost {
		return w
	}
	type node struct{ id, low, high int }
	levels := make([][]node, d.n)
	top := *a.(rudd.Node)
	level := map[int]int{}
	err := d.bdd.Allnodes(func(id, l, low, high int) error {
		if id > 1 {
			levels[l] = append(levels[l], node{id, low, high})
			level[id] = l
		}
		return nil
	}, a.(rudd.Node))
	if err != nil {
		panic("verify: a set of another space")
	}
	const never = 1 << 30
	far := map[int]int{0: never, 1: 0} // from the full set
	next := map[int]node{}
	for l := d.n - 1; l >= 0; l-- {
		for _, n := range levels[l] {
			far[n.id] = min(far[n.low], far[n.high], never-1) + 1
			next[n.id] = n
		}
	}
	for at := top; at > 1; {
		n, v := next[at], d.n-1-level[at]
		if far[n.low] <= far[n.high] {
			w[v], at = no, n.low
		} else {
			w[v], at = yes, n.high
		}
	}
	return w
}
