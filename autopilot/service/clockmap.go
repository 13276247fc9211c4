package service

import (
	"math"

	mav "github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"

	"github.com/canopy-uav/canopy/autopilot/frame"
)

// ClockMap maps the wall clock to the time since the vehicle's boot. Each message with a time since boot is a sample;
// its delay on the way is unknown, so the samples with the smallest one count (a minimum filter over some seconds,
// which follows the drift of the clocks). TIMESYNC gives samples without this bias.
//
// A simulated vehicle may run at a multiple of real time, which changes with the load of its computer: the map has a
// rate, which is measured, and does not run ahead of what it hears. The vehicle's clock may jump: its time goes on
// without the jump.
type ClockMap struct {
	outbox
	ends Ends

	boot    uint32 // the newest time since boot as it was sent, in ms
	newest  int64  // the same since boot in ns: it does not wrap
	arrived int64  // the wall time of its arrival
	skipped int64  // what the vehicle's clock jumped over
	known   bool
	blocks  [mapBlocks]sample // the best of each block, oldest first
	filled  int
	started int64 // wall time of the newest block's start
	rate    float64
	offset  float64 // vehicle = offset + rate * wall

	candidate, candidateSince uint32 // of a reboot or a jump: the newest and the first time since boot
	candidates                int
	boots, steps              int

	sync  timer
	asked int64 // wall time of our TIMESYNC, or 0
}

// sample is a pair of simultaneous readings, in ns.
type sample struct{ wall, vehicle int64 }

// NewClockMap returns a map that knows nothing.
func NewClockMap(e Ends) *ClockMap { return &ClockMap{ends: e, rate: 1} }

// Vehicle returns the vehicle's time at a reading of the wall clock, in ns since boot, or 0 if it is unknown. If the
// vehicle is silent, the time continues at its last rate, that of a vehicle which is faster than real time in real
// time: nobody knows whether it still runs.
func (c *ClockMap) Vehicle(wall int64) int64 {
	if !c.known {
		return 0
	}
	limit := float64(c.newest) + mapLead + min(c.rate, 1)*float64(wall-c.arrived)
	return max(c.newest, int64(math.Round(min(c.line(wall), limit))), 1)
}

// line returns the vehicle's time if its clock has run on at its last rate.
func (c *ClockMap) line(wall int64) float64 { return c.offset + c.rate*float64(wall) }

// Stamp returns the time of a frame of the vehicle in ns since boot, and whether the frame has one. The time does not
// wrap as the message's does. One that is later than Newest is in doubt: other frames have not confirmed it.
func (c *ClockMap) Stamp(f frame.Frame) (int64, bool) {
	if !c.known || !f.Stamped || !c.ends.from(f) {
		return 0, false
	}
	return max(c.newest+int64(int32(f.Boot-c.boot))*millisecond, 1), true
}

// Rate returns the speed of the vehicle's clock: 1 in real time.
func (c *ClockMap) Rate() float64 { return c.rate }

// Stable reports whether samples of a second and more determine the map.
func (c *ClockMap) Stable() bool { return c.known && c.filled > 2 }

// Boots returns how many reboots of the vehicle were seen.
func (c *ClockMap) Boots() int { return c.boots }

// Newest returns the newest time of the vehicle that is not in doubt [ns].
func (c *ClockMap) Newest() int64 { return c.newest }

// Jumps returns how often the vehicle's clock went forward more than time did, and by how much in all [ns].
func (c *ClockMap) Jumps() (n int, by int64) { return c.steps, c.skipped }

// Receive takes a frame.
func (c *ClockMap) Receive(now Clock, f frame.Frame) {
	if c.ends.from(f) {
		if f.Stamped {
			c.stamped(now.Wall, f.Boot)
		}
		if m, ok := f.Message.(*mav.MessageTimesync); ok && c.ends.hears(f) {
			c.timesync(now.Wall, m)
		}
	}
	c.Wake(now)
}

// stamped takes one time since boot.
func (c *ClockMap) stamped(wall int64, boot uint32) {
	forward, onward := c.forward(boot)
	back := int64(c.boot-boot) * millisecond
	switch {
	case !c.known:
		c.begin(wall, boot)
	case onward && !c.doubtful(wall, forward):
		c.take(wall, boot, forward)
	case !onward && back < mapReordered:
		c.candidates = 0
		c.add(wall, c.newest-back)
	case c.candidates == 0 || boot < c.candidateSince:
		c.candidates, c.candidate, c.candidateSince = 1, boot, boot
	default:
		c.candidates++
		c.candidate = max(c.candidate, boot)
		if c.candidates > 2 && int64(c.candidate-c.candidateSince)*millisecond >= mapConfirmed {
			c.confirm(wall)
		}
	}
}

// forward returns how much later than the newest time one is [ns], over the end of the range, too, and whether it is.
func (c *ClockMap) forward(boot uint32) (forward int64, onward bool) {
	forward = int64(boot-c.boot) * millisecond
	return forward, forward < bootWrap || boot > c.boot
}

