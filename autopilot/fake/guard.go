package fake

import (
	"slices"

	mav "github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"
	"github.com/bluenviron/gomavlib/v3/pkg/dialects/common"
)

// guard is what the autopilot watches: the checks before arming, and the failsafes.
type guard struct {
	start       // when what is needed for arming is there
	armed int64 // time of arming
	told  int64 // time of the next texts about the checks
	awake bool  // the text after the boot was sent
	using bool  // the text about the position was sent

	station     int64 // time of the ground station's last heartbeat; 0: never
	stationLost bool
	low         [levelsMost]int64 // since when the charge is below each level; 0: it is not
	pending     *action           // of a failsafe that waits in Hold; nil: none
	charge      int               // the levels of the battery that were passed
	lost        int64             // when the position was lost; 0: it is known

	fenced   bool  // the fence is enabled
	indexed  int64 // when the fence's index is complete
	reported bool  // the text about it was sent
	breach   byte  // FENCE_BREACH; 0: none
	breached int64
	breaches int

	radioLost bool // failsafes of an ArduCopter
	adrift    bool
}

// action is what a failsafe does, and when.
type action struct {
	to conduct
	at int64
}

const levelsMost = 3 // of the battery

const (
	spread       = 9 * second
	complaints   = 30 * second
	indexTime    = 2 * second // until a new fence is used
	estimateLost = 5 * second // without satellites until the position is no longer estimated

	breachAltitude = 2 // FENCE_BREACH
	breachBoundary = 3
)

// boot chooses when the checks pass: as measured, or later if there is a seed.
func (g *guard) boot(f *firmware, seed uint64, now int64) {
	g.start = f.start
	g.delay(now)
	g.home, g.told = g.home+now, g.home+now
	if f.station.always {
		g.station = now + second
	}
	if r := random(seed); seed != 0 {
		g.delay(int64(r.below(uint64(spread))))
	}
}

// delay lets the estimator begin later.
func (g *guard) delay(d int64) { g.origin, g.position, g.ready = g.origin+d, g.position+d, g.ready+d }

// fixed reports whether satellites give a position.
func (g *guard) fixed(v *Autopilot) bool { return v.now >= g.home && !v.trouble.blind }

// positioned reports whether the position is estimated.
func (g *guard) positioned(v *Autopilot) bool {
	return v.now >= g.position && (g.lost == 0 || v.now < g.lost+estimateLost)
}

// reasons returns the checks that fail.
func (g *guard) reasons(v *Autopilot) []string {
	if v.value("ARMING_CHECK") == 0 && v.firmware.named("ARMING_CHECK") {
		return nil
	}
	var list []string
	for _, check := range []struct {
		fails  bool
		reason string
	}{
		{!g.fixed(v), "GPS 1: Bad fix"},
		{!g.positioned(v), "Need Position Estimate"},
		{v.now < g.ready, "AHRS: waiting for home"},
		{g.charge > 0, "Battery 1 low voltage failsafe"},
		{v.voltage() < v.value("BATT_ARM_VOLT"), "Battery 1 below minimum arming voltage"},
		{v.firmware.named("RTL_AUTOLAND") && v.value("RTL_AUTOLAND") == 0 && v.landingItem() >= 0,
			"DO_LAND_START set and RTL_AUTOLAND disabled"},
	} {
		if check.fails {
			list = append(list, check.reason)
		}
	}
	if !v.firmware.wing { // of an aeroplane only the command asks for the mode
		list = append(list, g.unarmable(v)...)
	}
	return list
}

// unarmable returns that the mode does not allow arming.
func (g *guard) unarmable(v *Autopilot) []string {
	if v.mode.conduct == returns || v.mode.conduct == lands {
		return []string{v.mode.name + " mode not armable"}
	}
	return nil
}

// acting reports whether a failsafe is in effect.
func (g *guard) acting(v *Autopilot) bool {
	breached := g.breach != 0 && !v.firmware.fence.switched // measured: a breach leaves an ArduPilot active
	return g.stationLost || g.radioLost || g.adrift || breached || g.charge > 0
}

