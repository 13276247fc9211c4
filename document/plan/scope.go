package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/document/preprocess"
	"github.com/canopy-uav/canopy/syntax/xmltree"
)

// instance is a node in one use of its tree: the second pass writes each subtree in the place of its uses.
type instance struct {
	*node
	scope *scope
	below []*instance // in the place of the node's children
	trees []string    // the names of the subtrees of which it is the root, from the outside
}

// scope is a use of a tree: the entries of its blackboard are those that the use passes on, and its own.
type scope struct {
	use   *node
	outer *scope // nil: the main tree
	path  string // before the names of its own entries

	bindings map[string]*binding // of names, once they are known; nil: the signal of that name
	plain    bool                // all names are those of signals
}

// inliner writes subtrees in the place of their uses.
type inliner struct {
	*document
	scopes map[string]int // the uses of subtrees, by their path
}

// inline is the last part of the second pass: it returns the main tree with all subtrees, nil if it has no root.
func inline(doc *document) *instance {
	in := &inliner{doc, map[string]int{}}
	main := doc.main
	use := &node{element: main.element, id: main.id, name: main.id, subtree: main, model: doc.subtreeModel(main.id)}
	top := in.instance(main.root.core, in.within(use, nil))
	if top != nil {
		top.trees = append([]string{main.id}, top.trees...)
		in.vary(top)
	}
	return top
}

// instance returns a node of a scope with what is below it, nil for the use of a tree without root.
func (in *inliner) instance(n *node, s *scope) *instance {
	for range n.up {
		s = s.outer
	}
	if t := n.subtree; t != nil {
		if t.root == nil {
			return nil
		}
		root := in.instance(t.root.core, in.within(n, s))
		if root != nil {
			names := []string{n.id, n.name}
			root.trees = append(slices.Compact(names), root.trees...)
		}
		return root
	}
	i := &instance{node: n, scope: s}
	for _, c := range n.children {
		if below := in.instance(c, s); below != nil {
			i.below = append(i.below, below)
		}
	}
	return i
}

// within returns the scope of the use of a tree.
func (in *inliner) within(use *node, outer *scope) *scope {
	s := &scope{use: use, outer: outer, bindings: map[string]*binding{}}
	s.plain = len(in.mentioned) == 0 && len(use.declared()) == 0 && len(use.ports()) == 0 && (outer == nil || outer.plain)
	if outer != nil {
		s.path = outer.path + use.name
		if in.scopes[s.path]++; in.scopes[s.path] > 1 {
			s.path += fmt.Sprintf("[%d]", in.scopes[s.path])
		}
		s.path += "/"
	}
	return s
}

// entryKey identifies an entry: its name in the tree that owns it.
type entryKey struct {
	scope *scope
	name  string
}

// private begins the name of an entry that is never passed on without being named.
const private = "_"

// origin returns the tree to which a name belongs with its name there, and the value that its use gives it there, else
// its default, if that is not an entry of the tree around it. This is what a name means to all that read or write it.
func (s *scope) origin(name string) (entryKey, *xmltree.Attribute) {
	for {
		if rest, ok := strings.CutPrefix(name, global); ok {
			for s.outer != nil {
				s = s.outer
			}
			name = rest
		}
		value, outer := s.use.portValue(name), name
		passed := value == nil && s.use.passesAll() && !strings.HasPrefix(name, private)
		if value != nil {
			if outer, passed = entry(value.Value, name); !passed {
				return entryKey{s, name}, value
			}
		}
		if !passed || s.outer == nil {
			return entryKey{s, name}, nil
		}
		s, name = s.outer, outer
	}
}

// find returns the binding of a name in the expressions of a tree, nil if it is that of a signal.
func (s *scope) find(name string) *binding {
	b, known := s.bindings[name]
	if !known {
		b = s.bind(name)
		s.bindings[name] = b
	}
	return b
}

func (s *scope) bind(name string) *binding {
	key, value := s.origin(name)
	here := key == entryKey{s, name}
	if value == nil {
		value = s.use.portValue(name)
	}
	b := &binding{port: name, use: s.use, value: value}
	if value != nil && s.use.element.Find(name) == value && s.outer != nil {
		b.env.scope = s.outer
	}
	isPort := func(p *port) bool { return p.name == name }
	switch {
	case !here && key.scope.find(key.name) != nil:
		return key.scope.find(key.name)
	case value != nil, here && s.outer != nil && slices.ContainsFunc(s.use.declared(), isPort):
		return b
	case key.name == name:
		return nil
	}
	return &binding{port: name, read: true, expr: must(key.name)}
}

// value returns the value of a port in the outermost tree that gives it: a text, or the entry of one blackboard.
func (s *scope) value(a *xmltree.Attribute) string {
	name, ok := braced(a)
	if !ok {
		return a.Value
	}
	key, value := s.origin(name)
	if value != nil {
		return value.Value
	}
	return "{" + key.scope.path + key.name + "}"
}

// declared returns the ports of a tree that is used, by its model and by its element.
func (n *node) declared() []*port {
	if n.model == nil {
		return n.subtree.ports
	}
	return slices.Concat(n.model.ports, n.subtree.ports)
}

// portValue returns the value of a tree's port at its use, else its default; nil if there is none.
func (n *node) portValue(name string) *xmltree.Attribute {
	if !mayBePort(name) {
		return nil
	}
	if a := n.element.Find(name); a != nil || n.passesAll() {
		return a
	}
	for _, p := range n.declared() {
		if p.name == name && p.value != nil {
			return p.value
		}
	}
	return nil
}

// passesAll reports whether the use of a subtree passes on all entries that it does not name.
func (n *node) passesAll() bool {
	all := n.element.Find(preprocess.Autoremap)
	return all != nil && truth(all.Value)
}

func truth(s string) bool { return s == "1" || strings.EqualFold(s, "true") }
