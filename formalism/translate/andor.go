package translate

import (
	"slices"
	"strings"
	"unicode"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/plan"
)

// AndOr is an And-Or tree that was read without errors: how a problem is solved by one of several alternatives, or by
// several parts all of which must be solved (J. Pearl, Heuristics, 1984, as described in section III of the 2016
// paper). It never changes.
type AndOr struct {
	Source *diag.Source

	root   *problem
	leaves []string       // the texts of the leaves, each once, from left to right
	number map[string]int // of each of them
}

// problem is a node: its kind is ReactiveSequence if all parts must be solved, ReactiveFallback if one of them must,
// Condition if it has none.
type problem struct {
	kind   bt.Kind
	text   string // of a leaf: the statement that must be true
	action string // of a leaf: the action that tries to make it true; may be empty
	at     int    // byte of the line's first word
	indent int
	parts  []*problem
}

// Bounds of an And-Or tree.
const (
	mostLevels   = 100
	mostProblems = maxTasks // lines
)

// ReadAndOr reads an And-Or tree; docs/translate.md has the format. The list holds all mistakes at once; if one of them
// is an error there is no tree.
func ReadAndOr(src *diag.Source) (*AndOr, diag.List) {
	r := &andOrReader{finder: finder{src: src}, tree: &AndOr{Source: src, number: map[string]int{}}}
	if r.readable("write `or` or `and`, and the parts below it, indented") {
		lines := 0
		for at, line := range r.lines() {
			if lines++; lines > mostProblems {
				r.fail(at, len(line), "too-large", "", "the tree has more than %d lines", mostProblems)
				break
			}
			r.line(at, line)
		}
		r.close(0)
	}
	if r.list.HasErrors() {
		return nil, r.list.Sorted()
	}
	return r.tree, r.list.Sorted()
}

// andOrReader reads an And-Or tree line by line.
type andOrReader struct {
	finder
	tree *AndOr
	open []*problem // from the root to the last line
}

func (r *andOrReader) line(at int, line string) {
	body := strings.TrimLeft(line, " ")
	n := &problem{kind: bt.Condition, text: body, at: at + len(line) - len(body), indent: len(line) - len(body)}
	if i := strings.IndexFunc(line, unicode.IsControl); i >= 0 {
		r.fail(at+i, 1, "bad-character", "indent with blanks", "a tab or control character is not allowed here")
		return
	}
	word, title, _ := strings.Cut(body, " ")
	switch word {
	case "or":
		n.kind, n.text = bt.ReactiveFallback, strings.TrimSpace(title)
	case "and":
		n.kind, n.text = bt.ReactiveSequence, strings.TrimSpace(title)
	default:
		r.leaf(n)
	}
	r.close(n.indent)
	switch {
	case r.tree.root == nil:
		r.tree.root = n
	case len(r.open) == 0:
		r.fail(n.at, len(body), "several-roots", "indent it to make it part of a line above",
			"the tree has its top in the first line")
	default:
		r.attach(n)
	}
	r.open = append(r.open, n)
	if len(r.open) == mostLevels+1 {
		r.fail(n.at, 0, "too-deep", "", "the tree has more than %d levels", mostLevels)
	}
}

// leaf reads the text of a leaf and the action after it.
func (r *andOrReader) leaf(n *problem) {
	text, action, arrow := strings.Cut(n.text, "->")
	length := len(n.text)
	n.text, n.action = strings.TrimSpace(text), strings.TrimSpace(action)
	if n.text == "" || arrow && n.action == "" {
		r.fail(n.at, length, "missing-text", "write `what must be true -> action`", "one side of -> is empty")
	}
	r.reserved(n.at, n.text)
	r.reserved(n.at, n.action)
	if _, known := r.tree.number[n.text]; !known {
		r.tree.number[n.text] = len(r.tree.leaves)
		r.tree.leaves = append(r.tree.leaves, n.text)
	}
}

// attach makes a problem a part of the line above it to which it belongs.
func (r *andOrReader) attach(n *problem) {
	parent := r.open[len(r.open)-1]
	switch {
	case parent.kind == bt.Condition:
		r.fail(n.at, 0, "leaf-with-parts", "begin the line above with `or` or `and`", "%q has no parts", parent.text)
	case len(parent.parts) > 0 && parent.parts[0].indent != n.indent:
		r.fail(n.at, 0, "wrong-indent", "", "the indentation matches no line above")
	}
	parent.parts = append(parent.parts, n)
}

// close ends the problems that do not contain a line with the given indent.
func (r *andOrReader) close(indent int) {
	for len(r.open) > 0 {
		last := r.open[len(r.open)-1]
		if last.indent < indent {
			return
		}
		if last.kind != bt.Condition && len(last.parts) == 0 {
			r.fail(last.at, 0, "no-parts", "write its parts below it, indented", "there is nothing to solve here")
		}
		r.open = r.open[:len(r.open)-1]
	}
}

