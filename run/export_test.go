package run

import (
	"fmt"
	"slices"
)

// Adopt lets the present plan take over from itself, by all that an exchange does: nothing is cut short because the
// plans are equal. It fails if that logs something.
func (r *Run) Adopt() error {
	x, _ := r.m.WithPlan(r.m.Plan.Source)
	n, log, next := *r, &buffer{}, &swap{x, r.m.Exchange(x), false}
	if !next.change.Whole() {
		panic("run: a plan differs from itself")
	}
	r.executive.Begin()
	n.rec, n.storm = log, r.storm.exchanged(next)
	if err := n.adopt(next, false); err != nil {
		return err
	}
	numbers := r.numbers
	if err := n.instant(); err != nil {
		return err
	}
	if len(log.list) > 0 || !slices.Equal(numbers, n.numbers) {
		return fmt.Errorf("it logs %d entries, and numbers tasks %v", len(log.list), n.numbers)
	}
	n.rec = r.rec
	*r = n
	return nil
}

// Restart lets the world begin as after a discontinuity: so does the one of a plan that takes over.
func (r *Run) Restart() { r.world.Restart() }
