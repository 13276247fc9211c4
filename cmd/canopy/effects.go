package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/canopy-uav/canopy/analysis/rates"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/declare"
	"github.com/canopy-uav/canopy/document/mission"
)

// provable returns a mission as what is proved, with the rates of its vehicle, and its flight.
func provable(m *mission.Mission) (declare.Subject, error) {
	s := m.Subject()
	table, err := rates.Of(m)
	if err != nil {
		return s, &usageError{err.Error()}
	}
	s.Rates, s.Fly, s.Corner = table, shownBy(m, table), shownFrom(m, table)
	s.Start = func() declare.Subject { return table.FromStart(s) }
	s.Endless = func() declare.Subject {
		longer, table := s, table.Endless()
		longer.Rates, longer.Endless = table, nil
		longer.Start = func() declare.Subject { return table.FromStart(longer) }
		return longer
	}
	return s, nil
}

// effect is the rate of a signal while a task is active, in JSON.
type effect struct {
	Signal  string   `json:"signal"`
	Task    string   `json:"task"`
	Low     *float64 `json:"low"` // in the signal's unit per second; null: no limit
	High    *float64 `json:"high"`
	From    string   `json:"from"`              // declared, derived, or unknown
	Jumps   bool     `json:"jumps,omitempty"`   // the signal may also jump
	Missing []string `json:"missing,omitempty"` // signals without a range, for want of which it is unknown or unlimited
}

const unknownRate = "unknown"

// effectsOf returns the declared rates and those that are found, by signal. A plan alone has none.
func effectsOf(s declare.Subject) []effect {
	list := []effect{}
	table, ok := s.Rates.(*rates.Table)
	if !ok {
		return list
	}
	limit := func(v float64) *float64 {
		if math.IsInf(v, 0) {
			return nil
		}
		return &v
	}
	for _, row := range table.Rows() {
		e := effect{Signal: row.Signal, Task: s.Plan.Tree.Name(row.Task), From: unknownRate, Missing: row.Missing}
		if d := row.Declared; d != nil {
			list = append(list, effect{Signal: e.Signal, Task: e.Task, Low: limit(d.Low), High: limit(d.High),
				From: d.From.String()})
		}
		if r := row.Found; row.Known {
			e.Low, e.High, e.From, e.Jumps = limit(r.Low), limit(r.High), r.From.String(), r.Jumps
		}
		list = append(list, e)
	}
	slices.SortStableFunc(list, func(a, b effect) int { return cmp.Compare(a.Signal, b.Signal) })
	return list
}

// firstOf lists the first of some names.
func firstOf(names []string) string {
	const most = 5
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d others", strings.Join(names[:most-1], ", "), len(names)-most+1)
}

// printEffects prints the rates of a subject as a table, and what the equations imply from the declared start.
func printEffects(out io.Writer, s declare.Subject, list []effect) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "signal\ttask\tlow\thigh\tfrom")
	limit := func(v *float64) string {
		switch {
		case v == nil:
			return "-"
		case *v == math.SmallestNonzeroFloat64:
			return "above 0"
		case *v == -math.SmallestNonzeroFloat64:
			return "below 0"
		}
		return diag.Number(*v, 4)
	}
	for _, e := range list {
		from := e.From
		if e.Jumps {
			from += ", may also jump"
		}
		if len(e.Missing) > 0 {
			from += "; no range: " + firstOf(e.Missing)
		} else if e.From == unknownRate {
			from += ": no bound is known"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", diag.Visible(e.Signal), diag.Visible(e.Task), limit(e.Low), limit(e.High),
			diag.Visible(from))
	}
	if err := w.Flush(); err != nil || s.Start == nil {
		return err
	}
	for _, f := range s.Start().Declared.Facts {
		if f.Derived {
			fmt.Fprintln(out, "from the declared start: "+diag.Visible(f.Text))
		}
	}
	return nil
}
