package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"canopy/diag"
)

// one returns the text of a plan with one tree.
func one(nodes string) *diag.Source {
	return &diag.Source{Name: "p.xml", Text: `<root BTCPP_format="4"><BehaviorTree ID="t">` + nodes +
		`</BehaviorTree></root>`}
}

// TestBuiltInNodes: each node that BehaviorTree.CPP 4.10 has is read, or refused with a hint.
func TestBuiltInNodes(t *testing.T) {
	const a = `<Action done="true"/>`
	read := strings.Fields(`Sequence SequenceWithMemory AsyncSequence ReactiveSequence Fallback AsyncFallback ReactiveFallback
		Parallel ParallelAll IfThenElse WhileDoElse Switch2 Switch3 Switch4 Switch5 Switch6 TryCatch ManualSelector Inverter
		ForceSuccess ForceFailure Repeat RetryUntilSuccessful KeepRunningUntilFailure RunOnce Delay Timeout Precondition
		Sleep Script ScriptCondition SetBlackboard UnsetBlackboard WasEntryUpdated SkipUnlessUpdated WaitValueUpdate TestNode
		AlwaysSuccess AlwaysFailure SubTree
		LoopInt LoopBool LoopDouble LoopString`)
	attributes := map[string]string{"ManualSelector": `choice="n"`, "Repeat": `num_cycles="2"`,
		"RetryUntilSuccessful": `num_attempts="2"`, "Delay": `delay_msec="5"`, "Timeout": `msec="5"`, "Sleep": `msec="5"`,
		"Precondition": `if="n == 1"`, "Script": `code="n := 1"`, "ScriptCondition": `code="n == 1"`,
		"SetBlackboard": `output_key="n" value="1"`, "UnsetBlackboard": `key="n"`, "WasEntryUpdated": `entry="{n}"`,
		"SkipUnlessUpdated": `entry="{n}"`, "WaitValueUpdate": `entry="n"`,
		"SubTree": `ID="other"`, "TestNode": `return_status="FAILURE"`,
		"LoopInt": `queue="1;2" value="{n}"`, "LoopDouble": `queue="1.5" value="{n}"`, "LoopBool": `queue="true" value="{n}"`,
		"LoopString": `queue="a;b" value="{text}"`}
	children := map[string]string{"IfThenElse": a + a, "WhileDoElse": a + a, "TryCatch": a + a}
	childless := "Sleep Script ScriptCondition SetBlackboard UnsetBlackboard WasEntryUpdated TestNode AlwaysSuccess AlwaysFailure SubTree"
	for _, name := range read {
		below := a
		switch n := strings.TrimPrefix(name, "Switch"); {
		case strings.Contains(childless, name):
			below = ""
		case n != name:
			cases := int(n[0] - '0')
			for c := range cases {
				attributes[name] += fmt.Sprintf(` case_%d="%d"`, c+1, c)
			}
			attributes[name] += ` variable="n"`
			below = strings.Repeat(a, cases+1)
		case children[name] != "":
			below = children[name]
		}
		text := fmt.Sprintf(`<%s %s>%s</%[1]s>`, name, attributes[name], below)
		p, list := Read(one(`<Sequence><Script code="n := 1"/>`+text+`</Sequence>`), nil)
		for _, d := range list {
			if name != "SubTree" { // its tree is not there
				t.Errorf("%s: %v", text, d)
			}
		}
		if p == nil {
			t.Errorf("%s is not read", text)
		}
	}
	refused := strings.Fields("SequenceStar")
	for _, name := range refused {
		text := fmt.Sprintf("<%s>%s</%[1]s>", name, a)
		p, list := Read(one(text), nil)
		if p != nil || len(list) == 0 || list[0].Code != codeForeignNode || list[0].Hint == "" {
			t.Errorf("%s: %v", text, list)
		}
	}
	if len(refused) != len(foreignNodes)-1 { // FallbackStar is of format 3
		t.Errorf("%d of %d refused nodes", len(refused), len(foreignNodes))
	}
}

