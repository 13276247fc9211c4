package adapter

import (
	"fmt"
	"math"

	"github.com/canopy-uav/canopy/autopilot/frame"
	"github.com/canopy-uav/canopy/autopilot/service"
	"github.com/canopy-uav/canopy/vehicle/contract"
)

// channel is the state of one group of telemetry.
type channel struct {
	rows   []row
	places []int         // in the contract's signals, of each row; -1: not in the contract
	last   []Value       // of each row
	period int64         // nominal time between messages [ns]; 0: none
	at     service.Clock // the last message's arrival
	t      int64         // the last message's vehicle time
	fresh  bool
	broken bool // the next values do not continue the last ones
}

// newChannel finds the signals of rows in the contract.
func newChannel(c *contract.Contract, rows []row, period int64) channel {
	k := channel{rows: rows, period: period, places: make([]int, len(rows)), last: make([]Value, len(rows))}
	for i, r := range rows {
		k.places[i] = c.Signal(r.signal)
	}
	return k
}

// late is how much older than the newest stamp one may be [ns].
const late = 2 * second

// stale is the age [ns] at which a group's values become unknown: three of its periods, and no less than a second.
func (g *group) stale() int64 { return max(int64(3*second/g.hz), second) }

// fresh reports whether a group's values are not stale.
func (a *Adapter) fresh(group int) bool { return a.groups[group].fresh }

// take takes a message of the vehicle. One that is older than the last of its group changes nothing.
func (a *Adapter) take(f frame.Frame) {
	a.attachment.signs = f.Signed()
	t, stamped := a.clock.Stamp(f)
	if stamped && (t < a.newest-late || t > a.clock.Newest()) {
		return // a vehicle that rebooted, or its clock jumped, before the clock map knows it
	}
	if known := a.facts.version != nil; store(&a.facts.version, f.Message) && !known { // another program may ask, too
		v := a.facts.version.FlightSwVersion
		a.note(Attaching, fmt.Sprintf("version %d.%d.%d", v>>24, v>>16&0xFF, v>>8&0xFF))
	}
	home := a.facts.home
	for i := range groups {
		g, c := &groups[i], &a.groups[i]
		if c.fresh && stamped && t <= c.t || !g.set(&a.facts, f.Message) {
			continue
		}
		if stamped {
			a.newest = max(a.newest, t)
		} else {
			t = max(a.now.Vehicle, c.t) // the map may have been ahead
		}
		c.at, c.t, c.fresh = a.now, t, true
		a.emit(c, g.valid == nil || g.valid(a))
		switch i {
		case groupPosition:
			a.wishes.t = max(a.wishes.t, t)
			a.emit(&a.wishes, true)
		case groupHome:
			if home != nil && (home.Latitude != a.facts.home.Latitude || home.Longitude != a.facts.home.Longitude ||
				home.Altitude != a.facts.home.Altitude) {
				a.groups[groupPosition].broken, a.wishes.broken = true, true
			}
		case groupHeartbeat:
			a.identify()
		case groupRadio:
			a.listen()
		}
	}
}

// expire makes the values of groups unknown that were silent for too long.
func (a *Adapter) expire() {
	for i := range groups {
		if c := &a.groups[i]; c.fresh && a.passed(c.at, groups[i].stale()) {
			c.fresh = false
			c.t = a.now.Vehicle
			a.emit(c, false)
		}
	}
}

// Heard reports whether all telemetry that has ever come has come since a reading of the wall clock, or has been silent
// since then for so long that its values are unknown.
func (a *Adapter) Heard(since int64) bool {
	for i := range groups {
		c := &a.groups[i]
		if c.at != (service.Clock{}) && c.at.Wall < since && !a.passed(service.Clock{Wall: since}, groups[i].stale()) {
			return false
		}
	}
	return true
}

// derive gives the signals that depend on what the adapter knows and on what is wanted, where they changed.
func (a *Adapter) derive() {
	a.gear.broken = true
	for _, c := range []*channel{&a.own, &a.wishes, &a.gear} {
		for i, r := range c.rows {
			v, last := r.value(a), c.last[i]
			same := v == last.V || math.IsNaN(v) && math.IsNaN(last.V)
			if c.places[i] >= 0 && (!same || last.Known == math.IsNaN(v)) {
				c.t = max(c.t, a.now.Vehicle)
				a.emit(c, true)
				break
			}
		}
	}
}

// measured returns a number of a message, NaN if it is infinite or beyond all that a vehicle measures in SI units.
func measured(x float64) float64 {
	if math.Abs(x) > 1e6 {
		return math.NaN()
	}
	return x
}

// emit gives one sample of each source that a channel's rows belong to. Values that are not valid are unknown.
func (a *Adapter) emit(c *channel, valid bool) {
	first := len(a.samples)
	for i, r := range c.rows {
		if c.places[i] < 0 {
			continue
		}
		v := Value{Signal: c.places[i], V: math.NaN(), Rate: math.NaN()}
		if valid {
			v.V = measured(r.value(a))
			v.Known = !math.IsNaN(v.V)
		}
		if v.Known && r.rate != nil {
			v.Rate = measured(r.rate(a))
		}
		c.last[i] = v
		source := a.contract.Signals[v.Signal].Source
		k := first
		for k < len(a.samples) && a.samples[k].Source != source {
			k++
		}
		if k == len(a.samples) {
			a.samples = append(a.samples, Sample{T: c.t, Source: source, Period: c.period, Break: c.broken,
				Values: make([]Value, 0, len(c.rows)-i)})
		}
		a.samples[k].Values = append(a.samples[k].Values, v)
	}
	c.broken = false
}
