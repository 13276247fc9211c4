// Package trees makes trees for tests: random ones, with all kinds of the table, and from outlines.
package trees

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/bt"
)

// Count returns how many trees a test draws: fewer with -short.
func Count(all, short int) int {
	if testing.Short() {
		return short
	}
	return all
}

// Random returns a description with about the given number of tasks, of kinds drawn from the table; at least one is a
// leaf.
func Random(r *rand.Rand, size int) *bt.Node {
	for {
		if d := random(r, size); hasLeaf(d) {
			return d
		}
	}
}

func hasLeaf(d *bt.Node) bool {
	return d.Kind.Family() == bt.Leaf || slices.ContainsFunc(d.Children, hasLeaf)
}

func random(r *rand.Rand, size int) *bt.Node {
	if size <= 1 {
		kind := Leaf(r)
		return &bt.Node{Kind: kind, Prompt: kind.Acts() && r.IntN(3) == 0}
	}
	d := &bt.Node{Kind: Composite(r)}
	n, rest := Width(r, d.Kind, min(size-1, 5)), size-1
	for i := range n {
		share := rest / (n - i)
		if n-i > 1 && rest > 1 {
			share = r.IntN(2*share + 1)
		}
		share = max(1, min(share, rest))
		rest -= share
		d.Children = append(d.Children, random(r, share))
	}
	d.Params = Params(r, d.Kind, n)
	return d
}

// Leaf returns the kind of a leaf.
func Leaf(r *rand.Rand) bt.Kind {
	return draw(r, func(k bt.Kind) bool { return k.Family() == bt.Leaf })
}

// Composite returns a kind that is no leaf. Those with a single child are rarer than they are in the table, those with
// many children or none much rarer.
func Composite(r *rand.Rand) bt.Kind {
	composite := func(k bt.Kind) bool { return k.Family() != bt.Leaf && !k.Childless() && !Guards(k) }
	switch r.IntN(40) {
	case 0, 1:
		return draw(r, wide)
	case 2, 3, 4:
		return draw(r, bt.Kind.Childless)
	}
	k := draw(r, func(k bt.Kind) bool { return composite(k) && !wide(k) })
	if single(k) && r.IntN(2) == 0 {
		k = draw(r, func(k bt.Kind) bool { return composite(k) && !single(k) })
	}
	return k
}

// Width returns a number of children of a composite kind, at most the given maximum unless the kind needs more.
func Width(r *rand.Rand, k bt.Kind, most int) int {
	least, limit := k.Arity()
	if limit == 0 {
		return 0
	}
	if limit >= 0 {
		most = min(most, limit)
	}
	return max(least, 1+r.IntN(max(1, most)))
}

// Params returns random values of the parameters of a kind with n children, sometimes nil for the defaults.
func Params(r *rand.Rand, kind bt.Kind, n int) []int {
	var values []int
	for _, p := range kind.Params() {
		value := p.Default
		for try := r.IntN(8); try > 0 || !valid(&p, value, n); try-- {
			if v := r.IntN(2*n+3) - n; valid(&p, v, n) {
				value = v
			}
		}
		values = append(values, value)
	}
	if r.IntN(4) == 0 && !slices.ContainsFunc(kind.Params(), func(p bt.Param) bool { return p.Default == 0 }) {
		return nil
	}
	return values
}

func valid(p *bt.Param, value, n int) bool {
	_, ok := p.Resolve(value, n)
	return ok && (value != 0 || p.Type != bt.Children)
}

// Zero sets some numbers of children to 0 where that is valid; other random draws stay as they are.
func Zero(r *rand.Rand, d *bt.Node) {
	for i, p := range d.Kind.Params() {
		if p.Zero && d.Params != nil && r.IntN(2) == 0 {
			d.Params[i] = 0
		}
	}
	for _, c := range d.Children {
		Zero(r, c)
	}
}

func draw(r *rand.Rand, may func(bt.Kind) bool) bt.Kind {
	kinds := slices.DeleteFunc(bt.Kinds(), func(k bt.Kind) bool { return !may(k) })
	return kinds[r.IntN(len(kinds))]
}

func wide(k bt.Kind) bool {
	least, _ := k.Arity()
	return least > 3
}

