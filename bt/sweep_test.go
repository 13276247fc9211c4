package bt

import "slices"

// sweeper is the law (docs/semantics.md, sections 1 to 6) written down once more, as directly as possible: it visits
// every task in every sweep, counts afresh whatever it needs, and shares nothing with the engine but the description
// and the types of the log.
type sweeper struct {
	root      *sweptTask
	tasks     []*sweptTask // post-order
	limit     int
	halted    bool
	iteration int
	changes   []Change
	commands  []Command
	changed   bool
}

type sweptTask struct {
	number         Task
	kind           Kind
	parent         *sweptTask
	children       []*sweptTask
	enough, tooBad int // success_count, failure_count in 1..n

	status                      Status
	returns, success, switching bool
	active                      bool
	held, heldGood, pinned      bool

	truth                           bool
	request, outcome                string // accept, success, failure; none, success, failure
	slowEntry, slowExit             bool
	entryUnfinished, exitUnfinished bool
}

func newSweeper(root *Node, inputs []Input, limit int) *sweeper {
	s := &sweeper{limit: limit}
	s.root = s.build(root, nil)
	for _, in := range inputs {
		s.input(in)
	}
	for _, t := range s.tasks { // one silent up pass of transient judgements
		t.computeFlags()
		switch {
		case !t.returns:
			t.status = Accept
		case t.success:
			t.status = Success
		default:
			t.status = Failure
		}
	}
	return s
}

func (s *sweeper) build(d *Node, parent *sweptTask) *sweptTask {
	t := &sweptTask{kind: d.Kind, parent: parent, request: "accept", outcome: "none"}
	for _, child := range d.Children {
		t.children = append(t.children, s.build(child, t))
	}
	t.enough, t.tooBad = d.SuccessCount, d.FailureCount
	if t.enough < 0 {
		t.enough += len(t.children) + 1
	}
	if t.tooBad < 0 {
		t.tooBad += len(t.children) + 1
	}
	t.number = Task(len(s.tasks))
	s.tasks = append(s.tasks, t)
	return t
}

func (s *sweeper) input(in Input) {
	t := s.tasks[in.task]
	word := map[Status]string{Accept: "accept", Success: "success", Failure: "failure"}[in.value]
	switch in.kind {
	case inputSet:
		t.truth = word == "success"
	case inputRequest:
		t.request = word
	case inputEnd:
		if t.status == Activating || t.status == Running {
			t.outcome = word
		}
	case inputSlow:
		t.slowEntry, t.slowExit = in.slow&entry != 0, in.slow&exit != 0
	case inputEntered:
		t.entryUnfinished = false
	case inputExited:
		t.exitUnfinished = false
	}
}

// effective status, section 3
func (t *sweptTask) good() bool {
	if t.held {
		return t.heldGood
	}
	return t.status == Success || t.status == Finished
}

func (t *sweptTask) bad() bool {
	if t.held {
		return !t.heldGood
	}
	return t.status == Failure || t.status == Aborted
}

func (t *sweptTask) asks() bool {
	return !t.held && (t.status == Accept || t.status == Activating || t.status == Running)
}

func (t *sweptTask) fallback() bool { return t.kind == Fallback || t.kind == ReactiveFallback }

// decision returns the composite's flags and the children it wants.
func (t *sweptTask) decision() (returns, success bool, wants []*sweptTask) {
	switch t.kind {
	case Inverter, ForceSuccess, ForceFailure:
		c := t.children[0]
		if c.good() || c.bad() {
			return true, t.kind == ForceSuccess || t.kind == Inverter && c.bad(), nil
		}
		if c.asks() {
			wants = append(wants, c)
		}
	case Parallel, ReactiveParallel:
		order := slices.Clone(t.children)
		slices.SortStableFunc(order, func(a, b *sweptTask) int {
			switch {
			case a.pinned == b.pinned:
				return 0
			case a.pinned:
				return -1
			}
			return 1
		})
		good, bad := 0, 0
		for _, c := range order {
			if c.good() {
				good++
			}
			if c.bad() {
				bad++
			}
			if good >= t.enough {
				return true, true, nil
			}
			if bad >= t.tooBad || len(t.children)-bad < t.enough {
				return true, false, nil
			}
			if c.asks() {
				wants = append(wants, c)
			}
		}
	default:
		for _, c := range t.children {
			over, stop := c.good(), c.bad()
			if t.fallback() {
				over, stop = stop, over
			}
			switch {
			case over:
				continue
			case stop:
				return true, t.fallback(), nil
			case c.asks():
				return false, false, []*sweptTask{c}
			}
			return false, false, nil
		}
		return true, !t.fallback(), nil
	}
	return false, false, wants
}

