package planedit

import (
	"strings"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/syntax/xmltree"
)

// Fix returns the edits of a mistake's document that write the one name that the message suggests instead of the wrong
// one, and of an element also in its end tag. There are none if the message suggests no name, or several.
func Fix(d diag.Diagnostic) []xmltree.Edit {
	name, ok := diag.Meant(d.Advice())
	at := xmltree.Span{At: d.Offset, End: d.Offset + d.Length}
	wrong := d.Source.Text[at.At:at.End]
	if !ok || word.FindString(wrong) != wrong || wrong == "" || strings.ContainsAny(name, "<>&\"'\r\n") {
		return nil
	}
	edits := []xmltree.Edit{{Span: at, New: name}}
	doc, _ := xmltree.Parse(d.Source)
	if doc.Root == nil {
		return edits
	}
	var visit func(e *xmltree.Element)
	visit = func(e *xmltree.Element) {
		if e.NameSpan() == at && e.Close.Len() > 0 {
			end := e.Close.At + len("</")
			edits = append(edits, xmltree.Edit{Span: xmltree.Span{At: end, End: end + len(e.Name)}, New: name})
		}
		for c := range e.Elements() {
			visit(c)
		}
	}
	visit(doc.Root)
	return edits
}
