package driver

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"

	"canopy/autopilot/adapter"
	"canopy/autopilot/fake"
	"canopy/document/mission"
	"canopy/internal/cart"
	"canopy/run/flight"
	"canopy/run/record"
	"canopy/vehicle/model"
)

// Ten vehicles fly in one process, each with its own flight of the same mission, side by side: each as if it were alone.
func TestTenVehicles(t *testing.T) {
	m := planeMission(t, course, "ends_with_plan: true\n")
	pages := make([]*page, 11) // the last one is alone
	one := func(i int) {
		f, err := flight.New(m, flight.Options{Options: adapter.Options{Ends: ends}, Arm: true})
		if err != nil {
			t.Error(err)
			return
		}
		p := newPage(m)
		d := New(f, newWire(fake.New(fake.Options{})), Options{})
		d.Attach(p)
		if err := d.Fly(context.Background(), nil); err != nil || d.Summary().Plan != record.PlanSucceeded {
			t.Errorf("%v, %+v", err, d.Summary())
		}
		pages[i] = p
	}
	var all sync.WaitGroup
	for i := range 10 {
		all.Go(func() { one(i) })
	}
	all.Wait()
	one(10)
	for i := range 10 {
		if pages[i] != nil && strings.Join(pages[i].lines, "\n") != strings.Join(pages[10].lines, "\n") {
			t.Errorf("the flight of vehicle %d differs from that of one alone", i)
		}
	}
}

// A flight of 30 h needs no more memory at its end than after its first tenth.
func TestMemoryOfALongFlight(t *testing.T) {
	hours := 30.0
	if testing.Short() {
		hours = 0.5
	}
	f := cart.Files{"m/test.yaml": "mission: test\nplan: plan.xml\nvehicle: plane\nhorizon: 200000\n" +
		"record: {interval: 1, signals: [h]}\n",
		"m/plan.xml": cart.Plan(`<Sequence name="mission"><Action name="take_off"
  entry="arm := 1; wanted_mode := 7; target_h := 80 [m]" done="h ge 75 [m]"/><KeepRunningUntilFailure name="for_ever">
  <Sequence name="legs"><Action name="there" entry="wanted_mode := 3; target_north := 800 [m]" done="north ge 700 [m]"/>
  <Action name="back" entry="target_north := 0 [m]" done="north le 100 [m]"/></Sequence></KeepRunningUntilFailure></Sequence>`)}
	m, diags := mission.Read("m/test.yaml", f.Open, model.Offers(plane()), nil)
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	d := New(newFlight(t, m, flight.Options{Arm: true, Until: hours * 3600}), newWire(fake.New(fake.Options{})), Options{})
	d.Attach(unlogged{})
	heap := func() uint64 {
		var s runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&s)
		return s.HeapAlloc
	}
	early := uint64(0)
	err := d.Fly(context.Background(), func(bool) error {
		if early == 0 && d.T() > hours*360 {
			early = heap()
		}
		return nil
	})
	s := d.Summary()
	if late := heap(); err != nil || early == 0 || late > early+200_000 {
		t.Errorf("%v: %d bytes after a tenth of the flight, %d at its end", err, early, late)
	}
	if s.Ended != hours*3600 || float64(s.StatusChanges) < 50*hours {
		t.Errorf("%+v", s)
	}
	runtime.KeepAlive(d)
}

// full is a black box on a disk that is full after some inputs.
type full struct {
	tape
	room int
}

var errFull = errors.New("the disk is full")

func (b *full) Append(in flight.Input) error {
	if b.inputs >= b.room {
		return errFull
	}
	return b.tape.Append(in)
}

// A full disk does not end a flight: its plan ends as it would have, and then the error is reported.
func TestFullDisk(t *testing.T) {
	m := planeMission(t, course, "ends_with_plan: true\n")
	b := &full{room: 500}
	d := New(newFlight(t, m, flight.Options{Arm: true}), newWire(fake.New(fake.Options{})),
		Options{Box: func(flight.Input) (Box, error) { return b, nil }})
	d.Attach(unlogged{})
	err := d.Fly(context.Background(), nil)
	if !errors.Is(err, errFull) || d.Summary().Plan != record.PlanSucceeded || !b.closed || b.inputs != 500 {
		t.Errorf("%v, %+v, %+v", err, d.Summary(), b)
	}
}
