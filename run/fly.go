package run

import (
	"context"

	"github.com/canopy-uav/canopy/run/record"
)

// Fly steps the run until it is over. After each step it calls observe, which may be nil, with whether the run
// continues; an error of observe ends the flight. A context that is done ends it between two steps, with
// [record.ErrInterrupted]. In both cases the run can still be saved, and ended with Stop.
func (r *Run) Fly(ctx context.Context, observe func(more bool) error) error {
	for more := true; more; {
		if ctx.Err() != nil {
			return record.ErrInterrupted
		}
		var err error
		if more, err = r.Step(); err != nil {
			return err
		}
		if observe != nil {
			if err := observe(more); err != nil {
				return err
			}
		}
	}
	return nil
}
