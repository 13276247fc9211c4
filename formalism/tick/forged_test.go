package tick

import (
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/internal/trees"
	"github.com/canopy-uav/canopy/snapshot"
)

// TestForgedAutomata: if any byte of a saved state is changed, an engine of a tree with automata refuses it or
// continues without a panic.
func TestForgedAutomata(t *testing.T) {
	node := func(k bt.Kind, name string, children ...*bt.Node) *bt.Node {
		return &bt.Node{Kind: k, Name: name, Children: children}
	}
	tree := trees.Compile(t, node(bt.RunOnce, "once", node(bt.IfThenElse, "if", node(bt.Condition, "c"),
		node(bt.Action, "a"), &bt.Node{Kind: bt.RetryUntilSuccessful, Name: "retry",
			Params: []int{3}, Children: []*bt.Node{node(bt.Action, "b")}})))
	condition, _ := tree.Find("c")
	inputs := []bt.Input{bt.Set(condition, true)}
	settle := func(e interface {
		Settle([]bt.Input) (bt.Instant, error)
	}) {
		_, _ = e.Settle(inputs)
	}
	for name, begin := range map[string]func() (snapshot.Stateful, func()){
		"events": func() (snapshot.Stateful, func()) {
			e := bt.NewEngine(tree, nil, 0)
			return e, func() { settle(e) }
		},
		"ticks": func() (snapshot.Stateful, func()) {
			e := NewEngine(tree, nil, 0)
			return e, func() { settle(e) }
		},
		"conventional": func() (snapshot.Stateful, func()) {
			e := NewConventional(tree, nil)
			return e, func() { e.Tick(inputs) }
		},
	} {
		engine, _ := begin()
		saved := snapshot.Save(nil, engine)
		for at := range saved {
			for _, value := range []byte{1, 2, 3, 255} {
				data := append([]byte(nil), saved...)
				data[at] = value
				engine, goOn := begin()
				t.Logf("%s: byte %d of %d is %d", name, at, len(data), value)
				if snapshot.Load(data, engine) == nil {
					goOn()
				}
			}
		}
	}
}
