package yamldoc

import (
	"slices"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// Kind is the kind of a node.
type Kind uint8

// The kinds of nodes.
const (
	Scalar   Kind = iota // a text
	Sequence             // a list
	Mapping              // names with values
)

// Node is a value of a document. An alias is the node that it refers to.
type Node struct {
	Kind           Kind
	Value          string  // of a scalar, without quotation marks
	Keys           []*Node // of a mapping: the names of its items
	Items          []*Node // of a sequence or a mapping
	Line           int     // from 1
	Offset, Length int     // the bytes of the source that a scalar takes; of a collection only where it begins

	tag    string  // YAML's type of a scalar; "" if the text determines it
	size   int     // the number of values in it, aliases expanded; 0 while they are read
	sample *sample // of a description; nil: the node is of a document
}

// IsNull reports whether nothing, or null, is written.
func (n *Node) IsNull() bool {
	if n.sample != nil {
		n.sample.shape.Null = true
	}
	return n.tag == "!!null"
}

// Word returns which of several words a scalar is, "" if it is none.
func (n *Node) Word(words ...string) string {
	if n.sample != nil {
		return n.word(words)
	}
	if n.Kind == Scalar && slices.Contains(words, n.Value) {
		return n.Value
	}
	return ""
}

// Entry returns the item of a mapping that has a name; nil if there is none, or n is no mapping.
func (n *Node) Entry(name string) *Node {
	if n == nil {
		return nil
	}
	i := slices.IndexFunc(n.Keys, func(key *Node) bool { return key.Value == name })
	if i < 0 {
		return nil
	}
	return n.Items[i]
}

// maxNodes bounds the values of a document with its aliases expanded: a few lines can expand to billions.
const maxNodes = 1_000_000

// node converts a node of the library, with the nodes inside, and stores it in read. An alias inside the value that it
// refers to is reported.
func (r *Reader) node(n *yaml.Node, read map[*yaml.Node]*Node) *Node {
	if n.Kind == yaml.AliasNode {
		if known := read[n.Alias]; known == nil || known.size > 0 {
			return r.node(n.Alias, read)
		}
		alias := r.place(n)
		alias.size = 1
		r.Add(alias, "yaml-syntax", "write the value out", "the alias *%s is inside the value that it refers to", n.Value)
		return alias
	}
	if known := read[n]; known != nil {
		return known
	}
	node := r.place(n)
	read[n] = node
	size := 1
	for i, c := range n.Content {
		child := r.node(c, read)
		if node.Kind == Mapping && i%2 == 0 {
			node.Keys = append(node.Keys, child)
		} else {
			node.Items = append(node.Items, child)
		}
		size = min(size+child.size, maxNodes+1)
	}
	node.size = size
	return node
}

// position is a place in the text, with its column in characters.
type position struct{ line, column, offset int }

// place converts a node of the library without the nodes inside. It counts on from the last place on the same line:
// a line may have a million values.
func (r *Reader) place(n *yaml.Node) *Node {
	node := &Node{Value: n.Value, Line: n.Line, tag: n.Tag}
	switch n.Kind {
	case yaml.MappingNode:
		node.Kind = Mapping
	case yaml.SequenceNode:
		node.Kind = Sequence
	}
	if n.Line < 1 || n.Line > len(r.lines) {
		return node
	}
	text := r.Source.Text
	if from := &r.placed; n.Line != from.line || n.Column < from.column {
		*from = position{line: n.Line, column: 1, offset: r.lines[n.Line-1]}
	}
	for ; r.placed.column < n.Column && r.placed.offset < len(text); r.placed.column++ { // columns count characters
		_, size := utf8.DecodeRuneInString(text[r.placed.offset:])
		r.placed.offset += size
	}
	node.Offset = r.placed.offset
	if n.Kind == yaml.ScalarNode {
		if n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 {
			node.Offset++ // the quotation mark
		}
		node.Length = min(len(n.Value), len(text)-node.Offset)
	}
	return node
}
