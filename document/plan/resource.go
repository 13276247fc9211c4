package plan

import (
	"slices"
	"strings"

	"canopy/bt"
	"canopy/diag"
	"canopy/syntax/xmltree"
)

// resource returns the number of a resource that an attribute names.
func (r *reader) resource(a *xmltree.Attribute) int {
	name := strings.TrimSpace(a.Value)
	if name == "" {
		r.reportAttribute(a, codeCount, `write resource="camera"`, "the resource has no name")
		return 1
	}
	r.checkName(a)
	i := slices.Index(r.resources, name)
	if i < 0 {
		i = len(r.resources)
		r.resources = append(r.resources, name)
	}
	return i + 1
}

// Param returns the value of a parameter of a task as text.
func (p *Plan) Param(t bt.Task, i int) string {
	of, value := &p.Tree.Kind(t).Params()[i], p.Tree.Params(t)[i]
	if of.Type == bt.Resource {
		return param(of, value, p.resources)
	}
	return of.Format(value)
}

// param writes a value as an attribute, a resource by its name if it has one.
func param(p *bt.Param, value int, resources []string) string {
	if p.Type == bt.Resource && value <= len(resources) {
		return resources[value-1]
	}
	return p.Write(value)
}

// checkGuards reports guards inside of a guard of the same resource, whose children would wait for ever.
func (x *expansion) checkGuards(tree *bt.Tree) {
	for _, guards := range tree.Shared() {
		for _, g := range guards {
			for above := tree.Parent(g); above >= 0; above = tree.Parent(above) {
				if slices.Contains(guards, above) {
					x.once(diag.Diagnostic{Source: x.source, Offset: x.nodes[g].At + 1, Length: len(x.nodes[g].Name), Code: codeGuard,
						Text: "the child never runs: " + tree.Name(above) + " around it has the same resource"})
				}
			}
		}
	}
}
