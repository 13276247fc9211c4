package plan

import (
	"testing"

	"github.com/canopy-uav/canopy/diag"
)

// one returns the text of a plan with one tree.
func one(nodes string) *diag.Source {
	return &diag.Source{Name: "p.xml", Text: `<root BTCPP_format="4"><BehaviorTree ID="t">` + nodes +
		`</BehaviorTree></root>`}
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
