package fake

import (
	"math"
	"slices"
)

// Firmware is what runs on the autopilot.
type Firmware byte

// The firmwares.
const (
	ArduPlane  Firmware = iota // 4.7-dev
	ArduCopter                 // 4.7-dev
)

// conduct is how a vehicle flies in a mode.
type conduct byte

const (
	sticks  conduct = iota // straight and level: the pilot has let go of the sticks
	guided                 // to the last target that was commanded
	circles                // where it was when the mode began
	returns                // home
	climbs                 // takes off
	follows                // the mission
	lands                  // here
)

// mode is a row of the table of modes.
type mode struct {
	number  uint32
	name    string
	conduct conduct
}

// firmware is what differs between the firmwares.
type firmware struct {
	name            string
	kind, autopilot byte // MAV_TYPE, MAV_AUTOPILOT
	wing            bool // it cannot hover
	modes           []mode
	orders          map[uint16]handler
	parameters      []parameter
	identity        string // the parameter with the number of the system
	disarmDelay     string // the parameter with the time on the ground until it disarms [s]
	batteryActions  map[int]conduct
	station         [2]string // the parameters that enable the failsafe for the ground station, and its time [s]
	homeItem        bool      // the first item of a mission is home
	atomic          bool      // an upload replaces the mission when it is complete
	asksInt         bool      // it requests items with the newer message
	bytewise        bool      // values of parameters that are integers are sent as their bytes
	accept          float64   // distance at which a waypoint is passed, at least [m]
	endurance       float64   // [s]
	landedLag       int64     // of the landed state [ns]
	capabilities    uint64    // MAV_PROTOCOL_CAPABILITY
	version         uint32
	banner          string // the text after the boot
}

// firmwares is the table of firmwares.
var firmwares = [...]struct {
	name string // of the vehicle
	row  *firmware
}{{"plane", &arduPlane}, {"copter", &arduCopter}}

// FirmwareNames returns the names by which firmwares are chosen.
func FirmwareNames() []string {
	var names []string
	for _, f := range firmwares {
		names = append(names, f.name)
	}
	return names
}

// FirmwareNamed returns the firmware with a name; false: there is none.
func FirmwareNamed(name string) (Firmware, bool) {
	i := slices.Index(FirmwareNames(), name)
	return Firmware(max(i, 0)), i >= 0
}

// row returns the row of a firmware.
func (f Firmware) row() *firmware {
	if int(f) >= len(firmwares) {
		panic("fake: unknown firmware")
	}
	return firmwares[f].row
}

// with returns the first mode of the firmware with a conduct.
func (f *firmware) with(c conduct) *mode {
	for i := range f.modes {
		if f.modes[i].conduct == c {
			return &f.modes[i]
		}
	}
	panic("fake: the firmware has no such mode")
}

// guidance is where the autopilot flies.
type guidance struct {
	target   place
	radius   float64 // of the circle round the target; 0: as the parameter says
	reverse  bool    // anticlockwise
	speed    float64 // that was commanded; 0: none
	held     bool    // the speed was commanded in guided mode, and is kept there
	rate     float64 // largest climb rate that was commanded; 0: none
	stuck    bool    // heights of later targets are ignored until guided mode is left
	course   float64 // straight flight [rad]
	leaving  float64 // height at which the take-off ends [m]
	climbing bool    // the take-off is under way
}

// hold makes the present position the target.
func (v *Autopilot) hold() {
	g := &v.guidance
	g.target, g.radius, g.reverse = v.body.place, 0, false
	g.course = v.body.heading
}

// radius returns the radius of the circle that the aeroplane flies [m].
func (v *Autopilot) circle() float64 {
	r := v.guidance.radius
	if r == 0 {
		r = math.Abs(v.value("WP_LOITER_RAD"))
	}
	return max(r, tightest*v.body.speed*v.body.speed)
}

// guide returns what the mode wants of the vehicle. The pilot's sticks turn it in every mode.
func (v *Autopilot) guide(dt float64) demand {
	d := v.steer(dt)
	if v.now < v.pilot.sticks && v.value("STICK_MIXING") != 0 {
		d.n, d.e, d.turn = 0, 0, 0.3
	}
	return d
}

// steer returns what the mode wants.
func (v *Autopilot) steer(dt float64) demand {
	g := &v.guidance
	if !v.firmware.wing {
		return v.steerCopter(dt)
	}
	switch v.mode.conduct {
	case climbs:
		return v.takeOff()
	case follows:
		return v.follow(dt)
	case guided, circles, returns:
		if !v.body.flying {
			return demand{speed: v.airspeed(), climb: v.vertical(v.guidance.target.h), power: v.armed}
		}
		return v.to(g.target)
	}
	return v.straight()
}

