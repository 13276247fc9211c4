package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/document/preprocess"
	"github.com/canopy-uav/canopy/expr"
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

	env   *environment        // of the tree's expressions, once it is known
	own   map[string]*binding // entries that are not the signals of their names
	ports map[string]*binding // of the tree
	owns  bool                // the plan has entries
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
		countRuns(top)
	}
	return top
}

// instance returns a node of a scope with what is below it, nil for the use of a tree without root.
func (in *inliner) instance(n *node, s *scope) *instance {
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
	s := &scope{use: use, outer: outer, own: map[string]*binding{}, owns: len(in.mentioned) > 0}
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

// origin returns the tree to which a name belongs with its name there, and the value that its use gives it there, if
// that is not an entry of the tree around it.
func (s *scope) origin(name string) (key entryKey, value *xmltree.Attribute) {
	if rest, ok := strings.CutPrefix(name, global); ok {
		for s.outer != nil {
			s = s.outer
		}
		return entryKey{s, rest}, nil
	}
	for s.outer != nil {
		value = s.use.element.Find(name)
		if value == nil && s.use.passesAll() {
			if strings.HasPrefix(name, private) {
				return entryKey{s, name}, nil
			}
			s = s.outer
			continue
		}
		if value == nil {
			value = s.use.portValue(name)
		}
		if value == nil {
			return entryKey{s, name}, nil
		}
		if value.Value != sameName {
			outer, ok := entry(value.Value)
			if !ok {
				return entryKey{s, name}, value
			}
			name = outer
		}
		s = s.outer
	}
	return entryKey{s, name}, nil
}

// entry returns the binding of a name that is not that of a signal or of a port of the tree.
func (s *scope) entry(name string) *binding {
	if !s.owns {
		return nil
	}
	key, _ := s.origin(name)
	switch b := key.scope.own[key.name]; {
	case b != nil:
		return b
	case key.scope != s && key.scope.ports[key.name] != nil:
		return key.scope.ports[key.name]
	case key.name == name:
		return nil
	}
	e, err := expr.Parse(key.name)
	if err != nil {
		return nil
	}
	return &binding{port: name, read: true, expr: e}
}

// value returns the value of a port in the outermost tree that gives it: a text, or the entry of one blackboard.
func (s *scope) value(port, text string) string {
	if text == sameName {
		text = "{" + port + "}"
	}
	for {
		name, ok := entry(text)
		switch value := s.use.portValue(name); {
		case !ok || s.outer == nil || strings.HasPrefix(name, global):
			return text
		case value != nil && value.Value == sameName:
		case value != nil:
			text = value.Value
		case !s.use.passesAll():
			return "{" + s.path + name + "}"
		}
		s = s.outer
	}
}

// portValue returns the value of a tree's port at its use, else its default; nil if there is none.
func (n *node) portValue(name string) *xmltree.Attribute {
	if a := n.element.Find(name); a != nil {
		return a
	}
	var declared []*port
	if n.model != nil {
		declared = n.model.ports
	}
	for _, p := range slices.Concat(declared, n.subtree.ports) {
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
