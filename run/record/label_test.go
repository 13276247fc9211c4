package record

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/bt"
)

// nested is a header with a chain of tasks, each with its path as its name, as if all of them were called step.
func nested(depth int) Header {
	h := Header{Mission: "nested", Horizon: 10}
	for i := range depth {
		h.Tasks = append(h.Tasks, Task{Name: strings.Repeat("step/", depth-1-i) + "step", Kind: "Inverter", Parent: i + 1})
	}
	h.Tasks[depth-1].Parent = -1
	return h
}

// The rows of a log grow with the number of status changes, whatever the depth of the plan; names are written once.
func TestDeepPathsAreWrittenOnce(t *testing.T) {
	bytesOf := func(depth int) (rows int) {
		var f files
		w, err := NewWriter(nested(depth), f.destinations())
		must(t, err)
		before := f.mcap.Len() + f.status.Len()
		for k := range 10 * depth {
			must(t, w.Status(1, 1, bt.Change{Task: bt.Task(k % depth), From: bt.Accept, To: bt.Running}))
		}
		must(t, w.Close(Summary{Ended: 10, Outcome: Complete}))
		l, err := read(bytes.NewReader(f.mcap.Bytes()))
		must(t, err)
		for k, c := range l.Changes {
			if int(c.Task) != k%depth {
				t.Fatalf("change %d of %d tasks is read as one of task %d", k, depth, c.Task)
			}
		}
		if len(l.Changes) != 10*depth {
			t.Fatalf("%d changes are read", len(l.Changes))
		}
		return f.mcap.Len() + f.status.Len() - before
	}
	if few, many := bytesOf(120), bytesOf(480); 10*many > 45*few {
		t.Errorf("rows of %d bytes at depth 120, of %d at depth 480", few, many)
	}
}

// Rows tell tasks apart whatever their names are, and rows of earlier versions, which have the names, are read.
func TestLabels(t *testing.T) {
	long := strings.Repeat("é", 100)
	h := Header{Mission: "labels", Horizon: 10}
	for i, name := range []string{"short", long, "#1..." + strings.Repeat("é", 48), "#", strings.Repeat("x", 128), "root"} {
		h.Tasks = append(h.Tasks, Task{Name: name, Kind: "Condition", Parent: 5 - 6*(i/5)})
	}
	var f files
	w, err := NewWriter(h, f.destinations())
	must(t, err)
	for i := range h.Tasks {
		must(t, w.Status(0, 1, bt.Change{Task: bt.Task(i), From: bt.Failure, To: bt.Success}))
	}
	must(t, w.Plan(Takeover{T: 1, Tasks: []Task{{Name: long + "/new", Kind: "Condition", Parent: -1}}}))
	must(t, w.Status(1, 1, bt.Change{Task: 6, From: bt.Failure, To: bt.Success}))
	must(t, w.Close(Summary{Ended: 10, Outcome: Complete}))
	end := strings.Repeat("é", 48)
	want := "t,micro,task,from,to\n"
	for i, label := range []string{"short", "#1..." + end, "#2..." + end, "#3...#",
		strings.Repeat("x", 128), "root", "#6..." + end[4:] + "/new"} {
		want += fmt.Sprintf("%d.000000000,1,%s,Failure,Success\n", i/6, label)
	}
	if got := f.status.String(); got != want {
		t.Errorf("rows\n%swant\n%s", got, want)
	}
	l, err := read(bytes.NewReader(f.mcap.Bytes()))
	must(t, err)
	for i, c := range l.Changes {
		if int(c.Task) != i || l.Tasks[6].Name != long+"/new" {
			t.Errorf("the change of task %d is read as one of %d", i, c.Task)
		}
	}
	p := newPlayer((&Log{}).Begin)
	header, err := h.message()
	must(t, err)
	must(t, p.start(header))
	for i, task := range h.Tasks {
		c, err := p.status([]byte(`{"t":0,"micro":1,"task":"` + task.Name + `","from":"Failure","to":"Success"}`))
		if must(t, err); int(c.Task) != i && task.Name != h.Tasks[2].Name {
			t.Errorf("a row with the name of task %d is read as one of %d", i, c.Task)
		}
	}
}
