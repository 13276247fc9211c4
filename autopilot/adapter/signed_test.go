package adapter_test

import (
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/autopilot/frame"
)

// A vehicle signs its frames, and we have no key. One that answers nothing is not attached, and the log says how to go
// on; one that answers, as on USB, gives a grave finding.
func TestVehicleThatSigns(t *testing.T) {
	for _, deaf := range []bool{true, false} {
		p := newPair(t)
		p.writers[0].Sign(frame.SecretOf("secret"), 0, 0)
		p.lose = func(toVehicle bool, _ frame.Message) bool { return toVehicle && deaf }
		p.run(60 * sec)
		want := map[bool]string{true: "attaching: answers: error: the vehicle is heard, and answers nothing: it signs",
			false: "checked: grave: on lines other than USB, the vehicle signs its frames"}[deaf]
		if all := p.log.String(); !strings.Contains(all, want) || !strings.Contains(all, "give its key by --signing-key") {
			t.Errorf("want %q:\n%s", want, all)
		}
	}
}
