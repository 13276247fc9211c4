package mission

import (
	"math"
	"slices"

	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/vehicle/earth"
	"github.com/canopy-uav/canopy/vehicle/model"
)

var radian, _ = expr.ParseUnit("rad")

// home returns the constants of home that expressions may read: those that the mission sets.
func (m *Mission) home() expr.Scope {
	scope := expr.Scope{}
	add := func(name string, unit expr.Unit, v float64) { scope[name] = expr.Variable{Unit: unit, Constant: &v} }
	at, alt, given := m.Site()
	if given {
		plane := earth.NewPlane(at)
		add("home_lat", radian, at.Lat*(math.Pi/180))
		add("home_lon", radian, at.Lon*(math.Pi/180))
		add("home_meridian", metre, plane.Meridian())
		add("home_parallel", metre, plane.Parallel())
	}
	if m.leveled {
		add("home_alt", metre, alt)
	}
	return scope
}

// siteless reports whether a signal of a contract's vehicle depends on a place of home that the mission does not set.
func (m *Mission) siteless(name string) bool {
	return m.Vehicle.Sources != nil && (!m.placed && (name == "lat" || name == "lon") || !m.leveled && name == "alt")
}

// parameter returns the value of a parameter of the vehicle, 0 if it has none of this name.
func (m *Mission) parameter(name string) float64 {
	i := slices.IndexFunc(m.Vehicle.Parameters, func(p model.Parameter) bool { return p.Name == name })
	if i < 0 {
		return 0
	}
	return m.Parameters[i]
}
