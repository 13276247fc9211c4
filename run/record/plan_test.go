package record

import (
	"bytes"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/bt"

	"github.com/google/go-cmp/cmp"
)

// takeover is a plan that takes over in a run of small: it keeps the condition, has no action climb, and adds a task.
func takeover() Takeover {
	return Takeover{T: 30, Name: "other.xml", Source: "<root/>", Tasks: []Task{
		{Name: "sun, high", Kind: "Condition", Parent: 2, Initial: bt.Success},
		{Name: "descend", Kind: "Action", Parent: 2, Initial: bt.Accept},
		{Name: "other", Kind: "ReactiveSequence", Parent: -1, Initial: bt.Accept},
	}}
}

// swapped writes a log in which a plan takes over.
func swapped(t *testing.T, h Header, f Files, pause func(*Writer)) {
	w, err := NewWriter(h, f)
	must(t, err)
	must(t, w.Status(0, 1, bt.Change{Task: 0, From: bt.Failure, To: bt.Success}))
	must(t, w.Plan(takeover()))
	if pause != nil {
		pause(w)
	}
	must(t, w.Status(30, 1, bt.Change{Task: 3, From: bt.Accept, To: bt.Activating}))
	must(t, w.Status(30, 1, bt.Change{Task: 0, From: bt.Success, To: bt.Failure}))
	must(t, w.Close(Summary{Ended: 40, Outcome: Complete}))
}

// TestPlanTakesOver: tasks of a later plan have numbers behind those of the header, kept ones keep theirs, and a log
// that is read has the plan.
func TestPlanTakesOver(t *testing.T) {
	var f files
	swapped(t, small(), f.destinations(), nil)
	l, err := read(bytes.NewReader(f.mcap.Bytes()))
	must(t, err)
	if diff := cmp.Diff([]Takeover{takeover()}, l.Plans); diff != "" {
		t.Error(diff)
	}
	var names []string
	for _, task := range l.Tasks {
		names = append(names, task.Name)
	}
	if got := strings.Join(names, "; "); got != `sun, high; climb; root "r"; descend; other` {
		t.Error(got)
	}
	if p := l.Tasks[0].Parent; p != 4 {
		t.Errorf("the parent of the kept task is %d", p)
	}
	if got := l.Tasks[l.Changes[1].Task].Name; got != "descend" || l.End.Damage != nil || l.Summary == nil {
		t.Errorf("%s, %v", got, l.End)
	}
	if text := f.status.String(); !strings.Contains(text, "30.000000000,1,descend,Accept,Activating\n") {
		t.Error(text)
	}
}

// TestResumeAfterTakeover: a writer that resumes behind a plan's takeover gives the same bytes.
func TestResumeAfterTakeover(t *testing.T) {
	var whole, again files
	var point Point
	swapped(t, small(), whole.destinations(), func(w *Writer) {
		var err error
		point, err = w.Point()
		must(t, err)
		point.pending = bytes.Clone(point.pending)
	})
	w, err := Resume(small(), again.destinations(), point, Earlier{MCAP: bytes.NewReader(whole.mcap.Bytes()),
		Status: &whole.status, Signals: &whole.signals})
	must(t, err)
	must(t, w.Status(30, 1, bt.Change{Task: 3, From: bt.Accept, To: bt.Activating}))
	must(t, w.Status(30, 1, bt.Change{Task: 0, From: bt.Success, To: bt.Failure}))
	must(t, w.Close(Summary{Ended: 40, Outcome: Complete}))
	if !bytes.Equal(whole.mcap.Bytes(), again.mcap.Bytes()) {
		t.Error("run.mcap differs")
	}
}
