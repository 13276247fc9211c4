package simulated

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/internal/golden"
)

// equated is a mission of a vehicle that is given as equations, as the scripts of testdata/closed say:
//
//	vehicle                    its equations
//	mission                    keys of each flight, below the vehicle and the plan
//	when                       a line for each flight: the condition c, beside an action
//	write                      a line for each flight: what an action writes into the command u
//	fly                        a plan and, after a line ---, further keys
//
// The arguments of a flight are the tasks whose changes and the signals whose last values are told, the digits after the
// point, `events` for the number of the state events, `logged` for that of all that are logged, and keys of the mission with several values, `default` for none:
// with each of them the answer must be the same. Its events of other kinds are told, and its error.
type equated struct{ vehicle, mission, last string }

func (e *equated) answer(t *testing.T, d golden.Directive) string {
	var plans []string
	changes, ends, keys := list(d, "changes"), list(d, "ends"), ""
	switch d.Name {
	case "vehicle":
		e.vehicle = d.Input + "\n"
		return ""
	case "mission":
		e.mission = d.Input + "\n"
		return ""
	case "when":
		for line := range strings.Lines(d.Input) {
			plans = append(plans, `<ReactiveSequence><Condition name="c" on="`+strings.TrimSpace(line)+
				`"/><Action name="a"/></ReactiveSequence>`)
		}
		changes = []string{"c"}
	case "write":
		for line := range strings.Lines(d.Input) {
			plans = append(plans, `<Action name="go" write="u := `+strings.TrimSpace(line)+`"/>`)
		}
		ends = []string{"x"}
	case "fly":
		plan, more, _ := strings.Cut(d.Input, "---\n")
		plans, keys = []string{plan}, more+"\n"
	default:
		t.Fatalf("%s: unknown directive %q", d.At, d.Name)
	}
	var answer strings.Builder
	for n, plan := range plans {
		before := ""
		for i, key := range variants(d) {
			text := e.flight(t, d, plan, keys+key, changes, ends)
			switch {
			case i == 0 && n > 0 && text == e.last:
				fmt.Fprintln(&answer, "the same")
			case i == 0 || text != before:
				fmt.Fprintln(&answer, text)
			}
			before, e.last = text, text
		}
	}
	return answer.String()
}

// list returns the values of an argument.
func list(d golden.Directive, key string) (values []string) {
	for _, a := range d.Args {
		if a.Key == key {
			values = a.Values
		}
	}
	return values
}

// variants returns the keys with which a flight is flown, one after the other.
func variants(d golden.Directive) (keys []string) {
	for _, a := range d.Args {
		for _, v := range a.Values {
			switch {
			case slices.Contains([]string{"changes", "ends", "digits", "events", "logged"}, a.Key):
			case v == "default":
				keys = append(keys, "")
			default:
				keys = append(keys, a.Key+": "+v+"\n")
			}
		}
	}
	if len(keys) == 0 {
		return []string{""}
	}
	return keys
}

// flight flies a plan, and tells what comes of it.
func (e *equated) flight(t *testing.T, d golden.Directive, plan, keys string, changes, ends []string) string {
	digits, err := strconv.ParseFloat(d.Value("digits"), 64)
	if err != nil {
		t.Fatalf("%s: %v", d.At, err)
	}
	number := func(x float64) string {
		scale := math.Pow(10, digits)
		return strconv.FormatFloat(math.Round(x*scale)/scale+0, 'f', -1, 64)
	}
	long := regexp.MustCompile(`\d+(\.\d+)?(e[-+]\d+)?`)
	short := func(text string) string {
		return long.ReplaceAllStringFunc(text, func(n string) string {
			x, _ := strconv.ParseFloat(n, 64)
			return fmt.Sprintf("%.4g", math.Round(x*1e9)/1e9) // what is shorter is chance
		})
	}
	m := equationsMission(t, e.vehicle, plan, e.mission+keys)
	r, l, err := fly(t, m)
	var parts []string
	reports := ""
	for _, task := range changes {
		var times []string
		for _, at := range l.changes(m, task) {
			times = append(times, number(at))
		}
		parts = append(parts, task+" changes at ["+strings.Join(times, ", ")+"]")
	}
	for i, x := range l.ends(m, ends...) {
		parts = append(parts, ends[i]+" = "+number(x))
	}
	for _, a := range d.Args {
		switch a.Key {
		case "events":
			parts = append(parts, fmt.Sprintf("%d state events", r.Summary().StateEvents))
		case "logged":
			parts = append(parts, fmt.Sprintf("%d are logged", len(l.events)))
		}
	}
	for _, x := range l.events {
		if x.Kind != "state" && x.Kind != "time" && x.Kind != "error" {
			reports += short(fmt.Sprintf("\n%g s: %s: %s", x.T, x.Kind, x.Text))
		}
	}
	if err != nil {
		reports += "\nerror at " + number(l.times[len(l.times)-1]) + " s: " + short(err.Error())
	}
	return strings.TrimPrefix(strings.Join(parts, "; ")+reports, "\n")
}

// closed answers a script of testdata/closed: what happens is compared with closed forms.
func closed(t *testing.T, name string) {
	golden.Run(t, func() golden.Machine { return new(equated).answer }, "testdata/closed/"+name+".txt")
}

func TestBends(t *testing.T)            { closed(t, "bends") }
func TestHybrid(t *testing.T)           { closed(t, "hybrid") }
func TestKinksAreEvents(t *testing.T)   { closed(t, "kinks") }
func TestPulses(t *testing.T)           { closed(t, "pulses") }
func TestPulseOfTimeAlone(t *testing.T) { closed(t, "pulse-of-time") }
func TestPolesAreCrossed(t *testing.T)  { closed(t, "poles") }
func TestPlanSlides(t *testing.T)       { closed(t, "slides") }
func TestTouchIsReported(t *testing.T)  { closed(t, "touch") }
func TestTypesOfAVehicle(t *testing.T)  { closed(t, "types") }
