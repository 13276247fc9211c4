package simulated

import "testing"

// TestShorthands: stubs, choices from outside and catches on a halt do what their attributes say. A stub executes the script of its status,
// then post_script, after its delay; a choice is read until a child runs.
func TestShorthands(t *testing.T) {
	for nodes, want := range map[string]string{
		`<TestNode/>`: "SUCCESS",
		`<TestNode success_script="a := 1" failure_script="a := 2" post_script="b := a + 1"/>`:                           "SUCCESS, a = 1, b = 2",
		`<TestNode return_status="FAILURE" success_script="a := 1" failure_script="a := 2" post_script="b := a + 1"/>`:   "FAILURE, a = 2, b = 3",
		`<TestNode return_status="RUNNING" success_script="a := 1" post_script="b := 3"/>`:                               ", b = 3",
		`<Timeout msec="100"><TestNode async_delay="101" post_script="a := 1"/></Timeout>`:                               "FAILURE, a = unset",
		`<Timeout msec="100"><TestNode async_delay="99" post_script="a := 1"/></Timeout>`:                                "SUCCESS, a = 1",
		`<Repeat num_cycles="3"><TestNode async_delay="10" post_script="n := 1; a := n + n"/></Repeat>`:                  "SUCCESS, a = 2, n = 1",
		`<TestNode return_status="FAILURE" _onFailure="a := 1" _onSuccess="a := 2" retry="2"/>`:                          "FAILURE, a = 1",
		`<TestNode post_script="a := 1" _skipIf="true"/>`:                                                                "SKIPPED, a = unset",
		`<Sequence><Script code="p := 2"/><ManualSelector choice="{p}">` + alternatives + `</ManualSelector></Sequence>`: "FAILURE, a = 2, p = 2",
		`<Sequence><Script code="p := 3"/><ManualSelector choice="p">` + alternatives + `</ManualSelector></Sequence>`:   "SUCCESS, a = 3, p = 3",
		`<Sequence><Script code="p := 4"/><ManualSelector choice="p">` + alternatives + `</ManualSelector></Sequence>`:   ", a = unset, p = 4",
		halted("true", "Sleep msec='200'"):              "FAILURE, a = 2", // the catch is executed when it is halted
		halted("false", "Sleep msec='200'"):             "FAILURE, a = 1",
		halted("1", "Sleep msec='50'"):                  "SUCCESS, a = 1",        // it has ended
		halted("1", "TestNode return_status='FAILURE'"): "FAILURE, a = 2",        // once, by the failure
		later("0", "3"):                                 "SUCCESS, a = 3, p = 3", // it waits for the choice
		later("1", "3"):                                 "SUCCESS, a = 1, p = 3", // the first child runs until it has ended
	} {
		got, err := left(`<BehaviorTree ID="main">` + nodes + `</BehaviorTree>`)
		if err != nil || got != want {
			t.Errorf("%s: %q, %v; not %q", nodes, got, err, want)
		}
	}
}

const alternatives = `<TestNode async_delay="200" success_script="a := 1"/>
	<TestNode return_status="FAILURE" failure_script="a := 2"/><TestNode success_script="a := 3"/>`

// later returns a plan with a choice and another one after 100 ms.
func later(first, then string) string {
	return `<Sequence><Script code="p := ` + first + `"/><Parallel>
		<ManualSelector choice="p" repeat_last_selection="false">` + alternatives + `</ManualSelector>
		<Sequence><Sleep msec="100"/><Script code="p = ` + then + `"/></Sequence></Parallel></Sequence>`
}

// halted returns a plan with a TryCatch, which is halted after 100 ms.
func halted(catch, try string) string {
	return `<Timeout msec="100"><TryCatch catch_on_halt="` + catch + `"><Script code="a := 1"/><` + try + `/>
		<Script code="a += 1"/></TryCatch></Timeout>`
}
