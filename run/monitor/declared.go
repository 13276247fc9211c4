package monitor

import (
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/declare"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/run/record"
	"github.com/canopy-uav/canopy/sim"
	"github.com/canopy-uav/canopy/syntax/yamldoc"
	"github.com/canopy-uav/canopy/temporal"
)

// Declared returns what is judged on a recorded run: what its mission declares, which the log carries with the plan.
// Errors are mistakes of these documents, in a log of this name; the computed signals are valid nevertheless.
func Declared(h *record.Header, log string) (w temporal.Watch, err error) {
	source := func(file string) *diag.Source {
		for _, a := range h.Attachments {
			if a.Name == file {
				return &diag.Source{Name: file + " in " + log, Text: string(a.Data)}
			}
		}
		return nil
	}
	missionFile, planFile := source("mission.yaml"), source(record.PlanFile)
	if missionFile == nil {
		return w, nil
	}
	mission := yamldoc.NewReader(missionFile).Parse("")
	w.Computed = declare.Computed(mission.Entry("signals"))
	if planFile == nil {
		return w, nil
	}
	p, diags := plan.ReadFlown(planFile)
	if p == nil {
		return w, diags.Err()
	}
	declared, diags := declare.ReadSection(missionFile, p, Scope(h))
	policy := mission.Entry("chattering")
	return declared.Watch(p.Tree, w.Computed, false, policy != nil && policy.Value == sim.Continue.String()), diags.Err()
}
