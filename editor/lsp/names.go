package lsp

import (
	"maps"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/syntax/xmltree"
	"github.com/canopy-uav/canopy/syntax/yamldoc"
)

// role is the part that a name has in a document.
type role uint8

const (
	none       role = iota
	expression      // signals, slots and tasks in an expression or in a list of names
	treeID          // the declaration of a tree
	treeUse
	leafID
	taskName // the declaration of a task
	signal   // the declaration of a signal
)

// token is a name in a document.
type token struct {
	file string
	at   int
	text string
	role role
}

func (t token) declares() bool { return t.role == treeID || t.role == taskName || t.role == signal }

// prose are the attributes and keys whose values name nothing.
var prose = []string{"_description", "description", "type", "_fullpath", "_uid", "text", "title", "mission", "graph",
	"unit", "plan", "vehicle", "BTCPP_format", "project_name"}

// roleOf returns the role of what an attribute names.
func roleOf(element, attribute string) role {
	switch {
	case attribute == "main_tree_to_execute", element == "SubTree" && attribute == "ID":
		return treeUse
	case element == "BehaviorTree" && attribute == "ID":
		return treeID
	case attribute == "ID":
		return leafID
	case attribute == "name":
		return taskName
	case slices.Contains(prose, attribute):
		return none
	}
	return expression
}

// tokens returns the names in a document, as far as it is well-formed.
func (s *server) tokens(file string) (list []token) {
	text := s.text(file)
	src := &diag.Source{Name: file, Text: text}
	add := func(at, length int, r role) {
		if r != expression && r != none {
			list = append(list, token{file, at, text[at : at+length], r})
			return
		}
		for from := at; from < at+length && r == expression; from++ {
			if begin, to := wordAt(text[:at+length], from); begin == from && to > from {
				list = append(list, token{file, from, text[from:to], expression})
				from = to
			}
		}
	}
	if isPlan(file) {
		if doc, _ := xmltree.Parse(src); doc.Root != nil {
			named(doc.Root, add)
		}
		return list
	}
	if root := yamldoc.NewReader(src).Parse(""); root != nil && kindOf(file, text) != other {
		scalars(root, "", add)
	}
	return list
}

// named visits the attributes of an element and of those in it.
func named(e *xmltree.Element, add func(at, length int, r role)) {
	for _, a := range e.Attributes {
		add(a.Raw.At, a.Raw.Len(), roleOf(e.Name, a.Name))
	}
	for inside := range e.Elements() {
		named(inside, add)
	}
}

// declaring are the keys of missions and vehicles whose entries declare signals.
var declaring = []string{"signals", "states", "discrete", "outputs", "commands", "tables", "parameters"}

// scalars visits the texts of a value, which is that of a key.
func scalars(n *yamldoc.Node, key string, add func(at, length int, r role)) {
	r := expression
	switch {
	case n.Kind == yamldoc.Scalar && slices.Contains(prose, key):
		return
	case n.Kind == yamldoc.Scalar:
		add(n.Offset, n.Length, r)
	case slices.Contains(declaring, key):
		r = signal
	}
	for _, k := range n.Keys {
		add(k.Offset, k.Length, r)
	}
	for i, item := range n.Items {
		inside := key
		if n.Kind == yamldoc.Mapping {
			inside = n.Keys[i].Value
		}
		scalars(item, inside, add)
	}
}

// occurrences returns what names the same thing as the word at a position, in all documents that share names.
func (s *server) occurrences(at request) (list []token) {
	var all []token
	for _, file := range s.group(at.file) {
		all = append(all, s.tokens(file)...)
	}
	i := slices.IndexFunc(all, func(t token) bool {
		return t.file == at.file && t.at <= at.offset && at.offset <= t.at+len(t.text)
	})
	if i < 0 {
		return nil
	}
	is := all[i]
	trees := is.role == treeID || is.role == treeUse
	for _, t := range all {
		tree := t.role == treeID || t.role == treeUse
		if t.text == is.text && trees == tree && (t.role == leafID) == (is.role == leafID) {
			list = append(list, t)
		}
	}
	return list
}

// places returns where the name at a position is: everywhere, or where it is declared.
func (s *server) places(at request, declarations bool) []location {
	places := []location{}
	for _, t := range s.occurrences(at) {
		if t.declares() || !declarations {
			places = append(places, location{uriOf(t.file), between(s.text(t.file), t.at, t.at+len(t.text))})
		}
	}
	return places
}

// rename returns what [server.renamed] does, by addresses.
func (s *server) rename(at request) (any, *fault) {
	changes, wrong := s.renamed(at)
	if wrong != nil {
		return nil, wrong
	}
	addressed := map[string][]textEdit{}
	for file, list := range changes {
		addressed[uriOf(file)] = list
	}
	return map[string]any{"changes": addressed}, nil
}

// renamed returns the smallest edits that give what is at a position another name, by document. It refuses a name after
// which the documents have more mistakes.
func (s *server) renamed(at request) (map[string][]textEdit, *fault) {
	list := s.occurrences(at)
	if len(list) == 0 || at.NewName == "" {
		return nil, &fault{codeFailed, "there is no name to change here, or no new one"}
	}
	if strings.ContainsAny(at.NewName, "<>&\"'\r\n") {
		return nil, &fault{codeFailed, "a name cannot contain <, >, &, a quotation mark or a line end here"}
	}
	if !slices.ContainsFunc(list, token.declares) {
		return nil, &fault{codeFailed, "the name is not declared in these documents"}
	}
	changes, texts := map[string][]textEdit{}, map[string]string{}
	slices.SortStableFunc(list, func(a, b token) int { return b.at - a.at })
	for _, t := range list {
		if _, begun := texts[t.file]; !begun {
			texts[t.file] = s.text(t.file)
		}
		changes[t.file] = append(changes[t.file], textEdit{between(s.text(t.file), t.at, t.at+len(t.text)), at.NewName})
		texts[t.file] = texts[t.file][:t.at] + at.NewName + texts[t.file][t.at+len(t.text):]
	}
	root := at.file
	if of := s.missions(at.file); len(of) > 0 {
		root = of[0]
	}
	before := s.errors(root)
	then := *s
	then.buffers = maps.Clone(s.buffers)
	maps.Copy(then.buffers, texts)
	after := then.errors(root)
	if len(after) > len(before) {
		return nil, &fault{codeFailed, "with this name the documents have a mistake: " + strings.ReplaceAll(
			after[0].Text, "\n", " ")}
	}
	return changes, nil
}

// errors returns the mistakes in a document that are no warnings.
func (s *server) errors(name string) diag.List {
	return slices.DeleteFunc(s.read(name), func(d diag.Diagnostic) bool { return d.Severity != diag.Error })
}
