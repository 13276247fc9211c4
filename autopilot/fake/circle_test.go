package fake_test

import (
	"math"
	"testing"

	"canopy/autopilot/fake"

	"github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"
)

// Circles are as measured (the nearest approach of the smallest was not): the nearest approach is inside of what was
// asked for, the circle is outside. When it is reached, MISSION_ITEM_REACHED comes once, with the number 0.
func TestCirclesAsMeasured(t *testing.T) {
	for _, c := range []struct{ asked, nearest, least, most float64 }{
		{60, 0, 74, 82}, {80, 73, 95, 101}, {120, 113, 134, 139},
	} {
		s := newStation(t, fake.Options{})
		s.v.Set("WP_LOITER_RAD", c.asked)
		s.pass(35)
		s.expect(0, s.long(176, 1, 13))
		s.expect(0, s.long(400, 1))
		s.pass(20)
		s.expect(0, s.place(192, [4]float32{-1, 1}, 1500, 300, 80))
		nearest, reached := math.Inf(1), 0
		s.heard = nil
		s.sampled = func() { nearest = min(nearest, s.distance(1500, 300)) }
		s.pass(120)
		for _, h := range s.heard {
			if m, ok := h.(*ardupilotmega.MessageMissionItemReached); ok && m.Seq == 0 {
				reached++
			}
		}
		least, most := math.Inf(1), 0.0
		s.sampled = func() { least, most = min(least, s.distance(1500, 300)), max(most, s.distance(1500, 300)) }
		s.pass(60)
		if c.nearest > 0 && math.Abs(nearest-c.nearest) > 6 || least < c.least || most > c.most {
			t.Errorf("asked for %g m: %.1f m, then %.1f to %.1f m; want %g, then %g to %g", c.asked, nearest, least, most,
				c.nearest, c.least, c.most)
		}
		if reached != 1 {
			t.Errorf("asked for %g m: reached %d times", c.asked, reached)
		}
	}
}
