package fake

import (
	"math"
	"slices"

	"github.com/canopy-uav/canopy/autopilot/frame"

	mav "github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"
	"github.com/bluenviron/gomavlib/v3/pkg/dialects/common"
)

// Firmware is what runs on the autopilot.
type Firmware byte

// The firmwares.
const (
	ArduPlane  Firmware = iota // 4.7-dev
	ArduCopter                 // 4.7-dev
	PX4Plane                   // as documentation and sources describe it: never measured
	PX4Copter
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
	lifted                 // of a copter: like circles, but the pilot's throttle stick climbs and sinks
)

// mode is a row of the table of modes.
type mode struct {
	number  uint32
	name    string
	conduct conduct
}

// firmware is what differs between the firmwares.
type firmware struct {
	name       string
	kind       mav.MAV_TYPE
	autopilot  mav.MAV_AUTOPILOT
	wing       bool // it cannot hover
	modes      []mode
	orders     map[common.MAV_CMD]handler
	notNow     result // the answer to a command that cannot be executed at present
	parameters []parameter
	names      names
	words      words
	start      start
	station    station
	levels     []level // of the battery, from the highest
	fence      fence
	delay      string // the parameter with the time that a failsafe waits in Hold [s]; "": it acts at once
	port       string // to which it sends beside that of ground stations; "": none
	override   string // the parameter whose lowest bit lets the sticks end a mode; "": they do not

	ended        bool               // missions and take-offs end in Hold; otherwise in a return, and not at all
	idles        bool               // on the ground an aeroplane waits in modes without a take-off
	prompt       bool               // a heartbeat is sent when the mode changes
	strict       bool               // rates above that of the loop, and with a third parameter, are denied
	stale        bool               // positions are sent without an estimate
	homeItem     bool               // the first item of a mission is home
	atomic       bool               // an upload replaces the mission when it is complete
	asksInt      bool               // it requests items with the newer message
	bytewise     bool               // values of parameters that are integers are sent as their bytes
	wider        float64            // its circles are so much wider than asked [m]
	accept       float64            // distance at which a waypoint is passed, at least [m]
	endurance    float64            // [s]
	landedLag    int64              // of the landed state after lift-off [ns],
	downLag      int64              // and after touch-down
	landsOff     int64              // from then until it disarms in the modes that land [ns]; 0: as the parameter says
	unasked      map[uint32]float64 // messages that are sent without a request [Hz]
	fixed        []uint32           // those of them whose rate cannot be changed
	capabilities uint64             // MAV_PROTOCOL_CAPABILITY
	version      uint32
}

// names are the names of parameters that the flight depends on. The firmware may lack some: their value is 0.
type names struct {
	system                   string // the number of the system
	takeOff                  string // height of a take-off [m]
	runway                   string // whether it takes off on wheels; "": it does
	home                     string // height of a return [m * scale]
	circle, accept           string // radius of circles, distance at which a waypoint is passed [m]
	slowest, cruise, fastest string // airspeeds [m/s]
	over, up, down           string // speeds of a copter [m/s * scale]
	scale                    float64
	disarmLanded, disarmIdle string // times on the ground until it disarms [s]
}

// words are the texts of the firmware.
type words struct {
	banner   string // after the boot
	check    string // before the reason of a check that fails
	estimate string // when the position is known; "": none
	armed    string
	disarmed string
	reached  string // with the number of an item
	finished string // the mission is over
	battery  string // the failsafe of the battery acts; "": none
}

// start is when what is needed for arming is there, after the boot [ns].
type start struct {
	home     int64 // satellites give a place
	origin   int64 // of the estimator's coordinates: areas of the fence are loaded then
	position int64 // it is estimated
	ready    int64 // the checks pass
}

// station is the failsafe for the loss of the ground station.
type station struct {
	enable, time string                                 // parameters; the time in s
	watched      func(v *Autopilot, f frame.Frame) bool // reports whether a heartbeat is one of the station
	waits        func(v *Autopilot) bool                // reports whether the failsafe does not act at present
	action       func(v *Autopilot) (conduct, bool)     // false: it only reports the loss
	lost, back   string                                 // texts
	stays        string                                 // after the first, if it does not act
	// It counts the station as seen at the boot, acts before arming, too, and names the mode after its text.
	always bool
}

