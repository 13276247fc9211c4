package flight

import "github.com/canopy-uav/canopy/autopilot/service"

// A flight whose program was killed, or stood still, has not seen what happened meanwhile.
const (
	overdue = 50e6  // a flight that is woken so much later than it asked for stood still [ns]
	gone    = 20e9  // after so long a silence, all telemetry is unknown [ns]
	stood   = 1e9   // after standing still for so long, what has been waiting for the program is not news [ns]
	flushed = 0.5e9 // and arrives within this time [ns]
)

// catchUp does what was due before an input. Of a program that stood still, signals become unknown at their own times,
// in order with the timers; nothing of it is sent. A program that was started again waits until the vehicle is heard.
func (f *Flight) catchUp(in Input) error {
	if in.Kind == Start {
		if f.left = in.At.Wall; f.phase == flying {
			f.restarted = in.At.Wall
		}
		return nil
	}
	from, late := f.now.Wall, in.At.Wall-overdue
	for f.now.Wall < late && f.phase != over && f.phase != waiting {
		due := max(f.Due(), f.now.Wall+resolution)
		if due >= min(late, from+gone) {
			break
		}
		f.now = service.Clock{Wall: due, Unix: f.now.Unix + due - f.now.Wall}
		if err := f.wake(); err != nil {
			return err
		}
		if in.At.Wall-due > stood {
			f.vehicle.Out()
			f.slept, f.left = in.At.Wall, in.At.Wall
		}
	}
	return nil
}

// Awaiting reports whether the plan of a program that was started again waits for the vehicle's telemetry. What has
// changed until then is one instant.
func (f *Flight) Awaiting() bool { return f.restarted != 0 }

// hear ends that wait when the vehicle is heard.
func (f *Flight) hear() error {
	if !f.Awaiting() {
		return nil
	}
	if err := f.samples(); err != nil || !f.vehicle.Heard(f.restarted) {
		return err
	}
	f.restarted = 0
	f.world().suspend(true)
	return f.fly()
}
