package executive

import (
	"bytes"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/snapshot"
)

// pass is how far an instant has come in the order of the tree. What a task writes acts as in a tree that is ticked:
// conditions after it read the new value at once, those before it only when there is nothing left to do after it. Then
// the next pass begins, and with it the next runs of loops. A loop whose run has changed nothing waits for a change.
type pass struct {
	passed  []bool // by leaf: an action after it has written what it reads; it is judged in the next pass
	acted   bool   // an action was activated
	some    bool   // a leaf is passed
	first   bool   // nothing has settled in this instant
	rests   bool   // all has settled: loops wait for an input
	outside bool   // an indicator that is watched has changed, or a slot has been written from outside
	again   bool   // this settling begins the next runs of loops
	varied  Varies // of the actions that were activated
	reran   bool   // a loop has run its child again in this instant
	last    []byte // what had been reached when the loops ran last in this instant, without inputs
	now     []byte // scratch
}

func (p *pass) state(c *snapshot.Codec) {
	if snapshot.Bool(c, &p.some); p.some {
		snapshot.Each(c, p.passed, snapshot.Bool)
	} else {
		clear(p.passed)
	}
	snapshot.Bool(c, &p.acted)
	snapshot.Bool(c, &p.first)
	snapshot.Bool(c, &p.outside)
	snapshot.Int(c, &p.varied)
	snapshot.Bool(c, &p.reran)
	snapshot.Bytes(c, &p.last)
}

func (p *pass) copyFrom(o *pass) {
	passed, last, now := append(p.passed[:0], o.passed...), append(p.last[:0], o.last...), p.now
	*p = *o
	p.passed, p.last, p.now = passed, last, now
}

// over ends a pass.
func (p *pass) over() {
	clear(p.passed)
	p.acted, p.some = false, false
}

// passed reports whether a leaf is judged only in the next pass.
func (d *tree) passed(x *Executive, i int) bool {
	l := &x.p.Leaves[i]
	return x.pass.passed[i] && (l.Condition || d.engine.Status(l.Task).Transient())
}

// known returns the input of a leaf as it was last judged, and the status that follows from it while it is not active.
func (x *Executive) known(i int) (bt.Input, bt.Status) {
	l, s := &x.p.Leaves[i], &x.leaves[i]
	switch {
	case !l.Condition:
		return bt.Request(l.Task, s.Request), s.Request
	case s.Value:
		return bt.Set(l.Task, true), bt.Success
	}
	return bt.Set(l.Task, false), bt.Failure
}

// reach notes that an action makes assignments, at its start or at its end: leaves before it that read what it writes
// are passed, at its end also itself. What is known of those that the tree does not hear is brought up to date first.
func (d *tree) reach(x *Executive, i int, list []Assignment, end bool) {
	x.pass.acted = true
	x.pass.varied = max(x.pass.varied, x.p.Leaves[i].Varies)
	for _, a := range list {
		if !x.p.Slots[a.Slot].Entry {
			continue
		}
		for _, r := range x.p.written[a.Slot] {
			if x.pass.passed[r] || x.p.order[r] > x.p.order[i] || x.p.order[r] == x.p.order[i] && !end {
				continue
			}
			if x.pass.passed[r], x.pass.some = true, true; !d.hears(x, int(r)) {
				x.appendInputs(nil, int(r), d.engine.Status(x.p.Leaves[r].Task))
			}
		}
	}
}

// ForgetUnheard makes what is known of the leaves that the tree does not hear what the engine knows of them, whether or
// not they were brought up to date. A state between two instants has the same future: they are judged before they are
// read. It is for owners that compare such states.
func (x *Executive) ForgetUnheard() {
	for i := range x.leaves {
		s, l := &x.leaves[i], &x.p.Leaves[i]
		switch status := x.Status(l.Task); {
		case x.tree.hears(x, i):
		case l.Condition:
			s.Value = status == bt.Success
		default:
			s.Request = status
		}
	}
}

// inPasses returns the inputs of a settling: those of the present pass or, if there are none, of the next one.
func (d *tree) inPasses(x *Executive) []bt.Input {
	p := &x.pass
	in := d.inputs(x)
	_, unknown := x.world.(Situated) // whose signals may have changed
	begins := len(in) > 0 || p.outside || unknown && p.first
	if !p.first && (!p.rests || p.acted) {
		if begins = len(in) == 0; begins {
			p.over()
			in = d.inputs(x)
		}
	}
	d.loops.StepLoops(p.some || p.reran)
	if p.again = begins && d.loops.LoopsWait(); !p.again {
		return in
	}
	if len(in) == 0 && !p.first {
		p.now = x.reached(p.now, x.rounds.all.memory)
		p.again = p.varied == Always || !bytes.Equal(p.now, p.last)
		if w, ok := x.world.(Situated); ok && !p.again && p.varied == Perhaps {
			p.again = w.Renewed()
		}
		if !p.again {
			return in
		}
		p.last, p.now, p.varied = p.now, p.last, Shown
	}
	d.loops.RunAgain()
	return in
}
