package run

import "github.com/canopy-uav/canopy/run/record"

// watched logs the relations by which the run is judged that have changed at this instant at a jump: the log has the
// others.
func (r *Run) watched() error {
	if r.told == nil {
		r.told = map[string]bool{}
	}
	_, above := r.world.Discrete()
	for _, i := range r.m.Program.Judged {
		x := &r.m.Program.Indicators[i]
		last, known := r.told[x.Text]
		holds := x.Holds(above[i])
		r.told[x.Text] = holds
		if known && last != holds {
			if err := r.rec.Event(record.StateEvent(r.world.T(), r.executive.Micro(), x.Text, holds)); err != nil {
				return err
			}
		}
	}
	return nil
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
