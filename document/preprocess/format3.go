package preprocess

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/syntax/xmltree"
)

// renamedNodes are the nodes that have another name in format 4.
var renamedNodes = map[string]string{
	"SequenceStar":        "SequenceWithMemory",
	"FallbackStar":        "Fallback",
	"RetryUntilSuccesful": "RetryUntilSuccessful",
	"SubTreePlus":         ElementSubTree,
}

// renamedAttributes are the attributes that have another name in format 4, by the node's name there.
var renamedAttributes = map[string]map[string]string{
	"Parallel": {"threshold": "success_count", "success_threshold": "success_count",
		"failure_threshold": "failure_count"},
	ElementSubTree: {"__autoremap": Autoremap, "__shared_blackboard": Autoremap},
}

// Modern returns a document as one of format 4, with each difference from its own format as a warning. With an error
// there is no text.
func Modern(src *diag.Source) (string, diag.List) {
	doc, found := xmltree.Parse(src)
	if found.HasErrors() || doc.Root == nil {
		return "", found
	}
	edits, list := modern(doc)
	text, err := doc.Apply(edits...)
	if err != nil {
		panic("preprocess: edits overlap")
	}
	return text, append(found, list...)
}

// modernizer finds what changes when a document of format 3 becomes one of format 4.
type modernizer struct {
	*xmltree.Document
	edits []xmltree.Edit
	first map[string]xmltree.Span // by the difference: its first place
	count map[string]int
}

// modern returns the edits that make a document one of format 4, with each difference as a warning. They are none if it
// has this format. A document without the attribute is of format 3, which did not have it.
func modern(doc *xmltree.Document) ([]xmltree.Edit, diag.List) {
	root := doc.Root
	version := root.Find(AttrFormat)
	if version != nil && strings.TrimSpace(version.Value) != Format3 {
		return nil, nil
	}
	m := &modernizer{doc, []xmltree.Edit{doc.Set(root, AttrFormat, Format4)}, map[string]xmltree.Span{}, map[string]int{}}
	for e := range root.Elements() {
		if e.Name == ElementTree {
			for c := range e.Elements() {
				m.node(c)
			}
		}
	}
	warn := func(at xmltree.Span, code, text, hint string) diag.Diagnostic {
		return diag.Diagnostic{Source: doc.Source, Offset: at.At, Length: at.Len(), Severity: diag.Warning, Code: code,
			Text: text, Hint: hint}
	}
	var list diag.List
	if version == nil {
		list = append(list, warn(root.NameSpan(), codeNoFormat,
			"the format's version is missing; it is read as version 3", `write <root BTCPP_format="4">`))
	}
	for _, text := range slices.Sorted(maps.Keys(m.first)) {
		d := warn(m.first[text], CodeFormat3, text, "`canopy convert --to xml` writes format 4")
		if n := m.count[text]; n > 1 {
			d.Text += fmt.Sprintf(", at %d places", n)
		}
		list = append(list, d)
	}
	return m.edits, list
}

// differs notes a difference.
func (m *modernizer) differs(at xmltree.Span, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if m.count[text]++; m.count[text] == 1 {
		m.first[text] = at
	}
}

// node converts a node of a tree with those below it.
func (m *modernizer) node(e *xmltree.Element) {
	name := e.Name
	if id := e.Find("ID"); id != nil && slices.Contains([]string{ElementControl, ElementDecorator}, name) {
		name = m.rename(id.Value, id.Raw)
	} else if name = m.rename(name, e.NameSpan()); name != e.Name {
		if e.Close.Len() > 0 {
			at := e.Close.At + len("</")
			m.edits = append(m.edits, xmltree.Edit{Span: xmltree.Span{At: at, End: at + len(e.Name)}, New: name})
		}
	}
	given := map[string]bool{} // in format 4
	for _, a := range e.Attributes {
		m.attribute(e, name, a, given)
	}
	for c := range e.Elements() {
		if name == ElementSubTree && c.Name == "remap" {
			m.remap(e, c)
			continue
		}
		m.node(c)
	}
}

// rename returns a node's name in format 4.
func (m *modernizer) rename(name string, at xmltree.Span) string {
	now := renamedNodes[name]
	if now == "" {
		return name
	}
	m.edits = append(m.edits, xmltree.Edit{Span: at, New: now})
	m.differs(at, "%q of format 3 is %q in format 4", name, now)
	return now
}

// attribute converts an attribute of a node with the given name in format 4. One whose new name is given already keeps
// its old name.
func (m *modernizer) attribute(e *xmltree.Element, node string, a *xmltree.Attribute, given map[string]bool) {
	at := xmltree.Span{At: a.At, End: a.At + len(a.Name)}
	if now := renamedAttributes[node][a.Name]; now != "" && e.Find(now) == nil && !given[now] {
		given[now] = true
		m.edits = append(m.edits, xmltree.Edit{Span: at, New: now})
		m.differs(at, "%q of format 3 is %q in format 4", a.Name, now)
		if a.Name == "threshold" && e.Find("failure_threshold") == nil && e.Find("failure_count") == nil {
			m.edits = append(m.edits, xmltree.Edit{Span: xmltree.Span{At: at.At, End: at.At}, New: `failure_count="-1" `})
			m.differs(at, "a Parallel with a %q fails when it cannot succeed any more: failure_count=\"-1\"", a.Name)
		}
		return
	}
	key := expr.IsName(a.Value) && !strings.EqualFold(a.Value, "true") && !strings.EqualFold(a.Value, "false")
	if e.Name != ElementSubTree || !key || a.Name == "name" || a.Name == "ID" || strings.HasPrefix(a.Name, "_") {
		return
	}
	m.edits = append(m.edits, xmltree.Edit{Span: a.Raw, New: "{" + a.Value + "}"})
	m.differs(a.Raw, "an attribute of a SubTree is the name of an entry in format 3: {name} in format 4")
}

// remap converts the element by which old plans pass an entry on.
func (m *modernizer) remap(subtree, e *xmltree.Element) {
	internal, external := e.Find("internal"), e.Find("external")
	if internal == nil || external == nil || !xmltree.IsName(internal.Value) || subtree.Find(internal.Value) != nil {
		return
	}
	m.edits = append(m.edits, m.Set(subtree, internal.Value, "{"+external.Value+"}"), m.Remove(e))
	m.differs(e.NameSpan(), "<remap> of format 3 is an attribute in format 4")
}
