package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/document/declare"
	"github.com/canopy-uav/canopy/run/record"
)

// activity is a recorder that notes when each task of a plan first becomes active.
type activity struct {
	record.Nothing
	first map[bt.Task]float64
}

func (a activity) Status(t float64, _ int, c bt.Change) error {
	if _, seen := a.first[c.Task]; !seen && (c.To == bt.Activating || c.To == bt.Running) {
		a.first[c.Task] = t
	}
	return nil
}

// witness returns the flight in a run's log as evidence about a plan: it must be of the same plan, and must keep the
// declared facts, in which proofs are made.
func witness(name string, s declare.Subject) (*declare.Flight, error) {
	log, done, err := openLog(name)
	if err != nil {
		return nil, err
	}
	defer done()
	seen := activity{first: map[bt.Task]float64{}}
	var header *record.Header
	end, err := log.play(func(h *record.Header) record.Recorder {
		header = h
		return seen
	})
	if err != nil {
		return nil, err
	}
	if end.Missing() != "" {
		return nil, &usageError{fmt.Sprintf("--flown needs the log of a whole run: %s", incomplete(name, &end))}
	}
	same := slices.ContainsFunc(header.Attachments, func(a record.Attachment) bool {
		return a.Name == "plan.xml" && string(a.Data) == s.Plan.Source.Text
	})
	if !same || end.Summary.Plan == record.PlanAbsent {
		return nil, &usageError{fmt.Sprintf("--flown needs a run of this plan: %s has another one", name)}
	}
	if rows, _, err := log.judge(nil); err == nil {
		for _, p := range rows {
			if p.Kind == record.KindFact && p.Verdict != record.PropertySatisfied {
				return nil, &usageError{fmt.Sprintf("--flown needs a run that keeps the facts: in %s, %s is %s", name,
					p.Statement(), p.Verdict)}
			}
		}
	} else if !errors.Is(err, errNoProperties) {
		return nil, err
	}
	return &declare.Flight{Run: name, Active: seen.first}, nil
}
