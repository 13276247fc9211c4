package oracle

import (
	"fmt"
	"slices"

	"canopy/bt"
	"canopy/internal/trees"
)

// edit changes the plan of a mission at some places: tasks are removed, added, moved, renamed, changed and exchanged,
// and get others around them. What results need not be a plan.
func (k *maker) edit(changes int) {
	for range changes {
		if k.chance(3) && k.variant() {
			continue
		}
		var all []*node
		parent := map[*node]*node{}
		k.m.root.each(func(n *node) {
			all = append(all, n)
			for _, c := range n.children {
				parent[c] = n
			}
		})
		n := all[k.IntN(len(all))]
		put := func(with *node) {
			p := parent[n]
			switch {
			case p == nil && n != k.m.root: // a case of a switch
			case p == nil:
				k.m.root = with
			case p.variable == nil && !p.attached:
				p.children[slices.Index(p.children, n)] = with
			}
		}
		switch k.IntN(8) {
		case 0:
			if !n.attached {
				n.name = fmt.Sprintf("r%d_%v", k.IntN(100), n.kind)
			}
		case 1:
			if p := parent[n]; p != nil && len(p.children) > 1 && p.kind.Cases() == 0 && !p.attached {
				p.children = slices.DeleteFunc(p.children, func(c *node) bool { return c == n })
			}
		case 2:
			if _, most := n.kind.Arity(); most < 0 && n.kind.Cases() == 0 {
				n.children = slices.Insert(n.children, k.IntN(len(n.children)+1), k.leaf())
			}
		case 3:
			if n.kind.Family() != bt.Leaf && !n.attached && n.kind.Cases() == 0 && !trees.Guards(n.kind) {
				n.params = trees.Params(k.Rand, n.kind, len(n.children))
			}
		case 4:
			if n.kind.Acts() && n.clerk == "" {
				n.exitTime, n.exitUntil = float64(k.IntN(3)), nil
			}
		case 5:
			if !n.attached {
				put(k.composite(func(kind bt.Kind) bool {
					least, most := kind.Arity()
					return least == 1 && most == 1 && kind.Effect() == "" && kind.Condition() == ""
				}, n))
			}
		case 6:
			if !n.attached {
				put(k.leaf())
			}
		case 7:
			if n.kind.Family() != bt.Leaf && !n.attached && n.params == nil && n.kind.Cases() == 0 {
				n.kind = k.composite(func(kind bt.Kind) bool {
					least, most := kind.Arity()
					return kind.Family() != bt.Leaf && len(n.children) >= least && (most < 0 || len(n.children) <= most) &&
						len(kind.Params()) == 0 && kind.Cases() == 0 && kind.Effect() == "" && kind.Condition() == ""
				}).kind
			}
		}
	}
	known := map[string]bool{}
	k.m.root.each(func(n *node) { known[n.name] = true })
	k.m.root.each(func(n *node) {
		if !known[n.until] {
			n.until = ""
		}
	})
}
