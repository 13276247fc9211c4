package schema

import (
	"io"

	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/syntax/xmltree"
)

// XML writes the XML Schema of plans with elements. An element that the schema does not know is accepted: a plan can
// declare leaves of any name.
func XML(w io.Writer, elements []plan.Element) error {
	root := xmltree.New("xs:schema", "xmlns:xs", "http://www.w3.org/2001/XMLSchema")
	for _, e := range elements {
		x := xmltree.New("xs:element", "name", e.Name)
		if e.Text != "" {
			x.With(documentation(e.Text))
		}
		typ := xmltree.New("xs:complexType", "mixed", "true")
		if !e.Leaf {
			known := map[bool]string{false: "lax", true: "skip"}[e.Declares]
			typ.With(xmltree.New("xs:sequence").With(
				xmltree.New("xs:any", "processContents", known, "minOccurs", "0", "maxOccurs", "unbounded")))
		}
		for _, a := range e.Attributes {
			m := xmltree.New("xs:attribute", "name", a.Name, "type", "xs:string")
			if a.Text != "" {
				m.With(documentation(a.Text))
			}
			typ.With(m)
		}
		if e.Open {
			typ.With(xmltree.New("xs:anyAttribute", "processContents", "lax"))
		}
		root.With(x.With(typ))
	}
	_, err := io.WriteString(w, root.Document())
	return err
}

// documentation returns the text that editors show.
func documentation(text string) *xmltree.Markup {
	m := xmltree.New("xs:documentation")
	m.Text = text
	return xmltree.New("xs:annotation").With(m)
}