// protect runs the checks and the failsafes.
func (v *Autopilot) protect() {
	g := &v.guard
	if !g.awake {
		g.awake, g.fenced = true, v.value(v.firmware.fence.enable) != 0
		v.say(mav.MAV_SEVERITY_INFO, "%s", v.firmware.words.banner)
	}
	if !v.trouble.blind {
		g.lost = 0
	} else if g.lost == 0 {
		g.lost = v.now
	}
	if !v.homed && g.fixed(v) {
		v.home, v.homed = v.body.place, true
	}
	if !g.using && g.positioned(v) {
		g.using = true
		if text := v.firmware.words.estimate; text != "" {
			v.say(mav.MAV_SEVERITY_INFO, "%s", text)
		}
	}
	if v.now >= g.told && !v.armed {
		g.told = v.now + complaints
		for _, reason := range g.reasons(v) {
			v.say(mav.MAV_SEVERITY_CRITICAL, "%s%s", v.firmware.words.check, reason)
		}
	}
	if !g.reported && g.indexed != 0 && !g.indexing(v) {
		g.reported = true
		v.say(mav.MAV_SEVERITY_INFO, "Fence Indexed OK")
	}
	if p := g.pending; p != nil && v.now >= p.at {
		v.setMode(v.firmware.with(p.to).number, byFailsafe)
	}
	if v.now < v.pilot.sticks && v.body.flying && v.mode.conduct != sticks && int(v.value(v.firmware.override))&1 != 0 {
		v.setMode(v.firmware.with(sticks).number, byPilot)
	}
	v.watchStation()
	v.watchBattery()
	v.watchFence()
	if !v.firmware.wing && v.firmware.strict {
		v.watchRadio()
		v.watchEstimator()
	}
	v.watchGround()
}

// react lets a failsafe act: at once, or after a time in Hold.
func (v *Autopilot) react(to conduct) {
	hold := v.firmware.delay
	if hold == "" || v.value(hold) <= 0 {
		v.setMode(v.firmware.with(to).number, byFailsafe)
		return
	}
	v.say(mav.MAV_SEVERITY_CRITICAL, "Failsafe activated: entering Hold for %.0f seconds", v.value(hold))
	v.setMode(v.firmware.with(guided).number, byFailsafe)
	v.guard.pending = &action{to, v.now + int64(v.value(hold)*float64(second))}
}

// watchStation is the failsafe for the loss of the ground station.
func (v *Autopilot) watchStation() {
	g, s := &v.guard, &v.firmware.station
	if v.value(s.enable) == 0 || g.station == 0 || g.stationLost || !v.armed && !s.always || s.waits(v) ||
		v.now-g.station < int64(v.value(s.time)*float64(second)) {
		return
	}
	g.stationLost = true
	text := s.lost
	if to, acts := s.action(v); acts {
		v.react(to)
	} else if s.stays != "" {
		text += s.stays
	}
	if s.always {
		text += ": " + v.mode.name
	}
	v.say(mav.MAV_SEVERITY_WARNING, "%s", text)
}

// watchBattery is the failsafe for the battery, with its levels.
func (v *Autopilot) watchBattery() {
	g := &v.guard
	for i, l := range v.firmware.levels {
		limit, have := v.value(l.limit), v.voltage()
		if l.charge {
			have = v.charge
		}
		if limit == 0 || have > limit {
			g.low[i] = 0
			continue
		}
		if g.low[i] == 0 {
			g.low[i] = v.now
		}
		if v.now-g.low[i] < int64(v.value(l.timer)*float64(second)) || g.charge > i {
			continue
		}
		g.charge = i + 1
		v.say(mav.MAV_SEVERITY_WARNING, "Battery 1 is %s %.2fV used %.0f mAh", l.text, v.voltage(), 3300*(1-v.charge))
		if !v.armed || !v.body.flying {
			continue
		}
		if to, ok := l.actions[int(v.value(l.action))]; ok {
			if text := v.firmware.words.battery; text != "" {
				v.say(mav.MAV_SEVERITY_WARNING, "%s", text)
			}
			v.react(to)
		}
	}
}

// indexing reports whether a new fence is not used yet.
func (g *guard) indexing(v *Autopilot) bool { return v.now < g.indexed }

// The kinds of fences, bits of FENCE_TYPE.
const (
	fenceAltitude = 1
	fenceCircle   = 2
	fencePolygon  = 4
)

// limits returns the kinds of fences that hold, and their limits [m].
func (v *Autopilot) limits() (kinds int, height, over float64) {
	f := &v.firmware.fence
	height, over = v.value(f.height), v.value(f.over)
	if f.kinds != "" {
		return int(v.value(f.kinds)), height, over
	}
	kinds = fencePolygon
	if height > 0 {
		kinds |= fenceAltitude
	}
	if over > 0 {
		kinds |= fenceCircle
	}
	return kinds, height, over
}