// level is a level of the battery's charge, and its failsafe. Its limit is a voltage [V], or a part of the charge.
type level struct {
	limit, action string // parameters
	charge        bool   // the limit is a part of the charge
	timer         string // the parameter with the time below the limit [s]; "": none
	actions       map[int]conduct
	text          string
}

// fence is what makes up the fence. A limit without a bit of kinds holds where it is above 0.
type fence struct {
	enable               string // parameters
	kinds                string // bits of the kinds of fences; "": all
	height, over, action string
	actions              map[int]conduct
	locks                string // the parameter whose lowest bit keeps commands from changing the mode outside; "": none
	silent               bool   // a target outside is accepted, and not flown to
	switched             bool   // a command enables it, and a new one is indexed first
}

// firmwares is the table of firmwares.
var firmwares = [...]struct {
	name  string // of the vehicle
	class string // the contract that the vehicle can keep
	text  string
	row   *firmware
}{
	{"plane", "plane", "ArduPlane, as measured on its simulation", &arduPlane},
	{"copter", "copter", "ArduCopter, as its sources show it", &arduCopter},
	{"px4-plane", "plane", "PX4 on an aeroplane, as its documentation and sources describe it; never compared with one",
		&px4Plane},
	{"px4-copter", "copter", "PX4 on a quadrotor, likewise", &px4Copter},
}

// Text describes the firmware in a line.
func (f Firmware) Text() string { return firmwares[f].text }

// Class returns the name of the contract that a vehicle with the firmware can keep.
func (f Firmware) Class() string { return firmwares[f].class }

// Ports returns the addresses to which a vehicle with the firmware sends, if it is told no other ones.
func Ports(f Firmware) []string {
	addresses := []string{"udpout:127.0.0.1:14550"}
	if port := f.row().port; port != "" {
		addresses = append(addresses, "udpout:127.0.0.1:"+port)
	}
	return addresses
}

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
	takeOff  float64 // height of the take-off that was commanded [m above the place of power-on]; 0: as the parameter says
	climbing bool    // the take-off is under way
	caught   bool    // it has come to the circle round the place
	round    place   // where this was
}

// hold makes the present position the target.
func (v *Autopilot) hold() {
	g := &v.guidance
	g.target, g.radius, g.reverse = v.body.place, 0, false
	g.course = v.body.heading
}

// circle returns the radius of the circle that the aeroplane flies [m]. An ArduPlane was asked for 60, 80 and 120 m: it
// came as near as 73 m (of 80) and 113 m, and then flew 78 m, 95 to 101 m, and 134 to 139 m.
func (v *Autopilot) circle() float64 {
	r := v.guidance.radius
	if r == 0 {
		r = math.Abs(v.value(v.firmware.names.circle))
	}
	return max(r+v.firmware.wider, v.body.speed*v.body.speed/(gravity*math.Tan(bankLargest)))
}

// catch tells, once, that an ArduPlane in guided mode has come to the circle round a place: as the item 0 of a mission.
func (v *Autopilot) catch(p place) {
	g := &v.guidance
	if g.caught && g.round.distance(p) < 1 {
		return
	}
	g.round = p
	if g.caught = v.body.distance(p) <= v.circle(); g.caught && v.mode.conduct == guided && v.firmware.homeItem {
		v.send(&mav.MessageMissionItemReached{})
	}
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
	case guided, circles, returns, lands:
		if !v.body.flying && (v.firmware.idles || v.mode.conduct == lands) {
			return demand{}
		}
		if !v.body.flying {
			return demand{speed: v.airspeed(), climb: v.vertical(v.guidance.target.h), power: v.armed}
		}
		if v.mode.conduct == returns && v.landsHome() {
			return v.follow(dt)
		}
		d := v.to(g.target)
		if v.mode.conduct == lands && (!v.firmware.strict || v.body.distance(g.target) < 2*v.circle()) {
			d.climb = -landing
		}
		return d
	}
	return v.straight()
}

