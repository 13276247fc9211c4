package driver

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	mav "github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"
	"github.com/bluenviron/gomavlib/v3/pkg/message"

	"github.com/canopy-uav/canopy/autopilot/adapter"
	"github.com/canopy-uav/canopy/autopilot/fake"
	"github.com/canopy-uav/canopy/autopilot/frame"
	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/internal/golden"
	"github.com/canopy-uav/canopy/internal/messages"
	"github.com/canopy-uav/canopy/run/flight"
)

// errEnough ends a flight that the test has seen enough of.
var errEnough = errors.New("enough")

// The operator stops at any time of the first minute, from the attachment to the first leg, of each kind of vehicle, on
// links with and without delay: nobody is left armed on the ground, nor in a mode that takes off when somebody arms it.
// One that is in the air holds or returns.
func TestStopInTheTakeOff(t *testing.T) {
	random := rand.New(rand.NewPCG(23, 4))
	missions := map[bool]*mission.Mission{true: shipped(t, "circuit-plane"), false: shipped(t, "patrol-copter")}
	rounds := 60
	if testing.Short() {
		rounds = 8
	}
	for _, firmware := range []fake.Firmware{fake.ArduPlane, fake.ArduCopter, fake.PX4Plane, fake.PX4Copter} {
		for range rounds {
			at, lag := int64(60e9*random.Float64()), int64(random.IntN(2)*random.IntN(1500))*1e6
			m := missions[firmware == fake.ArduPlane || firmware == fake.PX4Plane]
			o := flight.Options{Options: adapter.Options{Return: random.IntN(2) == 0}, Arm: true}
			x := beginWith(t, m, o, fake.Options{Firmware: firmware, Seed: random.Uint64()})
			x.far.lag = lag
			if err := x.fly(func() error {
				if x.far.wall >= at {
					return errEnough
				}
				return nil
			}); err != nil && !errors.Is(err, errEnough) {
				t.Fatal(err)
			}
			if err := x.Stop("Ctrl-C"); err != nil && !errors.Is(err, errEnough) {
				t.Fatal(err)
			}
			// What is under way arrives; a copter that never lifts off disarms by itself after 10 s, one that has landed after 3 s.
			s := x.vehicle.State()
			for n := 0; n < 1000 || n < 1200 && s.Armed && !s.Flying; n++ {
				x.vehicle.Step(step)
				s = x.vehicle.State()
			}
			held := []string{"LOITER", "CIRCLE", "BRAKE", "HOLD", "RTL"}
			if strings.Contains(strings.ToLower(s.Mode), "takeoff") || s.Armed && !s.Flying ||
				s.Flying && !slices.Contains(held, s.Mode) {
				t.Errorf("%v, stopped at %.3f s, delay %d ms: %+v\n%s", firmware, float64(at)/1e9, lag/1e6, s, x.log())
			}
		}
	}
}

// watched is a course whose plan reads what telemetry gives.
const watched = `<Parallel name="all" success_count="1" failure_count="1"><KeepRunningUntilFailure name="watch">
  <Condition name="sane" on="airspeed * airspeed + wind_north * wind_north lt 1e13" unknown="hold"/></KeepRunningUntilFailure>` +
	course + `</Parallel>`

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
		trials = 50
	}
	used, _ := adapter.Messages()
	used = slices.DeleteFunc(used, func(id uint32) bool { return slices.Contains(meant, id) })
	mission := read(t, "plane", watched, "")
	for seed := range trials {
		random := rand.New(rand.NewPCG(uint64(seed), 5))
		at, m := 1+random.Int64N(55e9), frame.Message(nil)
		x := begin(t, mission, fake.Options{})
		x.far.in = func(now int64, d []byte) [][]byte {
			if m != nil || now < at {
				return [][]byte{d}
			}
			id := used[random.IntN(len(used))]
			i := slices.IndexFunc(mav.Dialect.Messages, func(m message.Message) bool { return m.GetID() == id })
			m = messages.Random[frame.Message](random, mav.Dialect.Messages[i], "PreArm: x", "TKOFF_ALT")
			return [][]byte{d, like(t, d, m)}
		}
		if x.succeed(nil); m == nil || x.Vehicle() != adapter.Ready || t.Failed() {
			t.Fatalf("seed %d, %.3f s: %#v\n%s", seed, float64(at)/1e9, m, x.log())
		}
	}
}

