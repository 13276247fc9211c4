package qgc

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/syntax/xmltree"
)

// Import returns a plan (.xml) and a mission (.yaml) that fly what a file describes with the actions of the library of
// its vehicle's class. Positions are metres from the planned home, which is the site of the mission. The list has an
// error for each item that moves the vehicle and cannot be flown, and there are no documents then; a warning for
// all that is left out.
func Import(f *File, name string) (plan, mission string, list diag.List) {
	steps, list := f.convert()
	if len(steps) == 0 && !list.HasErrors() {
		list = append(list, diag.Diagnostic{Source: f.source, Code: codeItem,
			Text: "the mission has no item that can be flown"})
	}
	limits, rally, more := f.limits()
	if list = append(list, more...); list.HasErrors() {
		return "", "", list.Sorted()
	}
	if !takesOff(steps) {
		list = append(list, diag.Diagnostic{Source: f.source, Severity: diag.Warning, Code: codeItem,
			Text: "the plan has no take-off: a vehicle on the ground stays there until the mission's horizon",
			Hint: "add a take-off in QGroundControl, or let the vehicle fly when the plan begins"})
	}
	return f.plan(steps), f.mission(name, steps) + limited(limits, rally), list.Sorted()
}

// takesOff reports whether a take-off is among steps.
func takesOff(steps []step) bool {
	return slices.ContainsFunc(steps, func(s step) bool { return s.action == "take_off" || takesOff(s.steps) })
}

func (f *File) class() string {
	if f.Copter {
		return "copter"
	}
	return "plane"
}

// plan returns the document of a plan: the steps one after the other.
func (f *File) plan(steps []step) string {
	root := xmltree.New("root", "BTCPP_format", "4", "main_tree_to_execute", "mission").With(
		xmltree.New("include", "path", "library:"+f.class()),
		xmltree.New("BehaviorTree", "ID", "mission").With((&writer{}).sequence("mission", steps)))
	root.Spaced = true
	return root.Document()
}

// writer writes steps; it numbers the loops.
type writer struct{ loops int }

func (w *writer) sequence(name string, steps []step) *xmltree.Markup {
	m := xmltree.New("Sequence", "name", name)
	for i := range steps {
		m.With(w.step(&steps[i]))
	}
	return m
}

func (w *writer) step(s *step) *xmltree.Markup {
	if len(s.steps) > 0 {
		w.loops++
		return xmltree.New("Repeat", "name", fmt.Sprintf("loop_%d", w.loops), "num_cycles", strconv.Itoa(s.times)).With(
			w.sequence(fmt.Sprintf("round_%d", w.loops), s.steps))
	}
	m := xmltree.New(s.action)
	if s.tree {
		m = xmltree.New("SubTree", "ID", s.action)
	}
	m.Add("name", fmt.Sprintf("%s_%d", s.action, s.from.Jump))
	for _, p := range s.ports {
		text := strconv.FormatFloat(math.Round(p.value*1000)/1000, 'f', -1, 64) // lengths to a millimetre
		if u := units[p.name]; u != "" {
			text += " [" + u + "]"
		}
		m.Add(p.name, text)
	}
	return m
}

// units are those of ports; a count has none.
var units = map[string]string{"to_north": "m", "to_east": "m", "to_h": "m", "to_radius": "m", "to_speed": "m/s",
	"duration": "s", "to_pwm": "us", "period": "s", "distance": "m", "interval": "s", "pitch": "deg", "yaw": "deg"}

// mission returns the document of a mission.
func (f *File) mission(name string, steps []step) string {
	number := func(v float64, digits int) string { return strconv.FormatFloat(v, 'f', digits, 64) }
	var b strings.Builder
	fmt.Fprintf(&b, "# Imported from a plan of QGroundControl. Positions are metres from its planned home, the site.\n"+
		"mission: %s\nplan: %s.xml\nvehicle: %s\nhorizon: %s\nends_with_plan: true\n\n"+
		"environment:\n  lat_deg: %s\n  lon_deg: %s\n"+
		"  alt: %s\n\nplots:\n  - {title: Height, signals: [h]}\n  - {title: Position, signals: [north, east]}\n",
		strconv.Quote(name), name, f.class(), horizon(steps), number(f.Home.Lat, 7), number(f.Home.Lon, 7),
		number(f.Home.H, 2))
	return b.String()
}

// horizon returns a time within which the steps can be flown: that of their time limits is far longer, so twice what
// they need at 10 m/s and 2 m/s of climb, in minutes.
func horizon(steps []step) string {
	at := map[string]float64{}
	var need func(steps []step) float64
	need = func(steps []step) float64 {
		total := 0.0
		for _, s := range steps {
			if len(s.steps) > 0 {
				total += need(s.steps) * math.Max(1, float64(s.times))
				continue
			}
			total += 60
			way := 0.0
			for _, p := range s.ports {
				switch p.name {
				case "to_north", "to_east":
					way += math.Abs(p.value-at[p.name]) / 10
				case "to_h":
					way += math.Abs(p.value-at[p.name]) / 2
				case "duration":
					total += p.value
				case "turns":
					total += p.value * 120
				}
				at[p.name] = p.value
			}
			total += way
		}
		return total
	}
	home := math.Abs(at["to_north"])/10 + math.Abs(at["to_east"])/10
	return fmt.Sprintf("%.0f [min]", math.Ceil(2*(need(steps)+home)/60))
}