// landsHome begins the landing of the mission at the end of a return (1), or instead of it (2), if the parameter says
// so and the mission has one.
func (v *Autopilot) landsHome() bool {
	when := v.value("RTL_AUTOLAND")
	now := when == 2 || when == 1 && v.body.distance(v.home) < 1.5*v.circle()
	return now && v.landingItem() >= 0 && v.orderLandStart(order{}) == accepted
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
	if n := &v.firmware.names; v.guidance.speed > 0 {
		return max(v.value(n.slowest), min(v.value(n.fastest), v.guidance.speed))
	}
	return v.value(v.firmware.names.cruise)
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
	v.catch(p)
	r := v.circle()
	n, e := v.body.n-p.n, v.body.e-p.e
	off := math.Hypot(n, e) - r
	side := 1.0
	if v.guidance.reverse {
		side = -1
	}
	course := math.Atan2(e, n) + side*math.Pi/2*(1+math.Tanh(8/math.Pi*off/r))
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
	if !v.armed || !v.body.flying && v.firmware.names.runway != "" && v.value(v.firmware.names.runway) == 0 {
		return demand{} // it waits for somebody to throw it
	}
	if !g.climbing {
		return v.to(g.target)
	}
	sin, cos := math.Sincos(g.course)
	if v.body.h >= g.leaving-0.2 {
		v.climbed(place{v.body.n, v.body.e, g.leaving})
	}
	return demand{n: cos, e: sin, speed: v.airspeed(), climb: min(climbOut, 1+g.leaving-v.body.h), power: true}
}

// climbed ends a take-off at a place.
func (v *Autopilot) climbed(p place) {
	v.guidance.climbing, v.guidance.target = false, p
	if v.firmware.ended && v.mode.conduct == climbs {
		v.setMode(v.firmware.with(guided).number, byMission)
		v.guidance.target = p
	}
}

// climbOut begins a take-off, to the height that was commanded or that of the parameter.
func (v *Autopilot) climbOut() {
	g := &v.guidance
	g.course, g.leaving = v.body.heading, v.value(v.firmware.names.takeOff)+v.home.h
	if g.takeOff != 0 {
		g.leaving = g.takeOff
	}
	g.climbing = v.body.h < g.leaving-2
	g.target = place{v.body.n, v.body.e, max(g.leaving, v.body.h)}
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
			v.say(mav.MAV_SEVERITY_WARNING, "No such mode %d", number)
		}
		return false
	case to == v.mode:
		return true
	case to.conduct == lands && v.autoland() && !v.body.flying:
		v.say(mav.MAV_SEVERITY_WARNING, "Must already be flying!")
		return false
	case why == byCommand && v.guard.breach != 0 && int(v.value(v.firmware.fence.locks))&1 != 0:
		v.say(mav.MAV_SEVERITY_WARNING, "Mode change to %s denied, in fence recovery", to.name)
		return false
	case to.conduct == follows && len(v.memory.mission()) < v.least(),
		to.conduct == climbs && !v.homed:
		v.say(mav.MAV_SEVERITY_WARNING, "Mode change to %s failed", to.name)
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
	if v.mode.conduct == climbs {
		g.takeOff = 0
	}
	v.mode = to
	v.guard.pending = nil
	g.climbing = false
	v.hold()
	switch to.conduct {
	case guided:
		if v.firmware.ended {
			g.speed = 0 // entering Hold resets it
		}
	case climbs:
		v.climbOut()
	case returns:
		n := &v.firmware.names
		height := v.value(n.home) * n.scale
		if !v.firmware.wing {
			height = max(height, v.body.h-v.home.h) // it never descends before it is at home
		}
		g.target = v.home
		g.target.h += height
	case follows:
		r := &v.route
		if r.complete || r.current >= len(v.memory.mission()) {
			*r = route{}
		}
		if r.current == 0 && v.firmware.homeItem {
			r.current = 1
		}
		r.started, r.entered = true, false
	case lands:
		if v.autoland() {
			g.target.n, g.target.e = v.home.n, v.home.e
		}
	}
	if v.firmware.prompt {
		v.heartbeat()
	}
}

// autoland reports whether the mode that lands does so at home.
func (v *Autopilot) autoland() bool { return v.firmware.wing && v.firmware.strict }

// least returns the number of items of the shortest mission that can be flown.
func (v *Autopilot) least() int {
	if v.firmware.homeItem {
		return 2
	}
	return 1
}
