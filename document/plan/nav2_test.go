package plan

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
)

// nav2 runs a plan with nodes of Nav2.
type nav2 struct {
	*bt.Engine
	plan *Plan
}

func newNav2(t *testing.T, nodes string) *nav2 {
	t.Helper()
	p, list := Read(one(nodes), nil)
	if p == nil || len(list) > 0 {
		t.Fatal(list)
	}
	var constant []bt.Input
	for i := range p.Leaves {
		if on := p.Leaves[i].On; on != nil {
			constant = append(constant, bt.Set(p.Leaves[i].Task, on.String() == "true"))
		}
	}
	n := &nav2{bt.NewEngine(p.Tree, constant, 0), p}
	n.settle(t)
	return n
}

func (n *nav2) task(t *testing.T, name string) bt.Task {
	t.Helper()
	found := n.plan.Tree.Resolve(name)
	if len(found) != 1 {
		t.Fatalf("%d tasks are called %s", len(found), name)
	}
	return found[0]
}

func (n *nav2) settle(t *testing.T, inputs ...bt.Input) {
	t.Helper()
	if _, err := n.Settle(inputs); err != nil {
		t.Fatal(err)
	}
}

// state returns the free actions that are active, and the root's result once it has ended.
func (n *nav2) state() string {
	var words []string
	for i := range n.plan.Leaves {
		if l := &n.plan.Leaves[i]; l.Free && n.Active(l.Task) {
			words = append(words, n.plan.Label(l.Task))
		}
	}
	if result, ended := n.Held(n.plan.Tree.Root()); ended {
		words = append(words, result.String())
	}
	return strings.Join(words, " ")
}

// A RecoveryNode whose condition tells when no retry is left does as Nav2's does with their number.
func TestRecoveryNode(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		n := newNav2(t, `<RecoveryNode number_of_retries="2" name="n"><Try/><Recover/></RecoveryNode>`)
		try, measure := n.task(t, "Try"), n.task(t, "Recover")
		retries, done := r.IntN(4), 0
		for want := "Try"; want == "Try" || want == "Recover"; {
			if got := n.state(); got != want {
				t.Fatalf("%d retries, %d done: %s, not %s", retries, done, got, want)
			}
			outcome := []bt.Status{bt.Success, bt.Failure, bt.Failure}[r.IntN(3)]
			last := bt.Set(n.task(t, "n.last"), done == retries)
			switch {
			case want == "Recover" && outcome == bt.Success:
				n.settle(t, last, bt.End(measure, outcome))
				want, done = "Try", done+1
				continue
			case want == "Recover":
				n.settle(t, last, bt.End(measure, outcome))
				want = "Failure"
			case outcome == bt.Success:
				n.settle(t, last, bt.End(try, outcome))
				want = "Success"
			case done == retries:
				n.settle(t, last, bt.End(try, outcome))
				want = "Failure"
			default:
				n.settle(t, last, bt.End(try, outcome))
				want = "Recover"
			}
			if want != "Recover" && n.state() != want {
				t.Fatalf("%d retries, %d done: %s, not %s", retries, done, n.state(), want)
			}
		}
	}
}

// In a PipelineSequence, the child of a controller runs again and again beside the children after it.
func TestPipelineSequence(t *testing.T) {
	for _, controller := range []string{`RateController hz="2"`, `DistanceController distance="1"`, "SpeedController",
		"GoalUpdatedController"} {
		name, _, _ := strings.Cut(controller, " ")
		n := newNav2(t, fmt.Sprintf(`<PipelineSequence><Select/><%s><Plan/></%s><Condition on="true"/><Follow/></PipelineSequence>`,
			controller, name))
		due := func() {
			if name != "RateController" {
				n.settle(t, bt.Set(n.task(t, name+".due"), true))
				n.settle(t, bt.Set(n.task(t, name+".due"), false))
				return
			}
			if timer := n.task(t, name+".period"); n.plan.Tree.Timer(timer) != 0.5 {
				t.Errorf("%s waits for %v s", name, n.plan.Tree.Timer(timer))
			} else {
				n.settle(t, bt.Elapsed(timer))
			}
		}
		end := func(leaf string, outcome bt.Status) { n.settle(t, bt.End(n.task(t, leaf), outcome)) }
		for i, step := range []struct {
			do   func()
			want string
		}{
			{func() {}, "Select"},
			{func() { end("Select", bt.Success) }, "Plan"},
			{func() { end("Plan", bt.Success) }, "Follow"},
			{due, "Plan.again Follow"},
			{func() { end("Plan.again", bt.Success) }, "Follow"},
			{due, "Plan.again Follow"},
			{func() { end("Plan.again", bt.Failure) }, "Failure"},
		} {
			if step.do(); n.state() != step.want {
				t.Fatalf("%s, step %d: %s, not %s", name, i, n.state(), step.want)
			}
		}
	}
	n := newNav2(t, `<PipelineSequence><RateController><Plan/></RateController><Follow/></PipelineSequence>`)
	n.settle(t, bt.End(n.task(t, "Plan"), bt.Success))
	if n.settle(t, bt.End(n.task(t, "Follow"), bt.Success)); n.state() != "Success" {
		t.Error(n.state())
	}
}

