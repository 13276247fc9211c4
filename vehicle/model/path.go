package model

import "math"

// airframe is the wing and the mass of the point mass.
type airframe struct {
	mass, span, area, zeroDrag, oswald, zeroLift, liftSlope float64

	inducedDrag float64 // derived: d CD/d CL^2
}

func (a *airframe) bindings() []binding {
	return []binding{
		{Parameter{"airframe.mass", "kg", 110, 10, 2000, DLR,
			"mass: 100 kg empty and 5 kg payload published, 5 kg margin"},
			&a.mass},
		{Parameter{"airframe.span", "m", 23, 2, 100, DLR, "wing span"}, &a.span},
		{Parameter{"airframe.S", "m^2", 25, 1, 300, Assumed, "wing area"}, &a.area},
		{Parameter{"airframe.CD0", "1", 0.013, 0.003, 0.1, Assumed, "drag coefficient without lift"}, &a.zeroDrag},
		{Parameter{"airframe.oswald", "1", 0.9, 0.5, 1, Assumed, "span efficiency"}, &a.oswald},
		{Parameter{"airframe.CL0", "1", 0.45, -0.5, 1.5, Assumed,
			"lift coefficient of the cambered section at zero incidence"},
			&a.zeroLift},
		{Parameter{"airframe.CLa", "1/rad", 5.7, 3, 6.3, Assumed, "slope of the lift with incidence"}, &a.liftSlope},
	}
}

func (a *airframe) derive() { a.inducedDrag = 1 / (math.Pi * a.oswald * a.span * a.span / a.area) }

// drag coefficient at a lift coefficient.
//
//	CD = CD0 + CL^2/(pi e AR)
func (a *airframe) drag(CL float64) float64 { return a.zeroDrag + a.inducedDrag*CL*CL }

// airspeed is the equivalent airspeed [m/s] of level flight at a lift coefficient.
func (a *airframe) airspeed(CL float64) float64 {
	return math.Sqrt(2 * a.mass * gravity / (a.area * seaLevelDensity * CL))
}

// autopilot holds the gains of altitude, airspeed and course.
type autopilot struct {
	altitudeGain, climbLag, climbRate, sinkShare, airspeedFrequency, courseGain, bankLag, largestBank float64
}

func (a *autopilot) bindings() []binding {
	return []binding{
		{Parameter{"autopilot.k_h", "1/s", 0.02, 0.001, 1, Assumed,
			"climb rate commanded per altitude error"}, &a.altitudeGain},
		{Parameter{"autopilot.tau_w", "s", 15, 0.1, 300, Assumed, "time constant of the climb rate"}, &a.climbLag},
		{Parameter{"autopilot.w_climb", "m/s", 0.8, 0.05, 5, Assumed, "largest climb rate"}, &a.climbRate},
		{Parameter{"autopilot.sink_frac", "1", 0.97, 0.1, 1.5, Assumed,
			"largest sink rate over that of the power-off glide"},
			&a.sinkShare},
		{Parameter{"autopilot.w_eas", "rad/s", 0.25, 0.01, 5, Assumed,
			"natural frequency of the airspeed filter, damping 1"},
			&a.airspeedFrequency},
		{Parameter{"autopilot.k_chi", "1/s", 0.08, 0.001, 2, Assumed,
			"course rate commanded per course error"}, &a.courseGain},
		{Parameter{"autopilot.tau_phi", "s", 4, 0.1, 60, Assumed, "time constant of the bank angle"}, &a.bankLag},
		{Parameter{"autopilot.phi_max_deg", "deg", 20, 1, 60, Assumed, "largest bank angle"}, &a.largestBank},
	}
}

// climbCommand is the climb rate [m/s] commanded for an altitude error [m], between the maximum sink rate, a fraction
// of that of the power-off glide, and the maximum climb rate [m/s].
func (a *autopilot) climbCommand(altitudeError, glide float64) float64 {
	w := smoothMin(a.altitudeGain*altitudeError, a.climbRate, 0.02)
	return smoothMax(w, -a.sinkShare*glide, 0.02)
}

// bankCommand is the bank angle [rad] that follows a vector field onto a circle and round it clockwise. north and east
// are measured from the centre [m]; speed is the true airspeed [m/s], radius that of the circle [m]. It also returns
// the distance from the centre [m].
//
//	desired course = bearing from the centre + pi/2 + atan(2 (d - R)/R)
//	turn rate = k (course error) + exp(-(2 (d - R)/R)^2) V/R
//	bank = phimax tanh(atan(V/g (turn rate))/phimax)
//
// Source of the field: Nelson, Barber, McLain and Beard (2007), Vector field path following for miniature air vehicles,
// IEEE Transactions on Robotics 23(3).
func (a *autopilot) bankCommand(north, east, sinCourse, cosCourse, speed, radius float64) (bank, distance float64) {
	distance = math.Sqrt(north*north+east*east) + 1e-6
	off := 2 * (distance - radius) / radius
	// The direction (north + i east) i (1 + i off), so that one arc tangent gives the course error within (-pi, pi].
	fieldNorth, fieldEast := -off*north-east, north-off*east
	courseError := math.Atan2(fieldEast*cosCourse-fieldNorth*sinCourse, fieldNorth*cosCourse+fieldEast*sinCourse)
	turnRate := a.courseGain*courseError + exp(-min(off*off, 600))*speed/radius
	largest := a.largestBank * degree
	return largest * math.Tanh(math.Atan(speed*(1/gravity)*turnRate)/largest), distance
}

// smoothMin is a minimum whose corner is rounded over a width e.
func smoothMin(a, b, e float64) float64 { return 0.5 * (a + b - math.Sqrt((a-b)*(a-b)+e*e)) }

// smoothMax is a maximum whose corner is rounded over a width e.
func smoothMax(a, b, e float64) float64 { return 0.5 * (a + b + math.Sqrt((a-b)*(a-b)+e*e)) }
