package main

import (
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// flownBy is what a run or a flight left in its folder: the tasks that became active, in their order, the positions at
// each second while a task whose path ends with a name was active, and all positions.
func flownBy(t *testing.T, folder, task string) (active []string, during [][][2]float64, all [][2]float64) {
	t.Helper()
	read := func(name string) [][]string {
		text, err := os.ReadFile(filepath.Join(folder, name))
		must(t, err)
		rows, err := csv.NewReader(strings.NewReader(string(text))).ReadAll()
		must(t, err)
		return rows
	}
	number := func(text string) float64 {
		v, err := strconv.ParseFloat(text, 64)
		must(t, err)
		return v
	}
	var spans [][2]float64
	for _, row := range read("status.csv")[1:] {
		if row[3] == "Accept" && row[4] == "Activating" {
			active = append(active, row[2])
		}
		if row[2] == task || strings.HasSuffix(row[2], "/"+task) {
			switch row[4] {
			case "Running":
				spans = append(spans, [2]float64{number(row[0]), math.Inf(1)})
			case "Finished":
				spans[len(spans)-1][1] = number(row[0])
			}
		}
	}
	during = make([][][2]float64, len(spans))
	rows := read("signals.csv")
	north, east := slices.Index(rows[0], "north [m]"), slices.Index(rows[0], "east [m]")
	for _, row := range rows[1:] {
		at, p := number(row[0]), [2]float64{number(row[north]), number(row[east])}
		all = append(all, p)
		for i, s := range spans {
			if at >= s[0] && at <= s[1] {
				during[i] = append(during[i], p)
			}
		}
	}
	return active, during, all
}

// A survey is flown along its lines, in simulation and by the fakes, of both classes; and the same tasks are active in
// the same order. The copter then goes twice round a circle.
func TestSurveyIsFlown(t *testing.T) {
	for _, c := range []struct {
		vehicle, body string
		width         float64 // of the polygon [m]
		lines         int
		beside        float64 // how far beside a line the vehicle may be [m]
	}{
		{"plane", `<take_off/><SubTree ID="survey" polygon="300, 200; 300, 700; 600, 700; 600, 200" spacing="100 [m]"
			heading="90 [deg]" to_h="90 [m]"/><return_home/>`, 300, 3, 15},
		{"copter", `<take_off/><SubTree ID="survey" polygon="300, 200; 300, 260; 360, 260; 360, 200" spacing="20 [m]"
			heading="90 [deg]" to_h="30 [m]" to_speed="6 [m/s]"/><SubTree ID="loiter_turns" to_north="330 [m]" to_east="230 [m]"
			to_h="30 [m]" to_radius="20 [m]" turns="2"/><return_home/>`, 60, 3, 2},
	} {
		t.Run(c.vehicle, func(t *testing.T) {
			dir := t.TempDir()
			plan := `<root BTCPP_format="4" main_tree_to_execute="m"><include path="library:` + c.vehicle +
				`"/><BehaviorTree ID="m"><Sequence>` + c.body + `</Sequence></BehaviorTree></root>`
			yaml := "plan: p.xml\nvehicle: " + c.vehicle + "\nhorizon: 30 [min]\nends_with_plan: true\n" +
				"record: {interval: 1, signals: [north, east]}\n"
			for name, text := range map[string]string{"p.xml": plan, "m.yaml": yaml} {
				save(t, filepath.Join(dir, name), text)
			}
			ways := [][]string{{"run"}, {"fly", "--link", "fake:" + c.vehicle}}
			if !testing.Short() {
				ways = append(ways, []string{"fly", "--link", "fake:px4-" + c.vehicle})
			}
			active := make([][]string, len(ways))
			for i, args := range ways {
				out := filepath.Join(dir, strconv.Itoa(i))
				args = append(args, filepath.Join(dir, "m.yaml"), "--out", out, "--report=false")
				if _, stderr, status := canopy(args...); status != exitOK {
					t.Fatalf("%s: %d\n%s", args[0], status, stderr)
				}
				var during [][][2]float64
				var all [][2]float64
				active[i], during, all = flownBy(t, out, "fly_line")
				if len(active[i]) < 8 || !slices.Equal(active[0], active[i]) {
					t.Errorf("simulated: %v\n%v: %v", active[0], args, active[i])
				}
				if len(during) != c.lines {
					t.Fatalf("%s: %d lines are flown, want %d", args[0], len(during), c.lines)
				}
				for k, positions := range during {
					north := 300 + c.width - c.width/float64(c.lines)*(float64(k)+0.5) // the first line is on the left
					for _, p := range positions {
						if math.Abs(p[0]-north) > c.beside {
							t.Errorf("%s: on line %d, %v is %.1f m beside it", args[0], k+1, p, math.Abs(p[0]-north))
						}
					}
					first, last := positions[0][1], positions[len(positions)-1][1]
					if (last-first)*[]float64{1, -1}[k%2] < c.width*0.8 {
						t.Errorf("%s: line %d goes from %.0f to %.0f", args[0], k+1, first, last)
					}
				}
				if c.vehicle == "copter" {
					circled(t, args[0], all)
				}
			}
		})
	}
}

// circled checks that a copter was at the radius of 20 m in all directions from the place, and counts its turns.
func circled(t *testing.T, by string, all [][2]float64) {
	t.Helper()
	turned, near := 0.0, 0
	for i := 1; i < len(all); i++ {
		n, e := all[i][0]-330, all[i][1]-230
		n0, e0 := all[i-1][0]-330, all[i-1][1]-230
		if r := math.Hypot(n, e); math.Abs(r-20) > 4 || math.Abs(math.Hypot(n0, e0)-20) > 4 {
			continue
		}
		turned += math.Remainder(math.Atan2(e, n)-math.Atan2(e0, n0), 2*math.Pi)
		near++
	}
	if turns := turned / (2 * math.Pi); math.Abs(turns-2) > 0.25 || near < 20 {
		t.Errorf("%s: the copter circles %.2f times in %d seconds", by, turns, near)
	}
}
