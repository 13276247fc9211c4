package translate

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"canopy/bt"
	"canopy/diag"
	"canopy/document/plan"
)

// AndOr is an And-Or tree that was read without errors: how a problem is solved by one of several alternatives, or by
// several parts all of which must be solved (J. Pearl, Heuristics, 1984, as told in section III of the 2016 paper). It
// never changes.
type AndOr struct {
	Source *diag.Source

	root   *problem
	leaves []string // the texts of the leaves, each once, from left to right
}

// problem is a node: its kind is ReactiveSequence if all parts must be solved, ReactiveFallback if one of them must,
// Condition if it has none.
type problem struct {
	kind   bt.Kind
	text   string // of a leaf: what must be true
	action string // of a leaf: what tries to make it true; may be empty
	at     int    // byte of the line's first word
	indent int
	parts  []*problem
}

// mostLevels bounds the levels of an And-Or tree.
const mostLevels = 100

// ReadAndOr reads an And-Or tree; docs/translate.md has the format. The list holds all mistakes at once; if one of them
// is an error there is no tree.
func ReadAndOr(src *diag.Source) (*AndOr, diag.List) {
	r := &andOrReader{finder: finder{src: src}, tree: &AndOr{Source: src}}
	if r.readable("write `or` or `and`, and below it, indented, what is to be solved") {
		for at, line := range r.lines() {
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
		r.fail(at+i, 1, "bad-character", "indent with blanks", "a tab or control character cannot stand here")
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

// leaf reads the text of a leaf and the action behind it.
func (r *andOrReader) leaf(n *problem) {
	text, action, arrow := strings.Cut(n.text, "->")
	length := len(n.text)
	n.text, n.action = strings.TrimSpace(text), strings.TrimSpace(action)
	if n.text == "" || arrow && n.action == "" {
		r.fail(n.at, length, "missing-text", "write `what must be true -> action`", "on one side of -> nothing is written")
	}
	r.reserved(n.at, n.text)
	r.reserved(n.at, n.action)
	if !slices.Contains(r.tree.leaves, n.text) {
		r.tree.leaves = append(r.tree.leaves, n.text)
	}
}

// attach makes a problem a part of the line that it stands below.
func (r *andOrReader) attach(n *problem) {
	parent := r.open[len(r.open)-1]
	switch {
	case parent.kind == bt.Condition:
		r.fail(n.at, 0, "leaf-with-parts", "begin the line above with `or` or `and`", "%q has no parts", parent.text)
	case len(parent.parts) > 0 && parent.parts[0].indent != n.indent:
		r.fail(n.at, 0, "wrong-indent", "", "the line does not stand below the one it belongs with")
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
			r.fail(last.at, 0, "no-parts", "write its parts below it, indented", "nothing is to be solved here")
		}
		r.open = r.open[:len(r.open)-1]
	}
}

// Plan translates the tree: an or is a ReactiveFallback, an and a ReactiveSequence, a leaf a Condition. With actions, a
// leaf that has one is this Action instead. The list is what is wrong with the plan; it can only be too large.
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

// mostSolutions bounds the solutions of a tree and of its parts.
const mostSolutions = 2000

// Solutions returns the leaves of each solution of the tree, from left to right, of each leaf its text: when these are
// true and all others are false, the problem is solved, and none of them can be left out. A solution takes one part of
// each or and all parts of each and. If there are more than 2,000, or a part of the tree has more, the error wraps
// [ErrTooLarge].
func (t *AndOr) Solutions() ([][]string, error) {
	sets, ok := t.solve(t.root)
	if !ok {
		return nil, fmt.Errorf("%w: there are more than %d solutions", ErrTooLarge, mostSolutions)
	}
	solutions := make([][]string, len(sets))
	for i, set := range sets {
		for k, text := range t.leaves {
			if set[k] {
				solutions[i] = append(solutions[i], text)
			}
		}
	}
	return solutions, nil
}

// leafSet is a set of leaves, by their numbers.
type leafSet []bool

// within reports whether all of a set is in another one.
func (a leafSet) within(b leafSet) bool {
	for k, in := range a {
		if in && !b[k] {
			return false
		}
	}
	return true
}

// solve returns the least sets of leaves that solve a problem.
func (t *AndOr) solve(n *problem) (sets []leafSet, ok bool) {
	if n.kind == bt.Condition {
		one := make(leafSet, len(t.leaves))
		one[slices.Index(t.leaves, n.text)] = true
		return []leafSet{one}, true
	}
	for i, part := range n.parts {
		some, ok := t.solve(part)
		if !ok {
			return nil, false
		}
		switch {
		case i == 0:
			sets = some
		case n.kind == bt.ReactiveFallback:
			sets = least(slices.Concat(sets, some))
		case len(sets)*len(some) > 10*mostSolutions: // most of them may contain others
			return nil, false
		default:
			var both []leafSet
			for _, a := range sets {
				for _, b := range some {
					both = append(both, leafSet(join(table(a), table(b), or)))
				}
			}
			sets = least(both)
		}
		if len(sets) > mostSolutions {
			return nil, false
		}
	}
	return sets, true
}

// least leaves out the sets that contain another one.
func least(sets []leafSet) []leafSet {
	var kept []leafSet
	for i, a := range sets {
		covered := false
		for k, b := range sets {
			covered = covered || k != i && b.within(a) && (k < i || !a.within(b)) // of equal ones the first is kept
		}
		if !covered {
			kept = append(kept, a)
		}
	}
	return kept
}
