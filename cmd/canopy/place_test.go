package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/vehicle/earth"
)

// Random places, written in degrees and in metres from home, are the same flight: the same tasks are active in the same
// order, and the positions are the same; simulated and on the fakes.
func TestPlacesAreFlown(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 23))
	for i, vehicle := range []string{"copter", "plane"} {
		t.Run(vehicle, func(t *testing.T) {
			home := earth.Position{Lat: []float64{-54.8, 65.5}[i], Lon: []float64{179.9995, -18.1}[i]} // beside the date line
			plane := earth.NewPlane(home)
			metres, degrees := "", ""
			spot := func(prefix, suffix string) {
				reach := []float64{90, 700}[i]
				n, e := math.Round(reach*(2*random.Float64()-1)), math.Round(reach*(2*random.Float64()-1))
				at := plane.Global(n, e)
				metres += fmt.Sprintf(` %snorth%s="%g [m]" %seast%s="%g [m]"`, prefix, suffix, n, prefix, suffix, e)
				degrees += fmt.Sprintf(` %slat%s="%.9f" %slon%s="%.9f [deg]"`, prefix, suffix, at.Lat, prefix, suffix, at.Lon)
			}
			both := func(text string) { metres, degrees = metres+text, degrees+text }
			both("<take_off to_h=\"80 [m]\"/><fly_to")
			spot("to_", "")
			metres, degrees = metres+` to_h="90 [m]"/>`, degrees+` to_alt="110 [m]"/>`
			both(`<SubTree ID="loiter_turns" turns="1" to_h="80"`)
			spot("to_", "")
			both(`/><SubTree ID="circuit" rounds="1" to_h="80"`)
			for k := range 4 {
				spot("", fmt.Sprintf("_%d", k+1))
			}
			corners := []earth.Position{plane.Global(30, 40), plane.Global(30, 240), plane.Global(200, 240)}
			both("/><SubTree ID=\"survey\" spacing=\"80\" heading=\"90 [deg]\" to_h=\"80\" ")
			metres += `polygon="30, 40; 30, 240; 200, 240"/>`
			degrees += `polygon_lat_lon="`
			for _, c := range corners {
				degrees += fmt.Sprintf("%.9f, %.9f; ", c.Lat, c.Lon)
			}
			degrees += `"/>`
			both("<return_home/>")
			dir := t.TempDir()
			fly := func(name, body string, command ...string) (active []string, all [][2]float64) {
				plan := `<root BTCPP_format="4" main_tree_to_execute="m"><include path="library:` + vehicle +
					`"/><BehaviorTree ID="m"><Sequence>` + body + `</Sequence></BehaviorTree></root>`
				yaml := fmt.Sprintf("plan: %s.xml\nvehicle: %s\nhorizon: 60 [min]\nends_with_plan: true\nrecord: {interval: 1, signals: "+
					"[north, east]}\nenvironment: {lat_deg: %v, lon_deg: %v, alt: 20}\n", name, vehicle, home.Lat, home.Lon)
				for file, text := range map[string]string{name + ".xml": plan, name + ".yaml": yaml} {
					save(t, filepath.Join(dir, file), text)
				}
				out, file := filepath.Join(dir, name+command[0]), filepath.Join(dir, name+".yaml")
				if _, stderr, status := canopy(append(command, file, "--out", out, "--report=false")...); status != exitOK {
					t.Fatalf("%s %s: %d\n%s", command, name, status, stderr)
				}
				active, _, all = flownBy(t, out, "fly_to")
				return active, all
			}
			commands := [][]string{{"run"}, {"fly", "--link", "fake:" + vehicle}}
			if testing.Short() {
				commands = commands[i : i+1]
			}
			for _, command := range commands {
				tasks, positions := fly("metres", metres, command...)
				tasks2, positions2 := fly("degrees", degrees, command...)
				if len(tasks) < 10 || !slices.Equal(tasks, tasks2) || math.Abs(float64(len(positions)-len(positions2))) > 2 {
					t.Fatalf("%s: in metres %v, %d positions; in degrees %v, %d", command[0], tasks, len(positions), tasks2, len(positions2))
				}
				for k := range min(len(positions), len(positions2)) {
					p, q := positions[k], positions2[k]
					if math.Hypot(p[0]-q[0], p[1]-q[1]) > 0.1 {
						t.Fatalf("%s: %v in metres, %v in degrees", command[0], p, q)
					}
				}
			}
		})
	}
}

// Proofs about places in degrees give the answers of those in metres, and both are exported.
func TestPlacesAreProved(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: seven seconds")
	}
	var answers []string
	for _, place := range []string{`to_north="66.7 [m]" to_east="67 [m]" to_h="30"`, `lat="48.0820" lon="11.2840" alt="620"`} {
		dir := write(t, map[string]string{
			"p.xml": `<root BTCPP_format="4" main_tree_to_execute="m"><include path="library:copter"/><BehaviorTree ID="m"><Sequence>
				<take_off/><fly_to ` + place + `/><return_home/></Sequence></BehaviorTree></root>`,
			"m.yaml": "plan: p.xml\nvehicle: copter\nhorizon: 10 [min]\nenvironment: {lat_deg: 48.0814, lon_deg: 11.2831, alt: 590}\n",
		})
		stdout, stderr, _ := canopy("check", filepath.Join(dir, "m.yaml"))
		exported, _, _ := canopy("export", "qgc", filepath.Join(dir, "m.yaml"))
		if !strings.Contains(exported, "48.08199") && !strings.Contains(exported, "48.082,") {
			t.Errorf("the place is not exported:\n%s", exported)
		}
		answers = append(answers, strings.ReplaceAll(stdout+stderr, dir, ""))
	}
	if answers[0] != answers[1] || !strings.Contains(answers[0], "5 proved") {
		t.Errorf("in metres:\n%s\nin degrees:\n%s", answers[0], answers[1])
	}
}

// Conditions on places hold where the vehicle is, in simulation, on the fake, and in a property.
func TestConditionsOnPlaces(t *testing.T) {
	dir := write(t, map[string]string{
		"p.xml": `<root BTCPP_format="4" main_tree_to_execute="m"><include path="library:copter"/><BehaviorTree ID="m"><Sequence>
			<Condition name="home" on="distance_to(48.0814, 11.2831) lt 2 [m] and alt lt 600 [m]"/><take_off/>
			<fly_to lat="48.0820" lon="11.2840" alt="640"/>
			<Condition name="there" on="distance_to(48.0820, 11.2840 [deg]) lt 4 [m] and distance_to(48.0814, 11.2831) gt 50 [m]
				and lat gt 48.0819 [deg] and lon gt 11.2839 [deg] and alt gt 630 [m]"/>
			<return_home/></Sequence></BehaviorTree></root>`,
		"m.yaml": "plan: p.xml\nvehicle: copter\nhorizon: 10 [min]\nends_with_plan: true\nsignals:\n  away: {unit: m, value: \"distance_to(48.0814, 11.2831)\"}\n" +
			"environment: {lat_deg: 48.0814, lon_deg: 11.2831, alt: 590}\ncheck: {always: [\"distance_to(48.0814, 11.2831) lt 150 [m]\"]}\n",
	})
	for _, command := range [][]string{{"run"}, {"fly", "--link", "fake:copter"}} {
		out := filepath.Join(dir, command[0])
		stdout, stderr, status := canopy(append(command, filepath.Join(dir, "m.yaml"), "--out", out, "--report=false")...)
		if status != exitOK || !strings.Contains(stdout, "succeeded") {
			t.Errorf("%s: %d\n%s%s", command[0], status, stdout, stderr)
		}
	}
}
