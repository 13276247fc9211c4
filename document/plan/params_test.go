package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"canopy/bt"
	"canopy/diag"
)

// A parameter may be an entry of the blackboard whose value is a number where the tree is used, in its model or in its
// element; each use has its own.
func TestParametersFromEntries(t *testing.T) {
	p, list := Read(&diag.Source{Name: "p.xml", Text: `<root BTCPP_format="4" main_tree_to_execute="top">
		<TreeNodesModel><SubTree ID="tries"><input_port name="n" default="2"/></SubTree></TreeNodesModel>
		<BehaviorTree ID="top"><Sequence>
			<SubTree ID="tries"/><SubTree ID="tries" n="3" wait="250"/><SubTree ID="outer" m="4"/>
		</Sequence></BehaviorTree>
		<BehaviorTree ID="outer" t="1 [s]"><SubTree ID="tries" n="{m}" wait="{t}"/></BehaviorTree>
		<BehaviorTree ID="tries" wait="100">
			<RetryUntilSuccessful num_attempts="{n}"><Delay delay_msec="{wait}"><Action done="true"/></Delay></RetryUntilSuccessful>
		</BehaviorTree></root>`}, nil)
	if p == nil {
		t.Fatal(list)
	}
	var got []int
	for task := range bt.Task(p.Tree.Len()) {
		got = append(got, p.Tree.Params(task)...)
	}
	if want := []int{100, 2, 250, 3, 1000, 4}; !slices.Equal(got, want) {
		t.Errorf("%v, not %v", got, want)
	}
}

// Entries without such a value, and values that are no such numbers, are refused at their place; 0 is a number.
func TestBadParameters(t *testing.T) {
	for text, want := range map[string]string{
		`<Repeat num_cycles="0"><Action done="true"/></Repeat>`:                   "",
		`<RetryUntilSuccessful num_attempts="0"><Action/></RetryUntilSuccessful>`: "",
		`<Delay delay_msec="0"><Action done="true"/></Delay>`:                     "",
		`<Repeat num_cycles="{n}"><Action done="true"/></Repeat>`:                 `1:90: error: num_cycles is the entry "n"`,
		`<SubTree ID="sub" n="many"/>`:                                            `"many" is not a count`,
		`<SubTree ID="sub" n="-2"/>`:                                              "-2 times is not possible",
		`<SubTree ID="sub" n="{k}"/>`:                                             `num_cycles is the entry "k"`,
		`<Precondition><Action/></Precondition>`:                                  "Precondition needs if",
		`<Precondition if="true"><Action/><Action/></Precondition>`:               "Precondition needs exactly 1 child, this one has 2",
		`<Precondition if="true" else="RUN"><Action/></Precondition>`:             `else cannot be "RUN"`,
		`<Action done="true" _skipIf="h gt"/>`:                                    "the expression ends where a value is expected",
		`<Action done="true" _while="h + 1 [m]"/>`:                                "a condition is expected, but h + 1 [m] is a number",
	} {
		_, list := Read(&diag.Source{Name: "p.xml", Text: `<root BTCPP_format="4" main_tree_to_execute="t"><BehaviorTree ID="t">` + text +
			`</BehaviorTree><BehaviorTree ID="sub"><Repeat num_cycles="{n}"><Action done="true"/></Repeat></BehaviorTree></root>`}, signals)
		if got := fmt.Sprint(list); list.HasErrors() != (want != "") || !strings.Contains(got, want) {
			t.Errorf("%s: %s", text, got)
		}
	}
}