// straight is level flight on the course.
func (v *Autopilot) straight() demand {
	if !v.body.flying {
		return demand{} // the throttle stick is closed
	}
	sin, cos := math.Sincos(v.guidance.course)
	return demand{n: cos, e: sin, speed: cruise, climb: v.vertical(v.guidance.target.h), power: true}
}

// airspeed returns the airspeed that is wanted [m/s].
func (v *Autopilot) airspeed() float64 {
	if v.guidance.speed > 0 {
		return v.guidance.speed
	}
	return v.value("AIRSPEED_CRUISE")
}

// vertical returns the climb rate towards a height [m/s].
func (v *Autopilot) vertical(h float64) float64 {
	most := climbRate
	if v.guidance.rate > 0 {
		most = v.guidance.rate
	}
	return within(climbGain*(h-v.body.h), most)
}

// to flies to a place and circles there.
//
// The course is that of a field round the circle: along it there, straight to the centre from two radii on.
func (v *Autopilot) to(p place) demand {
	if !v.firmware.wing {
		return v.towards(p)
	}
	r := v.circle()
	n, e := v.body.n-p.n, v.body.e-p.e
	off := math.Hypot(n, e) - r
	side := 1.0
	if v.guidance.reverse {
		side = -1
	}
	course := math.Atan2(e, n) + side*math.Pi/2*(1+math.Tanh(6/math.Pi*off/r))
	d := demand{speed: v.airspeed(), climb: v.vertical(p.h), power: true}
	d.e, d.n = math.Sincos(course)
	if math.Abs(off) < r/2 {
		d.turn = side * v.body.speed / r
	}
	return d
}

// takeOff climbs on the heading of the start to the height of the take-off, then circles there.
func (v *Autopilot) takeOff() demand {
	g := &v.guidance
	if !v.armed {
		return demand{}
	}
	if !g.climbing {
		return v.to(g.target)
	}
	sin, cos := math.Sincos(g.course)
	if v.body.h >= g.leaving-0.2 {
		g.climbing = false
		g.target = place{v.body.n, v.body.e, g.leaving}
	}
	return demand{n: cos, e: sin, speed: v.airspeed(), climb: min(climbOut, 1+g.leaving-v.body.h), power: true}
}

// climbOutTo begins a take-off to a height above home.
func (v *Autopilot) climbOutTo(h float64) {
	g := &v.guidance
	g.course, g.leaving = v.body.heading, h+v.home.h
	g.climbing = v.body.h < g.leaving-2
	g.target = place{v.body.n, v.body.e, max(g.leaving, v.body.h)}
}

// estimate is what the estimator knows of the motion.
func (v *Autopilot) estimate() {
	if v.guard.positioned(v) {
		v.shown = v.body
	}
}

// cause is why a mode changes.
type cause byte

const (
	byCommand cause = iota
	byPilot
	byFailsafe
	byMission
)

// setMode changes the mode, if the vehicle accepts it.
func (v *Autopilot) setMode(number uint32, why cause) bool {
	var to *mode
	for i := range v.firmware.modes {
		if v.firmware.modes[i].number == number {
			to = &v.firmware.modes[i]
		}
	}
	switch {
	case to == nil:
		if why == byCommand {
			v.say(severityWarning, "No such mode %d", number)
		}
		return false
	case to == v.mode:
		return true
	case why == byCommand && v.guard.recovering(v):
		v.say(severityWarning, "Mode change to %s denied, in fence recovery", to.name)
		return false
	case to.conduct == follows && len(v.memory.stored[missionItems]) < 2,
		to.conduct == climbs && !v.homed:
		v.say(severityWarning, "Mode change to %s failed", to.name)
		return false
	}
	v.enter(to)
	return true
}

// enter begins a mode.
func (v *Autopilot) enter(to *mode) {
	g := &v.guidance
	if v.mode.conduct == guided {
		*g = guidance{speed: g.speed}
		if v.guidance.held {
			g.speed = 0
		}
	}
	v.mode = to
	g.climbing = false
	v.hold()
	switch to.conduct {
	case climbs:
		v.climbOutTo(v.value("TKOFF_ALT"))
	case returns:
		height := v.value("RTL_ALTITUDE")
		if !v.firmware.wing {
			height = max(v.value("RTL_ALT")/100, v.body.h-v.home.h) // [cm]; it never descends before it is at home
		}
		g.target = v.home
		g.target.h += height
	case follows:
		v.beginRoute()
	}
	v.heartbeat()
}
