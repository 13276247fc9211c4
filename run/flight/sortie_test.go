package flight

import (
	"fmt"
	"slices"
	"testing"

	"github.com/canopy-uav/canopy/autopilot/adapter"
	"github.com/canopy-uav/canopy/vehicle/contract"
)

// TestReasonOfARefusal: the reason belongs to the refusal before it, also to one that is only counted.
func TestReasonOfARefusal(t *testing.T) {
	f, err := newFlight(planeMission(t, `<Action name="a" done="h ge 50 [m]"/>`, ""), contract.Plane, &scripted{}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 30 {
		f.sortie.heed(f, adapter.Refused, -1, fmt.Sprintf("slot: %d", i))
		f.sortie.heed(f, adapter.Refused, -1, fmt.Sprintf("slot: %s%d", adapter.MayExplain, i))
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

// An entry of the log that is about a slot names it once.
func TestSlotsAreNamedOnce(t *testing.T) {
	f, err := newFlight(planeMission(t, `<Action name="a" done="h ge 50 [m]"/>`, ""), contract.Plane, &scripted{}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	p := &page{}
	f.Attach(p)
	if err := f.log([]adapter.Event{
		{Kind: adapter.Waiting, Slot: contract.Plane.Slot(wantedMode), Text: "mode: the position is not known yet"},
		{Kind: adapter.Proved, Slot: contract.Plane.Slot(wantedMode), Text: "mode"},
		{Kind: adapter.Waiting, Slot: contract.Plane.Slot(armSlot), Text: "arm: it no longer holds"},
		{Kind: adapter.Refused, Slot: contract.Plane.Slot("target_h"), Text: "take-off height: failed"},
		{Kind: adapter.Text, Slot: -1, Text: "mode: x"},
	}); err != nil {
		t.Fatal(err)
	}
	want := []string{"0.000 waiting: wanted_mode: the position is not known yet", "0.000 proved: wanted_mode",
		"0.000 waiting: arm: it no longer holds", "0.000 refused: target_h: take-off height: failed", "0.000 text: mode: x"}
	if !slices.Equal(p.lines, want) {
		t.Errorf("%q", p.lines)
	}
}

// The header of a flight has no settings of an integration: there is none.
func TestNothingIsIntegrated(t *testing.T) {
	f, err := newFlight(planeMission(t, `<Action name="a" done="h ge 50 [m]"/>`, ""), contract.Plane, &scripted{}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if h := f.Header(); h.RelTol != 0 || h.Method != "" || h.Horizon != 1000 {
		t.Errorf("%+v", h)
	}
}
