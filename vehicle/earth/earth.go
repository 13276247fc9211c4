// Package earth describes places on the earth: geographic coordinates, metres north and east of an origin, and where a
// vehicle may fly: polygons, circles and a greatest height, with the places where it may land instead of at home.
package earth

import "math"

// The ellipsoid of WGS 84 (NGA.STND.0036, section 3.4).
const (
	semiMajor    = 6378137.0           // [m]
	eccentricity = 6.69437999014132e-3 // the first one squared
)

// Position is a point on the ellipsoid of WGS 84.
type Position struct {
	Lat, Lon float64 // geodetic latitude, longitude [deg]
}

// Plane is the plane that touches the ellipsoid at an origin, with coordinates along the origin's meridian and
// parallel. Its scale is that of the ellipsoid at the origin. So it is a map for short distances: at latitudes up to
// 50°, distances from the origin are wrong by up to 0.1 m at 1 km and up to 10 m at 10 km.
type Plane struct {
	origin      Position
	north, east float64 // [m] per degree
}

// NewPlane returns the plane at an origin, which must not be a pole.
func NewPlane(origin Position) Plane {
	sine, cosine := math.Sincos(radians(origin.Lat))
	w := math.Sqrt(1 - eccentricity*sine*sine)
	return Plane{origin, radians(semiMajor * (1 - eccentricity) / (w * w * w)), radians(semiMajor / w * cosine)}
}

// Origin returns the origin.
func (p Plane) Origin() Position { return p.origin }

// Meridian returns metres north for each radian of latitude: the radius of the meridian.
func (p Plane) Meridian() float64 { return p.north * (180 / math.Pi) }

// Parallel returns metres east for each radian of longitude: the radius of the parallel.
func (p Plane) Parallel() float64 { return p.east * (180 / math.Pi) }

// Local returns the coordinates [m] of a place, on the shorter way round the earth.
func (p Plane) Local(at Position) (north, east float64) {
	return (at.Lat - p.origin.Lat) * p.north, math.Remainder(at.Lon-p.origin.Lon, 360) * p.east
}

// Global returns the place at coordinates [m].
func (p Plane) Global(north, east float64) Position {
	return Position{p.origin.Lat + north/p.north, math.Remainder(p.origin.Lon+east/p.east, 360)}
}

func radians(degrees float64) float64 { return degrees * (math.Pi / 180) }
