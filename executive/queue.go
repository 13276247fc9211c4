package executive

import (
	"fmt"
	"strings"

	"canopy/bt"
)

// queue logs the guards that wait for a shared resource, and the one that has it.
func (x *Executive) queue() {
	for r, guards := range x.p.Tree.Shared() {
		holder, waiting := "", []string(nil)
		for _, g := range guards {
			switch child := x.Status(x.p.Tree.Children(g)[0]); {
			case !child.Transient():
				holder = x.p.Tree.Name(g)
			case child == bt.Accept && x.Status(g) == bt.Running:
				waiting = append(waiting, x.p.Tree.Name(g))
			}
		}
		text := ""
		if len(waiting) > 0 {
			text = fmt.Sprintf("%s waits for the resource that %s has", strings.Join(waiting, " and "), holder)
		}
		if text != "" && text != x.waits[r] {
			x.event("wait", text)
		}
		x.waits[r] = text
	}
}
