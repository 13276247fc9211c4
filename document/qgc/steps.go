package qgc

import (
	"fmt"
	"math"
	"slices"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/vehicle/earth"
)

// step is one action of the library of a contract, a tree of it, or a loop over steps.
type step struct {
	action string // its ID in the library
	tree   bool   // it is a tree
	ports  []port
	times  int    // a loop: rounds, -1 for ever
	steps  []step // of a loop
	from   *MissionItem
}

type port struct {
	name  string
	value float64 // [m], [s], [m/s], [1]
}

// trees are the trees of the libraries that an item may stand for.
var trees = []string{"loiter_turns", "loiter_time", "repeat_servo", "repeat_relay"}

// The commands of items (MAV_CMD).
const (
	cmdWaypoint     = 16
	cmdLoiter       = 17
	cmdLoiterTurns  = 18
	cmdLoiterTime   = 19
	cmdReturn       = 20
	cmdLand         = 21
	cmdTakeOff      = 22
	cmdLoiterHeight = 31
	cmdDelay        = 93
	cmdLastMoving   = 95 // items up to this one move the vehicle
	cmdJump         = 177
	cmdSpeed        = 178
)

// The frames of items (MAV_FRAME): altitudes above mean sea level, above home, above the terrain.
var frames = map[int]string{0: "sea", 5: "sea", 3: "home", 6: "home", 2: "none", 10: "terrain", 11: "terrain"}

// converter converts items to steps.
type converter struct {
	*File
	plane  earth.Plane
	diags  diag.List
	at     Spot    // where the item before leaves the vehicle; H is above home
	before float64 // the height before the present item [m]
	steps  []step
}

// convert returns the steps of a mission. An item that moves the vehicle and has no step is an error, since what
// follows would be flown from elsewhere; another one is left out with a warning.
func (f *File) convert() ([]step, diag.List) {
	c := &converter{File: f, plane: earth.NewPlane(f.Home.Position), at: Spot{Position: f.Home.Position}}
	for i := range f.Items {
		c.item(&f.Items[i])
	}
	return c.steps, c.diags
}

func (c *converter) item(i *MissionItem) {
	c.before = c.at.H
	switch i.Command {
	case cmdWaypoint:
		c.goTo(i, "fly_to")
		if i.Params[0] > 0 && c.Copter { // planes do not wait at waypoints
			c.add(i, "wait", port{"duration", i.Params[0]})
		}
	case cmdLoiter:
		c.goTo(i, "fly_to", c.radius(i, 2)...)
		c.add(i, "hold")
	case cmdLoiterTurns:
		c.goTo(i, "loiter_turns", append(c.circle(i, 2), port{"turns", math.Ceil(i.Params[0])})...)
	case cmdLoiterTime:
		c.goTo(i, "loiter_time", append(c.radius(i, 2), port{"duration", i.Params[0]})...)
	case cmdLoiterHeight:
		c.goTo(i, "fly_to", c.radius(i, 1)...)
	case cmdReturn:
		c.add(i, "return_home")
		c.at.Position = c.Home.Position
	case cmdLand:
		if place := c.at.Position; c.placed(i) != place {
			c.goTo(i, "fly_to")
		}
		c.add(i, "land")
	case cmdTakeOff:
		c.move(i)
		c.add(i, "take_off", port{"to_h", c.at.H})
	case cmdDelay:
		c.add(i, "wait", port{"duration", i.Params[0]})
	case cmdSpeed:
		switch v := i.Params[1]; {
		case !(v > 0):
			c.report(i, diag.Warning, codeLeftOut, "", "item %d is left out: it sets no speed", i.Jump)
		case i.Params[0] > 1:
			c.report(i, diag.Warning, codeLeftOut, "", "item %d is left out: it sets a speed of climbing or sinking", i.Jump)
		default:
			c.add(i, "set_speed", port{"to_speed", v})
		}
	case cmdJump:
		c.jump(i)
	default:
		if !c.payload(i) {
			c.unknown(i)
		}
	}
}

// unknown reports an item without a step.
func (c *converter) unknown(i *MissionItem) {
	switch {
	case i.Command <= cmdLastMoving:
		c.report(i, diag.Error, codeItem, "replace it by waypoints, or write this part of the plan by hand",
			"no action of the library does what item %d does (MAV_CMD %d)", i.Jump, i.Command)
	default:
		why := "the library has no action for it"
		if c.PX4 {
			why = "nothing of the kind is commanded to a PX4"
		}
		c.report(i, diag.Warning, codeLeftOut, "", "item %d (MAV_CMD %d) is left out: it does not move the vehicle, and %s",
			i.Jump, i.Command, why)
	}
}

