package record

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/canopy-uav/canopy/bt"
)

// Takeover is a plan that takes over from the one before it while the run goes on (docs/semantics.md, section 9).
type Takeover struct {
	T      float64 `json:"t"` // simulated time [s]
	Name   string  `json:"name"`
	Tasks  []Task  `json:"tasks"`  // in the order of the plan's bt.Task numbers, with the statuses at which they begin
	Source string  `json:"source"` // the plan document
}

// PlanFile is the name of the attachment with the plan with which a run starts.
const PlanFile = "plan.xml"

// Header returns the header of a run like that of h with the plan.
func (p *Takeover) Header(h Header) Header {
	h.Tasks, h.Attachments = p.Tasks, slices.Clone(h.Attachments)
	for i := range h.Attachments {
		if a := &h.Attachments[i]; a.Name == PlanFile {
			a.Data = []byte(p.Source)
		}
	}
	return h
}

// Take adds the tasks of a plan that takes over to those of the log, and returns their numbers: a task of a name that
// the log has keeps its number and gets the new definition, others come behind. The header's list of tasks is replaced.
func (h *Header) Take(p Takeover) []bt.Task {
	known := make(map[string]bt.Task, len(h.Tasks))
	for i, t := range h.Tasks {
		known[t.Name] = bt.Task(i)
	}
	numbers := make([]bt.Task, len(p.Tasks))
	h.Tasks = slices.Clone(h.Tasks)
	for i, t := range p.Tasks {
		n, ok := known[t.Name]
		if !ok {
			n = bt.Task(len(h.Tasks))
			h.Tasks = append(h.Tasks, t)
		}
		numbers[i] = n
	}
	for i, t := range p.Tasks {
		if t.Parent >= 0 {
			t.Parent = int(numbers[t.Parent])
		}
		h.Tasks[numbers[i]] = t
	}
	return numbers
}

// Plan records a plan that takes over.
func (w *Writer) Plan(p Takeover) error {
	if w.err != nil {
		return w.err
	}
	data, err := json.Marshal(p)
	if err == nil {
		err = checkTasks(p.Tasks)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrHeader, err)
	}
	w.take(p)
	stamp, err := w.mcap.stamp(p.T)
	if err == nil {
		err = w.mcap.add(planChannel, stamp, data)
	}
	return w.logged(err)
}

// take adds the tasks of a plan.
func (w *Writer) take(p Takeover) {
	w.header.Take(p)
	w.mcap.name(&w.header)
	w.label()
}

// label enters what rows call the tasks of the log.
func (w *Writer) label() {
	for i := len(w.fields); i < len(w.header.Tasks); i++ {
		w.fields = append(w.fields, appendField(nil, label(i, w.header.Tasks[i].Name)))
	}
}

// plan reads a message on /plan.
func (p *player) plan(data []byte) (Takeover, error) {
	var next Takeover
	if err := json.Unmarshal(data, &next); err != nil {
		return next, err
	}
	if err := checkTasks(next.Tasks); err != nil {
		return next, err
	}
	for i, n := range p.log.Take(next) {
		p.know(n, next.Tasks[i].Name)
	}
	return next, nil
}
