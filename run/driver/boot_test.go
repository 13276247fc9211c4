package driver

import (
	"context"
	"strings"
	"testing"

	"github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"

	"canopy/autopilot/fake"
	"canopy/autopilot/frame"
	"canopy/run/flight"
)

// sec is a second of a vehicle's clock [ns].
const sec = 1_000_000_000

// A plane in failsafe since its boot, because its ground station is not there, waits with its plan: no time of the plan
// passes. When the station comes, the plan begins, and takes off.
func TestPlanWaitsForTheStation(t *testing.T) {
	m := libraryMission(t, "plane", `<take_off/>`, "")
	armed := int64(0)
	v := fake.New(fake.Options{Observe: func(o fake.Received) {
		if o.ID == 400 && armed == 0 {
			armed = o.T
		}
	}})
	v.Set("FS_GCS_ENABL", 1)
	v.Set("FS_LONG_ACTN", 1)
	w := frame.Writer{System: 255, Component: 190}
	const comes = 300 * sec
	next := int64(comes)
	d, p := newDriver(t, m, flight.Options{Arm: true}, newWire(v))
	err := d.Fly(context.Background(), func(bool) error {
		if v.Now() >= next {
			next += sec
			raw, err := w.Write(&ardupilotmega.MessageHeartbeat{Type: 6, Autopilot: 8}, 0)
			if err != nil {
				return err
			}
			v.Receive(raw)
		} else if v.Now() < comes && d.Started() {
			t.Fatal("the plan has begun in failsafe")
		}
		return nil
	})
	log := strings.Join(p.lines, "\n")
	if err != nil || armed < comes || !strings.Contains(log, "take_off Accept") ||
		strings.Count(log, "waiting: it is in failsafe: GCS Failsafe On: RTL: the plan begins when that has ended") != 1 {
		t.Errorf("%v, armed after %d s\n%s", err, armed/sec, log)
	}
}
