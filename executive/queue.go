package executive

import (
	"fmt"
	"strings"

	"github.com/canopy-uav/canopy/bt"
)

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

// listed is the number of writers up to which a conflict names all of them; of more, it names fewer.
const listed = 5

// contention logs slots that several tasks write: the first in the tree counts.
func (x *Executive) contention() {
	for _, i := range x.contested.take() {
		text := ""
		if n := int(x.writing[i]); n > 1 {
			var names []string
			shown := n
			if n > listed {
				shown = listed - 1
			}
			for _, w := range x.p.Slots[i].Writers[int(x.u[x.p.counts(int(i))])-1:] {
				if x.u[w.Leaf] == w.Phase {
					names = append(names, x.p.Tree.Name(x.p.Leaves[w.Leaf].Task))
				}
				if len(names) == shown {
					break
				}
			}
			text = strings.Join(names, " and ")
			if n > shown {
				text += fmt.Sprintf(" and %d others", n-shown)
			}
			text += fmt.Sprintf(" write %s at once; %s counts", x.p.Slots[i].Name, names[0])
		}
		if text != "" && text != x.conflicts[i] {
			x.event("conflict", text)
		}
		x.conflicts[i] = text
	}
}
