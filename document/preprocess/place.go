package preprocess

import (
	"regexp"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/syntax/xmltree"
	"github.com/canopy-uav/canopy/vehicle/contract"
)

// geographic are the words by which a use of a library's action gives a place on the earth: each stands for another
// word, in metres from home, of which its value is made; a latitude needs a longitude, and the reverse.
var geographic = map[string]struct{ local, before, after, needs string }{
	"lat": {"north", "north_of(", ")", "lon"},
	"lon": {"east", "east_of(", ")", "lat"},
	"alt": {"h", "(", ") - home_alt", ""},
}

var declared = regexp.MustCompile(`(?:ID|name)="(\w+)"`)

// libraryNames returns the names of a library's actions and ports.
func libraryNames(class string) map[string]bool {
	names := map[string]bool{}
	for _, c := range contract.Contracts() {
		if c.Name == class {
			for _, m := range declared.FindAllStringSubmatch(c.Library, -1) {
				names[m[1]] = true
			}
		}
	}
	return names
}

// geographicPort returns the port, among names, that an attribute gives by a place on the earth, and the word by which:
// to_lat gives to_north, and so does lat.
func geographicPort(attribute string, names map[string]bool) (port, word string) {
	parts := strings.Split(attribute, "_")
	for i, p := range parts {
		if g, ok := geographic[p]; ok {
			local := strings.Join(slices.Concat(parts[:i], []string{g.local}, parts[i+1:]), "_")
			for _, port := range []string{local, "to_" + local} {
				if names[port] {
					return port, p
				}
			}
		}
	}
	return "", ""
}

// places returns the changes that write the geographic attributes of a library's action as its ports.
func (a *assembler) places(doc *xmltree.Document, e *xmltree.Element, names map[string]bool) (all []change) {
	id := e.Name
	if given := e.Find("ID"); given != nil {
		id = given.Value
	}
	if !names[id] {
		return nil
	}
	for _, x := range e.Attributes {
		port, word := geographicPort(x.Name, names)
		if port == "" {
			continue
		}
		const hint = "write lat and lon, or metres north and east of home; alt, or h"
		g, name := geographic[word], xmltree.Span{At: x.At, End: x.At + len(x.Name)}
		if e.Find(port) != nil {
			a.report(doc, name, CodeConflictAttr, hint, "%s and %s are both given", x.Name, port)
			all = append(all, change{Edit: doc.Unset(e, x.Name)})
			continue
		}
		if other := strings.Replace(x.Name, word, g.needs, 1); g.needs != "" && e.Find(other) == nil {
			a.report(doc, name, CodeNoAttr, hint, "%s needs %s", x.Name, other)
		}
		all = append(all, change{Edit: xmltree.Edit{Span: name, New: port}},
			change{Edit: xmltree.Edit{Span: xmltree.Span{At: x.Raw.At, End: x.Raw.At}, New: g.before}},
			change{Edit: xmltree.Edit{Span: xmltree.Span{At: x.Raw.End, End: x.Raw.End}, New: g.after}})
	}
	return all
}
