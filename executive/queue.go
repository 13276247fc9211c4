package executive

import "canopy/bt"

// queue logs the guards that wait for a shared resource, and the one that has it.
func (x *Executive) queue() {
	for r, guards := range x.p.Tree.Shared() {
		holder, text := "", x.text[:0]
		for _, g := range guards {
			switch child := x.Status(x.p.Tree.Children(g)[0]); {
			case !child.Transient():
				holder = x.p.Tree.Name(g)
			case child == bt.Accept && x.Status(g) == bt.Running:
				if len(text) > 0 {
					text = append(text, " and "...)
				}
				text = append(text, x.p.Tree.Name(g)...)
			}
		}
		if len(text) > 0 {
			text = append(append(append(text, " waits for the resource that "...), holder...), " has"...)
		}
		if x.text = text; string(text) == x.waits[r] {
			continue
		}
		if x.waits[r] = string(text); len(text) > 0 {
			x.event("wait", x.waits[r])
		}
	}
}