// loaded reports whether the uploaded areas are used: their places need an origin.
func (g *guard) loaded(v *Autopilot) bool { return v.now >= g.origin }

// outside reports whether the enabled fence excludes a place.
func (g *guard) outside(v *Autopilot, p place) bool {
	return g.fenced && !g.indexing(v) && g.breachAt(v, p) != 0
}

// breachAt returns how a place is outside the fence, or 0.
func (g *guard) breachAt(v *Autopilot, p place) byte {
	kinds, height, over := v.limits()
	switch {
	case kinds&fenceAltitude != 0 && p.h-v.home.h > height:
		return breachAltitude
	case kinds&fenceCircle != 0 && p.distance(v.home) > over, kinds&fencePolygon != 0 && g.loaded(v) && v.outsideItems(p):
		return breachBoundary
	}
	return 0
}

// watchFence is the failsafe of the fence.
func (v *Autopilot) watchFence() {
	g, f := &v.guard, &v.firmware.fence
	if !g.fenced || !v.armed || !v.body.flying || g.indexing(v) {
		g.breach = 0
		return
	}
	breach := g.breachAt(v, v.body.place)
	if v.now < v.trouble.breached {
		breach = breachBoundary
	}
	if breach != 0 && g.breach == 0 {
		g.breached = v.now
		g.breaches++
		v.say(mav.MAV_SEVERITY_WARNING, "%s", v.breachText(breach))
		if to, ok := f.actions[int(v.value(f.action))]; ok {
			v.react(to)
			if f.switched {
				v.say(mav.MAV_SEVERITY_INFO, "Manual recovery started")
			}
		}
	}
	g.breach = breach
}

// watchGround disarms on the ground: after a landing, and some firmwares before the first take-off.
func (v *Autopilot) watchGround() {
	if !v.armed || v.body.flying {
		return
	}
	name, since := v.firmware.names.disarmIdle, v.guard.armed
	if v.body.since > v.guard.armed {
		name, since = v.firmware.names.disarmLanded, v.body.since+v.firmware.downLag
	}
	delay := int64(v.value(name) * float64(second))
	if v.firmware.landsOff > 0 && since > v.guard.armed &&
		(v.mode.conduct == lands || v.mode.conduct == returns || v.route.landing) {
		delay = v.firmware.landsOff
	}
	if delay > 0 && v.now-since >= delay {
		v.disarm()
	}
}

// outsideItems reports whether the uploaded polygons and circles exclude a place.
func (v *Autopilot) outsideItems(p place) bool {
	items := v.memory.stored[mav.MAV_MISSION_TYPE_FENCE]
	for i := 0; i < len(items); i++ {
		it := items[i]
		switch it.command {
		case common.MAV_CMD_NAV_FENCE_POLYGON_VERTEX_INCLUSION, common.MAV_CMD_NAV_FENCE_POLYGON_VERTEX_EXCLUSION:
			n := int(it.params[0])
			if n < 3 || i+n > len(items) {
				return false
			}
			if v.within(items[i:i+n], p) != (it.command == common.MAV_CMD_NAV_FENCE_POLYGON_VERTEX_INCLUSION) {
				return true
			}
			i += n - 1
		case common.MAV_CMD_NAV_FENCE_CIRCLE_INCLUSION, common.MAV_CMD_NAV_FENCE_CIRCLE_EXCLUSION:
			centre, _ := v.place(it)
			if (p.distance(centre) <= it.params[0]) != (it.command == common.MAV_CMD_NAV_FENCE_CIRCLE_INCLUSION) {
				return true
			}
		}
	}
	return false
}

// within reports whether a place is in a polygon: whether a line from it crosses the sides an odd number of times.
func (v *Autopilot) within(corners []item, p place) bool {
	inside := false
	a, _ := v.place(corners[len(corners)-1])
	for _, it := range corners {
		b, _ := v.place(it)
		if (a.n > p.n) != (b.n > p.n) && p.e < (b.e-a.e)*(p.n-a.n)/(b.n-a.n)+a.e {
			inside = !inside
		}
		a = b
	}
	return inside
}

// named reports whether the firmware has a parameter.
func (f *firmware) named(name string) bool {
	return slices.ContainsFunc(f.parameters, func(p parameter) bool { return p.name == name })
}
