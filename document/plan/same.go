package plan

import (
	"fmt"
	"slices"

	"github.com/canopy-uav/canopy/bt"
)

// Same returns whether a leaf of one plan has the same definition as one of another plan: the same leaf type, ports and
// expressions.
func Same(old, now *Plan) func(a, b bt.Task) bool {
	before, after := old.definitions(), now.definitions()
	return func(a, b bt.Task) bool { return slices.Equal(before[a], after[b]) }
}

// definitions returns, by task, what defines a leaf.
func (p *Plan) definitions() map[bt.Task][]string {
	all := map[bt.Task][]string{}
	for i := range p.Leaves {
		l := &p.Leaves[i]
		d := []string{l.ID, fmt.Sprint(l.Free), fmt.Sprint(l.Ports, l.Defaults)}
		for _, t := range l.Until {
			d = append(d, p.Tree.Name(t))
		}
		for _, a := range l.details() {
			if a.Name != attrUntil {
				d = append(d, a.Name+": "+a.Value)
			}
		}
		all[l.Task] = d
	}
	return all
}
