package qgc

import (
	"fmt"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/vehicle/earth"
)

// What an item of the payload says, the library does, or the item is refused or left out with its reason.
func TestPayloadItems(t *testing.T) {
	for _, c := range []struct {
		item [8]float64
		want string // the step, or a part of the message
	}{
		{[8]float64{183, 9, 1700}, "set_servo number=9.0 to_pwm=1700.0"},
		{[8]float64{183, 0, 1700}, "gives no number that can be flown (0)"},
		{[8]float64{183, 33, 1700}, "gives no number that can be flown (33)"},
		{[8]float64{183, 9, 0}, "gives no to_pwm that can be flown (0)"},
		{[8]float64{183, 9, 5000}, "gives no to_pwm"},
		{[8]float64{184, 9, 1700, 2, 2}, "repeat_servo number=9.0 to_pwm=1700.0 times=2.0 period=2.0"},
		{[8]float64{181, 0, 1}, "set_relay number=1.0 state=1.0"},
		{[8]float64{181, 3, 0}, "set_relay number=4.0 state=0.0"},
		{[8]float64{181, 0, -1}, "item 2 (MAV_CMD 181) is left out"},
		{[8]float64{182, 0, 3, 1}, "repeat_relay number=1.0 times=3.0 period=1.0"},
		{[8]float64{182, 0, 0, 1}, "gives no times that can be flown (0)"},
		{[8]float64{203, 0, 0, 0, 0, 1}, "take_photo"},
		{[8]float64{203, 1}, "item 2 (MAV_CMD 203) is left out"},
		{[8]float64{205, -30, 0, 10, 0, 0, 0, 2}, "point_mount pitch=-30.0 yaw=10.0"},
		{[8]float64{205, -30, 0, 10, 0, 0, 0, 3}, "item 2 (MAV_CMD 205) is left out"},
		{[8]float64{205, -30, 5, 10, 0, 0, 0, 2}, "item 2 (MAV_CMD 205) is left out"},
		{[8]float64{1000, -30, 10}, "point_mount pitch=-30.0 yaw=10.0"},
		{[8]float64{1000, -30, 10, 5}, "item 2 (MAV_CMD 1000) is left out"},
		{[8]float64{1000, -30, 10, 0, 0, 16}, "item 2 (MAV_CMD 1000) is left out"},
		{[8]float64{206, 25}, "take_photos distance=25.0"},
		{[8]float64{206, 0}, "stop_photos"},
		{[8]float64{206, -1}, "item 2 (MAV_CMD 206) is left out"},
		{[8]float64{211, 1, 1}, "grip"},
		{[8]float64{211, 1, 0}, "release"},
		{[8]float64{211, 1, 2}, "item 2 (MAV_CMD 211) is left out"},
		{[8]float64{2000, 0, 2, 0}, "take_photos interval=2.0"},
		{[8]float64{2000, 0, 0, 1}, "take_photo"},
		{[8]float64{2000, 0, 0, 0}, "gives no interval that can be flown (0)"},
		{[8]float64{2001}, "stop_photos"},
		{[8]float64{208, 2}, "item 2 (MAV_CMD 208) is left out"},
	} {
		text := document([8]float64{cmdTakeOff, 0, 0, 0, 0, 48, 11, 50}, c.item)
		f, list := Read(&diag.Source{Name: "p.plan", Text: text})
		if f == nil {
			t.Fatal(list.Err())
		}
		steps, list := f.convert()
		got := ""
		if len(list) > 0 {
			got = list[0].Text
		} else {
			s := steps[1]
			for got = s.action; len(s.ports) > 0; s.ports = s.ports[1:] {
				got += fmt.Sprintf(" %s=%.1f", s.ports[0].name, s.ports[0].value)
			}
		}
		if got != c.want && (len(list) == 0 || !strings.Contains(got, c.want)) {
			t.Errorf("%v gives %q, want %q", c.item, got, c.want)
		}
		f.PX4 = true
		if _, list := f.convert(); len(list) != 1 || !strings.Contains(list[0].Text, "nothing of the kind is commanded to a PX4") {
			t.Errorf("%v of a PX4: %v", c.item, list)
		}
	}
}

// The end of photos ends those by distance and those by time, whichever was begun, also in an earlier round of a loop.
func TestStopPhotosEndsBoth(t *testing.T) {
	text := `<root BTCPP_format="4" main_tree_to_execute="m"><include path="library:copter"/><BehaviorTree ID="m">` +
		`<Repeat num_cycles="2"><Sequence><stop_photos/><take_photos distance="5" interval="2"/></Sequence></Repeat>` +
		`</BehaviorTree></root>`
	p, list := plan.Read(&diag.Source{Name: "p.xml", Text: text}, nil)
	if p == nil {
		t.Fatal(list.Err())
	}
	again, list := Export(p.Document, "", Spot{}, true, earth.Fence{}, nil, nil)
	if len(list) > 0 {
		t.Error(list)
	}
	for _, c := range []int{206, 2000, 2001} {
		if want := map[int]int{206: 2, 2000: 1, 2001: 1}[c]; strings.Count(again, fmt.Sprintf(`"command": %d,`, c)) != want {
			t.Errorf("not %d items %d in\n%s", want, c, again)
		}
	}
}
