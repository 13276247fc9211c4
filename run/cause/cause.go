// Package cause explains the status changes of a run: which change follows from which, and from what the first one.
package cause

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/run/record"
)

// Plan returns the plan attached to a log with this header, nil if it is not that of the run.
func Plan(h *record.Header) *plan.Plan {
	i := slices.IndexFunc(h.Attachments, func(a record.Attachment) bool { return a.Name == record.PlanFile })
	if i < 0 {
		return nil
	}
	p, _ := plan.ReadFlown(&diag.Source{Name: record.PlanFile, Text: string(h.Attachments[i].Data)})
	if p == nil || p.Tree.Len() != len(h.Tasks) {
		return nil
	}
	for i, t := range h.Tasks {
		if p.Tree.Name(bt.Task(i)) != t.Name {
			return nil
		}
	}
	return p
}

// Instant is the status changes of one instant of a run, with what explains them.
type Instant struct {
	*Reign
	T       float64 // [s]
	Changes []bt.Change
	Jumps   int      // the first changes by which the plan begins: to other statuses than under the plan before
	Unknown []string // the sources that are

	before, after []float64   // the values of the signals at both limits
	exchange      bool        // of the plan, is under way
	plain         []bt.Change // those that are no jumps, with the plan's numbers of tasks, as far as they are needed
}

// Reign is the time of a plan in a run.
type Reign struct {
	Header record.Header // as of a run that begins with it
	Plan   *plan.Plan    // nil: the log does not have it

	because string    // why it begins
	numbers []bt.Task // of its tasks in the log
}

// Reader is a recorder that passes on the instants of a log at which statuses change. The instants have their changes
// as the log numbers tasks.
type Reader struct {
	record.Nothing
	visit func(*Instant)

	log       record.Header // with the tasks of all plans
	present   *Reign
	jumping   bool    // the changes by which the present plan begins are read
	exchanged float64 // time of the last event of an exchange; NaN: none yet
	instant   *Instant
	sample    []float64 // the last one that was read
	lost      []string  // the sources that are unknown
}

// NewReader returns a reader of the log with this header. It calls visit with each instant that is complete, and Flush
// does with the last one; visit may keep it.
func NewReader(h *record.Header, visit func(*Instant)) *Reader {
	r := &Reader{visit: visit, log: *h, exchanged: math.NaN()}
	r.reign(*h, "the run begins")
	for i := range h.Tasks {
		r.present.numbers = append(r.present.numbers, bt.Task(i))
	}
	return r
}

// Deciding returns the plan that decides now; nil: the log does not have it.
func (r *Reader) Deciding() *plan.Plan { return r.present.Plan }

// Size is the number of values that the instant holds.
func (in *Instant) Size() int { return len(in.before) + len(in.after) + 3*len(in.Changes) }

// Task returns the name of a task of any plan by its number in the log.
func (r *Reader) Task(n bt.Task) string { return r.log.Tasks[n].Name }

// Tasks returns the tasks of all plans so far.
func (r *Reader) Tasks() []record.Task { return r.log.Tasks }

// reign begins the time of a plan.
func (r *Reader) reign(h record.Header, because string) {
	r.present = &Reign{Header: h, Plan: Plan(&h), because: because}
}

// Flush ends the last instant.
func (r *Reader) Flush() {
	if r.instant != nil {
		r.visit(r.instant)
		r.instant = nil
	}
}

// Plan implements [record.Recorder].
func (r *Reader) Plan(p record.Takeover) error {
	r.Flush() // what was before is of another plan
	numbers := r.log.Take(p)
	r.reign(p.Header(r.log), "the plan "+p.Name+" takes over")
	r.present.numbers, r.present.Header.Start, r.jumping = numbers, p.T, true
	return nil
}

// Sample implements [record.Recorder].
func (r *Reader) Sample(t float64, values []float64) error {
	if r.instant != nil && t > r.instant.T {
		r.Flush()
	}
	r.sample = append(r.sample[:0], values...)
	if r.instant != nil {
		r.instant.after = append(r.instant.after[:0], values...)
	}
	return nil
}

// Status implements [record.Recorder].
func (r *Reader) Status(t float64, micro int, c bt.Change) error {
	if r.instant != nil && t != r.instant.T {
		r.Flush()
	}
	if r.instant == nil {
		r.instant = &Instant{Reign: r.present, T: t, Unknown: slices.Clone(r.lost), before: slices.Clone(r.sample),
			after: slices.Clone(r.sample)}
	}
	in := r.instant
	in.exchange = r.exchanged == t
	c.Iteration = int32(micro)
	// The changes by which a plan begins come before all others.
	i := slices.Index(r.present.numbers, c.Task)
	r.jumping = r.jumping && t == r.present.Header.Start && (i < 0 || c.To == r.present.Header.Tasks[i].Initial)
	if in.Changes = append(in.Changes, c); r.jumping {
		in.Jumps++
	} else if i < 0 {
		in.Reign = &Reign{Header: r.present.Header} // the log is not one of its plan
	}
	return nil
}

