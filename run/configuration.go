package run

import (
	"errors"
	"fmt"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/executive"
	"github.com/canopy-uav/canopy/formalism/stategraph"
	"github.com/canopy-uav/canopy/formalism/tick"
)

// Errors of a mission that cannot be flown with a configuration.
var (
	ErrConventional = errors.New("no conventional tick for this mission")
	ErrGraph        = errors.New("no state graph for this mission")
	ErrRecorded     = errors.New("the recorded inputs belong to another mission")
)

// Configuration selects the part of a run that decides which actions are active. There are four: Continuous, Ticked,
// StateGraph and Recorded, the rows of the 2014 paper's Table 1.
type Configuration interface {
	String() string
	decider(m *mission.Mission) (executive.Decider, error)
}

// Configurations returns the possible configurations of a mission, except recorded inputs: continuous first, then the
// tree ticked at the given periods [s], on the dense output, with the integrator stopping at each tick, and with a
// restart of it there, then the state graph if there is one.
func Configurations(m *mission.Mission, periods []float64) []Configuration {
	list := []Configuration{Continuous{}}
	for _, p := range periods {
		list = append(list, Ticked{Period: p, Interpolated: true}, Ticked{Period: p}, Ticked{Period: p, Restart: true})
	}
	if m.Graph != nil {
		list = append(list, StateGraph{})
	}
	return list
}

// Continuous is the plan's tree in continuous time: it settles at every event.
type Continuous struct {
	All bool // every task is judged at all times; else those that are heard, and those to which the mission attends
}

func (Continuous) String() string { return "continuous" }

func (c Continuous) decider(m *mission.Mission) (executive.Decider, error) {
	if c.All {
		return executive.Tree(func(in []bt.Input) executive.Engine { return bt.NewEngine(m.Plan.Tree, in, 0) }), nil
	}
	start := func(in []bt.Input) executive.Listener { return bt.NewEngine(m.Plan.Tree, in, 0) }
	return executive.Listening(start, m.Attended(), executive.Heard), nil
}

// Ticked is the plan's tree in discrete time: it is ticked at multiples of a period, and does not react in between.
type Ticked struct {
	Period       float64 // [s]
	Interpolated bool    // ticks read the dense output: the integrator stops only where a tick changes something
	Restart      bool    // the integrator restarts at each tick
	Conventional bool    // the tree is ticked by a [tick.Conventional]: it chatters
}

func (d Ticked) String() string {
	text := fmt.Sprintf("tick %g s", d.Period)
	if d.Conventional {
		text += ", conventional"
	}
	if d.Interpolated {
		text += ", interpolated"
	}
	if d.Restart {
		text += ", restart"
	}
	return text
}

func (d Ticked) decider(m *mission.Mission) (executive.Decider, error) {
	how := executive.Ticking{Period: d.Period, Restart: d.Restart, Once: d.Conventional}
	if !d.Conventional {
		return executive.Ticked(func(in []bt.Input) executive.Engine {
			return tick.NewEngine(m.Plan.Tree, in, 0)
		}, how), nil
	}
	if text := beyond(m); text != "" {
		return nil, fmt.Errorf("%w: %s", ErrConventional, text)
	}
	return executive.Ticked(func(in []bt.Input) executive.Engine {
		return conventional{tick.NewConventional(m.Plan.Tree, in)}
	}, how), nil
}

// beyond names the first task with what neither a conventional tick nor a state graph has, "" if there is none.
func beyond(m *mission.Mission) string {
	tree := m.Plan.Tree
	for i := range m.Program.Leaves {
		l := &m.Program.Leaves[i]
		switch entry, exit := l.Slow(); {
		case entry || exit:
			return tree.Name(l.Task) + " has a procedure that takes time"
		case len(l.Until) > 0:
			return tree.Name(l.Task) + " lasts until a task has ended"
		}
	}
	if shared := tree.Shared(); len(shared) > 0 {
		return tree.Name(shared[0][0]) + " shares a resource"
	}
	return ""
}

// conventional has the methods of the other engines, although a tick does not settle the tree.
type conventional struct{ *tick.Conventional }

func (c conventional) Settle(inputs []bt.Input) (bt.Instant, error) { return c.Tick(inputs), nil }

// StateGraph is the mission's state graph instead of the plan's tree. It reads the plan's conditions and activates its
// actions.
type StateGraph struct{}

func (StateGraph) String() string { return "state graph" }

func (StateGraph) decider(m *mission.Mission) (executive.Decider, error) {
	g, diags := Graph(m)
	switch {
	case diags.HasErrors():
		return nil, diags
	case g == nil:
		return nil, fmt.Errorf("%w: the mission file names none", ErrGraph)
	}
	text := beyond(m)
	if timers := m.Plan.Tree.Timers(); text == "" && len(timers) > 0 {
		text = m.Plan.Tree.Name(timers[0]) + " has a timer"
	}
	if text != "" {
		return nil, fmt.Errorf("%w: %s; a state graph cannot express this", ErrGraph, text)
	}
	leaf := map[string]int{}
	for i, l := range m.Program.Leaves {
		leaf[m.Plan.Tree.Name(l.Task)] = i
	}
	leaves := func(names []string) []int {
		var list []int
		for _, name := range names {
			list = append(list, leaf[name])
		}
		return list
	}
	return executive.Machinery(machine{stategraph.NewEngine(g)}, leaves(g.Conditions()), leaves(g.Actions())), nil
}

// Graph reads the state graph that a mission names against the leaves of its plan. It is nil if the mission names none,
// or if the list has errors.
func Graph(m *mission.Mission) (*stategraph.Graph, diag.List) {
	if m.Graph == nil {
		return nil, nil
	}
	return stategraph.Read(m.Graph, stategraph.VocabularyOf(m.Plan.Tree))
}

// machine adapts a state graph's engine to the executive.
type machine struct{ *stategraph.Engine }

func (g machine) Settle(t float64, truth []bool) (entered []string, rounds int, moved bool, err error) {
	instant, err := g.Engine.Settle(t, truth)
	for _, c := range instant.Changes {
		if c.Active {
			entered = append(entered, g.Graph().StepName(c.Step))
		}
	}
	return entered, instant.Rounds, len(instant.Changes) > 0, err
}

func (g machine) Actions(dst []int) []int {
	for _, a := range g.ActiveActions(nil) {
		dst = append(dst, int(a))
	}
	return dst
}

// Recorded plays back the inputs that another run of the mission recorded, starting with those at its start: there is
// no tree, only the vehicle is simulated.
type Recorded []executive.Inputs

func (Recorded) String() string { return "recorded inputs" }

func (rec Recorded) decider(m *mission.Mission) (executive.Decider, error) {
	for _, in := range rec {
		if len(in.U) != m.Program.Inputs() {
			return nil, ErrRecorded
		}
	}
	return executive.Playback(rec), nil
}