// Plan translates the tree: an or is a ReactiveFallback, an and a ReactiveSequence, a leaf a Condition. With actions, a
// leaf that has one is this Action instead. The list holds the mistakes in the plan; it can only be too large.
func (t *AndOr) Plan(actions bool) (*plan.Plan, diag.List) {
	var leaves []plan.Leaf
	var build func(n *problem) *bt.Node
	build = func(n *problem) *bt.Node {
		d := &bt.Node{Kind: n.kind, Name: n.text}
		if n.kind == bt.Condition && actions && n.action != "" {
			d.Kind, d.Name = bt.Action, n.action
		}
		for _, part := range n.parts {
			d.Children = append(d.Children, build(part))
		}
		if d.Kind.Family() == bt.Leaf {
			leaves = append(leaves, plan.Leaf{ID: d.Name})
		}
		return d
	}
	root := build(t.root)
	return plan.New("", root, leaves)
}

// Bounds of the search for solutions.
const (
	mostSolutions = 2000        // of a tree and of its parts
	mostCompared  = 500_000_000 // words of 64 leaves, when sets of leaves are compared: about a second
	mostKept      = 10_000_000  // words
)

// Solutions returns the leaves of each solution of the tree, from left to right, of each leaf its text: when these are
// true and all others are false, the problem is solved, and none of them can be left out. A solution takes one part of
// each or and all parts of each and. If there are more than 2,000, or a part of the tree has more, or the search would
// compare sets of too many leaves, the error is a list that names the part.
func (t *AndOr) Solutions() ([][]string, error) {
	s := search{tree: t, words: (len(t.leaves) + 63) / 64}
	sets := s.solve(t.root)
	if s.stopped != nil {
		return nil, s.stopped
	}
	solutions := make([][]string, len(sets))
	for i, set := range sets {
		for k, text := range t.leaves {
			if set[k/64]>>(k%64)&1 != 0 {
				solutions[i] = append(solutions[i], text)
			}
		}
	}
	return solutions, nil
}

// search finds the solutions of a tree.
type search struct {
	tree     *AndOr
	words    int // of a set
	compared int // words
	stopped  diag.List
}

// leafSet is a set of leaves, by the bits of their numbers.
type leafSet []uint64

// within reports whether all of a set is in another one.
func (s *search) within(a, b leafSet) bool {
	for w := range a {
		s.compared++
		if a[w]&^b[w] != 0 {
			return false
		}
	}
	return true
}

// stop ends the search at a problem.
func (s *search) stop(n *problem, text string, args ...any) {
	if s.stopped == nil {
		f := finder{src: s.tree.Source}
		f.fail(n.at, 0, "too-large", "take the solutions of its parts, each in a file of its own", text, args...)
		s.stopped = f.list
	}
}

// solve returns the minimum sets of leaves that solve a problem, from left to right.
func (s *search) solve(n *problem) []leafSet {
	if n.kind == bt.Condition {
		one := make(leafSet, s.words)
		k := s.tree.number[n.text]
		one[k/64] = 1 << (k % 64)
		return []leafSet{one}
	}
	var sets []leafSet
	for i, part := range n.parts {
		some := s.solve(part)
		switch {
		case s.stopped != nil:
			return nil
		case i == 0 || n.kind == bt.ReactiveFallback:
			sets = append(sets, some...)
		default:
			sets = s.minimum(n, s.both(n, sets, some))
		}
		if !s.room(n, len(sets)) {
			return nil
		}
	}
	if n.kind == bt.ReactiveFallback {
		sets = s.minimum(n, sets)
	}
	return sets
}

// room reports whether this number of sets can be kept; most of them may contain others.
func (s *search) room(n *problem, count int) bool {
	switch {
	case count > 10*mostSolutions:
		s.stop(n, "there are more than %d solutions", mostSolutions)
	case count*s.words > mostKept:
		s.undecided(n)
	}
	return s.stopped == nil
}

// both returns the unions of one set of each of two lists.
func (s *search) both(n *problem, first, second []leafSet) []leafSet {
	if !s.room(n, len(first)*len(second)) {
		return nil
	}
	s.compared += len(first) * len(second) * s.words
	var all []leafSet
	for _, a := range first {
		for _, b := range second {
			c := slices.Clone(a)
			for w := range c {
				c[w] |= b[w]
			}
			all = append(all, c)
		}
	}
	return all
}

func (s *search) undecided(n *problem) {
	s.stop(n, "the solutions are not found: sets of %d leaves are too many to compare", len(s.tree.leaves))
}

// minimum leaves out the sets that contain another one; of equal ones the first is kept.
func (s *search) minimum(n *problem, sets []leafSet) []leafSet {
	var kept []leafSet
	for i, a := range sets {
		covered := false
		for k := 0; k < len(sets) && !covered; k++ {
			covered = k != i && s.within(sets[k], a) && (k < i || !s.within(a, sets[k]))
		}
		if !covered {
			kept = append(kept, a)
		}
		if s.compared > mostCompared {
			s.undecided(n)
			return nil
		}
	}
	if len(kept) > mostSolutions {
		s.stop(n, "there are more than %d solutions", mostSolutions)
	}
	return kept
}
