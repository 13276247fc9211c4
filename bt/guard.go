package bt

// Shared returns, for each resource that several guards need, these guards in their order. The caller must not change
// the slices.
func (t *Tree) Shared() [][]Task { return t.shared }

// share finds the resources that several guards need.
func (t *Tree) share() {
	guards, numbers := map[int][]Task{}, []int(nil)
	for task := range Task(len(t.nodes)) {
		if r, ok := t.param(task, Resource); ok {
			if guards[r] == nil {
				numbers = append(numbers, r)
			}
			guards[r] = append(guards[r], task)
		}
	}
	for _, r := range numbers {
		if len(guards[r]) == 1 {
			continue
		}
		t.shared = append(t.shared, guards[r])
		for _, guard := range guards[r] {
			t.nodes[guard].shared = int32(len(t.shared))
		}
	}
}

// Grant returns the guard of a shared resource that has it until the next iteration, and whether it had it before; none
// if no guard needs it. It has the resource as long as its child is active or not transient; a free resource is granted
// to the first guard that passes activity on and whose child asks.
func Grant(guards []Task, has, needs func(guard Task) bool) (guard Task, before bool) {
	for _, g := range guards {
		if has(g) {
			return g, true
		}
	}
	for _, g := range guards {
		if needs(g) {
			return g, false
		}
	}
	return none, false
}

// grant grants the shared resources.
func (e *Engine) grant() {
	for r, guards := range e.tree.shared {
		child := func(guard Task) *task { return e.child(&e.tree.nodes[guard], 0) }
		guard, before := Grant(guards,
			func(guard Task) bool { c := child(guard); return c.active || !c.status.Transient() },
			func(guard Task) bool { return e.task(guard).passes() && child(guard).effective.in(wanted) })
		if e.granted[r] = guard; guard >= 0 && !before {
			e.down.add(guard)
		}
	}
}
