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
	at       int32  // the place in the program's order of the last action that was activated; -1: none was
	first    bool   // nothing has settled in this instant
	outside  bool   // a slot has been written from outside
	again    bool   // this settling begins the next runs of loops
	withheld bool   // conditions wait for the next pass
	varied   bool   // an action was activated that Varies
	reran    bool   // a loop has run its child again in this instant
	last     []byte // what had been reached when the loops ran last in this instant, without inputs
	now      []byte // scratch
}

func (p *pass) state(c *snapshot.Codec) {
	snapshot.Int(c, &p.at)
	snapshot.Bool(c, &p.first)
	snapshot.Bool(c, &p.outside)
	snapshot.Bool(c, &p.reran)
	snapshot.Bool(c, &p.varied)
	snapshot.Bytes(c, &p.last)
}

func (p *pass) copyFrom(o *pass) {
	last, now := append(p.last[:0], o.last...), p.now
	*p = *o
	p.last, p.now = last, now
}

// passed reports whether a leaf is judged only in the next pass: it reads entries, and counted in this pass.
func (d *tree) passed(x *Executive, i int) bool {
	if d.loops == nil || x.p.order[i] >= x.pass.at || !x.p.reads(i) {
		return false
	}
	l := &x.p.Leaves[i]
	return (l.Condition || d.engine.Status(l.Task).Transient()) && d.loops.Counts(l.Task)
}

// reach notes that an action was activated.
func (x *Executive) reach(i int) {
	x.pass.at = max(x.pass.at, x.p.order[i])
	x.pass.varied = x.pass.varied || x.p.Leaves[i].Varies
}

// inPasses returns the inputs of a settling: those of the present pass or, if there are none, of the next one.
func (d *tree) inPasses(x *Executive) []bt.Input {
	p := &x.pass
	p.withheld = false
	in := d.inputs(x)
	begins := len(in) > 0 || p.outside
	if !p.first {
		if begins = len(in) == 0; begins {
			p.at, p.withheld = -1, false
			in = d.inputs(x)
		}
	}
	d.loops.StepLoops(p.withheld || p.reran)
	if p.again = begins && d.loops.LoopsWait(); !p.again {
		return in
	}
	if len(in) == 0 {
		p.now = x.reached(p.now, x.rounds.all.memory)
		if p.again = p.varied || !bytes.Equal(p.now, p.last); !p.again {
			return in
		}
		p.last, p.now, p.varied = p.now, p.last, false
	}
	d.loops.RunAgain()
	return in
}
