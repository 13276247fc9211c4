package bt_test

import (
	"slices"

	"github.com/canopy-uav/canopy/bt"
)

// What the sweeps decide, kind by kind (docs/semantics.md, section 3): this is written apart from bt.Decide.

// decide returns what a composite decides.
func (t *sweptTask) decide() decision {
	switch t.kind {
	case bt.Inverter, bt.ForceSuccess, bt.ForceFailure:
		if c := t.children[0]; c.good() || c.bad() {
			return says(t.kind == bt.ForceSuccess || t.kind == bt.Inverter && c.bad())
		}
		return like(t.children[0])
	case bt.Parallel, bt.ReactiveParallel:
		return t.count()
	case bt.ParallelAll:
		return t.countAll()
	case bt.AlwaysSuccess, bt.AlwaysFailure:
		return says(t.kind == bt.AlwaysSuccess)
	case bt.Sleep:
		if t.elapsed || t.instant {
			return says(true)
		}
		return decision{}
	case bt.SequenceWithMemory:
		return t.memorized()
	case bt.Sequence, bt.Fallback, bt.ReactiveSequence, bt.ReactiveFallback, bt.AsyncSequence, bt.AsyncFallback:
		return t.chain()
	case bt.RetryUntilSuccessful, bt.Repeat:
		return t.again()
	case bt.KeepRunningUntilFailure:
		if c := t.children[0]; c.bad() {
			return says(false)
		}
		return open(t.children[0])
	case bt.RunOnce:
		switch {
		case t.once != "" && t.thenSkip:
			return skip
		case t.once != "":
			return says(t.once == "success")
		}
		return like(t.children[0])
	case bt.Delay, bt.Timeout, bt.Guard:
		switch {
		case t.kind == bt.Delay && !t.elapsed && !t.instant:
			return decision{}
		case t.kind == bt.Timeout && t.elapsed:
			return says(false)
		}
		return like(t.children[0])
	case bt.TryCatch:
		return t.try()
	case bt.Switch2, bt.Switch3, bt.Switch4, bt.Switch5, bt.Switch6:
		return t.pick()
	case bt.UtilitySelector2, bt.UtilitySelector3, bt.UtilitySelector4:
		return t.choose()
	case bt.IfThenElse, bt.WhileDoElse:
		return t.fork()
	case bt.OnSuccess, bt.OnFailure, bt.Post, bt.OnHalted:
		return t.post()
	case bt.FailureIf, bt.SuccessIf, bt.SkipIf, bt.While, bt.Precondition:
		return t.pre()
	}
	panic("the sweeps do not know the kind " + t.kind.String())
}

// memorized is the decision of a SequenceWithMemory.
func (t *sweptTask) memorized() decision {
	place, some := t.resumed()
	switch {
	case place == len(t.children) && !some:
		return skip
	case place == len(t.children):
		return says(true)
	}
	return like(t.children[place])
}

// chain is the decision of sequences and fallbacks without own states.
func (t *sweptTask) chain() decision {
	left := slices.DeleteFunc(slices.Clone(t.children), (*sweptTask).skipped)
	for _, c := range left {
		switch over := !t.fallback(); {
		case c.good() && over, c.bad() && !over:
		case c.good(), c.bad():
			return says(!over)
		default:
			return open(c)
		}
	}
	if len(left) == 0 {
		return skip
	}
	return says(!t.fallback())
}

// again is the decision of a task that may run its child again.
func (t *sweptTask) again() decision {
	c, repeat := t.children[0], t.kind == bt.Repeat
	again := c.bad() && !repeat || c.good() && repeat
	switch {
	case t.attempts == 0, again && t.attempts > 0 && (!c.ended() || t.runs+1 >= t.attempts):
		return says(repeat)
	case again: // once more, or it waits
		return decision{}
	}
	return like(c)
}

// try is the decision of a TryCatch.
func (t *sweptTask) try() decision {
	place, some, caught := t.tried()
	last := t.children[len(t.children)-1]
	switch {
	case caught && (last.good() || last.bad() || last.skipped()):
		return says(false)
	case caught:
		return open(last)
	case place < len(t.children)-1:
		return open(t.children[place])
	case some:
		return says(true)
	}
	return skip
}

// pick is the decision of a selector by conditions: the first that is true picks the child after it.
func (t *sweptTask) pick() decision {
	for i := 0; i+1 < len(t.children); i += 2 {
		switch condition := t.children[i]; {
		case condition.good():
			return like(t.children[i+1])
		case !condition.bad():
			return like(condition)
		}
	}
	return like(t.children[len(t.children)-1])
}

// fork is the decision of a task with a condition and one or two branches.
func (t *sweptTask) fork() decision {
	branch := t.branch
	if branch == 0 && t.children[0].good() {
		branch = 1
	} else if branch == 0 && t.children[0].bad() {
		branch = 2
	}
	if branch == len(t.children) { // there is no else
		return says(false)
	}
	return like(t.children[branch])
}

// post is the decision of a node with a postcondition.
func (t *sweptTask) post() decision {
	c, after := t.children[0], t.after()
	switch {
	case after == 0:
		return like(t.children[1])
	case c.good(), c.bad():
		return says(after == 1)
	}
	return like(c)
}

