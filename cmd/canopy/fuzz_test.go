package main

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/vehicle/model"
)

// FuzzBox: for any text of `--box`, `--from` and `--start`, its values are finite and in the state's range, or it is
// refused.
func FuzzBox(f *testing.F) {
	v := &model.Vehicle{Name: "boat", States: []model.State{
		{Variable: model.Variable{Name: "x", Unit: "m"}, Range: model.Between(-10, 10)},
		{Variable: model.Variable{Name: "heading.angle", Unit: "deg"}},
	}}
	for _, text := range []string{"x=0:5", "x=-2 [m]:2 [km]", "heading.angle=0:1 [rad]", "x", "x=", "=1", "x=1:2:3", "y=1",
		"x=1/0:2", "x=1e999", "x=0 [s]", "x=\xff", " x =1", "x=(((", "x=x", "x=max(0, 1):2,heading.angle=1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		list, err := stateValues(v, "--box", text, map[int]bool{})
		if err != nil {
			return
		}
		for _, given := range list {
			for _, x := range given.values {
				if s := v.States[given.state]; math.IsNaN(x) || math.IsInf(x, 0) || !s.Range.Contains(x) {
					t.Errorf("%q gives %s = %v", text, s.Name, x)
				}
			}
		}
	})
}

// FuzzLog: for any bytes of run.mcap, `report` and `monitor` end with one of their exit statuses, and give the reason
// if it is not 0.
func FuzzLog(f *testing.F) {
	dir := f.TempDir()
	plan := `<root BTCPP_format="4"><BehaviorTree ID="p"><ReactiveSequence><Condition ID="early" on="t lt 1 [s]"/>
		<Action ID="go" write="vx_cmd := 1"/></ReactiveSequence></BehaviorTree></root>`
	mission := "plan: plan.xml\nvehicle: quad\nhorizon: 2\nrecord: {interval: 1, signals: [x, h]}\n"
	for name, text := range map[string]string{"plan.xml": plan, "quad.yaml": mission} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			f.Fatal(err)
		}
	}
	out := filepath.Join(dir, "out")
	if _, stderr, status := canopy("run", filepath.Join(dir, "quad.yaml"), "--out", out); status != exitRefute {
		f.Fatalf("status %d: %s", status, stderr)
	}
	log := filepath.Join(out, "run.mcap")
	whole, err := os.ReadFile(log)
	if err != nil {
		f.Fatal(err)
	}
	for _, n := range []int{len(whole), len(whole) / 2, 8, 0} {
		f.Add(whole[:n])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		must(t, os.WriteFile(log, data, 0o666))
		for _, args := range [][]string{{"report", out}, {"why", out, "go"},
			{"monitor", out, "--property", "always (x ge -1 [m])"}} {
			stdout, stderr, status := canopy(args...)
			if status < exitOK || status > exitRefute || status != exitOK && strings.TrimSpace(stdout+stderr) == "" {
				t.Errorf("%s: status %d, %q, %q", args[0], status, stdout, stderr)
			}
		}
	})
}
