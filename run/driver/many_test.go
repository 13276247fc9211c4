package driver

import (
	"runtime"
	"sync"
	"testing"

	"github.com/canopy-uav/canopy/autopilot/fake"
	"github.com/canopy-uav/canopy/run/flight"
	"github.com/canopy-uav/canopy/run/record"
)

// Ten vehicles fly in one process, each with its own flight of the same mission, side by side: each as if it were alone.
func TestTenVehicles(t *testing.T) {
	m, logs := north(t), [11]string{} // the last one is alone
	var all sync.WaitGroup
	for i := range logs {
		x := begin(t, m, fake.Options{})
		one := func() {
			x.succeed(nil)
			logs[i] = x.log()
		}
		if all.Go(one); i >= 9 {
			all.Wait()
		}
	}
	for i := range logs {
		if logs[i] != logs[10] {
			t.Errorf("the flight of vehicle %d differs from that of one alone", i)
		}
	}
}

// A flight of 30 h needs no more memory at its end than after its first tenth.
func TestMemoryOfALongFlight(t *testing.T) {
	hours := 30.0
	if testing.Short() {
		hours = 0.3
	}
	x := beginWith(t, read(t, "plane", `<Sequence name="mission"><Action name="take_off"
  entry="arm := true; wanted_mode := takeoff; target_h := 80 [m]" done="h ge 75 [m]"/><KeepRunningUntilFailure name="for_ever">
  <Sequence name="legs"><Action name="there" entry="wanted_mode := guided; target_north := 800 [m]" done="north ge 700 [m]"/>
  <Action name="back" entry="target_north := 0 [m]" done="north le 100 [m]"/></Sequence></KeepRunningUntilFailure></Sequence>`, ""),
		flight.Options{Arm: true, Until: hours * 3600}, fake.Options{Observe: func(fake.Received) {}})
	x.Attach(record.Nothing{})
	x.o.Box = nil
	heap := func() uint64 {
		var s runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&s)
		return s.HeapAlloc
	}
	early := uint64(0)
	err := x.fly(func() error {
		if early == 0 && x.T() > hours*360 {
			early = heap()
		}
		return nil
	})
	s := x.Summary()
	if late := heap(); err != nil || early == 0 || late > early+200_000 {
		t.Errorf("%v: %d bytes after a tenth of the flight, %d at its end", err, early, late)
	}
	if s.Ended != hours*3600 || float64(s.StatusChanges) < 50*hours {
		t.Errorf("%+v", s)
	}
	runtime.KeepAlive(x)
}
