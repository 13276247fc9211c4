package flight

import (
	"fmt"
	"testing"

	"canopy/autopilot/adapter"
	"canopy/vehicle/contract"
)

// TestReasonOfARefusal: the reason belongs to the refusal before it, also to one that is only counted.
func TestReasonOfARefusal(t *testing.T) {
	f, err := newFlight(planeMission(t, `<Action name="a" done="h ge 50 [m]"/>`, ""), contract.Plane, &scripted{}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 30 {
		f.sortie.heed(f, adapter.Refused, fmt.Sprintf("slot: %d", i))
		f.sortie.heed(f, adapter.Refused, fmt.Sprintf("slot: %s%d", adapter.MayExplain, i))
	}
	for i, text := range f.sortie.Refused {
		if want := fmt.Sprintf("slot: %d at 0.0 s: %d", i, i); text != want {
			t.Errorf("%s, not %s", text, want)
		}
	}
	if n := f.sortie.MoreRefused; n != 10 {
		t.Errorf("%d more", n)
	}
}
