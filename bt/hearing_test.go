package bt_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/internal/trees"
)

// An engine that judges only what it hears runs the same procedures in the same order, at the same iterations, as one
// that judges everything; all tasks that it hears, and all that are not transient, have the same statuses, holds and
// pins. It is told only what concerns leaves that it hears.
func TestListeningChangesNoProcedure(t *testing.T) {
	count, rested, roused := trees.Count(60_000, 3_000), 0, 0
	for seed := range count {
		a, b := listen(t, uint64(seed))
		rested, roused = rested+a, roused+b
		if t.Failed() {
			return
		}
	}
	t.Logf("%d leaves rested after an instant, %d were woken", rested, roused)
	if rested < count || roused < count/10 {
		t.Errorf("%d leaves rested, %d were woken", rested, roused)
	}
}

func listen(t *testing.T, seed uint64) (rested, roused int) {
	r := rand.New(rand.NewPCG(7, seed))
	size := 2 + r.IntN(20)
	if seed%50 == 0 {
		size = 200
	}
	d := trees.Random(r, size)
	tree := trees.Compile(t, d)
	all := bt.NewEngine(tree, nil, 0)
	latest := map[bt.Task]bt.Input{} // what judges leaves that are not active
	hears := func(e *bt.Engine) *bt.Engine {
		e.Listen(func(t bt.Task) bool { return t%7 == 3 }, func(t bt.Task, in []bt.Input) []bt.Input {
			if x, ok := latest[t]; ok {
				in = append(in, x)
			}
			roused++
			return in
		})
		return e
	}
	e, other := hears(bt.NewEngine(tree, nil, 0)), hears(bt.NewEngine(tree, nil, 0))
	if seed%2 == 0 {
		e = e.Clone()
	}
	var inputs []bt.Input
	for i := range 14 {
		var told []bt.Input
		for _, in := range inputs {
			if judges(in) {
				latest[in.Task()] = in
			}
		}
		if r.IntN(3) == 0 && i > 0 {
			told = e.Reconsider(nil)
		}
		for _, in := range inputs {
			if !judges(in) || e.Hears(in.Task()) {
				told = append(told, in)
			}
		}
		want, err := all.Settle(inputs)
		if err != nil {
			return rested, roused // a script repeats without end
		}
		got, err := e.Settle(told)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		unheard, wrong := heardDifference(all, e, want, got)
		if rested += unheard; wrong != "" {
			t.Errorf("seed %d, instant %d, inputs %v: %s\n%v\n%v\n%s", seed, i, inputs, wrong, want, got, trees.Outline(d))
			return rested, roused
		}
		switch r.IntN(8) {
		case 0:
			reload(t, e, other)
			e, other = other, e
		case 1:
			e = e.Clone()
		}
		inputs = nil
		for range 1 + r.IntN(3) {
			inputs = append(inputs, trees.Input(r, tree, all.Status))
		}
	}
	return rested, roused
}

// judges reports whether an input judges a leaf that is not active.
func judges(in bt.Input) bool {
	_, verb, _, _, _ := bt.Decode(in)
	return verb == "set" || verb == "request"
}

// heardDifference compares an engine that judges only what it hears with one that judges everything, after an instant
// in which they logged got and want. It returns the number of tasks that are not heard, and a difference.
func heardDifference(all, e *bt.Engine, want, got bt.Instant) (unheard int, wrong string) {
	if !slices.Equal(want.Commands, got.Commands) || !slices.Equal(want.Timings, got.Timings) {
		return 0, "other procedures"
	}
	active := func(list []bt.Change) []bt.Change {
		return slices.DeleteFunc(slices.Clone(list), func(c bt.Change) bool { return c.From.Transient() && c.To.Transient() })
	}
	if !slices.Equal(active(want.Changes), active(got.Changes)) {
		return 0, "other changes of tasks that run"
	}
	for task := range bt.Task(all.Tree().Len()) {
		x, xHeld := all.Held(task)
		y, yHeld := e.Held(task)
		same := xHeld == yHeld && (!xHeld || x == y) && all.Active(task) == e.Active(task)
		if e.Hears(task) || !all.Status(task).Transient() {
			same = same && all.Status(task) == e.Status(task)
		} else {
			unheard++
		}
		if !same {
			return unheard, fmt.Sprintf("task %d is %v %v %v, should be %v %v %v", task, e.Status(task), y, yHeld,
				all.Status(task), x, xHeld)
		}
	}
	if err := e.Check(); err != nil {
		return unheard, err.Error()
	}
	return unheard, ""
}
