package adapter

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/autopilot/service"
	"github.com/canopy-uav/canopy/vehicle/earth"
)

// aim is what a goal does with the target.
type aim uint8

const (
	nothing aim = iota
	climbing
	flying
)

// unfit returns what is wrong with the wanted values of a goal, whatever the autopilot accepts; "" if nothing is.
func (a *Adapter) unfit(g *goal) string {
	slots := g.slots
	if a.disarms(g) {
		return ""
	}
	if g.aim != nothing {
		slots = append(slices.Clip(slots), "target_h")
	}
	for _, name := range slots {
		i := a.contract.Slot(name)
		if i < 0 || a.want[i] == a.contract.Slots[i].Default {
			continue
		}
		if s, v := &a.contract.Slots[i], a.want[i]; !(v >= s.Min && v <= s.Max) || math.IsInf(v, 0) {
			return fmt.Sprintf("%s = %v%s is not from %v to %v", name, v, strings.TrimSuffix(" "+s.Unit, " 1"), s.Min, s.Max)
		}
	}
	h, at := a.wanted("target_h"), earth.Coordinates{North: a.wanted("target_north"), East: a.wanted("target_east")}
	switch {
	case g.aim == nothing || h == 0:
	case a.top() > 0 && h > a.top():
		return fmt.Sprintf("target_h = %v m is above the mission's fence, which ends at %v m", h, a.top())
	case g.aim == flying && !a.options.Fence.Allows(at, h):
		return fmt.Sprintf("the target, %.0f m north and %.0f m east, is outside the mission's fence", at.North, at.East)
	}
	return ""
}

// send sends a command, if its numbers are finite. The only others are those that the firmware takes for "none":
// elsewhere an autopilot may stop at them.
func (a *Adapter) send(o service.Order) (t service.Ticket, why string) {
	for i, v := range o.Params {
		none := math.IsNaN(v) && a.firmware != nil && slices.Contains(a.firmware.none[o.ID], i)
		if sent := float64(float32(v)); sent-sent != 0 && !none {
			return 0, fmt.Sprintf("parameter %d of command %d would be %v", i+1, o.ID, v)
		}
	}
	return a.commands.Send(a.now, o), ""
}
