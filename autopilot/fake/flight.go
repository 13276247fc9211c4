package fake

import (
	"math"
)

// place is a point [m north and east of the place of power-on, m above it].
type place struct{ n, e, h float64 }

// distance returns the horizontal distance [m].
func (p place) distance(q place) float64 { return math.Hypot(q.n-p.n, q.e-p.e) }

// body is the motion of the vehicle.
type body struct {
	place
	speed   float64 // of an aeroplane: airspeed along the heading [m/s]
	vn, ve  float64 // of a copter: speed over ground [m/s]
	climb   float64 // [m/s]
	heading float64 // from north to east [rad]
	bank    float64 // right wing down [rad]
	flying  bool
	since   int64 // time of the last take-off or touch-down
}

// demand is what the guidance wants of the motion.
type demand struct {
	n, e  float64 // direction of flight; a copter: its speed over ground [m/s]
	turn  float64 // rate of turn on the way [rad/s]
	speed float64 // of an aeroplane [m/s]
	climb float64 // [m/s]
	power bool    // the motor runs
}

const gravity = 9.80665 // [m/s^2]

// The flight of the aeroplane, a first-order model of what was measured on ArduPlane's simulator: 55 m in 8.8 s after
// arming, 20 m higher in 8.7 s, 25 m/s from 22 in 3 s, circles as in [circle].
const (
	cruise       = 22.0
	speedLag     = 0.9  // [s]
	acceleration = 2.0  // [m/s^2]
	launch       = 8.0  // acceleration of the take-off [m/s^2]
	liftOff      = 12.0 // [m/s]
	climbLag     = 1.0  // [s]
	climbGain    = 0.3  // climb rate per error of height [1/s]
	climbRate    = 4.0  // largest one [m/s]
	climbOut     = 9.0  // of the take-off [m/s]
	glide        = 3.0  // sink rate without motor [m/s]
	landing      = 2.0  // sink rate of a landing on a circle [m/s]
	headingGain  = 0.6  // rate of turn per error of course [1/s]
	bankLag      = 0.4  // [s]
	bankLargest  = 40 * math.Pi / 180
	stall        = 8.0
)

// The flight of the copter.
const (
	copterSink = 1.5 // [m/s]
	copterLand = 0.7
	copterLag  = 0.5 // [s]
)

// move lets the vehicle fly for dt [s].
func (v *Autopilot) move(dt float64) {
	d := demand{}
	if v.now-v.booted >= silentBoot {
		d = v.guide(dt)
	}
	if !v.armed {
		d.power = false
	}
	b := &v.body
	if v.firmware.wing {
		b.fly(d, v.wind, dt)
	} else {
		b.hover(d, dt)
	}
	if b.h <= 0 && b.climb <= 0 { // the ground is flat
		b.h, b.climb, b.bank = 0, 0, 0
		if b.flying {
			b.flying, b.since = false, v.now
		}
	} else if !b.flying && b.h > 0.3 {
		b.flying, b.since = true, v.now
	}
	if d.power {
		v.charge = max(0, v.charge-dt/v.firmware.endurance)
	}
}

// fly moves an aeroplane.
func (b *body) fly(d demand, wind [2]float64, dt float64) {
	if !d.power {
		d.speed, d.climb = 0, -glide
		if b.flying {
			d.speed = cruise * 0.75
		}
	}
	most := acceleration
	if b.speed < liftOff+2 {
		most = launch
	}
	b.speed += within((d.speed-b.speed)/speedLag, most) * dt
	if !b.flying && b.speed < liftOff {
		d.climb = min(d.climb, 0)
	}
	b.climb += (d.climb - b.climb) / climbLag * dt
	if b.flying {
		track := math.Atan2(d.e, d.n)
		drift := math.Asin(within((wind[1]*math.Cos(track)-wind[0]*math.Sin(track))/max(b.speed, stall), 1))
		rate := d.turn
		if d.n != 0 || d.e != 0 {
			rate += headingGain * math.Remainder(track-drift-b.heading, 2*math.Pi)
		}
		bank := within(math.Atan(b.speed*rate/gravity), bankLargest)
		b.bank += (bank - b.bank) / bankLag * dt
		b.heading = math.Mod(b.heading+gravity*math.Tan(b.bank)/max(b.speed, stall)*dt+2*math.Pi, 2*math.Pi)
	} else {
		wind = [2]float64{}
	}
	sin, cos := math.Sincos(b.heading)
	b.vn, b.ve = b.speed*cos+wind[0], b.speed*sin+wind[1]
	b.n += b.vn * dt
	b.e += b.ve * dt
	b.h += b.climb * dt
}

// hover moves a copter.
func (b *body) hover(d demand, dt float64) {
	if !d.power {
		d = demand{climb: -9}
	}
	if !b.flying && d.climb <= 0 {
		d.n, d.e = 0, 0
	}
	b.vn += (d.n - b.vn) / copterLag * dt
	b.ve += (d.e - b.ve) / copterLag * dt
	b.climb += (d.climb - b.climb) / copterLag * dt
	if v := math.Hypot(d.n, d.e); v > 1 {
		b.heading += within(math.Remainder(math.Atan2(d.e, d.n)-b.heading, 2*math.Pi), 1.5*dt)
		b.heading = math.Mod(b.heading+2*math.Pi, 2*math.Pi)
	}
	b.n += b.vn * dt
	b.e += b.ve * dt
	b.h += b.climb * dt
}

// within limits the magnitude of a value.
func within(x, most float64) float64 { return max(-most, min(most, x)) }
