package plan

import (
	"canopy/bt"
)

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
