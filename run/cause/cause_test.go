package cause

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/run/record"
)

// document is a plan whose first action has a name.
func document(name string) string {
	return fmt.Sprintf(`<root BTCPP_format="4"><BehaviorTree ID="m"><Fallback name="root">
	<Sequence name="first"><Condition name="high" on="h gt 5 [m]" off="h lt 4 [m]"/>
	<Action name="%s" done="h gt 9 [m]" failed="t gt 5 [s]"/></Sequence>
	<Timeout name="limit" msec="100"><Action name="wait" exit_time="2 [s]"/></Timeout>
	</Fallback></BehaviorTree></root>`, name)
}

// tasks returns the tasks of a plan as a log has them.
func tasks(t *testing.T, text string) (list []record.Task) {
	t.Helper()
	p, diags := plan.ReadFlown(&diag.Source{Name: record.PlanFile, Text: text})
	if p == nil {
		t.Fatal(diags)
	}
	for i := range p.Tree.Len() {
		n := bt.Task(i)
		list = append(list, record.Task{Name: p.Tree.Name(n), Kind: p.Tree.Kind(n).String(), Parent: int(p.Tree.Parent(n)),
			Initial: bt.Accept})
	}
	return list
}

// TestAnyLog: whatever a log says, each of its changes is in one instant, in the order of the log, and follows from an
// earlier one there or has a reason.
func TestAnyLog(t *testing.T) {
	r := rand.New(rand.NewPCG(28, 5))
	explained := 0
	for range 500 {
		h := record.Header{Signals: []record.Signal{{Name: "h", Unit: "m"}}, Tasks: tasks(t, document("a")),
			Attachments: []record.Attachment{{Name: record.PlanFile, Data: []byte(document("a"))}}}
		var want, got []bt.Change
		var end record.End
		from := 0
		reader := NewReader(&h, func(in *Instant) {
			got = append(got, in.Changes...)
			if in.Plan == nil {
				return
			}
			for i, k := range in.Causes() {
				if k >= i {
					t.Fatalf("change %d follows from %d", i, k)
				}
				text := ""
				if k < 0 {
					text = in.Reason(i, &end)
				}
				if k < 0 && text == "" {
					t.Errorf("%+v has no reason", in.Changes[i])
				}
				if text != "" && text != plan.NoReason {
					explained++
				}
			}
		})
		at, known := 0.0, len(h.Tasks)
		for range 40 {
			switch r.IntN(8) {
			case 0:
				at += float64(r.IntN(3))
				must(t, reader.Sample(at, []float64{10 * r.Float64()}))
			case 1:
				must(t, reader.Event(record.Event{T: at, Kind: []string{record.KindSwap, record.KindKnown, record.KindUnknown}[r.IntN(3)]}))
			case 2:
				if from < 2 && r.IntN(4) == 0 {
					from++
					name := []string{"a", "b", "a"}[from]
					must(t, reader.Plan(record.Takeover{T: at, Name: name, Tasks: tasks(t, document(name)), Source: document(name)}))
					known = len(reader.Tasks())
				}
			default:
				c := bt.Change{Task: bt.Task(r.IntN(known)), From: bt.Status(r.IntN(10)), To: bt.Status(r.IntN(10))}
				must(t, reader.Status(at, 1+r.IntN(2), c))
				want = append(want, c)
			}
		}
		reader.Flush()
		if len(want) != len(got) {
			t.Fatalf("%d changes of %d", len(got), len(want))
		}
		for i, c := range got {
			if c.Task != want[i].Task || c.To != want[i].To {
				t.Fatalf("change %d is %+v, not %+v", i, c, want[i])
			}
		}
	}
	if explained < 1000 {
		t.Errorf("%d reasons", explained)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
