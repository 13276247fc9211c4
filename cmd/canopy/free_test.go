package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A plan of another program: format 3, a file of its own for a subtree, a subtree that is not there, leaves without a
// meaning. `check` and `reaction` try all answers and say so once, in `trace` the script answers, `run` refuses the plan
// with all its free leaves.
func TestForeignPlan(t *testing.T) {
	dir := write(t, map[string]string{
		"trip.xml": `<root main_tree_to_execute="trip">
  <include path="dock.xml"/>
  <BehaviorTree ID="trip">
    <ReactiveSequence>
      <BatteryOk min_voltage="11.1"/>
      <Condition ID="Clear" area="{area}"/>
      <Sequence>
        <DriveTo goal="{pose}"/>
        <SubTree ID="dock" station="home"/>
        <SubTree ID="elsewhere"/>
      </Sequence>
    </ReactiveSequence>
  </BehaviorTree>
</root>
`,
		"dock.xml": `<root BTCPP_format="4">
  <BehaviorTree ID="dock">
    <RetryUntilSuccessful num_attempts="3">
      <Action ID="Dock" station="{station}"/>
    </RetryUntilSuccessful>
  </BehaviorTree>
</root>
`,
		"script.txt":   "set Clear true\nend BatteryOk success\nend DriveTo success\nend Dock failure\nend Dock success\n",
		"mission.yaml": "plan: mission.xml\nvehicle: circuit\nhorizon: 10\n",
		"mission.xml": `<root BTCPP_format="4"><BehaviorTree ID="m"><Sequence>
  <BatteryOk/>
  <Condition ID="Clear"/>
  <Action name="idle"/>
</Sequence></BehaviorTree></root>`,
		"denied.xml": `<root BTCPP_format="4"><BehaviorTree ID="m"><ReactiveFallback><ReactiveSequence><C/><B/></ReactiveSequence>
			<Action ID="A"/></ReactiveFallback></BehaviorTree></root>`,
		"word.xml":   `<root BTCPP_format="4"><BehaviorTree ID="m"><Script code="c := RED; d := RED"/></BehaviorTree></root>`,
		"main.xml":   `<root BTCPP_format="4"><include path="part.xml"/><BehaviorTree ID="m"><SubTree ID="p"/></BehaviorTree></root>`,
		"part.xml":   "<root BTCPP_format=\"4\">\n<BehaviorTree ID=\"p\"><ReactiveFallback>\n<Condition on=\"true\"/>\n<Action name=\"dead\"/>\n</ReactiveFallback></BehaviorTree></root>",
		"typing.xml": `<root BTCPP_format="4"><BehaviorTree ID="m"><Sequence><AlwaysSucces/><EachParcel><A/></EachParcel></Sequence></BehaviorTree></root>`,
	})
	at := func(name string) string { return filepath.Join(dir, name) }
	const free = "canopy: nothing defines these leaves, so all their answers are tried: BatteryOk, Clear, DriveTo, Dock, elsewhere\n"
	stdout, stderr, status := canopy("check", at("trip.xml"))
	if status != exitRefute || strings.Count(stderr, free) != 1 {
		t.Errorf("%d\n%s", status, stderr)
	}
	says(t, "warnings", stderr, "missing-format", `trip.xml:10:22: warning: there is no tree "elsewhere"`)
	says(t, "the check", stdout, "REFUTED    complete", "BatteryOk ends well and not Clear", "proved     dead")
	stdout, _, _ = canopy("check", at("denied.xml"))
	says(t, "a contrary", stdout, "REFUTED    complete", "C ends well and B ends badly and A ends badly")
	if strings.Contains(stdout, "not A") {
		t.Error(stdout)
	}
	if _, stderr, _ = canopy("check", at("word.xml")); strings.Count(stderr, `warning: nothing gives the entry "RED" a value`) != 1 {
		t.Error(stderr)
	}
	stdout, stderr, status = canopy("reaction", at("trip.xml"))
	if status != exitOK || strings.Count(stderr, free) != 1 {
		t.Errorf("%d\n%s", status, stderr)
	}
	says(t, "the reaction", stdout, "proved")
	stdout, stderr, status = canopy("trace", at("trip.xml"), at("script.txt"))
	if status != exitOK || strings.Contains(stderr, free) {
		t.Errorf("%d\n%s", status, stderr)
	}
	says(t, "the trace", stdout, "3 Dock: Activating -> Running", "4 Dock: Running -> Aborted", "5 elsewhere: Activating -> Running")
	for _, command := range []string{"run", "monitor"} {
		stdout, stderr, status = canopy(command, at("mission.yaml"))
		if status != exitInput {
			t.Errorf("%d\n%s", status, stdout)
		}
		says(t, command, stderr, `mission.xml:2:4: error: nothing defines what the leaf "BatteryOk" does [free-leaf]`,
			`mission.xml:3:4: error: nothing defines what the leaf "Clear" does [free-leaf]`)
		if strings.Contains(stderr, "idle") {
			t.Errorf("an action that does nothing is refused:\n%s", stderr)
		}
	}
	stdout, _, _ = canopy("check", at("main.xml"))
	says(t, "a finding in an included file", stdout, at("part.xml")+":3:1")
	_, stderr, status = canopy("check", at("typing.xml"))
	if status == exitInput {
		t.Errorf("%d", status)
	}
	says(t, "a misspelt node, and a control of another program", stderr, `did you mean "AlwaysSuccess"?`,
		`"EachParcel" of another program: its child may run or not at any time [foreign-control]`)
}

