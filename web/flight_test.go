package web_test

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/canopy-uav/canopy/autopilot/fake"
	"github.com/canopy-uav/canopy/autopilot/service"
	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/run/driver"
	"github.com/canopy-uav/canopy/run/flight"
	"github.com/canopy-uav/canopy/run/folder"
	"github.com/canopy-uav/canopy/vehicle/equations"
)

// rough is a link on which frames of the vehicle are lost: some always, all of them for a while.
type rough struct {
	driver.FarEnd
	*rand.Rand
	silent func() bool
}

func (l *rough) Next(ctx context.Context, due int64, asks <-chan driver.Ask) (flight.Input, driver.Ask) {
	for {
		in, ask := l.FarEnd.Next(ctx, due, asks)
		if in.Kind != flight.Frame || l.Float64() >= 0.05 && !l.silent() {
			return in, ask
		}
	}
}

// flown flies circuits over such a link and returns the report. The satellites are lost, then the link; a pilot takes
// over, until the operator resumes.
func flown(t *testing.T) string {
	t.Helper()
	m, diags := mission.Read(filepath.Join("..", "missions", "circuit-plane.yaml"), os.ReadFile, equations.Offers(), nil)
	if m == nil {
		t.Fatal(diags)
	}
	ends := service.Ends{Us: service.Address{System: 1, Component: 191}, Vehicle: service.Address{System: 1, Component: 1}}
	o := flight.Options{Arm: true}
	o.Ends = ends
	f, err := flight.New(m, o)
	if err != nil {
		t.Fatal(err)
	}
	v := fake.New(fake.Options{})
	wire := &rough{driver.Fake("fake", v, 1e18, 0), rand.New(rand.NewPCG(28, 3)), func() bool { return f.T() > 60 && f.T() < 75 }}
	d := driver.New(f, wire, driver.Options{})
	happen := []struct {
		t  float64
		do func()
	}{
		{30, func() { v.Inject(fake.Event{Kind: fake.GPSLost}) }},
		{40, func() { v.Inject(fake.Event{Kind: fake.GPSBack}) }},
		{100, func() { v.Inject(fake.Event{Kind: fake.PilotMode, Value: 12}) }},
		{120, func() { d.Operate(flight.Resume) }},
	}
	out := filepath.Join(t.TempDir(), "out")
	summary, err := folder.Fly(context.Background(), d, out, folder.Options{Observe: func() {
		for len(happen) > 0 && d.T() >= happen[0].t {
			happen[0].do()
			happen = happen[1:]
		}
	}})
	if err != nil || len(happen) > 0 {
		t.Fatal(err, summary)
	}
	return filepath.Join(out, "report.html")
}
