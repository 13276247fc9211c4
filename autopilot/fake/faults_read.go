package fake

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/expr"
)

// faults are the faults, in the order in which they are listed: how one is written, the largest value, and what it adds
// to a plan.
var faults = []struct {
	form string
	most float64
	add  func(p *Scenario, x float64, at int64)
}{
	{"loss=VALUE with a value up to 1", 1, func(p *Scenario, x float64, _ int64) { p.Loss = x }},
	{"repeat=VALUE with a value up to 1", 1, func(p *Scenario, x float64, _ int64) { p.Repeat = x }},
	{"broken=VALUE with a value up to 1", 1, func(p *Scenario, x float64, _ int64) { p.Broken = x }},
	{"join=VALUE with a value up to 1", 1, func(p *Scenario, x float64, _ int64) { p.Join = x }},
	{"delay=SECONDS up to 60", 60, func(p *Scenario, x float64, _ int64) { p.Delay = nanoseconds(x) }},
	{"deaf=SECONDS@TIME", most, silence(ToVehicle)},
	{"mute=SECONDS@TIME", most, silence(FromVehicle)},
	{"rate=FACTOR@TIME, up to 100, the earliest first", 100, func(p *Scenario, x float64, at int64) {
		p.Rates = append(p.Rates, Pace{at, x})
	}},
	{"reboot@TIME", most, event(Reboot)},
	{"battery=VALUE@TIME", most, event(Battery)},
	{"pilot-mode=VALUE@TIME", most, event(PilotMode)},
	{"pilot-stick=SECONDS@TIME", most, event(PilotStick)},
	{"gps-lost@TIME", most, event(GPSLost)},
	{"gps-back@TIME", most, event(GPSBack)},
	{"clock-step=SECONDS@TIME", most, event(ClockStep)},
	{"breach=SECONDS@TIME", most, event(Breach)},
	{"lie=VALUE@TIME", most, event(Lie)},
	{"refuse=VALUE@TIME", most, event(Refuse)},
	{"throttle=VALUE@TIME", most, event(Throttle)},
	{"late-origin=SECONDS@TIME", most, event(Late)},
	{"radio-lost@TIME", most, event(RadioLost)},
	{"radio-back@TIME", most, event(RadioBack)},
}

const most = 1e6 // of all numbers

func silence(way Way) func(*Scenario, float64, int64) {
	return func(p *Scenario, x float64, at int64) {
		p.Silences = append(p.Silences, Silence{way, at, at + nanoseconds(x)})
	}
}

func event(kind Kind) func(*Scenario, float64, int64) {
	return func(p *Scenario, x float64, at int64) {
		p.Events = append(p.Events, Incident{at, Event{Kind: kind, Value: x}})
	}
}

// FaultForms describes what [Scenario.Add] reads.
const FaultForms = `loss=P repeat=P broken=P join=P   part of the datagrams, 0 to 1
delay=S                           the longest way of a datagram; those behind may overtake it
deaf=S@T mute=S@T                 the vehicle receives, sends nothing for S seconds
rate=FACTOR@T                     from then on the clock runs so fast: 0.3 is a loaded computer
battery=LEVEL@T                   the battery's charge, 0 to 1
gps-lost@T gps-back@T             satellites
pilot-mode=NUMBER@T               the pilot selects a mode
pilot-stick=S@T                   the pilot deflects the sticks for S seconds
radio-lost@T radio-back@T         the pilot's radio
throttle=US@T                     the pilot moves the throttle stick: 1000 to 2000 us
reboot@T clock-step=S@T           the autopilot starts again; its clock jumps
breach=S@T                        the fence takes the vehicle to be outside
late-origin=S@T                   the position is estimated S seconds later
lie=N@T refuse=N@T                N commands are accepted and not executed, or fail
`

// Add reads one fault, NAME[=VALUE][@TIME], into the plan.
func (p *Scenario) Add(text string) error {
	head, when, timed := strings.Cut(text, "@")
	name, amount, valued := strings.Cut(head, "=")
	var names []string
	for _, f := range faults {
		known := f.form[:strings.IndexAny(f.form, "=@")]
		if names = append(names, known); known != name {
			continue
		}
		x, err := number(amount, valued, strings.Contains(f.form, "=SECONDS"))
		t, wrong := number(when, timed, true)
		if err = cmp.Or(err, wrong); err != nil {
			return fmt.Errorf("fault %s: %w", text, err)
		}
		at := nanoseconds(t)
		early := name == "rate" && len(p.Rates) > 0 && at < p.Rates[len(p.Rates)-1].From
		if valued != strings.Contains(f.form, "=") || timed != strings.Contains(f.form, "@") || x > f.most || early {
			return fmt.Errorf("fault %s: write %s", text, f.form)
		}
		f.add(p, x, at)
		return nil
	}
	return fmt.Errorf("unknown fault %q; %s", name, cmp.Or(diag.DidYouMean(name, names), diag.OneOf("there are ", names)))
}

// number reads a number from 0 to 1e6, or a time, if one was given.
func number(text string, given, time bool) (x float64, err error) {
	if !given {
		return 0, nil
	}
	if x, err = strconv.ParseFloat(text, 64); err != nil && time {
		if x, err = expr.Duration(text); err != nil {
			return 0, err
		}
	}
	if err != nil || !(x >= 0 && x <= most) {
		return 0, fmt.Errorf("%q is not a number from 0 to 1e6", text)
	}
	return x, nil
}

func nanoseconds(seconds float64) int64 { return int64(math.Round(seconds * 1e9)) }