// The vehicle's clock jumps by 900 s: the log says so, and the plan's time goes on without that.
func TestTheClockJumps(t *testing.T) {
	x, jumped := begin(t, read(t, "plane", watched, ""), fake.Options{}), false
	x.succeed(func() error {
		if x.far.wall > 45*second && !jumped {
			x.vehicle.Inject(fake.Event{Kind: fake.ClockStep, Value: 900})
			jumped = true
		}
		return nil
	})
	if all := x.log(); x.Summary().Ended > 100 || strings.Count(all, "clock jumped:") != 1 ||
		!strings.Contains(all, "went forward by 900") || strings.Contains(all, "late:") {
		t.Errorf("%+v\n%s", x.Summary(), all)
	}
}

// The vehicle reboots while the link is lost, for so long that its new clock is later than the old one was.
func TestRebootWhileTheLinkIsLost(t *testing.T) {
	x, rebooted := beginWith(t, north(t), flight.Options{Arm: true, Until: 250}, fake.Options{}), false
	x.far.in = func(now int64, d []byte) [][]byte {
		if now > 100*second && !rebooted {
			x.vehicle.Inject(fake.Event{Kind: fake.Reboot})
			rebooted = true
		}
		if now > 45*second && now < 200*second {
			return nil
		}
		return [][]byte{d}
	}
	err := x.fly(nil)
	if all := x.log(); err != nil || strings.Count(all, "rebooted: the vehicle rebooted") != 1 ||
		strings.Contains(all, "link back") || strings.Contains(all, "while the link was lost") {
		t.Errorf("%v\n%s", err, all)
	}
}

// between lets a far end lose all that the vehicle sends between two times [ns].
func between(from, to int64) func(int64, []byte) [][]byte {
	return func(wall int64, d []byte) [][]byte {
		if wall >= from && wall < to {
			return nil
		}
		return [][]byte{d}
	}
}

// The vehicle is silent for half a minute in the air: the link is lost and comes back, and the plan ends.
func TestSilence(t *testing.T) {
	x := begin(t, north(t), fake.Options{})
	x.far.in = between(55e9, 85e9)
	x.succeed(nil)
	for _, k := range []adapter.Kind{adapter.LinkLost, adapter.LinkBack} {
		if n := strings.Count(x.log(), " "+k.String()+": "); n != 1 {
			t.Errorf("%d times: %v\n%s", n, k, x.log())
		}
	}
}

// The operator stops while the vehicle is silent: the log does not say that it goes on as it was told.
func TestStopWithoutALink(t *testing.T) {
	x := begin(t, north(t), fake.Options{})
	x.far.in = between(55e9, 1e15)
	if err := x.fly(func() error {
		if x.Vehicle() == adapter.Lost {
			return errEnough
		}
		return nil
	}); !errors.Is(err, errEnough) {
		t.Fatal(err)
	}
	x.observe = nil
	if err := x.Stop("Ctrl-C"); err != nil || !strings.Contains(x.log(), "end: the link is lost: nobody knows") {
		t.Errorf("%v\n%s", err, x.log())
	}
}

