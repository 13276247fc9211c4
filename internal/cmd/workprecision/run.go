package main

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/canopy-uav/canopy/internal/cputime"
	"github.com/canopy-uav/canopy/internal/problems"
	"github.com/canopy-uav/canopy/ode"
	"github.com/canopy-uav/canopy/sim"
)

// result is the accuracy and the cost of a run of a problem.
type result struct {
	Problem     string
	Method      string
	RelTol      float64
	Error       *float64 // at the end (problems.Problem.Error); nil: no values are known there
	Events      int      // found
	KnownEvents *int     // to exist; nil: infinitely many
	EventError  *float64 // the largest [s]; nil: nothing to compare, or a wrong number was found
	Steps       int
	Rejected    int
	Evaluations int
	CPU         float64 // [s]

	CVODE        int      // evaluations; 0: not known
	CVODEError   *float64 // as Error; nil: not known
	CVODEStopped bool     // before the end, after patience steps
	CVODEStored  bool     // not measured here

	happened []problems.Event
}

// system converts a problem to the simulator's form.
func system(p *problems.Problem) *sim.System {
	s := &sim.System{
		Inputs: len(p.U0),
		Derivatives: func(t float64, y []float64, d *sim.Discrete, dydt []float64) {
			p.Derivatives(t, y, d.U, dydt)
		},
		Zeros: func(t float64, y []float64, d *sim.Discrete, _ []int, g []float64) { p.Zeros(t, y, d.U, g) },
	}
	for i := range p.Y0 {
		s.States = append(s.States, fmt.Sprint("y", i+1))
	}
	for _, i := range p.Indicators {
		s.Indicators = append(s.Indicators, sim.Indicator{Name: i.Name})
	}
	return s
}

// run simulates p to its end.
func run(p *problems.Problem, method ode.Method, rtol float64) (*result, error) {
	o := sim.Options{Options: ode.Options{Method: method, RelTol: rtol, AbsTol: p.AbsTol(rtol)}}
	began := cputime.Now()
	s, err := sim.New(system(p), 0, p.Y0, p.U0, o)
	if err != nil {
		return nil, err
	}
	for i, indicator := range p.Indicators {
		s.Watch(i, sim.Direction(indicator.Watch))
	}
	happened, err := play(p, s)
	if err != nil {
		return nil, err
	}
	spent, stats := cputime.Now()-began, s.Stats()
	r := &result{
		Problem: p.Name, Method: method.String(), RelTol: rtol, Events: len(happened),
		Steps: stats.Steps, Rejected: stats.Rejected, Evaluations: stats.Evaluations,
		CPU: spent, happened: happened,
	}
	if p.Want != nil {
		e := p.Error(s.Y)
		r.Error = &e
	}
	if p.Zeno > 0 {
		e := math.Abs(s.T - p.Zeno)
		r.EventError = &e
		return r, nil
	}
	known := len(p.Events)
	r.KnownEvents = &known
	if e, _, complete := p.EventError(happened); complete && known > 0 {
		r.EventError = &e
	}
	return r, nil
}

// compare adds what CVODE needs for the same problem.
func (r *result) compare(cvode *peer, p *problems.Problem) error {
	c, err := cvode.solve(p, r.RelTol)
	if err != nil {
		return err
	}
	r.CVODE, r.CVODEStopped, r.CVODEStored = c.evaluations, !c.complete && c.evaluations > 0, c.stored
	if p.Want != nil && c.complete && !c.stored {
		e := p.Error(c.y)
		r.CVODEError = &e
	}
	return nil
}

// play advances s to the end of p, or to the accumulation of infinitely many events, and returns the events.
func play(p *problems.Problem, s *sim.Simulator) (happened []problems.Event, err error) {
	for s.T < p.End {
		seg, err := s.Advance(p.End)
		for _, i := range seg.Events {
			happened = append(happened, problems.Event{T: seg.To, Index: i})
		}
		switch {
		case p.Zeno > 0 && errors.As(err, new(*sim.ChatterError)):
			return happened, nil
		case err != nil:
			return nil, err
		case len(seg.Events) == 0:
			continue
		}
		if _, err := s.Iterate(); err != nil {
			return nil, err
		}
		if p.React == nil {
			continue
		}
		u := slices.Clone(s.U)
		for _, i := range seg.Events {
			p.React(i, s.Y, u)
		}
		for i, v := range u {
			s.Set(i, v)
		}
	}
	return happened, nil
}
