package qgc

import "math"

// The commands of items for the payload (MAV_CMD).
const (
	cmdRelay       = 181
	cmdRepeatRelay = 182
	cmdServo       = 183
	cmdRepeatServo = 184
	cmdPhoto       = 203
	cmdMount       = 205
	cmdPhotos      = 206
	cmdGripper     = 211
	cmdPitchYaw    = 1000
	cmdImages      = 2000
	cmdImagesStop  = 2001
)

// targeting is the mode of a mount that is pointed by an item, MAV_MOUNT_MODE.
const targeting = 2

// payload adds the action of an item for the payload, and reports whether it has one.
func (c *converter) payload(i *MissionItem) bool {
	p := i.Params
	switch {
	case c.PX4: // whose payload is not commanded
		return false
	case i.Command == cmdRelay && (p[1] == 0 || p[1] == 1):
		c.add(i, "set_relay", port{"number", p[0] + 1}, port{"state", p[1]})
	case i.Command == cmdRepeatRelay:
		c.add(i, "repeat_relay", port{"number", p[0] + 1}, port{"times", math.Round(p[1])}, port{"period", p[2]})
	case i.Command == cmdServo:
		c.add(i, "set_servo", port{"number", p[0]}, port{"to_pwm", p[1]})
	case i.Command == cmdRepeatServo:
		c.add(i, "repeat_servo", port{"number", p[0]}, port{"to_pwm", p[1]}, port{"times", math.Round(p[2])},
			port{"period", p[3]})
	case i.Command == cmdGripper && (p[1] == 0 || p[1] == 1):
		c.add(i, [...]string{"release", "grip"}[int(p[1])])
	case i.Command == cmdPhoto && p[4] == 1:
		c.add(i, "take_photo")
	case i.Command == cmdPhotos && p[0] > 0:
		c.add(i, "take_photos", port{"distance", p[0]})
	case i.Command == cmdPhotos && p[0] == 0, i.Command == cmdImagesStop:
		if n := len(c.steps); n == 0 || c.steps[n-1].action != "stop_photos" { // one action ends both kinds
			c.add(i, "stop_photos")
		}
	case i.Command == cmdImages:
		c.images(i)
	case i.Command == cmdMount && p[6] == targeting && !(math.Abs(p[1]) > 0): // without roll
		c.add(i, "point_mount", port{"pitch", p[0]}, port{"yaw", p[2]})
	case i.Command == cmdPitchYaw && !(math.Abs(p[2]) > 0) && !(math.Abs(p[3]) > 0) && int(p[4])&16 == 0: // from the nose
		c.add(i, "point_mount", port{"pitch", p[0]}, port{"yaw", p[1]})
	default:
		return false
	}
	return true
}

// images adds the photos of an item: one, a number with a time between them, or those until they are stopped.
func (c *converter) images(i *MissionItem) {
	interval, n := i.Params[1], i.Params[2]
	switch {
	case !(n > 0):
		c.add(i, "take_photos", port{"interval", interval})
	case n == 1:
		c.add(i, "take_photo")
	default:
		first := len(c.steps)
		c.add(i, "take_photo")
		c.add(i, "wait", port{"duration", interval})
		body := append([]step(nil), c.steps[first:]...)
		c.steps = append(c.steps[:first:first], step{times: int(min(n, math.MaxInt16)), steps: body, from: i})
	}
}

// ranges are those of ports of the payload; others, but for directions, are positive.
var ranges = map[string][2]float64{"number": {1, 16}, "to_pwm": {500, 2500}, "state": {0, 1}, "pitch": {-180, 180},
	"yaw": {-360, 360}, "to_north": {math.Inf(-1), math.Inf(1)}, "to_east": {math.Inf(-1), math.Inf(1)}}

// within reports whether the library can do with the value of a port.
func (p port) within() bool {
	if r, ok := ranges[p.name]; ok {
		return p.value-p.value == 0 && r[0] <= p.value && p.value <= r[1]
	}
	return p.value > 0 && !math.IsInf(p.value, 1)
}

// payload adds the items of an action of the payload, and reports whether it is one.
func (x *exporter) payload(name string, port func(key string) float64) bool {
	const degree = math.Pi / 180
	add := func(command int, params ...float64) {
		x.add(command, 2, append(params, make([]float64, 7-len(params))...)...)
	}
	switch name {
	case "set_relay":
		add(cmdRelay, port("number")-1, port("state"))
	case "repeat_relay":
		add(cmdRepeatRelay, port("number")-1, port("times"), port("period"))
	case "set_servo":
		add(cmdServo, port("number"), math.Round(port("to_pwm")*1e6))
	case "repeat_servo":
		add(cmdRepeatServo, port("number"), math.Round(port("to_pwm")*1e6), port("times"), port("period"))
	case "grip":
		add(cmdGripper, 1, 1)
	case "release":
		add(cmdGripper, 1, 0)
	case "take_photo":
		add(cmdPhoto, 0, 0, 0, 0, 1)
	case "take_photos":
		if d := port("distance"); d > 0 {
			add(cmdPhotos, d, 0, 1)
		}
		if s := port("interval"); s > 0 {
			add(cmdImages, 0, s)
		}
	case "stop_photos":
		add(cmdImagesStop)
		add(cmdPhotos)
	case "point_mount":
		add(cmdMount, port("pitch")/degree, 0, port("yaw")/degree, 0, 0, 0, targeting)
	default:
		return false
	}
	return true
}
