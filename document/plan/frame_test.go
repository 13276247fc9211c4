package plan

import (
	"fmt"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
)

// frames are controls and decorators that plans define.
const frames = `
<BehaviorTree ID="Cooldown"><Sequence><Children/><Script code="n := 1"/><Sleep msec="{msec}"/></Sequence></BehaviorTree>
<BehaviorTree ID="Most"><Parallel success_count="2" failure_count="2"><Children/></Parallel></BehaviorTree>
<BehaviorTree ID="Twice"><Sequence><Children/><Cooldown msec="{ms}"><Children/></Cooldown></Sequence></BehaviorTree>
<BehaviorTree ID="Choose"><IfThenElse><Children index="1"/><Children index="3"/><Children index="2"/></IfThenElse></BehaviorTree>
<BehaviorTree ID="Not"><Inverter><Children/></Inverter></BehaviorTree>
<BehaviorTree ID="Own"><Own><Children/></Own></BehaviorTree>
`

// tasksOf returns the kinds of a plan's tasks, with their parameters and expressions.
func tasksOf(t *testing.T, trees string) string {
	t.Helper()
	p, found := Read(&diag.Source{Name: "plan.xml",
		Text: `<root BTCPP_format="4" main_tree_to_execute="main">` + trees + `</root>`}, nil)
	if p == nil {
		t.Fatalf("%s: %v", trees, found)
	}
	var write func(b *strings.Builder, task bt.Task)
	write = func(b *strings.Builder, task bt.Task) {
		fmt.Fprint(b, p.Tree.Kind(task), p.Tree.Params(task), p.Details(task), "(")
		for _, c := range p.Tree.Children(task) {
			write(b, c)
		}
		b.WriteString(")")
	}
	var b strings.Builder
	write(&b, p.Tree.Root())
	return b.String()
}

// The use of a frame is the frame with the nodes in its places. These belong to the tree around the use, with what their
// attributes stand for.
func TestFrames(t *testing.T) {
	for body, want := range map[string]string{
		`<Most><A/><B/><C/></Most>`: `<Parallel success_count="2" failure_count="2"><A/><B/><C/></Parallel>`,
		`<Cooldown msec="5"><A goal="{n}"/></Cooldown>`: `<Sequence><A goal="{n}"/><Script code="Cooldown.n := 1"/>
			<Sleep msec="5"/></Sequence>`,
		`<Decorator ID="Cooldown" msec="5"><A/></Decorator>`: `<SubTree ID="Cooldown" msec="5"><A/></SubTree>`,
		`<Twice ms="7"><A/></Twice>`: `<Sequence><A/><Sequence><A/><Script code="Twice.Cooldown.n := 1"/><Sleep msec="7"/>
			</Sequence></Sequence>`,
		`<Not><Not><A/></Not></Not>`:       `<Inverter><Inverter><A/></Inverter></Inverter>`,
		`<Choose><A/><B/><C/></Choose>`:    `<IfThenElse><A/><C/><B/></IfThenElse>`,
		`<Not><A _while="x == 1"/></Not>`:  `<Inverter><A _while="x == 1"/></Inverter>`,
		`<Not _skipIf="x == 1"><A/></Not>`: `<SubTree ID="Not" _skipIf="x == 1"><A/></SubTree>`,
		`<Sequence><Script code="x := 1"/><Not><ScriptCondition code="x == 1"/></Not></Sequence>`: `<Sequence>
			<Script code="x := 1"/><Inverter><ScriptCondition code="x == 1"/></Inverter></Sequence>`,
		`<Not><SubTree ID="s" y="{x}"/></Not>`: `<Inverter><A goal="{x}"/></Inverter>`,
	} {
		in := func(body string) string {
			return tasksOf(t, `<BehaviorTree ID="main">`+body+`</BehaviorTree><BehaviorTree ID="s"><A goal="{y}"/></BehaviorTree>`+frames)
		}
		if got, want := in(body), strings.ReplaceAll(in(want), "  ", " "); got != want {
			t.Errorf("%s:\n%s\n%s", body, got, want)
		}
	}
}

// What does not fit is reported once, at the use or in the frame.
func TestFramesAreChecked(t *testing.T) {
	for body, want := range map[string]string{
		`<Not><A/><B/></Not>`:       `plan.xml:7:25: error: Inverter needs exactly 1 child, this one has 2`,
		`<Not/>`:                    `plan.xml:7:25: error: Inverter needs exactly 1 child, this one has 0`,
		`<Choose><A/><B/></Choose>`: `plan.xml:1:77: error: Choose needs 3 children, this one has 2`,
		`<Own><A/></Own>`:           `plan.xml:8:25: error: cyclic subtree: Own`,
		`<Most><A/><Unkown x="1"><B/><C/><D/></Unkown></Most>`:                         ``,
		strings.Repeat(`<Twice ms="1">`, 20) + `<A/>` + strings.Repeat(`</Twice>`, 20): `error: with its children the tree has more than`,
	} {
		_, found := Read(&diag.Source{Name: "plan.xml", Text: `<root BTCPP_format="4" main_tree_to_execute="main"><BehaviorTree ID="main">` +
			body + "</BehaviorTree>\n" + frames + `</root>`}, nil)
		text := fmt.Sprint(found)
		if n := strings.Count(text, "error: "); want == "" && n > 0 || want != "" && (n != 1 && len(body) < 100 || !strings.Contains(text, want)) {
			t.Errorf("%s: %d errors\n%s", body, n, text)
		}
	}
}

// A frame cannot be the main tree, and a place for children has no meaning outside of one.
func TestNoFrame(t *testing.T) {
	for tree, want := range map[string]string{
		`<BehaviorTree ID="a"><Inverter><Children/></Inverter></BehaviorTree>`:                                     "cannot be the main tree",
		`<BehaviorTree ID="a"><Children/></BehaviorTree>`:                                                          "cannot be the main tree",
		`<BehaviorTree ID="a"><F><A/></F></BehaviorTree><BehaviorTree ID="F"><Children index="0"/></BehaviorTree>`: `"0" is not a child`,
		`<BehaviorTree ID="a"><Children/></BehaviorTree><TreeNodesModel><Action ID="Children"/></TreeNodesModel>`:  "",
	} {
		p, found := Read(&diag.Source{Name: "plan.xml", Text: `<root BTCPP_format="4" main_tree_to_execute="a">` + tree + `</root>`}, nil)
		if want == "" != (p != nil) || !strings.Contains(fmt.Sprint(found), want) {
			t.Errorf("%s: %v", tree, found)
		}
	}
}