// TestBadShorthands: mistakes in shorthands are reported at their places.
func TestBadShorthands(t *testing.T) {
	for text, want := range map[string]string{
		`<TryCatch catch_on_halt="{a}"><Action/><Script code="b := 1"/></TryCatch>`:                                  `catch_on_halt cannot be "{a}"`,
		`<TryCatch catch_on_halt="true"><Action/><Sequence><Script code="b := 1"/></Sequence></TryCatch>`:            `only if its last child is a Script`,
		`<Sequence catch_on_halt="true"><Action/></Sequence>`:                                                        `Sequence has no attribute "catch_on_halt"`,
		`<TestNode return_status="SKIPPED"/>`:                                                                        `return_status cannot be "SKIPPED"`,
		`<TestNode async_delay="soon"/>`:                                                                             `1:68: error: "soon" is not a duration`,
		`<TestNode failure_script="a :="/>`:                                                                          "1:",
		`<TestNode delay="3"/>`:                                                                                      `TestNode has no attribute "delay"`,
		`<TestNode><Action/></TestNode>`:                                                                             "TestNode cannot have children, this one has 1",
		`<ManualSelector><Action/></ManualSelector>`:                                                                 "ManualSelector needs choice",
		`<ManualSelector choice="n"/>`:                                                                               "ManualSelector needs at least 1 child, this one has 0",
		`<ManualSelector choice="n" repeat_last_selection="true"><Action/></ManualSelector>`:                         `does not support "repeat_last_selection"`,
		`<WaitValueUpdate><Action/></WaitValueUpdate>`:                                                               "WaitValueUpdate needs entry",
		`<WaitValueUpdate entry="{a}"/>`:                                                                             "WaitValueUpdate needs exactly 1 child, this one has 0",
		`<SkipUnlessUpdated entry="{a}"><Action/><Action/></SkipUnlessUpdated>`:                                      "SkipUnlessUpdated needs exactly 1 child, this one has 2",
		`<SkipUnlessUpdated entry="a b"><Action/></SkipUnlessUpdated>`:                                               `"a b" cannot be the name of an entry`,
		`<SkipUnlessUpdated entry="{a}" msec="5"><Action/></SkipUnlessUpdated>`:                                      `SkipUnlessUpdated has no attribute "msec"`,
		`<ManualSelector choice="n +"><Action/><Action/><Action/></ManualSelector>`:                                  "p.xml:1:72: error: the expression ends where a value is expected [syntax]",
		`<UtilitySelector utility_1="1" utility_2="2 +" utility_3="3"><Action/><Action/><Action/></UtilitySelector>`: "p.xml:1:90: error: the expression ends where a value is expected [syntax]",
		`<UtilitySelector utility_1="1" utility_2="2"><Action/></UtilitySelector>`:                                   "UtilitySelector needs 2 to 4 children, this one has 1",
		`<UtilitySelector utility_1="1" utility_2="2" utility_3="3"><Action/><Action/></UtilitySelector>`:            "UtilitySelector has 2 children",
		`<UtilitySelector><Action/><Action/></UtilitySelector>`:                                                      "UtilitySelector2 needs utility_1",
		`<UtilitySelector utility_2="2"><Action/><Action/></UtilitySelector>`:                                        "UtilitySelector2 needs utility_1",
		`<Control ID="ManualSelector" choice="n ge"><Action/><Action/></Control>`:                                    "p.xml:1:86: error: the expression ends where a value is expected [syntax]",
		`<ManualSelector choice="n" repeat_last_selection="false"><Action/><Action/></ManualSelector>`:               "",
		`<Action ID="TestNode" async_delay="1.5 [s]" post_script="a := 1"/>`:                                         "",
		`<LoopInt queue="1;b" value="{v}"><Action/></LoopInt>`:                                                       `1:61: error: "1;b" is no list of whole numbers`,
		`<LoopDouble queue="1; 2"><Action/></LoopDouble>`:                                                            `no list of numbers`,
		`<LoopBool queue="yes"><Action/></LoopBool>`:                                                                 `no list of truth values`,
		`<LoopInt value="{v}"><Action/></LoopInt>`:                                                                   `LoopInt needs "queue"`,
		`<LoopInt queue="1"/>`:                                                                      `LoopInt needs exactly 1 child, this one has 0`,
		`<LoopInt queue="1"><Action/><Action/></LoopInt>`:                                           `LoopInt needs exactly 1 child, this one has 2`,
		`<LoopInt queue="1" value="v"><Action/></LoopInt>`:                                          `"v" is not an entry in braces`,
		`<LoopInt queue="1" value="{a b}"><Action/></LoopInt>`:                                      `"a b" cannot be the name of an entry`,
		`<LoopInt queue="1" if_empty="IDLE"><Action/></LoopInt>`:                                    `if_empty cannot be "IDLE"`,
		`<LoopInt queue="1" count="3"><Action/></LoopInt>`:                                          `LoopInt has no attribute "count"`,
		`<LoopInt queue="{q}"><Action/></LoopInt>`:                                                  "",
		`<LoopString queue="1;2" value="{q}"><LoopInt queue="{q}"><Action/></LoopInt></LoopString>`: `are those of another queue`,
		`<Sequence><Script code="q := 5"/><LoopInt queue="{q}"><Action/></LoopInt></Sequence>`:      `"q" gets a number here, and a text on line 1`,
		`<Sequence><Script code="q := '5;x'"/><LoopInt queue="{q}"><Action/></LoopInt></Sequence>`:  `"5;x" is no list of whole numbers, which LoopInt needs`,
		`<LoopInt queue="` + strings.Repeat("1;", 1001) + `"><Action/></LoopInt>`:                   `a queue has at most 1000 values, this one 1001`,
		`<LoopString queue="a;b" value="{v}"><Script code="v := 1"/></LoopString>`:                  `"v" gets a number here, and a text on line 1`,
		`<LoopInt queue="1;2" value="{v}"><ScriptCondition code="v == 1"/></LoopInt>`:               "",
		`<LoopInt queue=""><Action/></LoopInt>`:                                                     "",
	} {
		p, list := Read(one(text), nil)
		if got := fmt.Sprint(list); (p == nil) != (want != "") || !strings.Contains(got, want) ||
			strings.Count(got, "[syntax]") > 1 {
			t.Errorf("%s: %s", text, got)
		}
	}
}

