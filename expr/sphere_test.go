package expr

import (
	"math"
	"testing"
)

// Lengths on the sphere differ by less than 0.6 % from those on the Earth's ellipsoid (WGS 84) between the same latitudes
// and longitudes, since its radii of curvature do: they are between b^2/a and a^2/b.
func TestSphereIsNearTheEarth(t *testing.T) {
	const a, b = 6378137, 6378137 * (1 - 1/298.257223563)
	for _, r := range []float64{b * b / a, a * a / b} {
		if e := math.Abs(EarthRadius/r - 1); e > 0.006 {
			t.Errorf("radius %g: %g off", r, e)
		}
	}
}