// move sets where an item leads; what it does not give stays as it is.
func (c *converter) move(i *MissionItem) {
	c.at.Position = c.placed(i)
	h := i.Params[6]
	if h-h != 0 {
		return
	}
	switch frames[i.Frame] {
	case "home":
		c.at.H = h
	case "sea":
		c.at.H = h - c.Home.H
	case "terrain":
		c.report(i, diag.Error, codeItem, "give the altitude above launch in QGroundControl",
			"the altitude of item %d is above terrain, whose height is not known", i.Jump)
	default:
		c.report(i, diag.Error, codeItem, "give the altitude above launch in QGroundControl",
			"the frame of item %d (MAV_FRAME %d) is not known", i.Jump, i.Frame)
	}
}

// placed returns the place of an item.
func (c *converter) placed(i *MissionItem) earth.Position {
	lat, lon := i.Params[4], i.Params[5]
	if lat-lat == 0 && lon-lon == 0 && (lat != 0 || lon != 0) { // MAVLink: 0, 0 is "here"
		return earth.Position{Lat: lat, Lon: lon}
	}
	return c.at.Position
}

// goTo adds an action at the place of an item.
func (c *converter) goTo(i *MissionItem, action string, more ...port) {
	c.move(i)
	if i.Command == cmdLand { // its altitude is that of the ground
		c.at.H = c.before
	}
	north, east := c.plane.Local(c.at.Position)
	c.add(i, action, append([]port{{"to_north", north}, {"to_east", east}, {"to_h", c.at.H}}, more...)...)
}

// narrow is the radius [m] of the narrowest circle of the simulated plane at 22 m/s, with a bank of 45 degrees.
const narrow = 50

// circle returns the port of a radius; without one, that of the vehicle or of the library counts.
func (c *converter) circle(i *MissionItem, param int) []port {
	r := math.Abs(i.Params[param])
	if r > 0 && r < narrow && !c.Copter {
		c.report(i, diag.Warning, codeRange, "", "the circle of item %d has a radius of %v m; the simulated plane needs "+
			"%d m, and an aircraft may, too: the plan may wait for it in vain", i.Jump, r, narrow)
	}
	if r > 0 {
		return []port{{"to_radius", r}}
	}
	return nil
}

// radius returns the port of the radius on which a plane waits.
func (c *converter) radius(i *MissionItem, param int) []port {
	if c.Copter {
		return nil
	}
	return c.circle(i, param)
}

func (c *converter) add(i *MissionItem, action string, ports ...port) {
	for _, p := range ports {
		if !p.within() {
			c.report(i, diag.Error, codeRange, "", "item %d gives no %s that can be flown (%v)", i.Jump, p.name, p.value)
			return
		}
	}
	tree := slices.Contains(trees, action)
	c.steps = append(c.steps, step{action: action, tree: tree, ports: ports, from: i})
}

// jump makes a loop of the steps since the item to which a jump leads.
func (c *converter) jump(i *MissionItem) {
	target := int(i.Params[0])
	first := slices.IndexFunc(c.steps, func(s step) bool { return s.from.Jump == target })
	rounds := int(math.Max(-1, math.Min(i.Params[1], math.MaxInt16)))
	switch {
	case first < 0:
		c.report(i, diag.Error, codeItem, "a jump leads back, to an item outside of other loops",
			"item %d jumps to item %d, which does not begin a step before it", i.Jump, target)
		return
	case rounds == 0:
		return
	case rounds > 0:
		rounds++ // the steps were flown once before the jump
	}
	body := c.steps[first:]
	c.steps = append(c.steps[:first:first], step{times: rounds, steps: append([]step(nil), body...), from: body[0].from})
}

func (c *converter) report(i *MissionItem, s diag.Severity, code, hint, format string, args ...any) {
	c.diags = append(c.diags, diag.Diagnostic{Source: c.source, Offset: i.node.Offset, Length: i.node.Length, Severity: s,
		Code: code, Text: fmt.Sprintf(format, args...), Hint: hint})
}