func (t *sweptTask) computeFlags() {
	switch t.kind {
	case Condition:
		t.returns, t.success = true, t.truth
	case Action:
		says := t.request
		switch t.status {
		case Activating, Running, Finished, Aborted:
			says = t.outcome
		}
		t.returns, t.success = says == "success" || says == "failure", says == "success"
		t.switching = t.status == Activating && t.entryUnfinished || t.status == Deactivating && t.exitUnfinished
	default:
		t.returns, t.success, _ = t.decision()
		t.switching = false
		for _, c := range t.children {
			t.switching = t.switching || c.status == Activating || c.status == Deactivating
		}
	}
}

// f applies the status cycle until the status is stable.
func (s *sweeper) f(t *sweptTask) {
	for {
		t.computeFlags()
		judgement := Failure
		if t.success {
			judgement = Success
		}
		to := t.status
		switch t.status {
		case Success, Failure:
			to = Accept
			if t.returns {
				to = judgement
			}
		case Accept:
			if t.returns {
				to = judgement
			} else if t.active {
				to = Activating
			}
		case Activating:
			if !t.active {
				to = Deactivating
			} else if !t.switching {
				to = Running
			}
		case Running:
			if !t.active {
				to = Deactivating
			} else if t.returns && t.success {
				to = Finished
			} else if t.returns {
				to = Aborted
			}
		case Finished, Aborted:
			if !t.active {
				to = Deactivating
			}
		case Deactivating:
			if !t.switching {
				to = Accept
				if t.returns {
					to = judgement
				}
			}
		}
		if to == t.status {
			return
		}
		s.changes = append(s.changes, Change{t.number, t.status, to, int32(s.iteration)})
		s.changed = true
		from := t.status
		t.status = to
		if t.kind == Action {
			switch {
			case to == Activating:
				t.outcome, t.entryUnfinished = "none", t.slowEntry
				s.commands = append(s.commands, Command{t.number, false})
			case to == Deactivating:
				t.entryUnfinished, t.exitUnfinished = false, t.slowExit
				s.commands = append(s.commands, Command{t.number, true})
			case from == Deactivating:
				t.outcome = "none"
			}
		}
		if to == Deactivating {
			for _, c := range t.children {
				c.held, c.pinned = false, false
			}
		}
	}
}

func (s *sweeper) up() {
	for _, t := range s.tasks {
		s.f(t)
		if (t.status == Success || t.status == Failure) && t.held && !t.pinned {
			t.held = false
		}
	}
}

// withdraw takes activity; the result of a task that has ended is held.
func (s *sweeper) withdraw(t *sweptTask) {
	if !t.active {
		return
	}
	t.active, s.changed = false, true
	if !t.held && (t.status == Finished || t.status == Aborted) {
		t.held, t.heldGood = true, t.status == Finished
	}
}

func (s *sweeper) pin(t *sweptTask, good bool) {
	if !t.pinned {
		t.held, t.pinned, t.heldGood, s.changed = true, true, good, true
	}
}

func (s *sweeper) down() {
	r := s.root
	if s.halted || r.status == Finished || r.status == Aborted {
		s.withdraw(r)
	} else if r.status == Success || r.status == Failure {
		s.withdraw(r) // only after an instant was cut short between Accept and Activating
	} else if r.status == Accept && !r.held && !r.active {
		r.active, s.changed = true, true
	}
	for _, t := range slices.Backward(s.tasks) { // parents before children
		if len(t.children) > 0 {
			s.passOn(t)
		}
	}
}

func (s *sweeper) passOn(t *sweptTask) {
	returns, _, wants := t.decision()
	passes := t.active && (t.status == Accept || t.status == Activating || t.status == Running) && !returns
	if !passes {
		wants = nil
	}
	for i, c := range t.children {
		switch {
		case t.kind == Parallel && passes && (c.good() || c.bad()):
			s.pin(c, c.good())
		case (t.kind == Sequence || t.kind == Fallback) && len(wants) == 1 && i < slices.Index(t.children, wants[0]):
			s.pin(c, t.kind == Sequence)
		}
	}
	for _, c := range t.children {
		if !slices.Contains(wants, c) {
			s.withdraw(c)
		}
	}
	for _, c := range wants {
		free := true
		for _, sibling := range t.children {
			if sibling != c && t.kind != Parallel && t.kind != ReactiveParallel {
				free = free && (sibling.status == Success || sibling.status == Failure || sibling.status == Accept)
			}
		}
		if !c.active && free {
			c.active, s.changed = true, true
		}
	}
}

// settle reports whether the tree settles within the limit.
func (s *sweeper) settle(inputs []Input) (iterations int, settled bool) {
	s.changes, s.commands = nil, nil
	for _, in := range inputs {
		s.input(in)
	}
	for s.iteration = 1; s.iteration <= s.limit; s.iteration++ {
		s.changed = false
		s.up()
		s.down()
		if !s.changed {
			return s.iteration - 1, true
		}
	}
	return s.limit, false
}

func (s *sweeper) halt() (iterations int) {
	s.halted = true
	limit := s.limit
	s.limit = 1 << 30
	iterations, _ = s.settle(nil)
	s.limit = limit
	return iterations
}
