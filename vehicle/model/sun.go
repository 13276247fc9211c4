package model

import "math"

const (
	degree     = math.Pi / 180 // [rad]
	secondsDay = 86400.0       // [s]
	epochJ2000 = 2451545.0     // Julian day of the epoch 2000-01-01 12:00
)

// site is the place and the day of a run; t = 0 is the local midnight that begins the day.
type site struct {
	latitude, longitude, year, month, day, utcOffset float64

	// Derived.
	midnight                 float64 // Julian day of t = 0, universal time
	dayOfYear                float64
	sinLatitude, cosLatitude float64
}

func (s *site) bindings() []binding {
	return []binding{
		{Parameter{"site.lat_deg", "deg", 28.1, -90, 90, Assumed, "geographic latitude, north positive"}, &s.latitude},
		{Parameter{"site.lon_deg", "deg", -15.4, -180, 180, Assumed,
			"geographic longitude, east positive"}, &s.longitude},
		{Parameter{"site.year", "1", 2013, 1950, 2050, Assumed, "year of the day flown"}, &s.year},
		{Parameter{"site.month", "1", 9, 1, 12, Assumed, "month"}, &s.month},
		{Parameter{"site.day", "1", 21, 1, 31, Assumed, "day of the month"}, &s.day},
		{Parameter{"site.utc_offset_h", "h", 1, -12, 14, Assumed, "local time minus universal time"}, &s.utcOffset},
	}
}

// derive computes the values that depend on the parameters only. It reports whether the date exists.
func (s *site) derive() bool {
	year, month, day := int(s.year), int(s.month), int(s.day)
	whole := float64(year) == s.year && float64(month) == s.month && float64(day) == s.day
	length := [...]int{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}[month-1]
	if month == 2 && year%4 == 0 && (year%100 != 0 || year%400 == 0) {
		length = 29
	}
	start := julianDay(year, month, day)
	s.midnight = start - s.utcOffset/24
	s.dayOfYear = start - julianDay(year, 1, 1) + 1
	s.sinLatitude, s.cosLatitude = math.Sincos(s.latitude * degree)
	return whole && day <= length
}

// julianDay is the Julian day at 0 h universal time of a Gregorian date.
//
// Source: Meeus, Astronomical Algorithms, 2nd ed., equation 7.1.
func julianDay(year, month, day int) float64 {
	if month <= 2 {
		year--
		month += 12
	}
	century := year / 100
	gregorian := 2 - century + century/4
	return math.Floor(365.25*float64(year+4716)) + math.Floor(30.6001*float64(month+1)) +
		float64(day+gregorian) - 1524.5
}

// direction is a unit vector in north, east and up.
type direction struct{ north, east, up float64 }

// elevation above the horizon [rad].
func (d direction) elevation() float64 { return math.Asin(d.up) }

// azimuth from north, clockwise, in [0, 2 pi) [rad].
func (d direction) azimuth() float64 {
	a := math.Atan2(d.east, d.north)
	if a < 0 {
		a += 2 * math.Pi
	}
	return a
}

// sun is the direction to the centre of the sun, without refraction and parallax, seen from the site at a Julian day
// [d, universal time], which a float64 resolves to 40 microseconds. It is the low precision theory of the sun with the
// mean sidereal time: within 0.01 deg from 1950 to 2050.
//
//	sin(dec) = sin(eps) sin(lambda),  tan(ra) = cos(eps) tan(lambda),  hour angle = sidereal time - ra
//
// Sources: Meeus, Astronomical Algorithms, 2nd ed., chapters 12, 13 and 25; NOAA solar calculator.
func (s *site) sun(julian float64) direction {
	days := julian - epochJ2000
	T := days / 36525 // Julian centuries
	meanLongitude := 280.46646 + T*(36000.76983+0.0003032*T)
	meanAnomaly := (357.52911 + T*(35999.05029-0.0001537*T)) * degree
	sinM, cosM := math.Sincos(meanAnomaly)
	sin2M, sin3M := 2*sinM*cosM, sinM*(3-4*sinM*sinM)
	centre := sinM*(1.914602-T*(0.004817+0.000014*T)) + sin2M*(0.019993-0.000101*T) + sin3M*0.000289
	sinNode, cosNode := math.Sincos((125.04 - 1934.136*T) * degree)
	sinLambda, cosLambda := math.Sincos((meanLongitude + centre - 0.00569 - 0.00478*sinNode) * degree)
	sinEps, cosEps := math.Sincos((23.43929111 - T*0.0130042 + 0.00256*cosNode) * degree)
	sinSidereal, cosSidereal := math.Sincos((280.46061837 + 360.98564736629*days + s.longitude) * degree)

	// The direction in equatorial coordinates, turned by the sidereal time and tilted by the latitude.
	sinDec := sinEps * sinLambda
	x, y := cosLambda, cosEps*sinLambda
	meridian := cosSidereal*x + sinSidereal*y // cos(dec) cos(hour angle)
	west := sinSidereal*x - cosSidereal*y     // cos(dec) sin(hour angle)
	return direction{
		north: s.cosLatitude*sinDec - s.sinLatitude*meridian,
		east:  -west,
		up:    max(-1, min(1, s.sinLatitude*sinDec+s.cosLatitude*meridian)),
	}
}