// A loss of the link for 10 s, and of each fifth frame, makes the battery unknown for a moment: the patrol goes on.
func TestThePatrolGoesOn(t *testing.T) {
	m, seeds := shipped(t, "patrol-copter"), uint64(4)
	if testing.Short() {
		seeds = 2
	}
	for _, firmware := range []fake.Firmware{fake.ArduCopter, fake.PX4Copter} {
		for seed := range seeds {
			random := rand.New(rand.NewPCG(6, seed))
			cut := int64(70e9 + 60e9*random.Float64())
			arrives := func(wall int64) bool {
				return !(wall > cut && wall < cut+10e9 || seed%2 == 1 && wall > 60e9 && random.IntN(5) == 0)
			}
			x := begin(t, m, fake.Options{Firmware: firmware, Seed: seed})
			x.far.out = arrives
			x.far.in = func(wall int64, d []byte) [][]byte {
				if !arrives(wall) {
					return nil
				}
				return [][]byte{d}
			}
			if err := x.fly(func() error {
				if x.T() > 170 {
					return errEnough
				}
				return nil
			}); !errors.Is(err, errEnough) {
				t.Fatal(err)
			}
			if log := x.log(); strings.Contains(log, "return_home Activating") || !strings.Contains(log, "unknown: battery") {
				t.Errorf("%v, cut at %.1f s\n%s", firmware, float64(cut)/1e9, log)
			}
		}
	}
}

// load lets the computer of a simulator be loaded: its rate changes, it stands still, and what it sends arrives in bursts.
func (c *far) load(random *rand.Rand, rates []float64) {
	rate, until, late := 0.0, int64(0), int64(0)
	var waiting [][]byte
	c.pass = func(due int64) {
		for len(c.arrived) == 0 && c.wall < due {
			if c.wall >= until {
				rate, until = rates[random.IntN(len(rates))], c.wall+second/2+random.Int64N(5*second)
				if random.IntN(4) == 0 {
					rate, until = 0, c.wall+random.Int64N(second*3/4)
				}
			}
			dt := max(min(int64(5_000_000), due-c.wall), 1)
			if rate > 0 {
				c.vehicle.Step(int64(float64(dt) * rate))
			}
			c.wall += dt
			waiting = append(waiting, c.vehicle.Out()...)
			if c.wall < late {
				continue
			}
			c.arrived, waiting = waiting, nil
			if random.IntN(50) == 0 { // the computer is busy: all arrives at once
				late = c.wall + random.Int64N(200_000_000)
			}
		}
	}
}

// Simulators that are slower or faster than real time, at rates that change, that stand still for up to 0.75 s, and
// whose messages arrive in bursts: no sample is late, the link is not lost, nothing rebooted or jumped, and each task is
// entered once.
func TestLoadedSimulators(t *testing.T) {
	trials := 40
	if testing.Short() {
		trials = 8
	}
	for seed := range trials {
		x := begin(t, north(t), fake.Options{})
		x.far.load(rand.New(rand.NewPCG(uint64(seed), 11)), [][]float64{{10, 3}, {0.2, 1}, {1}, {20, 8, 3}, {0.5, 2, 50}}[seed%5])
		x.succeed(nil)
		_, all, _ := strings.Cut(x.log(), "take_off Activating")
		for _, word := range []string{" late: ", " link lost: ", " rebooted: ", " clock jumped: ", "take_off Activating"} {
			if strings.Contains(all, word) || strings.Count(all, "go Activating") != 1 {
				t.Errorf("seed %d: %q\n%s", seed, word, x.log())
			}
		}
	}
}

