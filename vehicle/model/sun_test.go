package model

import (
	"math"
	"strconv"
	"testing"
	"time"
)

// siteOn is a site on a day.
func siteOn(t *testing.T, date string, latitude, longitude, utcOffset float64) *site {
	t.Helper()
	day, err := time.Parse(time.DateOnly, date)
	if err != nil {
		t.Fatal(err)
	}
	s := &site{latitude: latitude, longitude: longitude, utcOffset: utcOffset,
		year: float64(day.Year()), month: float64(day.Month()), day: float64(day.Day())}
	if !s.derive() {
		t.Fatalf("there is no day %s", date)
	}
	return s
}

// hour is the direction of the sun at a clock hour.
func (s *site) hour(h float64) direction { return s.sun(s.midnight + h/24) }

// crossing is the clock time [s] between two hours at which f of the sun's direction changes its sign.
func (s *site) crossing(from, to float64, f func(direction) float64) float64 {
	positive := f(s.hour(from)) > 0
	for range 50 {
		if middle := (from + to) / 2; f(s.hour(middle)) > 0 == positive {
			from = middle
		} else {
			to = middle
		}
	}
	return from * 3600
}

// clock is a time of day [s].
func clock(t *testing.T, text string) float64 {
	t.Helper()
	layout := "15:04"
	if len(text) > len(layout) {
		layout = time.TimeOnly
	}
	c, err := time.Parse(layout, text)
	if err != nil {
		t.Fatal(err)
	}
	return float64(c.Hour()*3600+c.Minute()*60+c.Second()) + float64(c.Nanosecond())*1e-9
}

// Meeus, Astronomical Algorithms, 2nd ed., page 62.
func TestJulianDay(t *testing.T) {
	for _, c := range []struct {
		year, month, day int
		want             float64
	}{
		{1900, 1, 1, 2415020.5}, {1987, 1, 27, 2446822.5}, {1987, 6, 19, 2446965.5}, {1988, 1, 27, 2447187.5},
		{1988, 6, 19, 2447331.5}, {1999, 1, 1, 2451179.5}, {2000, 1, 1, 2451544.5},
	} {
		if got := julianDay(c.year, c.month, c.day); got != c.want {
			t.Errorf("%d-%d-%d: %.1f, want %.1f", c.year, c.month, c.day, got, c.want)
		}
	}
}

// The low precision theory promises 0.01 deg; in the example it does five times better. The example's zenith angle is
// the refracted one, so its own formula for refraction is added; parallax (0.0019 deg) is left out of ours.
func TestSunAgreesWithSPAExample(t *testing.T) {
	c := readValidation(t).SPA.Case
	s := siteOn(t, "2003-10-17", c.Latitude, c.Longitude, 0)
	d := s.sun(c.Julian)
	elevation := d.elevation() / degree
	refraction := c.Pressure / 1010 * 283 / (273 + c.Temperature) *
		1.02 / (60 * math.Tan((elevation+10.3/(elevation+5.11))*degree))
	near(t, "zenith", 90-elevation-refraction, c.Zenith, 0.002)
	near(t, "azimuth", d.azimuth()/degree, c.Azimuth, 0.002)
	declination := math.Asin(s.sinLatitude*d.up + s.cosLatitude*d.north)
	hourAngle := math.Atan2(-d.east, s.cosLatitude*d.up-s.sinLatitude*d.north)
	near(t, "declination", declination/degree, c.Declination, 0.002)
	near(t, "hour angle", hourAngle/degree, c.HourAngle, 0.002)

	// A surface tilted by 30 deg that faces 170 deg.
	elevation += refraction
	incidence := math.Acos(math.Sin(elevation*degree)*math.Cos(30*degree) +
		math.Cos(elevation*degree)*math.Sin(30*degree)*math.Cos(d.azimuth()-170*degree))
	near(t, "incidence", incidence/degree, c.Incidence, 0.002)
}

// 0.01 deg along both circles of the sky.
func TestSunPathAtSite(t *testing.T) {
	s := siteOn(t, "2013-09-21", 28.1, -15.4, 1)
	for _, row := range readValidation(t).Path.Rows {
		d := s.hour(row[0])
		near(t, "elevation", d.elevation()/degree, row[1], 0.01)
		near(t, "azimuth", d.azimuth()/degree, row[2], 0.01/math.Cos(row[1]*degree))
	}
}

// In the tables the sun rises and sets 0.8333 deg below the horizon: 34' of refraction and 16' of radius. An error of
// 0.01 deg is 2.4 s in transit and up to 3.1 s in rise and set at these latitudes; the tables are rounded.
func TestSunriseSunsetTables(t *testing.T) {
	const tolerance = 3.5
	horizon := func(d direction) float64 { return d.elevation()/degree + 0.8333 }
	meridian := func(d direction) float64 { return d.east }
	compare := func(s *site, row []string, noon, tolerance float64) {
		t.Helper()
		near(t, row[0]+" sunrise", s.crossing(noon-12, noon, horizon), clock(t, row[1]), tolerance)
		near(t, row[0]+" sunset", s.crossing(noon, noon+12, horizon), clock(t, row[2]), tolerance)
		if len(row) > 3 {
			near(t, row[0]+" transit", s.crossing(noon-1, noon+1, meridian), clock(t, row[3]), tolerance)
		}
	}
	given := readValidation(t)
	for _, row := range given.RiseSet.NREL.Rows {
		latitude, err := strconv.ParseFloat(row[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		compare(siteOn(t, row[0], latitude, 0, 0), []string{row[0], row[2], row[3]}, 12, tolerance)
	}
	golden := given.SPA.Case
	for _, row := range given.RiseSet.Golden.Rows {
		if row[0] == "2015-08-02" && row[2] == "19:13:58" {
			row[2] = "19:12:58" // the source is a minute off here: the Naval Observatory's row of the day says 19:13
		}
		compare(siteOn(t, row[0], golden.Latitude, golden.Longitude, -7), row, 12, tolerance)
	}
	for _, row := range given.RiseSet.USNO.Rows { // whole minutes
		compare(siteOn(t, row[0], golden.Latitude, golden.Longitude, -7), row, 12, 30+tolerance)
	}
	for _, row := range given.RiseSet.Site.Rows {
		compare(siteOn(t, row[0], 28.1, -15.4, 1), row, 14, tolerance)
	}
}

func TestNoSuchDay(t *testing.T) {
	for _, c := range []struct {
		year, month, day float64
		want             bool
	}{
		{2013, 2, 28, true}, {2013, 2, 29, false}, {2012, 2, 29, true}, {2000, 2, 29, true}, {1900, 2, 29, false},
		{2013, 4, 31, false}, {2013, 4, 30, true}, {2013.5, 4, 30, false}, {2013, 4, 1.5, false},
	} {
		s := site{year: c.year, month: c.month, day: c.day}
		if got := s.derive(); got != c.want {
			t.Errorf("%g-%g-%g exists: %t", c.year, c.month, c.day, got)
		}
	}
}
