package fake_test

import (
	"testing"

	"canopy/autopilot/fake"
)

func TestArmThenTakeOff(t *testing.T) {
	s := newStation(t, fake.Options{})
	s.pass(35)
	s.expect(0, s.long(400, 1))
	s.expect(0, s.long(176, 1, 13))
	s.until(20, func() bool { return s.v.State().Height > 45 })
}
