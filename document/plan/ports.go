package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"canopy/expr"
	"canopy/syntax/xmltree"
)

// maxPortText bounds the values of the ports of all free leaves [bytes].
const maxPortText = 64 << 20

// scope is a use of a tree while the plan is expanded: the entries of its blackboard are those that the use passes on,
// and its own.
type scope struct {
	use   *item
	outer *scope // nil: the main tree
	path  string // before the names of its own entries

	inner map[*item]*scope    // of the uses of subtrees
	own   map[string]*binding // entries that are not the signals of their names
	ports map[string]*binding // of the tree
	owns  bool                // the plan has entries
}

// entry returns the binding of a name that is not that of a signal or of a port of the tree.
func (s *scope) entry(name string) *binding {
	if !s.owns {
		return nil
	}
	at, local, _ := s.origin(name)
	switch b := at.own[local]; {
	case b != nil:
		return b
	case at != s && at.ports[local] != nil:
		return at.ports[local]
	case local == name:
		return nil
	}
	e, err := expr.Parse(local)
	if err != nil {
		return nil
	}
	return &binding{port: name, read: true, expr: e}
}

// entry returns the name in the value of a port that names an entry of the blackboard.
func entry(value string) (name string, ok bool) {
	name, begins := strings.CutPrefix(value, "{")
	name, ends := strings.CutSuffix(name, "}")
	return name, begins && ends
}

// value returns the value of a port in the outermost tree that gives it: a text, or the entry of one blackboard.
func (s *scope) value(port, text string) string {
	if text == sameName {
		text = "{" + port + "}"
	}
	for {
		name, ok := entry(text)
		switch given := s.use.given(name); {
		case !ok || s.outer == nil || strings.HasPrefix(name, "@"):
			return text
		case given != nil && given.Value == sameName:
		case given != nil:
			text = given.Value
		case !s.use.passesAll():
			return "{" + s.path + name + "}"
		}
		s = s.outer
	}
}

// given returns the value of a tree's port at its use, else its default; nil if there is none.
func (i *item) given(name string) *xmltree.Attribute {
	if a := i.element.Find(name); a != nil {
		return a
	}
	var declared []*port
	if i.model != nil {
		declared = i.model.ports
	}
	for _, p := range slices.Concat(declared, i.subtree.ports) {
		if p.name == name && p.value != nil {
			return p.value
		}
	}
	return nil
}

// passesAll reports whether the use of a subtree passes on all entries that it does not name.
func (i *item) passesAll() bool {
	all := i.element.Find(autoremap)
	return all != nil && truth(all.Value)
}

// ports returns the ports of a free leaf in a scope.
func (x *expansion) ports(i *item, s *scope) []Port {
	var list []Port
	for _, name := range i.attributes() {
		p := Port{name, s.value(name, i.element.Find(name).Value)}
		if x.portText += len(p.Name) + len(p.Value); x.portText > maxPortText {
			x.reportName(i.element, xmltree.CodeTooLarge, "", "the ports of the plan's leaves have more than %d bytes",
				maxPortText)
			return nil
		}
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b Port) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

// within returns the scope of the use of a tree.
func (r *reader) within(use *item, outer *scope) *scope {
	s := &scope{use: use, outer: outer, inner: map[*item]*scope{}, own: map[string]*binding{}}
	if outer != nil {
		s.path = outer.path + use.name
		if r.scopes[s.path]++; r.scopes[s.path] > 1 {
			s.path += fmt.Sprintf("[%d]", r.scopes[s.path])
		}
		s.path += "/"
	}
	return s
}