// Event implements [record.Recorder].
func (r *Reader) Event(e record.Event) error {
	switch e.Kind {
	case record.KindSwap:
		r.exchanged = e.T
	case record.KindUnknown:
		r.lost = append(r.lost, e.Text)
	case record.KindKnown:
		r.lost = slices.DeleteFunc(r.lost, func(s string) bool { return s == e.Text })
	}
	return nil
}

// own returns the changes that are no jumps, with the plan's numbers of tasks.
func (in *Instant) own() []bt.Change {
	if in.plain == nil {
		in.plain = slices.Clone(in.Changes[in.Jumps:])
		for i := range in.plain {
			in.plain[i].Task = bt.Task(slices.Index(in.numbers, in.plain[i].Task))
		}
	}
	return in.plain
}

// Judged reports whether a change, which is no jump, is one of a condition. The plan must be known.
func (in *Instant) Judged(i int) bool {
	return in.Plan.Tree.Kind(in.own()[i-in.Jumps].Task).Judged()
}

// Causes returns for each change the place of the change that it follows from; -1: it follows from no other. The plan
// must be known.
func (in *Instant) Causes() []int {
	own, causes := in.own(), make([]int, len(in.Changes))
	for i := range causes {
		causes[i] = -1
		if k := i - in.Jumps; k >= 0 {
			if k = bt.Cause(in.Plan.Tree, own, k); k >= 0 {
				causes[i] = k + in.Jumps
			}
		}
	}
	return causes
}

// Reason returns what a change follows from that follows from no other, in a run that ended so. The plan must be known.
func (in *Instant) Reason(i int, end *record.End) string {
	if i < in.Jumps {
		return in.because
	}
	p, c := in.Plan, in.own()[i-in.Jumps]
	leaf, isLeaf := slices.BinarySearch(p.Tree.Leaves(), c.Task)
	activity := c.To == bt.Activating || c.To == bt.Deactivating
	switch {
	case (activity || !isLeaf) && in.T == in.Header.Start:
		return in.because
	case activity && end.Summary != nil && slices.Contains([]float64{end.Summary.Ended, end.Summary.Stopped}, in.T):
		return "the run ends: " + end.Summary.Reason
	case activity && in.exchange:
		return "another plan is to take over"
	case activity || !isLeaf:
		for t := c.Task; t >= 0; t = p.Tree.Parent(t) {
			if p.Tree.Kind(t).Timer() {
				return fmt.Sprintf("the time of %s is over", p.Tree.Name(t))
			}
		}
		return plan.NoReason
	}
	text, e := p.Leaves[leaf].Reason(c)
	if e == nil {
		return text
	}
	sample := in.before
	decisive, ok := in.deciding(e, sample)
	if !ok || c.Iteration > 1 || in.T == in.Header.Start { // else nothing has been written yet
		sample = in.after
		decisive, _ = in.deciding(e, sample)
	}
	text += decisive.String()
	if _, err := strconv.ParseFloat(decisive.String(), 64); err == nil { // of a procedure, without its unit
		text += " s"
	}
	return text + in.values(decisive, sample)
}

// deciding returns the part of a condition that decides it with the values of a sample.
func (in *Instant) deciding(e *expr.Expr, sample []float64) (*expr.Expr, bool) {
	at := map[string]float64{"t": in.T}
	for i := range min(len(in.Header.Signals), len(sample)) {
		at[in.Header.Signals[i].Name] = sample[i]
	}
	return e.Deciding(at)
}

// values writes the values that an expression reads, in parentheses; "" if there are none.
func (in *Instant) values(of *expr.Expr, sample []float64) string {
	var values []string
	for _, name := range of.Names() {
		i := slices.IndexFunc(in.Header.Signals, func(s record.Signal) bool { return s.Name == name })
		if i < 0 || i >= len(sample) {
			continue
		}
		s := &in.Header.Signals[i]
		value, ok := s.Value(sample[i])
		if !ok {
			value = fmt.Sprintf("%.6g %s", sample[i], s.UnitOrOne())
		}
		values = append(values, name+" = "+strings.TrimSuffix(value, " 1"))
	}
	if len(values) == 0 {
		return ""
	}
	return " (" + strings.Join(values, ", ") + ")"
}
