package fake

import (
	"cmp"
	"slices"
)

// Way is one of the two ways of a channel.
type Way byte

// The two ways.
const (
	ToVehicle Way = iota
	FromVehicle
	directions
)

// Scenario is what goes wrong. The zero Scenario is a perfect channel and an uneventful flight.
type Scenario struct {
	Loss, Repeat, Broken float64 // parts of the datagrams that are lost, arrive twice, have wrong bytes; 0 to 1
	Join                 float64 // part of the datagrams that arrive in one datagram with the next
	Delay                int64   // the longest way of a datagram, which may overtake others [ns]
	Silences             []Silence
	Rates                []Pace // in the order of their times
	Events               []Incident
}

// Silence is a time in which one way of the channel loses everything.
type Silence struct {
	Way      Way
	From, To int64 // [ns]
}

// Pace is how fast the vehicle's clock runs from a time on, in relation to that without faults.
type Pace struct {
	From int64 // [ns]
	Rate float64
}

// Time returns the vehicle's time [ns] at the time that it would have without faults: it may run on a loaded computer.
func (p Scenario) Time(nominal int64) int64 {
	t := nominal
	for i, r := range p.Rates {
		to := nominal
		if i+1 < len(p.Rates) {
			to = min(to, p.Rates[i+1].From)
		}
		t -= int64(float64(max(to-r.From, 0)) * (1 - r.Rate))
	}
	return t
}

// Incident is something that happens to the vehicle at a time [ns].
type Incident struct {
	T int64
	Event
}

// Wire is a channel between a vehicle and a program, with faults, and with what happens to the vehicle, all chosen by a
// seed: the same calls give the same faults. It never changes its plan.
type Wire struct {
	plan    Scenario
	random  random
	waiting [directions][]datagram
	joined  [directions][]byte
	event   int // the next one
}

type datagram struct {
	at   int64
	data []byte
}

// NewWire returns a channel.
func NewWire(seed uint64, plan Scenario) *Wire {
	plan.Events = slices.Clone(plan.Events)
	slices.SortStableFunc(plan.Events, func(a, b Incident) int { return cmp.Compare(a.T, b.T) })
	return &Wire{plan: plan, random: random(seed)}
}

// Send puts a datagram on its way at a time [ns].
func (c *Wire) Send(way Way, data []byte, now int64) {
	for _, s := range c.plan.Silences {
		if s.Way == way && s.From <= now && now < s.To {
			return
		}
	}
	if c.random.chance(c.plan.Loss) {
		return
	}
	data = slices.Concat(c.joined[way], data)
	c.joined[way] = nil
	if c.random.chance(c.plan.Join) {
		c.joined[way] = data
		return
	}
	if c.random.chance(c.plan.Broken) && len(data) > 0 {
		for range 1 + c.random.below(3) {
			data[c.random.below(uint64(len(data)))] ^= byte(1 + c.random.below(255))
		}
	}
	c.put(way, data, now)
	if c.random.chance(c.plan.Repeat) {
		c.put(way, slices.Clone(data), now)
	}
}

// put chooses when a datagram arrives.
func (c *Wire) put(way Way, data []byte, now int64) {
	at := now
	if c.plan.Delay > 0 {
		at += int64(c.random.below(uint64(c.plan.Delay) + 1))
	}
	q := c.waiting[way]
	i, _ := slices.BinarySearchFunc(q, at, func(d datagram, at int64) int {
		if d.at <= at {
			return -1
		}
		return 1
	})
	c.waiting[way] = slices.Insert(q, i, datagram{at, data})
}

// Arrived returns the datagrams that have arrived by now [ns], in their order.
func (c *Wire) Arrived(way Way, now int64) [][]byte {
	q := c.waiting[way]
	n := 0
	var list [][]byte
	for n < len(q) && q[n].at <= now {
		list = append(list, q[n].data)
		n++
	}
	c.waiting[way] = slices.Delete(q, 0, n)
	return list
}

// Events returns what has happened to the vehicle by now [ns] and has not been returned before.
func (c *Wire) Events(now int64) []Event {
	var list []Event
	for c.event < len(c.plan.Events) && c.plan.Events[c.event].T <= now {
		list = append(list, c.plan.Events[c.event].Event)
		c.event++
	}
	return list
}

// random is a generator of random numbers, SplitMix64 (Steele, Lea, Flood, Fast splittable pseudorandom number
// generators, OOPSLA 2014).
type random uint64

func (r *random) next() uint64 {
	*r += 0x9E3779B97F4A7C15
	x := uint64(*r)
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}

// below returns a number below n. The error of the distribution is far below what a test can notice.
func (r *random) below(n uint64) uint64 { return r.next() % n }

// chance reports true with a probability. It draws no number for 0, so that a fault that is off changes no other.
func (r *random) chance(p float64) bool {
	return p > 0 && float64(r.next()>>11)/(1<<53) < p
}
