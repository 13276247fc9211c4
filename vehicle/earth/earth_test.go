package earth

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The lengths of a degree of latitude and of longitude [m] on WGS 84 are published in many tables, rounded to 1 m.
func TestLengthOfADegree(t *testing.T) {
	for _, c := range []struct{ lat, north, east float64 }{
		{0, 110574, 111320}, {45, 111132, 78847}, {60, 111412, 55800},
	} {
		p := NewPlane(Position{c.lat, 10})
		// One minute on each side of the origin: the plane's scale is the derivative there.
		north, east := p.Local(Position{c.lat + 1./60, 10 + 1./60})
		if math.Abs(north*60-c.north) > 5 || math.Abs(east*60-c.east) > 5 {
			t.Errorf("latitude %v: %v, %v m per degree, want %v, %v", c.lat, north*60, east*60, c.north, c.east)
		}
	}
}

// chord is the distance [m] between two places through the earth, from their Cartesian coordinates.
func chord(a, b Position) float64 {
	x := func(p Position) [3]float64 {
		sine, cosine := math.Sincos(radians(p.Lat))
		n := semiMajor / math.Sqrt(1-eccentricity*sine*sine)
		return [3]float64{n * cosine * math.Cos(radians(p.Lon)), n * cosine * math.Sin(radians(p.Lon)),
			n * (1 - eccentricity) * sine}
	}
	u, v := x(a), x(b)
	return math.Hypot(math.Hypot(u[0]-v[0], u[1]-v[1]), u[2]-v[2])
}

// Distances on the plane are those through the earth, as accurate as the doc comment states; Global is the inverse.
func TestPlane(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		p := NewPlane(Position{random.Float64()*100 - 50, random.Float64()*360 - 180})
		for _, c := range []struct{ distance, tolerance float64 }{{1000, 0.1}, {10_000, 10}} {
			sine, cosine := math.Sincos(random.Float64() * 2 * math.Pi)
			at := p.Global(c.distance*cosine, c.distance*sine)
			if off := math.Abs(chord(p.Origin(), at) - c.distance); off > c.tolerance {
				t.Fatalf("%v m from %v: %v m wrong", c.distance, p.Origin(), off)
			}
			if at.Lon < -180 || at.Lon > 180 {
				t.Fatalf("longitude %v", at.Lon)
			}
			north, east := p.Local(at)
			if math.Hypot(north-c.distance*cosine, east-c.distance*sine) > 1e-6 {
				t.Fatalf("%v: %v, %v is not the way back", at, north, east)
			}
		}
	}
}
