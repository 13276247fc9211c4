package driver

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"
	"github.com/bluenviron/gomavlib/v3/pkg/message"

	"canopy/autopilot/adapter"
	"canopy/autopilot/fake"
	"canopy/autopilot/frame"
	"canopy/internal/messages"
	"canopy/run/flight"
	"canopy/run/record"
)

// watched is a course whose plan reads what telemetry gives.
const watched = `<Parallel name="all" success_count="1" failure_count="1"><KeepRunningUntilFailure name="watch">
  <Condition name="sane" on="airspeed * airspeed + wind_north * wind_north lt 1e13" unknown="hold"/></KeepRunningUntilFailure>` +
	course + `</Parallel>`

// flownWith flies the course up to a time [s], 0: to its end, and passes what arrives through spoil.
func flownWith(t *testing.T, v *fake.Autopilot, until float64, spoil func(at int64, d []byte) [][]byte) (
	*Driver, *page, error,
) {
	t.Helper()
	m := planeMission(t, watched, "ends_with_plan: true\n")
	d, p := newDriver(t, m, flight.Options{Arm: true, Until: until}, &spoilt{simulated: newWire(v), spoil: spoil})
	return d, p, d.Fly(context.Background(), nil)
}

// spoilt is the wire of a fake vehicle on which others send, too, or which loses what the vehicle sends.
type spoilt struct {
	*simulated
	spoil func(at int64, d []byte) [][]byte
	more  [][]byte
}

func (c *spoilt) Next(ctx context.Context, due int64, asks <-chan Ask) (flight.Input, Ask) {
	for {
		if len(c.more) > 0 {
			d := c.more[0]
			c.more = c.more[1:]
			return flight.Input{Kind: flight.Frame, At: c.Now(), Data: d}, nil
		}
		in, ask := c.simulated.Next(ctx, due, asks)
		if in.Kind != flight.Frame || ask != nil {
			return in, ask
		}
		c.more = c.spoil(in.At.Wall, in.Data)
	}
}

// like returns the frame of a message, as if the vehicle sent it after another frame.
func like(t *testing.T, before []byte, m frame.Message) []byte {
	t.Helper()
	w := frame.Writer{System: 1, Component: 1}
	for {
		raw, err := w.Write(m, 0)
		if err != nil {
			t.Fatal(err)
		}
		if raw[4] == before[4]+1 {
			return raw
		}
	}
}

// meant are the messages of which a single one may change who commands, or what the plan decides: the vehicle's
// heartbeat, the pilot's sticks, and whether it is ready or has landed.
var meant = []uint32{0, 1, 65, 245}

// One frame of the vehicle, of any other message that a flight reads and with any values, at any time: the plan is flown
// to its end, and nobody takes the vehicle.
func TestOneFrameEndsNoFlight(t *testing.T) {
	trials := 300
	if testing.Short() {
		trials = 60
	}
	used, _ := adapter.Messages()
	used = slices.DeleteFunc(used, func(id uint32) bool { return slices.Contains(meant, id) })
	for seed := range trials {
		random := rand.New(rand.NewPCG(uint64(seed), 5))
		at, m := 1+random.Int64N(55e9), frame.Message(nil)
		d, p, err := flownWith(t, fake.New(fake.Options{}), 0, func(now int64, d []byte) [][]byte {
			if m != nil || now < at {
				return [][]byte{d}
			}
			id := used[random.IntN(len(used))]
			i := slices.IndexFunc(ardupilotmega.Dialect.Messages, func(m message.Message) bool { return m.GetID() == id })
			m = messages.Random[frame.Message](random, ardupilotmega.Dialect.Messages[i], "PreArm: x", "TKOFF_ALT")
			return [][]byte{d, like(t, d, m)}
		})
		s := d.Summary()
		if err != nil || m == nil || s.Plan != record.PlanSucceeded || d.Vehicle() != adapter.Ready {
			t.Errorf("seed %d, %.3f s: %#v: %v, %+v\n%s", seed, float64(at)/1e9, m, err, s, strings.Join(p.lines, "\n"))
		}
	}
}

// The vehicle's clock jumps by 900 s: the log says so, and the plan's time goes on without that.
func TestTheClockJumps(t *testing.T) {
	v, jumped := fake.New(fake.Options{}), false
	d, p, err := flownWith(t, v, 0, func(now int64, d []byte) [][]byte {
		if now > 45*second && !jumped {
			v.Inject(fake.Event{Kind: fake.ClockStep, Value: 900})
			jumped = true
		}
		return [][]byte{d}
	})
	s, all := d.Summary(), strings.Join(p.lines, "\n")
	if err != nil || s.Plan != record.PlanSucceeded || s.Ended > 100 || strings.Count(all, "clock jumped:") != 1 ||
		!strings.Contains(all, "went forward by 900") || strings.Contains(all, "late:") {
		t.Errorf("%v, %+v\n%s", err, s, all)
	}
}

// The vehicle reboots while the link is lost, for so long that its new clock is later than the old one was.
func TestRebootWhileTheLinkIsLost(t *testing.T) {
	v, rebooted := fake.New(fake.Options{}), false
	_, p, err := flownWith(t, v, 250, func(now int64, d []byte) [][]byte {
		if now > 100*second && !rebooted {
			v.Inject(fake.Event{Kind: fake.Reboot})
			rebooted = true
		}
		if now > 45*second && now < 200*second {
			return nil
		}
		return [][]byte{d}
	})
	if all := strings.Join(p.lines, "\n"); err != nil || strings.Count(all, "rebooted: the vehicle rebooted") != 1 ||
		strings.Contains(all, "link back") || strings.Contains(all, "while the link was lost") {
		t.Errorf("%v\n%s", err, all)
	}
}
