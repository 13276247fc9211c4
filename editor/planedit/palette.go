package planedit

import (
	"regexp"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/document/preprocess"
	"github.com/canopy-uav/canopy/syntax/xmltree"
)

// Piece is an element that a person may add to a plan.
type Piece struct {
	Element    string      `json:"element"`
	ID         string      `json:"id"`       // of the attribute; "": it has none
	Category   string      `json:"category"` // composite, decorator, condition, action, subtree or tree
	Text       string      `json:"text"`     // may be empty
	Include    string      `json:"include"`  // the path of what declares it and must be included; "": it is declared
	Attributes []Attribute `json:"attributes"`
}

// Attribute is one that an element may have.
type Attribute struct {
	Name    string `json:"name"`
	Text    string `json:"text"`    // with a unit, if it needs one; may be empty
	Default string `json:"default"` // of a port; "": none
}

// categories are the categories by the elements of the explicit form.
var categories = map[string]string{"Control": "composite", "Decorator": "decorator", "Action": "action",
	"Condition": "condition", subtree: subtreeCategory}

const subtreeCategory = "subtree"

// Palette returns what a person may add to a plan: the nodes of the language, the leaf types and trees that the plan
// and the files that it includes declare, and the actions of a class of vehicles; "": of none. A text that is not
// well-formed declares nothing.
func Palette(src *diag.Source, class string, open preprocess.Open) []Piece {
	list := declared(src, open)
	if class == "" {
		return list
	}
	library := preprocess.Library + class
	text := xmltree.New("root", "BTCPP_format", preprocess.Format4).With(xmltree.New(include, "path", library)).Document()
	for _, p := range declared(&diag.Source{Text: text}, open) {
		if !slices.ContainsFunc(list, func(o Piece) bool { return o.Element == p.Element && o.ID == p.ID }) {
			p.Include = library
			list = append(list, p)
		}
	}
	return list
}

// declared returns the nodes of the language, and what a plan declares with what it includes.
func declared(src *diag.Source, open preprocess.Open) []Piece {
	list, known := language()
	doc, _ := xmltree.Parse(src)
	if doc.Root == nil || !doc.Whole {
		return list
	}
	whole, _, _ := preprocess.Document(doc, open)
	doc, _ = xmltree.Parse(whole)
	if doc.Root == nil {
		return list
	}
	add := func(e *xmltree.Element, form string) {
		a := e.Find(id)
		if a == nil || a.Value == "" || slices.ContainsFunc(list, func(p Piece) bool {
			return p.ID == a.Value || p.ID == "" && p.Element == a.Value
		}) {
			return
		}
		x := Piece{form, a.Value, categories[form], about(doc, e), "", append(ports(doc, e, form), known[form]...)}
		if xmltree.IsName(a.Value) && form != subtree {
			x.Element, x.ID = a.Value, ""
		}
		list = append(list, x)
	}
	for e := range doc.Root.Elements() {
		if e.Name != models {
			continue
		}
		for m := range e.Elements() {
			if categories[m.Name] != "" {
				add(m, m.Name)
			}
		}
	}
	for e := range doc.Root.Elements() {
		if e.Name == tree {
			add(e, subtree)
		}
	}
	return list
}

// language returns the nodes of the language, and the attributes of each element that are described.
func language() (list []Piece, known map[string][]Attribute) {
	forms := map[string]string{}
	manifest, _ := xmltree.Parse(&diag.Source{Text: plan.Manifest(nil, nil)})
	for e := range manifest.Root.Elements() {
		for m := range e.Elements() {
			forms[m.Find(id).Value] = m.Name
		}
	}
	known = map[string][]Attribute{}
	for _, e := range plan.Elements() {
		for _, a := range e.Attributes {
			if a.Text != "" { // others are notes of editors
				known[e.Name] = append(known[e.Name], Attribute{Name: a.Name, Text: a.Text})
			}
		}
		form := forms[e.Name]
		if k, isKind := bt.ParseKind(e.Name); isKind && k.Family() == bt.Leaf {
			form = e.Name
		}
		switch {
		case categories[form] != "":
			list = append(list, Piece{e.Name, "", categories[form], e.Text, "", known[e.Name]})
		case e.Name == tree:
			list = append(list, Piece{e.Name, "", "tree", e.Text, "", known[e.Name]})
		}
	}
	return list, known
}

var commentSign = regexp.MustCompile(`(?s)<!--(.*?)-->`)

// about returns what comments and the description say of a declaration.
func about(doc *xmltree.Document, e *xmltree.Element) string {
	var words []string
	if a := e.Find("_description"); a != nil {
		words = strings.Fields(a.Value)
	}
	for _, comment := range commentSign.FindAllStringSubmatch(doc.Source.Text[doc.Block(e).At:e.At], -1) {
		words = append(words, strings.Fields(comment[1])...)
	}
	return strings.Join(words, " ")
}

// ports returns the ports that a model declares, or a tree.
func ports(doc *xmltree.Document, e *xmltree.Element, form string) (list []Attribute) {
	for p := range e.Elements() {
		name, value := p.Find("name"), p.Find("default")
		if name == nil || !strings.HasSuffix(p.Name, "_port") {
			continue
		}
		text := doc.Source.Text[p.Tag.End:max(p.Tag.End, p.Close.At)]
		a := Attribute{Name: name.Value, Text: strings.Join(strings.Fields(text), " ")}
		if value != nil {
			a.Default = value.Value
		}
		list = append(list, a)
	}
	if e.Name == tree && form == subtree {
		for _, a := range e.Attributes {
			if a.Name != id && !strings.HasPrefix(a.Name, "_") {
				list = append(list, Attribute{Name: a.Name, Default: a.Value})
			}
		}
	}
	return list
}