// Free actions may end in both plans, so plans that differ in what follows then do not do the same. Plans that run them
// again are not concluded to be the same: they may end in several ways at one instant.
func TestForeignPlansDiffer(t *testing.T) {
	plan := func(text string) string {
		return `<root BTCPP_format="4"><BehaviorTree ID="m"><Sequence><Go/>` + text + `</Sequence></BehaviorTree></root>`
	}
	dir := write(t, map[string]string{
		"one.xml":   plan(`<Wait/>`),
		"none.xml":  plan(``),
		"deep.xml":  plan(`<Sequence name="deep"><Wait/></Sequence>`),
		"two.xml":   plan(`<RetryUntilSuccessful num_attempts="2"><Wait/></RetryUntilSuccessful>`),
		"three.xml": plan(`<RetryUntilSuccessful num_attempts="3"><Wait/></RetryUntilSuccessful>`),
	})
	for _, c := range []struct {
		old, updated, want string
		status             int
	}{
		{"one", "none", "the behaviour differs", exitRefute},
		{"one", "deep", "the behaviour is the same", exitOK},
		{"two", "two", "the plans are equal", exitOK},
		{"two", "three", "not concluded whether the behaviour is the same: RetryUntilSuccessful runs Wait again", exitOK},
	} {
		stdout, stderr, status := canopy("diff", filepath.Join(dir, c.old+".xml"), filepath.Join(dir, c.updated+".xml"))
		if status != c.status {
			t.Errorf("%s, %s: %d", c.old, c.updated, status)
		}
		says(t, c.old+", "+c.updated, stdout, c.want)
		says(t, "the note", stderr, "so all their answers are tried: Go, Wait\n")
	}
}

// A state graph is written of plans with included files, and a note says that free actions do not end in it.
func TestForeignPlanAsGraph(t *testing.T) {
	dir := write(t, map[string]string{
		"main.xml": `<root BTCPP_format="4"><include path="part.xml"/><BehaviorTree ID="m"><SubTree ID="p"/></BehaviorTree></root>`,
		"part.xml": `<root BTCPP_format="4"><BehaviorTree ID="p"><Sequence><Go/><Wait/></Sequence></BehaviorTree></root>`,
	})
	stdout, stderr, status := canopy("translate", filepath.Join(dir, "main.xml"))
	if status != exitOK {
		t.Errorf("%d\n%s", status, stderr)
	}
	says(t, "the graph", stdout, "Go: {")
	says(t, "the note", stderr, "nothing defines these actions, so they never end in the state graph: Go, Wait\n")
}

// The JSON form of a plan is read from a file, and from the standard input.
func TestPlanInJSON(t *testing.T) {
	dir := write(t, map[string]string{
		"plan.xml": `<root BTCPP_format="4"><BehaviorTree ID="m"><Sequence><Go/><Wait/></Sequence></BehaviorTree></root>`,
	})
	text, _, _ := canopy("convert", filepath.Join(dir, "plan.xml"), "--to", "json")
	if err := os.WriteFile(filepath.Join(dir, "plan.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"show", "translate"} {
		stdout, _, _ := canopy(command, filepath.Join(dir, "plan.xml"))
		for _, name := range []string{filepath.Join(dir, "plan.json"), "-"} {
			got, stderr, status := from(t, text, command, name)
			if status != exitOK || got != stdout {
				t.Errorf("%s %s: %d\n%s%s", command, name, status, got, stderr)
			}
		}
	}
}
