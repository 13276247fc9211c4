package service_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/canopy-uav/canopy/autopilot/frame"
	"github.com/canopy-uav/canopy/autopilot/service"
	"github.com/canopy-uav/canopy/snapshot"
)

const (
	ms  = 1_000_000
	sec = 1000 * ms
)

// ends are a computer on board of vehicle 1 and its autopilot.
var ends = service.Ends{
	Us:      service.Address{System: 1, Component: 191},
	Vehicle: service.Address{System: 1, Component: 1},
}

// machine is what all services have in common.
type machine interface {
	Receive(now service.Clock, f frame.Frame)
	Wake(now service.Clock)
	Due() int64
	Out() []frame.Message
}

// peer is the other end: deliberately dumb.
type peer interface {
	receive(now int64, m frame.Message)
	wake(now int64) // now, due: nanoseconds of the vehicle
	due() int64
	take() []frame.Message
}

// mute is a peer that sends nothing by itself.
type mute struct{ out []frame.Message }

func (*mute) wake(int64) {}
func (*mute) due() int64 { return math.MaxInt64 }
func (m *mute) take() []frame.Message {
	out := m.out
	m.out = nil
	return out
}

// wire is a bad channel between a machine and a peer, with the time.
type wire struct {
	t       *rapid.T
	wall    int64
	speed   int64 // of the vehicle's clock; 0: the machine does not know it, and it is real time
	machine machine
	peer    peer

	loss, twice, delay int // percent, percent, ms
	chance             *rand.Rand
	fresh              func() machine // one that is made like machine: it may be saved and restored at any time
	flying             []flight
	writers            [2]*frame.Writer
	readers            [2]*frame.Reader
	sent               []frame.Message // what the machine sent
}

type flight struct {
	at   int64
	to   int // 0: the machine, 1: the peer
	data []byte
}

// newWire draws a channel.
func newWire(t *rapid.T, m machine, p peer) *wire {
	w := &wire{t: t, machine: m, peer: p, wall: 5 * sec,
		speed:   rapid.SampledFrom([]int64{0, 1, 10, 50}).Draw(t, "speed"),
		writers: [2]*frame.Writer{{System: 1, Component: 1}, {System: 1, Component: 191}},
		readers: [2]*frame.Reader{{}, {}},
		chance:  rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0)),
	}
	if rapid.Bool().Draw(t, "bad channel") {
		w.loss = rapid.SampledFrom([]int{0, 10, 50, 100}).Draw(t, "loss")
		w.twice = rapid.SampledFrom([]int{0, 30}).Draw(t, "twice")
		w.delay = rapid.SampledFrom([]int{0, 30, 700}).Draw(t, "delay")
	}
	return w
}

func (w *wire) vehicle() int64 { return w.wall * max(w.speed, 1) }

func (w *wire) now() service.Clock {
	c := service.Clock{Wall: w.wall, Unix: 1790000000e9 + w.wall}
	if w.speed > 0 {
		c.Vehicle = w.vehicle()
	}
	return c
}

// flush puts what both ends have sent on the way.
func (w *wire) flush() {
	sent := w.machine.Out()
	w.sent = append(w.sent, sent...)
	for to, messages := range [][]frame.Message{w.peer.take(), sent} {
		for _, m := range messages {
			data, err := w.writers[to].Write(m, 0)
			if err != nil {
				w.t.Fatal(err)
			}
			copies := 1
			if w.chance.IntN(100) < w.loss {
				copies = 0
			} else if w.chance.IntN(100) < w.twice {
				copies = 2
			}
			for range copies {
				late := w.chance.Int64N(int64(w.delay)+1) * ms / max(w.speed, 1)
				w.flying = append(w.flying, flight{w.wall + 1*ms/max(w.speed, 1) + late, to, data})
			}
		}
	}
}

// run lets time pass until the machine is done, at most for a time of the wall clock; it returns whether it is done.
func (w *wire) run(limit int64, done func() bool) bool {
	limit += w.wall
	for range 100_000 {
		w.flush()
		if done() {
			return true
		}
		next := w.machine.Due()
		if d := w.peer.due(); d != math.MaxInt64 {
			next = min(next, d/max(w.speed, 1)+1)
		}
		for _, f := range w.flying {
			next = min(next, f.at)
		}
		if next > limit {
			w.wall = limit
			return done()
		}
		w.wall = max(next, w.wall)
		arrived := slices.DeleteFunc(slices.Clone(w.flying), func(f flight) bool { return f.at > w.wall })
		w.flying = slices.DeleteFunc(w.flying, func(f flight) bool { return f.at <= w.wall })
		slices.SortStableFunc(arrived, func(a, b flight) int { return int(a.at - b.at) })
		for _, a := range arrived {
			for _, f := range w.readers[a.to].Read(a.data) {
				if a.to == 0 {
					w.machine.Receive(w.now(), f)
				} else {
					w.peer.receive(w.vehicle(), f.Message)
				}
			}
		}
		w.machine.Wake(w.now())
		w.restore()
		w.peer.wake(w.vehicle())
	}
	w.t.Fatal("no end: the machine is woken again and again")
	return false
}

// restore saves the machine from time to time, and puts the saved state into a new one, which continues.
func (w *wire) restore() {
	if w.fresh == nil || w.chance.IntN(10) > 0 {
		return
	}
	w.flush()
	saved := snapshot.Save(nil, w.machine.(snapshot.Stateful))
	fresh := w.fresh()
	if err := snapshot.Load(saved, fresh.(snapshot.Stateful)); err != nil {
		w.t.Fatal(err)
	}
	if again := snapshot.Save(nil, fresh.(snapshot.Stateful)); !bytes.Equal(saved, again) {
		w.t.Fatal("a restored machine has another state")
	}
	reflect.ValueOf(w.machine).Elem().Set(reflect.ValueOf(fresh).Elem())
}

// frameOf is a frame of the vehicle as it is received.
func frameOf(t *testing.T, r *frame.Reader, w *frame.Writer, m frame.Message) frame.Frame {
	t.Helper()
	raw, err := w.Write(m, 0)
	if err != nil {
		t.Fatal(err)
	}
	return r.Read(raw)[0]
}
