package run

import (
	"fmt"

	"github.com/canopy-uav/canopy/run/record"
)

// watched logs the relations by which the run is judged that have changed at this instant at a jump: the log has the
// others.
func (r *Run) watched() error {
	if r.told == nil {
		r.told = map[string]bool{}
	}
	if r.judged > mostJudged {
		return nil
	}
	_, above := r.world.Discrete()
	for _, i := range r.m.Program.Judged {
		x := &r.m.Program.Indicators[i]
		if x.Bound() {
			continue
		}
		last, known := r.told[x.Text]
		holds := x.Holds(above[i])
		r.told[x.Text] = holds
		if known && last != holds {
			r.judged++
			if err := r.rec.Event(record.StateEvent(r.world.T(), r.executive.Micro(), x.Text, holds)); err != nil {
				return err
			}
		}
	}
	return nil
}

// mostJudged is the number of changes of relations by which a run is judged that are events: a fast signal would fill a
// disk.
const mostJudged = 10_000

// release stops watching these relations once they have changed so often.
func (r *Run) release() error {
	if r.judged <= mostJudged || !r.executive.Release() {
		return nil
	}
	return r.log(record.KindSampled, fmt.Sprintf("the relations of facts and properties have changed %d times; from here"+
		" on, only samples and the plan's events show them", r.judged))
}

// losses logs the sources that have become unknown, or known again.
func (r *Run) losses() error {
	for i, s := range r.sources {
		lost := r.world.At(r.world.T())[s.Known] == 0
		if lost == r.lost[i] {
			continue
		}
		kind := record.KindKnown
		if r.lost[i] = lost; lost {
			kind = record.KindUnknown
		}
		if err := r.log(kind, s.Name); err != nil {
			return err
		}
	}
	return nil
}
