package main

import (
	"path/filepath"
	"testing"
)

// A simulated vehicle that leaves the fence of its mission, be it for a moment between two samples, violates it: the
// table, the summary and the exit status say so.
func TestSimulatedBreach(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		save(t, filepath.Join(dir, name), text)
	}
	write("plan.xml", `<root BTCPP_format="4" main_tree_to_execute="m"><include path="library:copter"/><BehaviorTree ID="m">
<Sequence><take_off/><fly_to to_north="100 [m]" to_east="0 [m]" to_h="20 [m]"/></Sequence></BehaviorTree></root>`)
	for radius, want := range map[string]int{"0.5": exitRefute, "0": exitOK} {
		fence := "fence: {exclusion: [{circle: {north: 52, east: 0, radius: " + radius + "}}]}\n"
		if want == exitOK {
			fence = "fence: {exclusion: [{circle: {north: 52, east: 9, radius: 0.5}}]}\n"
		}
		write("m.yaml", "mission: m\nplan: plan.xml\nvehicle: copter\nhorizon: 300\nends_with_plan: true\n"+fence+
			"record: {interval: 100, signals: [h]}\n")
		out, stderr, status := canopy("run", filepath.Join(dir, "m.yaml"), "--out", filepath.Join(dir, "out"), "--report=false")
		if status != want {
			t.Errorf("%d\n%s%s", status, out, stderr)
		}
		if want == exitRefute {
			says(t, "the table", out, "fence        breached at 0:00:")
			says(t, "the operator is told", stderr, "the vehicle left the fence at 0:00:")
		}
	}
}
