package adapter

import (
	"cmp"
	"math"
	"slices"

	mav "github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"

	"github.com/canopy-uav/canopy/vehicle/earth"
)

// estimate is what the autopilot reports of its estimator: flags, and those of them that make it useless.
type estimate struct{ flags, bad uint64 }

// The flags of EKF_STATUS_REPORT (193, ArduPilot) and ESTIMATOR_STATUS (230, PX4).
const (
	absolutePosition = 16
	constantPosition = 128
	ekfBad           = constantPosition | 1024 | 32768 // not initialised, GPS glitch
	estimatorBad     = constantPosition | 1024         // GPS glitch
)

// position reports whether the estimator has a position on the earth.
func (e estimate) position() bool { return e.flags&absolutePosition != 0 && e.flags&e.bad == 0 }

func boolean(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// unless returns a value, or NaN if it is the sentinel for unknown.
func unless(value, sentinel float64) float64 {
	if value == sentinel {
		return math.NaN()
	}
	return value
}

// turn returns an angle [rad] between 0 and 2π.
func turn(angle float64) float64 {
	if angle = math.Mod(angle, 2*math.Pi); angle < 0 {
		angle += 2 * math.Pi
	}
	return angle
}

// degrees returns the place of a message's coordinates.
func degrees(lat, lon int32) earth.Position {
	return earth.Position{Lat: float64(lat) * 1e-7, Lon: float64(lon) * 1e-7}
}

func (a *Adapter) place() earth.Position { return degrees(a.facts.position.Lat, a.facts.position.Lon) }

func (a *Adapter) height() float64    { return float64(a.facts.position.RelativeAlt) * 1e-3 }
func (a *Adapter) northward() float64 { return float64(a.facts.position.Vx) * 1e-2 }
func (a *Adapter) eastward() float64  { return float64(a.facts.position.Vy) * 1e-2 }
func (a *Adapter) climb() float64     { return -float64(a.facts.position.Vz) * 1e-2 }

// located reports whether the position is known. An autopilot goes on to send stale positions when its estimator has
// none.
func (a *Adapter) located() bool {
	if p := a.facts.position; p != nil && (max(p.Lat, -p.Lat) > 90e7 || max(p.Lon, -p.Lon) > 180e7) {
		return false // no place on the earth
	}
	return a.fresh(groupPosition) && a.fresh(groupEstimator) && a.facts.estimator.position()
}

// plane is the map on which positions are metres: at the site of the mission, which is where its home is meant to be,
// so that places on the earth stay where they are; at home if the mission has none.
func (a *Adapter) plane() earth.Plane {
	if a.options.Site != nil {
		return earth.NewPlane(*a.options.Site)
	}
	return a.facts.plane
}

// local returns the position [m] north and east of home, NaN while home is unknown.
func (a *Adapter) local() (north, east float64) {
	if a.facts.home == nil {
		return math.NaN(), math.NaN()
	}
	return a.plane().Local(a.place())
}

// settle lays the local plane at the home position.
func (f *facts) settle() bool {
	f.plane = earth.NewPlane(degrees(f.home.Latitude, f.home.Longitude))
	return true
}

// Home returns the vehicle's home, and whether it is known.
func (a *Adapter) Home() (at earth.Position, known bool) {
	return a.facts.plane.Origin(), a.facts.home != nil
}

// distance returns the horizontal distance [m] from the wanted target, 0 if there is none.
func (a *Adapter) distance() float64 {
	if !a.located() {
		return math.NaN()
	}
	if a.wanted("target_h") == 0 {
		return 0
	}
	north, east := a.local()
	return math.Hypot(north-a.wanted("target_north"), east-a.wanted("target_east"))
}

// voltage returns the sum of the cells [V]. An autopilot that does not measure them puts the pack's voltage into the
// first.
func (a *Adapter) voltage() float64 {
	sum, known := 0.0, false
	for _, cell := range a.facts.battery.Voltages {
		if cell != math.MaxUint16 {
			sum, known = sum+float64(cell)*1e-3, true
		}
	}
	if !known {
		return math.NaN()
	}
	return sum
}

// prearm returns whether the vehicle could be armed, NaN if that is unknown or stale. Health means nothing where a
// check is not present.
func (a *Adapter) prearm() float64 {
	const bit = mav.MAV_SYS_STATUS_PREARM_CHECK
	if !a.fresh(groupStatus) || a.facts.status.OnboardControlSensorsPresent&bit == 0 {
		return math.NaN()
	}
	return boolean(a.facts.status.OnboardControlSensorsHealth&bit != 0)
}

// inAir returns whether the vehicle flies, NaN if that is unknown or stale.
func (a *Adapter) inAir() float64 {
	if !a.fresh(groupLanded) {
		return math.NaN()
	}
	switch a.facts.landed.LandedState {
	case mav.MAV_LANDED_STATE_ON_GROUND:
		return 0
	case mav.MAV_LANDED_STATE_IN_AIR, mav.MAV_LANDED_STATE_TAKEOFF,
		mav.MAV_LANDED_STATE_LANDING:
		return 1
	}
	return math.NaN() // undefined
}

// airspeed returns the airspeed [m/s], NaN before the first.
func (a *Adapter) airspeed() float64 {
	if a.facts.hud == nil {
		return math.NaN()
	}
	return float64(a.facts.hud.Airspeed)
}

func (a *Adapter) armed() bool {
	return a.facts.heartbeat.BaseMode&mav.MAV_MODE_FLAG_SAFETY_ARMED != 0
}

// modeValue returns the place of the contract's word for the vehicle's mode.
func (a *Adapter) modeValue() float64 {
	if a.firmware == nil {
		return math.NaN()
	}
	word := a.firmware.word(a.facts.heartbeat.CustomMode, a.word())
	if word == a.word() && a.firmware.shared(word) && !a.proven("mode") {
		word = "guided"
	}
	return float64(slices.Index(a.contract.Signals[a.contract.Signal("mode")].Values, word))
}

// reached returns whether the vehicle is at the wanted target, NaN if its position is unknown. A plane circles it: the
// radius counts as at the target, and so does a circle as tight as the speed allows.
func (a *Adapter) reached() float64 {
	if !a.located() || a.firmware == nil || a.facts.home == nil {
		return math.NaN()
	}
	if a.wanted("target_h") == 0 {
		return 0
	}
	speed := math.Hypot(a.northward(), a.eastward())
	within := cmp.Or(a.wanted("radius"), a.loiterRadius()) + a.firmware.margin
	if a.firmware.circle != "" {
		within = max(within, speed*speed/tightest+10)
	}
	return boolean(a.distance() <= within && math.Abs(a.height()-a.wanted("target_h")) <= a.firmware.level &&
		speed <= a.firmware.rest)
}

// tightest is the acceleration towards the centre of the tightest circle on which a plane counts as at its target
// [m/s^2].
const tightest = 6

// radius returns the radius [m] of the circle round the target, 0 if it is not known. The sign of a parameter is a
// direction.
func (a *Adapter) radius() float64 {
	return cmp.Or(a.wanted("radius"), math.Abs(a.facts.parameters[a.firmware.circle]))
}

// loiterRadius returns the radius [m] of the vehicle's own circles, that of the firmware as delivered if it did not
// answer, NaN if it is not known what vehicle it is.
func (a *Adapter) loiterRadius() float64 {
	if a.firmware == nil {
		return math.NaN()
	}
	if r, ok := a.facts.parameters[a.firmware.circle]; ok {
		return math.Abs(r)
	}
	return a.firmware.delivered
}