// A RoundRobin tries its children from any one of them on, a NonblockingSequence all at the same time.
func TestRoundRobinAndNonblocking(t *testing.T) {
	n := newNav2(t, `<RoundRobin name="r"><Spin/><Wait/><Back/></RoundRobin>`)
	n.settle(t, bt.End(n.task(t, "Spin"), bt.Failure))
	if n.state() != "Wait" {
		t.Error(n.state())
	}
	n = newNav2(t, `<Sequence><Go/><RoundRobin name="r"><Spin/><Wait/><Back/></RoundRobin></Sequence>`)
	n.settle(t, bt.Set(n.task(t, "r.begins_after_1"), true), bt.Set(n.task(t, "r.begins_after_2"), true))
	if n.settle(t, bt.End(n.task(t, "Go"), bt.Success)); n.state() != "Back" {
		t.Error(n.state())
	}
	n = newNav2(t, `<NonblockingSequence><A/><B/></NonblockingSequence>`)
	if n.state() != "A B" {
		t.Error(n.state())
	}
	n.settle(t, bt.End(n.task(t, "A"), bt.Success))
	if n.settle(t, bt.End(n.task(t, "B"), bt.Failure)); n.state() != "Failure" {
		t.Error(n.state())
	}
}

// A child of a node of another program runs while its condition holds, also again; the node ends at any time.
func TestChildOfForeignNode(t *testing.T) {
	p, _ := Read(one(`<ForEach name="each" values="{v}"><Pick/></ForEach>`), nil)
	n := &nav2{bt.NewEngine(p.Tree, nil, 0), p}
	runs := func(may bool) bt.Input { return bt.Set(n.task(t, "each.child_1.runs"), may) }
	for i, step := range []struct {
		inputs []bt.Input
		want   string
	}{
		{nil, "each.result"},
		{[]bt.Input{runs(true)}, "each.result Pick"},
		{[]bt.Input{bt.End(n.task(t, "Pick"), bt.Failure)}, "each.result"},
		{[]bt.Input{runs(false)}, "each.result"},
		{[]bt.Input{runs(true)}, "each.result Pick"},
		{[]bt.Input{bt.End(n.task(t, "each.result"), bt.Success)}, "Success"},
	} {
		if n.settle(t, step.inputs...); n.state() != step.want {
			t.Errorf("step %d: %s, not %s", i, n.state(), step.want)
		}
	}
}

// Nav2's names have another meaning in a mission and where a model gives them one, and wrong uses have a place.
func TestNamesOfNav2(t *testing.T) {
	const pipeline = `<PipelineSequence><A/><B/></PipelineSequence>`
	if p, list := Read(one(pipeline), Vocabulary{}); p != nil ||
		!strings.Contains(list.Error(), `nothing defines what the control "PipelineSequence" does`) {
		t.Error(list)
	}
	for model, own := range map[string]bool{`<Control ID="PipelineSequence"/>`: false, `<Decorator ID="PipelineSequence"/>`: true,
		`<Control ID="PipelineSequence"><input_port name="mine"/></Control>`: true} {
		text := strings.Replace(one(`<PipelineSequence><A/></PipelineSequence>`).Text, "<Beh",
			"<TreeNodesModel>"+model+"</TreeNodesModel><Beh", 1)
		p, list := Read(&diag.Source{Name: "p.xml", Text: text}, nil)
		if p == nil || strings.Contains(fmt.Sprint(list), codeForeign) != own {
			t.Errorf("%s: %v", model, list)
		}
	}
	for text, want := range map[string]string{
		`<RecoveryNode><A/></RecoveryNode>`:         "RecoveryNode needs exactly 2 children, this one has 1",
		`<RateController><A/><B/></RateController>`: "RateController needs exactly 1 child, this one has 2",
	} {
		if p, list := Read(one(text), nil); p != nil || !strings.Contains(list.Error(), want) {
			t.Errorf("%s: %v", text, list)
		}
	}
	deep := strings.Repeat("<PipelineSequence><RateController>", 30) + "<A/>" + strings.Repeat("</RateController><B/></PipelineSequence>", 30)
	if p, list := Read(one(deep), nil); p != nil || !strings.Contains(list.Error(), "stand for more than 100000 tasks") {
		t.Error(p != nil, len(list))
	}
}
