package mission

import (
	"canopy/bt"
	"canopy/run/record"
	"canopy/snapshot"
)

// Configuration says what decides in a run which actions are active. There are four: Continuous, Discrete, Graph and
// Recorded, the rows of the 2014 paper's Table 1.
type Configuration interface {
	String() string
	planner(r *Run) (planner, error)
}

// Configurations returns what the mission can be flown with, besides recorded inputs: continuous first, then the tree
// ticked at the given periods [s], without and with a restart of the integrator at each tick, then the state graph if
// there is one.
func (m *Mission) Configurations(periods []float64) []Configuration {
	list := []Configuration{Continuous{}}
	for _, p := range periods {
		list = append(list, Discrete{Period: p}, Discrete{Period: p, Restart: true})
	}
	if m.Graph != nil {
		list = append(list, Graph{})
	}
	return list
}

// planner decides at instants which actions are active.
type planner interface {
	// settle brings the actions in line with the present instant, once, and reports whether it did anything: then the
	// signals may have changed, and it is asked again.
	settle(r *Run) (bool, error)
	// watch adds to what the simulator watches what it wants to be asked for, and sets the alarm.
	watch(r *Run)
	// status returns the present status of a task.
	status(r *Run, t bt.Task) bt.Status
	// halt ends every action.
	halt(r *Run) error
	// alarm says what it means that the alarm went off; "" if that is nothing to write down.
	alarm() string
	snapshot.State
}

// leafStatus returns the status that a leaf has where there is no tree. What else the tree has stays at Accept.
func (r *Run) leafStatus(t bt.Task) bt.Status {
	switch i := r.leafOf[t]; {
	case i < 0:
		return bt.Accept
	case r.m.leaves[i].condition:
		return truth(r.leaves[i].value)
	case r.sim.U[i] == active:
		return bt.Running
	}
	return bt.Accept
}

// engine is a tree engine: the event-driven one, or the one that is ticked.
type engine interface {
	Settle(inputs []bt.Input) (bt.Instant, error)
	Halt() bt.Instant
	Status(t bt.Task) bt.Status
	snapshot.State
}

// treePlanner lets a tree engine decide.
type treePlanner struct {
	engine  engine
	begun   bool
	ended   string     // status in which the root has ended last; "" if it has not
	pending []bt.Input // scratch
}

// Continuous is the plan's tree in continuous time: it settles at every event.
type Continuous struct{}

func (Continuous) String() string { return "continuous" }

func (Continuous) planner(r *Run) (planner, error) {
	return newTreePlanner(r, func(in []bt.Input) engine { return bt.NewEngine(r.m.Plan.Tree, in, 0) }), nil
}

// newTreePlanner makes a tree engine that knows what the leaves have to tell at the start.
func newTreePlanner(r *Run, start func(initial []bt.Input) engine) *treePlanner {
	p := &treePlanner{engine: start(nil)} // nothing is active, which is all that the first inputs depend on
	var in []bt.Input
	for i := range r.m.leaves {
		l := &r.m.leaves[i]
		if entry, exit := l.slow(); entry || exit {
			in = append(in, bt.Slow(l.task, entry, exit))
		}
	}
	p.engine = start(append(in, p.inputs(r)...))
	return p
}

func (p *treePlanner) settle(r *Run) (bool, error) {
	in := p.inputs(r)
	if p.begun && len(in) == 0 {
		return false, nil
	}
	p.begun = true
	return true, p.react(r, in)
}

// react lets the tree react to its inputs, and carries out what it commands.
func (p *treePlanner) react(r *Run, in []bt.Input) error {
	instant, err := p.engine.Settle(in)
	if err := p.apply(r, instant); err != nil {
		return err
	}
	return err
}

func (p *treePlanner) alarm() string { return "the time of a procedure is over" }

func (p *treePlanner) status(_ *Run, t bt.Task) bt.Status { return p.engine.Status(t) }

func (p *treePlanner) State(c *snapshot.Codec) {
	snapshot.Bool(c, &p.begun)
	snapshot.Text(c, &p.ended)
	p.engine.State(c)
}

func (p *treePlanner) halt(r *Run) error { return p.apply(r, p.engine.Halt()) }

// apply logs the status changes of a settling and carries out the leaves' commands.
func (p *treePlanner) apply(r *Run, instant bt.Instant) error {
	r.changed = r.changed[:0]
	for _, c := range instant.Changes {
		if err := r.status(r.micro+int(c.Iteration), c); err != nil {
			return err
		}
		if c.Task == r.m.Plan.Tree.Root() && r.m.EndsWithPlan {
			if c.To.Ended() {
				p.ended = c.To.String()
			} else if c.From == bt.Deactivating && p.ended != "" { // its exit procedures are complete
				r.end(record.Complete, "the plan ended: "+p.ended)
			}
		}
	}
	for _, c := range instant.Commands {
		do := r.enter
		if c.Exit {
			do = r.exit
		}
		if err := do(r.leafOf[c.Task]); err != nil {
			return err
		}
	}
	r.iterated(instant.Iterations)
	return nil
}

// inputs returns what the leaves have to tell the tree that it does not know yet, judged by the present sides of the
// indicators and the simulated time. It works on levels, not on edges, so nothing is lost however events coincide.
func (p *treePlanner) inputs(r *Run) []bt.Input {
	in := p.pending[:0]
	for i := range r.m.leaves {
		l, s := &r.m.leaves[i], &r.leaves[i]
		if l.condition {
			if r.judge(i) {
				in = append(in, bt.Set(l.task, s.value))
			}
			continue
		}
		if v := r.verdict(l.failureIf, l.successIf); v != s.request {
			s.request = v
			in = append(in, bt.Request(l.task, v))
		}
		if status := p.engine.Status(l.task); status == bt.Activating || status == bt.Running {
			if v := r.verdict(l.failed, l.done); v != bt.Accept && v != s.outcome {
				s.outcome = v
				in = append(in, bt.End(l.task, v))
			}
		}
		switch s.procedure {
		case entering:
			if r.sim.T >= s.deadline || r.holds(l.entryUntil) {
				s.procedure = none
				in = append(in, bt.Entered(l.task))
			}
		case exiting:
			if r.sim.T >= s.deadline || r.holds(l.exitUntil) {
				r.exited(i)
				in = append(in, bt.Exited(l.task))
			}
		}
	}
	p.pending = in
	return in
}

// watch wants to be asked whenever a leaf may have something to tell.
func (p *treePlanner) watch(r *Run) {
	for i := range r.m.leaves {
		l, state := &r.m.leaves[i], &r.leaves[i]
		if l.condition {
			r.watchCondition(i)
			continue
		}
		r.seeCode(l.successIf, l.failureIf)
		if r.sim.U[i] == active {
			r.seeCode(l.done, l.failed)
		}
		switch state.procedure {
		case entering:
			r.seeCode(l.entryUntil)
		case exiting:
			r.seeCode(l.exitUntil)
		}
		if state.procedure != none {
			r.sim.Alarm = min(r.sim.Alarm, state.deadline)
		}
	}
}
