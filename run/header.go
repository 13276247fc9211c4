package run

import (
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/run/record"
)

// Header describes the run for the record, with its source documents. It must be called before the first step.
func (r *Run) Header() record.Header {
	m := r.m
	h := record.Header{Mission: m.Name, Text: m.Text, Plan: m.Plan.Name, Vehicle: m.Vehicle.Name, Horizon: r.until,
		Method: m.Method.String(), RelTol: m.Tolerance, Interval: m.Interval, Signals: r.signals, Fence: m.Fence.Areas}
	for _, p := range m.Rally {
		h.Rally = append(h.Rally, p.Coordinates)
	}
	for _, p := range m.Plots {
		h.Plots = append(h.Plots, record.Plot(p))
	}
	h.Tasks = r.tasks()
	for i, p := range m.Vehicle.Parameters {
		h.Parameters = append(h.Parameters, record.Parameter{Name: p.Name, Unit: p.Unit, Value: m.Parameters[i],
			Default: p.Default, Tag: p.Tag.String(), Text: p.Text})
	}
	for _, i := range m.Program.Judged {
		if x := &m.Program.Indicators[i]; !x.Bound() {
			h.Watched = append(h.Watched, x.Text)
		}
	}
	h.Attachments = []record.Attachment{
		{Name: "mission.yaml", MediaType: "application/yaml", Data: []byte(m.Source.Text)},
		{Name: record.PlanFile, MediaType: "application/xml", Data: []byte(m.Plan.Source.Text)},
	}
	if m.Equations != nil {
		h.Attachments = append(h.Attachments,
			record.Attachment{Name: "vehicle.yaml", MediaType: "application/yaml", Data: []byte(m.Equations.Text)})
	}
	return h
}

// Relog makes the log begin at the present: the header of a run that was restored describes the present plan with its
// present statuses, and the tasks of the plans before it are in no log.
func (r *Run) Relog() {
	r.logged = record.Header{}
	r.numbers = r.logged.Take(r.plan())
}

// tasks describes the tasks of the present plan with their present statuses. Its texts are no parts of the document,
// which can be forgotten.
func (r *Run) tasks() []record.Task {
	tree, list := r.m.Plan.Tree, make([]record.Task, r.m.Plan.Tree.Len())
	for i := range list {
		t := bt.Task(i)
		list[i] = record.Task{Name: strings.Clone(tree.Name(t)), Kind: tree.Kind(t).String(), Parent: int(tree.Parent(t)),
			Initial: r.executive.Status(t), Rests: r.executive.Rests(t)}
	}
	for _, l := range r.m.Plan.Leaves {
		list[l.Task].Detail = strings.Clone(strings.Join(
			strings.Fields(r.m.Plan.Source.Text[l.Offset:l.Offset+l.Length]), " "))
	}
	return list
}

// locate finds the signals that are recorded, those that must be finite, and the sources in the signal vector of the
// present plan.
func (r *Run) locate() {
	r.places, r.unset, r.needed = make([]int, len(r.signals)), make([]bool, len(r.signals)), nil
	for i := range r.signals {
		r.places[i], r.unset[i] = absent, true
		if s, place := r.m.Signal(r.signals[i].Name); place >= 0 {
			r.places[i], r.unset[i] = place, s.Entry
		}
	}
	for _, name := range r.m.Needed {
		_, place := r.m.Signal(name)
		r.needed = append(r.needed, place)
	}
	sources, lost := r.sources, r.lost
	r.sources = r.m.Sources()
	r.lost = make([]bool, len(r.sources))
	for i, s := range sources {
		if k := slices.IndexFunc(r.sources, func(n mission.Source) bool { return n.Name == s.Name }); k >= 0 {
			r.lost[k] = lost[i]
		}
	}
}

// absent is the place of an entry that the present plan does not have: it is unset.
const absent = -1
