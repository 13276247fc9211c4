package qgc

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/diag"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the golden files")

// imported returns everything that an import gives, as text.
func imported(src *diag.Source) string {
	var b strings.Builder
	f, list := Read(src)
	if f != nil {
		plan, mission, more := Import(f, "name")
		list = append(list, more...)
		b.WriteString(plan + mission)
	}
	list.Write(&b, false)
	return b.String()
}

// Each testdata/*.plan is imported as the file .txt beside it shows.
func TestGolden(t *testing.T) {
	plans, err := filepath.Glob("testdata/*.plan")
	if err != nil || len(plans) < 4 {
		t.Fatal(plans, err)
	}
	for _, name := range plans {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		shown := strings.TrimSuffix(name, ".plan") + ".txt"
		got := imported(&diag.Source{Name: filepath.ToSlash(name), Text: string(text)})
		if *rewrite {
			if err := os.WriteFile(shown, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(shown)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s gives\n%s", name, got)
		}
	}
}

// document returns a plan with the items of a mission: command, and parameters.
func document(items ...[8]float64) string {
	var list []any
	for i, item := range items {
		list = append(list, map[string]any{"type": "SimpleItem", "command": item[0], "frame": 3, "doJumpId": i + 1,
			"params": item[1:]})
	}
	text, err := json.Marshal(map[string]any{"fileType": "Plan", "version": 1, "mission": map[string]any{"version": 2,
		"firmwareType": 3, "vehicleType": 1, "plannedHomePosition": []float64{48, 11, 500}, "items": list}})
	if err != nil {
		panic(err)
	}
	return string(text)
}

// fly appends the items that steps fly, in order, as often as they fly them.
func fly(steps []step, flown []int) []int {
	for _, s := range steps {
		if len(s.steps) == 0 {
			flown = append(flown, s.from.Jump)
		}
		for range s.times {
			flown = fly(s.steps, flown)
		}
	}
	return flown
}

// autopilot executes a mission as an autopilot does, item by item, with a counter for each jump (MAVLink, DO_JUMP).
func autopilot(items [][8]float64) (flown []int) {
	left := map[int]int{}
	for i := 0; i < len(items); {
		if items[i][0] != cmdJump {
			flown = append(flown, i+1)
			i++
			continue
		}
		if _, counts := left[i]; !counts {
			left[i] = int(items[i][2])
		}
		if left[i] == 0 {
			delete(left, i) // a loop inside another one begins again
			i++
			continue
		}
		left[i]--
		i = int(items[i][1]) - 1
	}
	return flown
}

// Missions with random jumps fly the items that an autopilot flies, in the same order, or are refused.
func TestJumps(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	accepted := 0
	for range 2000 {
		var items [][8]float64
		for i := range 2 + random.IntN(7) {
			item := [8]float64{cmdWaypoint, 0, 0, 0, 0, 48 + float64(i)/1000, 11, 100}
			if i > 0 && random.IntN(3) == 0 {
				item = [8]float64{cmdJump, float64(1 + random.IntN(i)), float64(random.IntN(3))}
			} else if random.IntN(4) == 0 {
				item = [8]float64{cmdServo, 9, 1500}
			}
			items = append(items, item)
		}
		f, list := Read(&diag.Source{Name: "jumps.plan", Text: document(items...)})
		if f == nil {
			t.Fatal(list.Err())
		}
		steps, list := f.convert()
		if list.HasErrors() {
			continue
		}
		accepted++
		if got, want := fmt.Sprint(fly(steps, nil)), fmt.Sprint(autopilot(items)); got != want {
			t.Fatalf("%v:\nflies %s\nwant  %s", items, got, want)
		}
	}
	if accepted < 200 {
		t.Errorf("only %d missions were accepted", accepted)
	}
}

// Positions become metres from home: a hundredth of a degree of latitude is 1112 m, of longitude 744 m at 48 degrees.
func TestPositions(t *testing.T) {
	f, list := Read(&diag.Source{Name: "p.plan", Text: document([8]float64{cmdWaypoint, 0, 0, 0, 0, 48.01, 11.01, 70})})
	if f == nil {
		t.Fatal(list.Err())
	}
	steps, _ := f.convert()
	p := steps[0].ports
	if math.Abs(p[0].value-1112) > 1 || math.Abs(p[1].value-746) > 1 || p[2].value != 70 {
		t.Errorf("the waypoint is at %v", p)
	}
}

func FuzzImport(f *testing.F) {
	plans, _ := filepath.Glob("testdata/*.plan")
	for _, name := range plans {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(bytes.TrimSpace(text)))
	}
	f.Fuzz(func(t *testing.T, text string) {
		imported(&diag.Source{Name: "fuzz.plan", Text: text})
	})
}
