package fake

import (
	"math"

	mav "github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"
	"github.com/bluenviron/gomavlib/v3/pkg/dialects/common"
)

// route is how the vehicle follows the mission.
type route struct {
	current  int
	started  bool
	entered  bool    // the current item has begun
	complete bool    // the last item is done
	landing  bool    // the current item is a landing
	angle    float64 // flown round the place of the item [rad]
	bearing  float64 // from the place [rad]
	elapsed  float64 // since the place was reached [s]
	caught   bool    // the place was reached
	jumps    map[int]int
}

// goTo makes an item the current one.
func (v *Autopilot) goTo(n int) {
	if n == 0 && v.firmware.homeItem {
		n = 1
	}
	v.route.current, v.route.entered, v.route.complete, v.route.landing = n, false, false, false
}

// follow flies the mission.
func (v *Autopilot) follow(dt float64) demand {
	if !v.armed {
		return demand{}
	}
	r := &v.route
	items := v.memory.mission()
	for passed := 0; passed <= len(items); passed++ { // commands without a place take no time
		if r.current >= len(items) {
			break
		}
		it := items[r.current]
		if !r.entered {
			v.enterItem(it)
		}
		d, done := v.flyItem(it, dt)
		if !done {
			return d
		}
		if navigates(it.command) {
			v.send(&mav.MessageMissionItemReached{Seq: uint16(r.current)})
			if text := v.firmware.words.reached; text != "" {
				v.say(mav.MAV_SEVERITY_INFO, text, r.current)
			}
		}
		v.advance(it)
		if navigates(it.command) && r.current < len(items) {
			v.sendMessage(42)
		}
		if v.mode.conduct != follows {
			return v.steer(dt)
		}
	}
	if r.current >= len(items) {
		r.complete = true
		r.current = max(0, len(items)-1)
		v.say(mav.MAV_SEVERITY_INFO, "%s", v.firmware.words.finished)
	}
	after := returns
	if v.firmware.ended {
		after = guided
	}
	v.setMode(v.firmware.with(after).number, byMission)
	return v.steer(dt)
}

// navigates reports whether the vehicle flies somewhere for the command.
func navigates(command common.MAV_CMD) bool { return command < common.MAV_CMD_NAV_LAST }

// advance goes to the next item, or where a jump leads.
func (v *Autopilot) advance(it item) {
	r := &v.route
	r.entered, r.landing = false, false
	if it.command == common.MAV_CMD_DO_JUMP {
		if r.jumps == nil {
			r.jumps = map[int]int{}
		}
		if repeats := int(it.params[1]); repeats < 0 || r.jumps[r.current] < repeats {
			r.jumps[r.current]++
			r.current = int(it.params[0])
			return
		}
	}
	r.current++
}

// enterItem begins an item.
func (v *Autopilot) enterItem(it item) {
	r, g := &v.route, &v.guidance
	r.entered, r.caught, r.angle, r.elapsed = true, false, 0, 0
	p, ok := v.place(it)
	if !ok {
		p = place{v.body.n, v.body.e, v.body.h}
		if it.z != 0 {
			p.h = it.z + v.home.h
		}
	}
	g.radius, g.reverse = 0, false
	switch it.command {
	case common.MAV_CMD_NAV_TAKEOFF:
		g.course, g.leaving = v.body.heading, p.h
		g.climbing = v.firmware.wing && v.body.h < g.leaving-0.2
		g.target = place{v.body.n, v.body.e, p.h}
	case common.MAV_CMD_NAV_RETURN_TO_LAUNCH:
	case common.MAV_CMD_NAV_LAND:
		r.landing = true
		g.target = place{p.n, p.e, v.home.h}
	case common.MAV_CMD_NAV_LOITER_UNLIM, common.MAV_CMD_NAV_LOITER_TURNS, common.MAV_CMD_NAV_LOITER_TO_ALT:
		g.radius, g.reverse = math.Abs(it.params[2]), it.params[2] < 0
		g.target = p
	case common.MAV_CMD_NAV_LOITER_TIME, common.MAV_CMD_NAV_WAYPOINT:
		g.target = p
	}
}

// flyItem flies an item; done: it is complete.
func (v *Autopilot) flyItem(it item, dt float64) (d demand, done bool) {
	r, g := &v.route, &v.guidance
	distance := v.body.distance(g.target)
	switch it.command {
	case common.MAV_CMD_NAV_TAKEOFF:
		if !v.firmware.wing {
			return demand{climb: 2.5, power: true}, v.body.h >= g.leaving-0.2
		}
		d := v.takeOff()
		return d, !g.climbing
	case common.MAV_CMD_NAV_WAYPOINT:
		accept := v.value(v.firmware.names.accept)
		if it.params[1] > 0 {
			accept = it.params[1]
		}
		return v.to(g.target), distance <= max(accept, v.firmware.accept)
	case common.MAV_CMD_NAV_LOITER_UNLIM:
		return v.to(g.target), false
	case common.MAV_CMD_NAV_LOITER_TURNS, common.MAV_CMD_NAV_LOITER_TIME, common.MAV_CMD_NAV_LOITER_TO_ALT:
		d := v.to(g.target)
		bearing := math.Atan2(v.body.e-g.target.e, v.body.n-g.target.n)
		if !r.caught {
			r.caught = distance < v.circle()*1.1
			r.bearing = bearing
			return d, false
		}
		r.elapsed += dt
		r.angle += math.Abs(math.Remainder(bearing-r.bearing, 2*math.Pi))
		r.bearing = bearing
		switch it.command {
		case common.MAV_CMD_NAV_LOITER_TURNS:
			done = r.angle >= 2*math.Pi*it.params[0]
		case common.MAV_CMD_NAV_LOITER_TIME:
			done = r.elapsed >= it.params[0]
		default:
			done = math.Abs(v.body.h-g.target.h) < 5
		}
		return d, done
	case common.MAV_CMD_NAV_RETURN_TO_LAUNCH:
		r.complete = true
		v.setMode(v.firmware.with(returns).number, byMission)
		return demand{}, false
	case common.MAV_CMD_NAV_LAND:
		return v.landItem(distance)
	case common.MAV_CMD_DO_CHANGE_SPEED:
		if it.params[0] != 1 && v.flyable(it.params[1]) {
			g.speed = it.params[1]
		}
	default:
		v.payloadItem(it)
	}
	return demand{}, true // a command that the vehicle executes at once, or does not know
}

// landItem lands at the place of an item.
func (v *Autopilot) landItem(distance float64) (demand, bool) {
	d := v.to(v.guidance.target)
	switch {
	case !v.body.flying:
		return demand{}, false
	case !v.firmware.wing:
		d.climb = 0
		if distance < 2 {
			d.climb = -copterLand
		}
	case distance < 250:
		d.climb = -1.5
		if v.body.h > 20 {
			d.climb = -2.5
		}
	default:
		d.climb = v.vertical(v.home.h + 60)
	}
	return d, false
}