// ahead returns how much later a time is than the clock can show [ns].
func (c *ClockMap) ahead(wall, forward int64) float64 {
	return float64(c.newest+forward) - max(float64(c.newest), c.line(wall))
}

// doubtful reports whether a time that is later by so much needs others that confirm it: the clock ran ahead of the
// time that has passed, or, after a silence, it is so far behind that it must have begun anew. A vehicle in real time
// does not stand still, and a simulator that did goes on where it was.
func (c *ClockMap) doubtful(wall, forward int64) bool {
	ahead, silence := c.ahead(wall, forward), wall-c.arrived
	return ahead > mapStep || c.rate == 1 && silence > mapSilent && forward > mapReordered &&
		-ahead > mapBehind+float64(silence)*mapReal
}

// take takes a time that is later by so much.
func (c *ClockMap) take(wall int64, boot uint32, forward int64) {
	c.candidates, c.boot, c.newest, c.arrived = 0, boot, c.newest+forward, wall
	c.add(wall, c.newest)
}

// confirm takes the candidate: the vehicle has rebooted, its clock has jumped, or a simulator was faster than before.
func (c *ClockMap) confirm(wall int64) {
	forward, onward := c.forward(c.candidate)
	ahead := c.ahead(wall, forward)
	if !onward || ahead < 0 && c.doubtful(wall, forward) {
		c.boots++
		c.begin(wall, c.candidate)
		return
	}
	if ahead > mapStep*max(c.rate, 1) {
		c.steps++
		c.skipped += int64(ahead)
		forward -= int64(ahead)
	}
	c.restart(wall)
	c.take(wall, c.candidate, forward)
}

// begin makes a map of one sample.
func (c *ClockMap) begin(wall int64, boot uint32) {
	c.known, c.newest, c.skipped = true, 0, 0
	c.restart(wall)
	c.take(wall, boot, int64(boot)*millisecond)
}

// restart forgets the samples.
func (c *ClockMap) restart(wall int64) { c.filled, c.started = 0, wall }

// add takes a sample, and determines the map anew.
func (c *ClockMap) add(wall, vehicle int64) {
	s := sample{wall, vehicle}
	late := func(s sample) float64 { return c.rate*float64(s.wall) - float64(s.vehicle) }
	switch {
	case c.filled == 0 || wall-c.started >= mapBlock:
		if last := max(c.filled-1, 0); c.offset+late(c.blocks[last]) > mapSlower*max(c.rate, 1) {
			c.blocks[0], c.filled = c.blocks[last], min(c.filled, 1) // what was before had another rate
		} else if c.filled == mapBlocks {
			copy(c.blocks[:], c.blocks[1:])
			c.filled--
		}
		c.blocks[c.filled] = s
		c.filled++
		c.started = wall
	case late(s) < late(c.blocks[c.filled-1]):
		c.blocks[c.filled-1] = s
	}
	first, last := c.blocks[0], c.blocks[c.filled-1]
	if span := float64(last.wall - first.wall); span >= mapRate {
		c.rate = float64(last.vehicle-first.vehicle) / span
		if math.Abs(c.rate-1) < max(mapReal, mapJitter/span) || c.rate <= 0 {
			c.rate = 1
		}
	}
	c.offset = math.Inf(-1)
	for _, s := range c.blocks[:c.filled] {
		c.offset = max(c.offset, -late(s))
	}
}

// timesync answers a question, or takes the answer to ours.
func (c *ClockMap) timesync(wall int64, m *mav.MessageTimesync) {
	switch {
	case m.Tc1 == 0:
		c.send(&mav.MessageTimesync{Tc1: max(wall, 1), Ts1: m.Ts1,
			TargetSystem: c.ends.Vehicle.System, TargetComponent: c.ends.Vehicle.Component})
	case c.asked != 0 && m.Ts1 == c.asked:
		middle := c.asked + (wall-c.asked)/2
		c.asked = 0
		if ahead := m.Tc1 - c.skipped - c.Vehicle(middle); c.known && max(ahead, -ahead) < syncAhead {
			c.add(middle, m.Tc1-c.skipped)
		}
	}
}

// Wake asks for the vehicle's time when it is due.
func (c *ClockMap) Wake(now Clock) {
	if c.sync.on && !c.sync.over(now) {
		return
	}
	c.sync.set(now, syncPeriod)
	c.asked = max(now.Wall, 1)
	c.send(&mav.MessageTimesync{Ts1: c.asked,
		TargetSystem: c.ends.Vehicle.System, TargetComponent: c.ends.Vehicle.Component})
}

// Due returns the reading of the wall clock at which Wake is to be called.
func (c *ClockMap) Due() int64 {
	if !c.sync.on {
		return math.MinInt64
	}
	return c.sync.due()
}
