package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/vehicle/equations"
)

// A manifest declares all kinds, and leaf types that a mission's plan can use.
func TestManifest(t *testing.T) {
	stdout, stderr, status := canopy("manifest")
	if status != exitOK || stderr != "" {
		t.Fatalf("%d\n%s", status, stderr)
	}
	for _, k := range bt.Kinds() {
		if k.Family() != bt.Leaf && !k.Attributed() && !strings.Contains(stdout, ` ID="`+k.String()+`"`) {
			t.Errorf("%s is missing", k)
		}
	}
	for _, v := range equations.Vehicles() {
		manifest, stderr, status := canopy("manifest", v.Name)
		if status != exitOK {
			t.Fatal(stderr)
		}
		command, state := v.Commands[0], v.States[0]
		dir := write(t, map[string]string{"nodes.xml": manifest,
			"m.yaml": "plan: p.xml\nvehicle: " + v.Name + "\nhorizon: 1\n",
			"p.xml": `<root BTCPP_format="4" main_tree_to_execute="a"><include path="nodes.xml"/><BehaviorTree ID="a"><ReactiveSequence>
				<above_` + state.Name + ` limit="-1e9 [` + state.Unit + `]"/><write_` + command.Name + ` value="` + initially(v, command) + `"/>
				</ReactiveSequence></BehaviorTree></root>`})
		if _, stderr, status := canopy("show", filepath.Join(dir, "m.yaml")); status != exitOK || stderr != "" {
			t.Errorf("%s: %d\n%s", v.Name, status, stderr)
		}
	}
	library, _, _ := canopy("manifest", "plane")
	says(t, "the manifest of a contract's vehicle", library, `<Action ID="take_off"`, `<SubTree ID="loiter_turns">`, `ID="is_armed"`)
	mission, stderr, status := canopy("manifest", "../../missions/inspection.yaml")
	if status != exitOK {
		t.Fatal(stderr)
	}
	says(t, "a mission's manifest", mission, `<Action ID="write_w_cmd" write="w_cmd := value">`, `ID="above_soc"`)
	for _, args := range [][]string{{"manifest", "sola"}, {"manifest", "none.yaml"}, {"manifest", "solar", "x"}} {
		if stdout, stderr, status := canopy(args...); status != exitInput || stdout != "" || stderr == "" {
			t.Errorf("%v: %d, %q, %q", args, status, stdout, stderr)
		}
	}
	tank, err := filepath.Glob("../../examples/14-hybrid/*.vehicle.yaml")
	if err != nil || len(tank) == 0 {
		t.Fatal("no vehicles", err)
	}
	for _, name := range tank {
		if _, err := os.Stat(name); err == nil {
			if _, stderr, status := canopy("manifest", name); status != exitOK {
				t.Errorf("%s: %d\n%s", name, status, stderr)
			}
		}
	}
}

// The manifest of a plan declares each of its leaf types, also those that the plan does not.
func TestManifestOfAPlan(t *testing.T) {
	stdout, stderr, status := canopy("manifest", "../../examples/24-foreign-plan/deliver.xml")
	if status != exitOK || stderr != "" || !strings.Contains(stdout, `<Action ID="MoveTo">`+"\n      "+`<input_port name="goal"/>`) {
		t.Errorf("%d\n%s%s", status, stderr, stdout)
	}
}
