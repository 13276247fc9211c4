package fake

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"canopy/diag"
)

// channelFaults are the faults of the channel, which have no time.
var channelFaults = []struct {
	name string
	most float64
	set  func(*Scenario, float64)
}{
	{"loss", 1, func(p *Scenario, x float64) { p.Loss = x }},
	{"repeat", 1, func(p *Scenario, x float64) { p.Repeat = x }},
	{"broken", 1, func(p *Scenario, x float64) { p.Broken = x }},
	{"join", 1, func(p *Scenario, x float64) { p.Join = x }},
	{"delay", 60, func(p *Scenario, x float64) { p.Delay = nanoseconds(x) }},
}

// silences are the faults of one way of the channel for a time.
var silences = map[string]Way{"deaf": ToVehicle, "mute": FromVehicle}

const maxRate = 100 // of the vehicle's clock

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

// Add reads one fault, NAME[=VALUE][@SECONDS], into the plan.
func (p *Scenario) Add(text string) error {
	head, when, timed := strings.Cut(text, "@")
	name, amount, valued := strings.Cut(head, "=")
	x, t := 0.0, 0.0
	var err error
	if valued {
		if x, err = number(amount); err != nil {
			return fmt.Errorf("fault %s: %w", text, err)
		}
	}
	if timed {
		if t, err = number(when); err != nil {
			return fmt.Errorf("fault %s: %w", text, err)
		}
	}
	at := nanoseconds(t)
	for _, f := range channelFaults {
		if f.name != name {
			continue
		}
		if timed || !valued || x > f.most {
			return fmt.Errorf("fault %s: write %s=VALUE with a value up to %g", text, name, f.most)
		}
		f.set(p, x)
		return nil
	}
	if way, ok := silences[name]; ok {
		if !timed || !valued {
			return fmt.Errorf("fault %s: write %s=SECONDS@TIME", text, name)
		}
		p.Silences = append(p.Silences, Silence{way, at, at + nanoseconds(x)})
		return nil
	}
	if name == "rate" {
		if !timed || !valued || x > maxRate || len(p.Rates) > 0 && at < p.Rates[len(p.Rates)-1].From {
			return fmt.Errorf("fault %s: write rate=FACTOR@TIME, up to %d, the earliest first", text, maxRate)
		}
		p.Rates = append(p.Rates, Pace{at, x})
		return nil
	}
	kind, ok := KindNamed(name)
	if !ok {
		return fmt.Errorf("unknown fault %q; %s", name, hint(name))
	}
	if !timed || valued != kind.Valued() {
		form := name
		if kind.Valued() {
			form += "=VALUE"
		}
		return fmt.Errorf("fault %s: write %s@TIME", text, form)
	}
	p.Events = append(p.Events, Incident{at, Event{Kind: kind, Value: x}})
	return nil
}

// hint names the fault that was meant, or all.
func hint(name string) string {
	var names []string
	for _, f := range channelFaults {
		names = append(names, f.name)
	}
	names = append(names, "deaf", "mute", "rate")
	names = append(names, KindNames()...)
	if s := diag.DidYouMean(name, names); s != "" {
		return s
	}
	return diag.OneOf("faults", names)
}

// number reads a number from 0 to 1e6.
func number(text string) (float64, error) {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || !(x >= 0 && x <= 1e6) {
		return 0, fmt.Errorf("%q is not a number from 0 to 1e6", text)
	}
	return x, nil
}

func nanoseconds(seconds float64) int64 { return int64(math.Round(seconds * 1e9)) }