// A flight in which satellites are lost, or the link is silent, for a time: the position is unknown then. A condition
// over it is false, and one with hold is as before.
func TestUnknown(t *testing.T) {
	const from, to = 60e9, 70e9
	for _, silent := range []bool{false, true} {
		x := beginWith(t, read(t, "plane", `<Parallel name="all"><Condition name="up" on="h gt -50 [m]"/>
			<Condition name="held" on="h gt -50 [m]" unknown="hold"/></Parallel>`, "ends_with_plan: false\n"),
			flight.Options{Until: 60}, fake.Options{})
		if silent {
			x.far.in = between(from, to)
		}
		events := []fake.Event{{Kind: fake.GPSLost}, {Kind: fake.GPSBack}}
		if err := x.fly(func() error {
			if at := []int64{1e15, to, from}[len(events)]; !silent && x.far.wall >= at && len(events) > 0 {
				x.vehicle.Inject(events[0])
				events = events[1:]
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, line := range x.page.lines {
			_, what, _ := strings.Cut(line, " ")
			if strings.HasSuffix(what, "known: position") || strings.HasPrefix(what, "up ") || strings.HasPrefix(what, "held ") {
				got = append(got, what)
			}
		}
		if want := []string{"unknown: position", "known: position", "up Success", "held Success",
			"unknown: position", "up Failure", "known: position", "up Success"}; !slices.Equal(got, want) {
			t.Errorf("silent %v: %v\n%s", silent, got, x.log())
		}
	}
}

// A plane in failsafe since its boot, because its ground station is not there, waits with its plan: no time of the plan
// passes. When the station comes, the plan begins, and takes off.
func TestPlanWaitsForTheStation(t *testing.T) {
	const comes = 300 * second
	x := begin(t, read(t, "plane", `<take_off/>`, ""), fake.Options{})
	x.vehicle.Set("FS_GCS_ENABL", 1)
	x.vehicle.Set("FS_LONG_ACTN", 1)
	w, next := frame.Writer{System: 255, Component: 190}, int64(comes)
	x.succeed(func() error {
		if x.vehicle.Now() >= next {
			next += second
			raw, err := w.Write(&mav.MessageHeartbeat{Type: 6, Autopilot: 8}, 0)
			if err != nil {
				return err
			}
			x.vehicle.Receive(raw)
		} else if x.vehicle.Now() < comes && x.Started() {
			t.Fatal("the plan has begun in failsafe")
		}
		return nil
	})
	i := slices.IndexFunc(x.orders, func(o fake.Received) bool { return o.ID == 400 })
	if i < 0 || x.orders[i].T < comes ||
		strings.Count(x.log(), "waiting: it is in failsafe: GCS Failsafe On: RTL: the plan begins when that has ended") != 1 {
		t.Errorf("%+v\n%s", x.orders, x.log())
	}
}

// due reports whether it is time for an event, at a height and after a number of steps of the flight, and whether the
// plan has begun.
func due(event string, height float64, steps int, ready bool) bool {
	switch name, _, _ := strings.Cut(event, "="); name {
	case "breach", "reboot":
		return height > 10
	case "stop":
		return steps > 1000
	case "refuse":
		return ready
	}
	return true
}

// What became of the vehicle is as the scripts say: a plan and, after a line ---, keys of the mission; grounded: the plan
// may not enable the motors; a parameter that is 1; and events, one after the other, as in --fault, or stop.
func TestWhatBecameOfTheVehicle(t *testing.T) {
	golden.Run(t, func() golden.Machine { return fate }, "testdata/fates/*.txt")
}

func fate(t *testing.T, d golden.Directive) string {
	o, options := fake.Options{}, flight.Options{Arm: true, Until: 150}
	if d.Args[0].Key == "copter" {
		o.Firmware = fake.ArduCopter
	}
	var events []string
	for _, a := range d.Args[1:] {
		switch a.Key {
		case "grounded":
			options.Arm = false
		case "events":
			events = a.Values
		}
	}
	body, yaml, _ := strings.Cut(d.Input, "---\n")
	x := beginWith(t, read(t, d.Args[0].Key, body, yaml+"\n"), options, o)
	x.vehicle.Set("FS_LONG_ACTN", 1)
	x.vehicle.Set(d.Value("set"), 1)
	steps := 0
	if err := x.fly(func() error {
		steps++
		for len(events) > 0 {
			event := strings.Replace(events[0], ":", "=", 1)
			var p fake.Scenario
			switch {
			case !due(event, x.vehicle.State().Height, steps, x.Started()):
				return nil
			case event == "stop":
				x.Operate(flight.Stop)
			case p.Add(event+"@0") != nil:
				t.Fatalf("%s: %s", d.At, event)
			default:
				x.vehicle.Inject(p.Events[0].Event)
			}
			events = events[1:]
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	s := x.Summary().Sortie
	if s.Left != "" {
		t.Errorf("%s: %s", d.At, s.Left)
	}
	return fmt.Sprintf("%s, breached: %t\n%s", s.Vehicle, x.Summary().Breached != nil, strings.Join(s.Faults(), "\n"))
}