// pre is the decision of a node with a precondition.
func (t *sweptTask) pre() decision {
	condition := t.children[0]
	switch {
	case t.branch > 0:
	case !condition.good() && !condition.bad():
		return like(condition)
	case t.kind == bt.FailureIf && condition.good(), t.kind == bt.SuccessIf && condition.good():
		return says(t.kind == bt.SuccessIf)
	case t.kind == bt.SkipIf && condition.good(), t.kind == bt.While && condition.bad():
		return skip
	case t.kind == bt.Precondition && condition.bad():
		return [...]decision{1: says(false), 2: says(true), 3: skip, 4: {}}[t.otherwise]
	}
	return like(t.children[1])
}

// count counts children one by one, pinned ones first.
func (t *sweptTask) count() (d decision) {
	good, bad, skipped := 0, 0, 0
	for _, pinned := range []bool{true, false} {
		for _, c := range t.children {
			if c.pinned != pinned {
				continue
			}
			switch {
			case c.good(), c.skipped() && t.lenient:
				good++
			case c.bad():
				bad++
			case c.skipped():
				skipped++
			}
			switch {
			case good >= t.enough:
				return says(true)
			case bad >= t.tooBad, len(t.children)-bad < t.enough:
				return says(false)
			}
			if d.wants = append(d.wants, open(c).wants...); c.waitsFor() {
				return d
			}
		}
	}
	if skipped == len(t.children) {
		return skip
	}
	return d
}

// waitsFor reports whether a parallel looks at no child after this one.
func (t *sweptTask) waitsFor() bool { return t.prompt() && !t.good() && !t.bad() && !t.skipped() }

// goesOnAfter reports whether the task may come to another child after a given one.
func (t *sweptTask) goesOnAfter(c *sweptTask) bool {
	switch i := slices.Index(t.children, c); {
	case i < 0:
		return false
	case t.is(bt.IfThenElse, bt.WhileDoElse, bt.While):
		return i == 0
	case t.is(bt.Switch2, bt.Switch3, bt.Switch4, bt.Switch5, bt.Switch6):
		return i%2 == 0
	}
	return true
}

// prompt reports whether a task ends at the instant at which it is activated.
func (t *sweptTask) prompt() bool {
	acts, quick := t.quick()
	return acts && quick
}

func (t *sweptTask) quick() (acts, quick bool) {
	switch t.kind {
	case bt.Action:
		return t.scripted, t.scripted
	case bt.Delay, bt.Timeout, bt.Sleep:
		quick = t.instant
	case bt.RetryUntilSuccessful, bt.Repeat, bt.KeepRunningUntilFailure, bt.Guard:
	case bt.Precondition:
		quick = t.otherwise < 4
	default:
		quick = true
	}
	for _, c := range t.children {
		a, q := c.quick()
		acts, quick = acts || a, quick && q
	}
	return acts, quick
}

// countAll counts children once all are judged.
func (t *sweptTask) countAll() (d decision) {
	bad, judged, skipped := 0, 0, 0
	for _, c := range t.children {
		if c.skipped() {
			skipped++
		}
		if c.bad() {
			bad++
		}
		if c.good() || c.bad() || c.skipped() {
			judged++
		}
		if d.wants = append(d.wants, open(c).wants...); c.waitsFor() {
			return d
		}
	}
	switch len(t.children) {
	case skipped:
		return skip
	case judged:
		return says(bad < t.tooBad)
	}
	return d
}

// choose is the decision of a selector by utilities.
func (t *sweptTask) choose() decision {
	n := map[bt.Kind]int{bt.UtilitySelector2: 2, bt.UtilitySelector3: 3, bt.UtilitySelector4: 4}[t.kind]
	compared, left := map[[2]int]*sweptTask{}, []int(nil)
	for i := range n {
		left = append(left, i)
		for j := i + 1; j < n; j++ {
			compared[[2]int{i, j}] = t.children[len(compared)]
		}
	}
	some := false
	for len(left) > 0 {
		ahead := left[0]
		for _, next := range left[1:] {
			switch c := compared[[2]int{ahead, next}]; {
			case c.good():
				ahead = next
			case !c.bad():
				return like(c)
			}
		}
		c := t.children[len(compared)+ahead]
		if !c.bad() && !c.skipped() {
			return like(c)
		}
		some = some || c.bad()
		left = slices.DeleteFunc(left, func(i int) bool { return i == ahead })
	}
	if !some {
		return skip
	}
	return says(false)
}

// tried returns the first of the children but the last, from the one that a TryCatch has come to, that has not
// succeeded and is not skipped, whether one before has succeeded, and whether one has failed.
func (t *sweptTask) tried() (place int, some, caught bool) {
	some = t.some
	for place = t.place; place < len(t.children)-1 && !t.caught; place++ {
		c := t.children[place]
		if !c.good() && !c.skipped() {
			return place, some, c.bad()
		}
		some = some || c.good()
	}
	return place, some, t.caught
}

// resumed returns the first child of a SequenceWithMemory, from the one that it has come to, that has not succeeded and
// is not skipped, and whether one before has succeeded.
func (t *sweptTask) resumed() (place int, some bool) {
	place, some = t.place, t.some
	for place < len(t.children) && (t.children[place].good() || t.children[place].skipped()) {
		some = some || t.children[place].good()
		place++
	}
	return place, some
}

// after returns how the node of a postcondition has ended, if its action follows: 1 well, 2 badly, 0 no.
func (t *sweptTask) after() int {
	node := t.children[1]
	switch {
	case t.branch > 0 || t.kind == bt.OnHalted:
		return t.branch
	case node.good() && t.kind != bt.OnFailure:
		return 1
	case node.bad() && t.kind != bt.OnSuccess:
		return 2
	}
	return 0
}