// Guards reports whether tasks of a kind hold a resource: [Guarded] draws them, [Composite] does not.
func Guards(k bt.Kind) bool {
	return slices.ContainsFunc(k.Params(), func(p bt.Param) bool { return p.Type == bt.Resource })
}

// Guarded puts some tasks below guards of few resources.
func Guarded(r *rand.Rand, d *bt.Node) *bt.Node {
	for i, c := range d.Children {
		d.Children[i] = Guarded(r, c)
	}
	if r.IntN(3) == 0 {
		d = &bt.Node{Kind: draw(r, Guards), Params: []int{1 + r.IntN(2)}, Children: []*bt.Node{d}}
	}
	return d
}

func single(k bt.Kind) bool {
	_, most := k.Arity()
	return most == 1
}

// Input returns an input for a random leaf, or that a timer has elapsed; if the statuses are given, useful inputs are
// more likely.
func Input(r *rand.Rand, tree *bt.Tree, status func(bt.Task) bt.Status) bt.Input {
	if timers := tree.Timers(); len(timers) > 0 && (len(tree.Leaves()) == 0 || r.IntN(4) == 0) {
		return bt.Elapsed(timers[r.IntN(len(timers))])
	}
	leaves := tree.Leaves()
	t := leaves[r.IntN(len(leaves))]
	if !tree.Kind(t).Acts() {
		return bt.Set(t, r.IntN(2) == 0)
	}
	if status != nil {
		switch s := status(t); {
		case s == bt.Activating && r.IntN(2) == 0:
			return bt.Entered(t)
		case s == bt.Running && r.IntN(3) > 0:
			return bt.End(t, bt.Status(r.IntN(2)))
		case s == bt.Deactivating && r.IntN(2) == 0:
			return bt.Exited(t)
		}
	}
	switch r.IntN(6) {
	case 0:
		return bt.End(t, bt.Status(r.IntN(2)))
	case 1:
		return bt.Slow(t, r.IntN(2) == 0, r.IntN(2) == 0)
	case 2:
		return bt.Entered(t)
	case 3:
		return bt.Exited(t)
	}
	return bt.Request(t, bt.Status(r.IntN(3)))
}

// Compile returns the tree of a valid description.
func Compile(t testing.TB, d *bt.Node) *bt.Tree {
	t.Helper()
	tree, err := bt.Compile(d)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// Outline writes a description, one task per line: its kind, its name, and its parameters as LABEL=VALUE.
func Outline(d *bt.Node) string {
	var b strings.Builder
	var write func(d *bt.Node, indent string)
	write = func(d *bt.Node, indent string) {
		fmt.Fprintf(&b, "%s%s", indent, d.Kind)
		if d.Name != "" {
			fmt.Fprintf(&b, " %s", d.Name)
		}
		if d.Prompt {
			b.WriteString(" !")
		}
		for i, value := range d.Params {
			fmt.Fprintf(&b, " %s=%d", d.Kind.Params()[i].Label, value)
		}
		b.WriteByte('\n')
		for _, child := range d.Children {
			write(child, indent+"  ")
		}
	}
	write(d, "")
	return b.String()
}

// Parse reads the format of Outline; it returns nil for an empty outline.
func Parse(text string) (*bt.Node, error) {
	var path []*bt.Node
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		depth := (len(line) - len(strings.TrimLeft(line, " "))) / 2
		kind, ok := bt.ParseKind(words[0])
		if !ok || depth > len(path) {
			return nil, fmt.Errorf("bad outline line %q", line)
		}
		d := &bt.Node{Kind: kind}
		for _, p := range kind.Params() {
			d.Params = append(d.Params, p.Default)
		}
		var name []string
		for _, w := range words[1:] {
			if w == "!" {
				d.Prompt = true
				continue
			}
			label, value, _ := strings.Cut(w, "=")
			n, err := strconv.Atoi(value)
			i := slices.IndexFunc(kind.Params(), func(p bt.Param) bool { return p.Label == label })
			if err == nil && i >= 0 {
				d.Params[i] = n
			} else {
				name = append(name, w)
			}
		}
		d.Name = strings.Join(name, " ")
		if depth > 0 {
			parent := path[depth-1]
			parent.Children = append(parent.Children, d)
		}
		path = append(path[:depth], d)
	}
	if len(path) == 0 {
		return nil, nil
	}
	return path[0], nil
}
