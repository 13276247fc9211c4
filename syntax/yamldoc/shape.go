package yamldoc

import (
	"maps"
	"slices"
	"strconv"

	"github.com/canopy-uav/canopy/diag"
)

// Shape is what a reader accepts as a value: a scalar, a list, a mapping, or one of several. A zero shape is that of a
// value at which the reader does not look, or of which more than its form decides.
type Shape struct {
	Text, Number, Boolean, Null bool

	Words []string          // the texts that it may be; nil: any text, if one is accepted
	Items *Shape            // the values of a list; nil: no list is accepted
	Keys  map[string]*Shape // the entries of a mapping with fixed names; nil: no such mapping is accepted
	Names *Shape            // the values of a mapping with free names; nil: no such mapping is accepted
	Same  *Shape            // the shape of a value around it, which it has, too; nil: it has its own
}

// Known reports whether the reader looks at the value.
func (s *Shape) Known() bool {
	return s.Same != nil || s.Text || s.Number || s.Boolean || s.Words != nil || s.Items != nil || s.Keys != nil ||
		s.Names != nil
}

// sample is what a node has in a description: it stands for every value.
type sample struct {
	*pass
	shape  *Shape
	around *Node
	fields []string // the fixed names of a mapping
}

// pass is one way in which samples answer a reader that asks what they are.
type pass struct {
	kind     Kind
	choice   int // which of several words, from 0, and how many free names, from 1
	named    int // the free names so far: a name may have to be unique in the document
	examples map[string]string
	items    map[*Shape]*Shape // of samples that are lists before the reader looks
}

// most is the maximum number of words among which readers choose.
const most = 6

// Describe returns the shape of the documents that a function reads. The function visits samples, each of which stands
// for every value: it is of the kind that the function takes, and where the function asks for the kind or the word, it
// is each in turn. Examples are texts and names on which more of the shape depends, by what they are.
func Describe(examples map[string]string, read func(r *Reader, root *Node)) *Shape {
	root := &Shape{}
	for _, kind := range []Kind{Scalar, Sequence, Mapping} {
		for choice := range most {
			p := &pass{kind: kind, choice: choice, examples: examples, items: map[*Shape]*Shape{}}
			read(NewReader(&diag.Source{}), p.node(root, nil, kind))
			for list, items := range p.items {
				if items.Known() && list.Items == nil {
					list.Items = items
				}
			}
		}
	}
	return root
}

// node returns a node that stands for every value.
func (p *pass) node(shape *Shape, around *Node, kind Kind) *Node {
	n := &Node{Kind: kind, Value: "x", Line: 1, sample: &sample{pass: p, shape: shape, around: around}}
	if kind == Sequence {
		items := &Shape{}
		p.items[shape] = items
		n.Items = []*Node{p.node(items, n, Scalar), p.node(items, n, Scalar)}
	}
	return n
}

// inside returns a node for a value inside a sample, whose shape is made if there is none.
func (n *Node) inside(shape **Shape) *Node {
	if *shape == nil {
		*shape = &Shape{}
	}
	return n.sample.node(*shape, n, n.sample.kind)
}

// visitFields visits a sample as a mapping with fixed names. One with the names of a mapping around it has its shape.
func (n *Node) visitFields(known Keys) {
	s := n.sample
	n.Kind, n.Keys, n.Items, s.fields = Mapping, nil, nil, slices.Sorted(maps.Keys(known))
	for up := s.around; up != nil; up = up.sample.around {
		if slices.Equal(up.sample.fields, s.fields) {
			s.shape.Same = up.sample.shape
			return
		}
	}
	if s.shape.Keys == nil {
		s.shape.Keys = map[string]*Shape{}
	}
	for _, name := range s.fields {
		shape := s.shape.Keys[name]
		value := n.inside(&shape)
		s.shape.Keys[name] = shape
		n.Keys, n.Items = append(n.Keys, &Node{Value: name, Line: 1}), append(n.Items, value)
		known[name](value)
	}
}

// visitNames visits a sample as a mapping with free names: once or twice.
func (n *Node) visitNames(what string, visit func(key, value *Node)) {
	n.Kind, n.Keys, n.Items = Mapping, nil, nil
	for range 1 + n.sample.choice%2 {
		n.sample.named++
		name := "x" + strconv.Itoa(n.sample.named)
		if example := n.sample.examples[what]; example != "" {
			name = example
		}
		key, value := &Node{Value: name, Line: 1}, n.inside(&n.sample.shape.Names)
		n.Keys, n.Items = append(n.Keys, key), append(n.Items, value)
		visit(key, value)
	}
}

// visitItems visits a sample as a list.
func (n *Node) visitItems(visit func(value *Node)) {
	value := n.inside(&n.sample.shape.Items)
	n.Kind, n.Items = Sequence, []*Node{value}
	visit(value)
}

// word returns the word that a sample is in this pass, "" if none.
func (n *Node) word(words []string) string {
	n.sample.shape.Words = slices.Compact(slices.Sorted(slices.Values(append(n.sample.shape.Words, words...))))
	if n.Kind == Scalar && n.sample.choice < len(words) {
		return words[n.sample.choice]
	}
	return ""
}