// TestOpenQueues: how many values a queue has that nothing of the plan fills, and which, is free.
func TestOpenQueues(t *testing.T) {
	for name, text := range map[string]string{"filled by a leaf": `<Sequence><Action ID="Look" to="{q}"/><LoopInt name="l" queue="{q}" value="{v}">
			<ScriptCondition code="v == 1"/></LoopInt></Sequence>`,
		"a copy of what a leaf fills": `<Sequence><Script code="p := ''"/><Action ID="Look" to="{p}"/><Script code="q := p"/>
			<LoopInt name="l" queue="{q}" value="{v}"><ScriptCondition code="v == 1"/></LoopInt></Sequence>`,
		"filled by nothing": `<LoopInt name="l" queue="{q}" value="{v}"><ScriptCondition code="v == 1"/></LoopInt>`,
	} {
		p, list := Read(one(text), nil)
		if p == nil || len(list) != 1 || !strings.Contains(fmt.Sprint(list), `nothing gives the queue "q" its values`) {
			t.Fatalf("%s: %v", name, list)
		}
		var free []string
		for _, l := range p.Leaves {
			if l.Free {
				free = append(free, l.ID)
			}
		}
		for _, e := range p.Entries {
			if e.Free {
				free = append(free, e.Name)
			} else if e.Name != "q" {
				t.Errorf("%s: the entry %q has a value", name, e.Name)
			}
		}
		want := "l.over l.value"
		if got := strings.Join(free, " "); !strings.Contains(got, want) || !slices.Contains(free, "v") {
			t.Errorf("%s: free are %s", name, got)
		}
	}
	p, list := Read(one(`<ConsumeQueue queue="{q}" popped_item="{v}"><ScriptCondition code="v == 1"/></ConsumeQueue>`), nil)
	if p == nil || !strings.Contains(fmt.Sprint(list), `nothing defines the decorator "ConsumeQueue"`) ||
		!slices.ContainsFunc(p.Entries, func(e BlackboardEntry) bool { return e.Name == "v" && e.Free }) {
		t.Errorf("ConsumeQueue: %v", list)
	}
}

// TestPlainShorthands: shorthands are exported with their models, and read again as the same tasks.
func TestPlainShorthands(t *testing.T) {
	for _, text := range []string{
		`<TestNode return_status="FAILURE" async_delay="20" failure_script="a := 1" retry="3" _onFailure="b := 1"/>`,
		`<ManualSelector choice="n"><Action ID="Climb" done="h gt 1"/><Inverter><TestNode name="x"/></Inverter></ManualSelector>`,
		`<Sequence><Script code="n := 1"/><SkipUnlessUpdated entry="{n}" _skipIf="n == 2"><Action ID="Climb"/></SkipUnlessUpdated>
			<Decorator ID="WaitValueUpdate" name="w" entry="n"><Script code="n += 1"/></Decorator></Sequence>`,
		`<UtilitySelector name="u" utility_1="1" utility_2="n" margin="0.5"><Action name="up"/><Action name="down"/></UtilitySelector>`,
		`<Sequence><LoopInt queue="1;2" value="{v}" name="each" retry="2"><ScriptCondition code="v == 1"/></LoopInt></Sequence>`,
		`<LoopString queue="a;b c" value="{v}" if_empty="SKIPPED"><Decorator ID="LoopBool" queue="1"><Action name="up"/></Decorator></LoopString>`,
		`<TryCatch catch_on_halt="true"><Action name="up"/><Script code="a := 1"/></TryCatch>`,
		`<Sequence><Action ID="TestNode"/><Control ID="ManualSelector" name="pick" choice="n"><Action name="up"/></Control></Sequence>`,
	} {
		checkPlain(t, one(text), nil)
	}
	p, list := Read(&diag.Source{Name: "p.xml", Text: `<root BTCPP_format="4"><TreeNodesModel><Action ID="TestNode">
		<input_port name="speed"/></Action></TreeNodesModel><BehaviorTree ID="t"><TestNode speed="3"/></BehaviorTree></root>`}, nil)
	if p == nil || !p.Leaves[0].Free {
		t.Errorf("a model gives the name another meaning: %v", list)
	}
}
