package mission

import (
	"errors"
	"fmt"

	"canopy/bt"
	"canopy/formalism/stategraph"
	"canopy/snapshot"
)

// ErrGraph is the failure of a mission that cannot be flown with a state graph.
var ErrGraph = errors.New("no state graph for this mission")

// Graph is the mission's state graph instead of the plan's tree. It sees the plan's conditions, and activates its
// actions.
type Graph struct{}

func (Graph) String() string { return "state graph" }

func (Graph) planner(r *Run) (planner, error) {
	m := r.m
	if m.Graph == nil {
		return nil, fmt.Errorf("%w: the mission file names none", ErrGraph)
	}
	p := &graphPlanner{engine: stategraph.NewEngine(m.Graph), truth: make([]bool, len(m.Graph.Conditions())),
		wanted: make([]bool, len(m.leaves))}
	leaf := map[string]int{}
	for i, l := range m.leaves {
		leaf[m.Plan.Tree.Name(l.task)] = i
		if entry, exit := l.slow(); entry || exit {
			return nil, fmt.Errorf("%w: %s has a procedure that takes time, which a state graph has not", ErrGraph,
				m.Plan.Tree.Name(l.task))
		}
	}
	for _, name := range m.Graph.Conditions() {
		p.conditions = append(p.conditions, leaf[name])
	}
	for _, name := range m.Graph.Actions() {
		p.actions = append(p.actions, leaf[name])
	}
	for i := range p.conditions {
		r.judge(p.conditions[i])
	}
	return p, nil
}

// graphPlanner is the planner of Graph.
type graphPlanner struct {
	engine     *stategraph.Engine
	conditions []int // leaf of each of the graph's conditions
	actions    []int // leaf of each of the graph's actions
	truth      []bool
	wanted     []bool // by leaf
	begun      bool
	scratch    []stategraph.Action
}

// settle brings the conditions up to date, lets the graph settle, and hands over between the actions: those that end
// are ended before others start, as the tree does it.
func (p *graphPlanner) settle(r *Run) (bool, error) {
	r.changed = r.changed[:0]
	changed := !p.begun
	p.begun = true
	for k, i := range p.conditions {
		if r.judge(i) {
			changed = true
			value := r.leaves[i].value
			if err := r.status(r.micro, bt.Change{Task: r.m.leaves[i].task, From: truth(!value), To: truth(value)}); err != nil {
				return false, err
			}
		}
		p.truth[k] = r.leaves[i].value
	}
	instant, err := p.engine.Settle(r.sim.T, p.truth)
	if err != nil {
		return false, err
	}
	r.iterated(instant.Rounds)
	for _, c := range instant.Changes {
		if c.Active {
			if err := r.log("step", p.engine.Graph().StepName(c.Step)+" becomes active"); err != nil {
				return false, err
			}
		}
	}
	clear(p.wanted)
	p.scratch = p.engine.ActiveActions(p.scratch[:0])
	for _, a := range p.scratch {
		p.wanted[p.actions[a]] = true
	}
	return changed || len(instant.Changes) > 0, p.handOver(r)
}

// handOver starts and ends actions so that those that are wanted are active.
func (p *graphPlanner) handOver(r *Run) error {
	for _, start := range []bool{false, true} {
		for i, wanted := range p.wanted {
			if is := r.sim.U[i] == active; wanted != start || is == start {
				continue
			}
			if err := p.turn(r, i, start); err != nil {
				return err
			}
		}
	}
	return nil
}

// turn starts or ends an action.
func (p *graphPlanner) turn(r *Run, i int, start bool) error {
	path, do := []bt.Status{bt.Running, bt.Deactivating, bt.Accept}, r.exit
	if start {
		path, do = []bt.Status{bt.Accept, bt.Activating, bt.Running}, r.enter
	}
	for k := range path[1:] {
		if err := r.status(r.micro, bt.Change{Task: r.m.leaves[i].task, From: path[k], To: path[k+1]}); err != nil {
			return err
		}
	}
	return do(i)
}

func truth(value bool) bt.Status {
	if value {
		return bt.Success
	}
	return bt.Failure
}

// watch wants to be asked when a condition may change, and when a delayed transition can fire.
func (p *graphPlanner) watch(r *Run) {
	for _, i := range p.conditions {
		r.watchCondition(i)
	}
	r.sim.Alarm = p.engine.Alarm()
}

func (p *graphPlanner) alarm() string { return "a delayed transition can fire" }

func (p *graphPlanner) status(r *Run, t bt.Task) bt.Status { return r.leafStatus(t) }

func (p *graphPlanner) State(c *snapshot.Codec) {
	snapshot.Bool(c, &p.begun)
	p.engine.State(c)
}

func (p *graphPlanner) halt(r *Run) error {
	clear(p.wanted)
	return p.handOver(r)
}
