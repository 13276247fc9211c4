package translate

import (
	"fmt"
	"slices"
	"testing"
)

// tower is the world of the arm that piles three blocks.
type tower struct {
	below [3]string // by block: its support; "table", or "hand" if it is held
}

var blocks = []string{"A", "B", "C"}

func (w *tower) on(block string) string { return w.below[slices.Index(blocks, block)] }

func (w *tower) clear(block string) bool {
	return !slices.Contains(w.below[:], block) && w.on(block) != "hand"
}

func (w *tower) holds(name string, args []string) bool {
	switch name {
	case "on":
		return w.on(args[0]) == args[1]
	case "on-table":
		return w.on(args[0]) == "table"
	case "holding":
		return w.on(args[0]) == "hand"
	}
	return w.clear(args[0])
}

func (w *tower) ended(string) {}

// do moves a block; it returns an error if the arm cannot.
func (w *tower) do(name string, args []string) error {
	held := slices.Index(w.below[:], "hand")
	switch {
	case name == "pick-up" && held < 0 && w.clear(args[0]):
		w.below[slices.Index(blocks, args[0])] = "hand"
	case name == "put-on" && held >= 0 && w.clear(args[0]):
		w.below[held] = args[0]
	case name == "put-on-table" && held >= 0:
		w.below[held] = "table"
	case name == "nil" && w.done():
		return errDone
	default:
		return fmt.Errorf("the arm cannot do %s%v when the blocks stand on %v", name, args, w.below)
	}
	return nil
}

func (w *tower) done() bool { return w.below == [3]string{"B", "C", "table"} }

// arrangements returns all states: 13 with an empty hand, 9 with a block in it.
func arrangements() []tower {
	var all []tower
	places := append([]string{"table", "hand"}, blocks...)
	for _, a := range places {
		for _, b := range places {
			for _, c := range places {
				if w := (tower{[3]string{a, b, c}}); w.possible() {
					all = append(all, w)
				}
			}
		}
	}
	return all
}

// possible reports whether at most one block is held or is on another one, each is above the table or alone in the
// hand.
func (w *tower) possible() bool {
	for i, block := range blocks {
		users := 0
		for _, below := range w.below {
			if below == block || below == "hand" && w.below[i] == "hand" {
				users++
			}
		}
		if users > 1 || w.below[i] == "hand" && slices.Contains(w.below[:], block) {
			return false
		}
		at := block
		for range len(blocks) + 1 {
			if at == "table" || at == "hand" {
				break
			}
			at = w.on(at)
		}
		if at != "table" && at != "hand" {
			return false
		}
	}
	return true
}

// fewest returns the minimum number of actions to build the tower.
func fewest(from tower) int {
	known := map[tower]bool{from: true}
	for steps, now := 0, []tower{from}; ; steps++ {
		var next []tower
		for _, w := range now {
			if w.done() {
				return steps
			}
			for _, block := range blocks {
				for _, action := range []string{"pick-up", "put-on", "put-on-table"} {
					if after := w; after.do(action, []string{block}) == nil && !known[after] {
						known[after] = true
						next = append(next, after)
					}
				}
			}
		}
		now = next
	}
}

// The tower is built from every arrangement, with as few actions as possible.
func TestTowers(t *testing.T) {
	p := example(t, "blocks.tr")
	all, total := arrangements(), 0
	for _, from := range all {
		in := from
		steps := execute(t, p, &in, 100)
		if total += steps; steps != fewest(from) {
			t.Errorf("%v: %d actions, %d are needed", from, steps, fewest(from))
		}
	}
	if len(all) != 22 || total != 119 {
		t.Errorf("%d actions from %d arrangements", total, len(all))
	}
}
