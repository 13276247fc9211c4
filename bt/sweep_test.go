package bt_test

import (
	"slices"

	"github.com/canopy-uav/canopy/bt"
)

// sweeper is the law (docs/semantics.md, sections 1 to 6) written down once more, as directly as possible: it visits
// every task in every sweep, counts everything again, and shares only the description with the engine and the types of
// the log.
type sweeper struct {
	gently    bool // removed actions that are engaged may end by themselves
	root      *sweptTask
	tasks     []*sweptTask // post-order
	limit     int
	halted    bool
	iteration int
	until     map[bt.Task][]bt.Task // conditions that last until one of these tasks has ended
	changes   []bt.Change
	commands  []bt.Command
	timings   []bt.Timing
	changed   bool
}

type sweptTask struct {
	number         bt.Task
	kind           bt.Kind
	parent         *sweptTask
	children       []*sweptTask
	enough, tooBad int // success_count, failure_count in 1..n
	resource       int

	status bt.Status
	decision
	switching    bool
	active       bool
	held, pinned bool
	looked       bool      // by its parent, while that decides
	removed      bool      // by an exchange
	awaited      bool      // it was engaged when that was requested, and has not ended since
	result       bt.Status // the held one: Success, Failure or Skipped

	attempts  int    // RetryUntilSuccessful, Repeat: the runs as written
	runs      int    // RetryUntilSuccessful, Repeat: those that were followed by another one
	once      string // RunOnce: success or failure, once its child has ended
	instant   bool   // Delay, Timeout, Sleep: its time is 0
	otherwise int    // Precondition: the number of the word of its else
	branch    int    // IfThenElse, preconditions: the child that it has reached, 0 while it is its condition
	place     int    // TryCatch, SequenceWithMemory: the child that it has reached
	some      bool   // TryCatch, SequenceWithMemory: a child before that has succeeded
	lenient   bool   // Parallel: skipped children count as good ones
	thenSkip  bool   // RunOnce
	caught    bool   // TryCatch: a child has failed
	scripted  bool   // Action: it ends at the instant at which it is activated
	timed     bool   // Delay, Timeout: its timer runs
	elapsed   bool   // Delay, Timeout: it has elapsed since the task's activation

	truth                           bool
	request, outcome                string // accept, success, failure; none, success, failure
	slowEntry, slowExit             bool
	entryUnfinished, exitUnfinished bool
}

// decision is what a task decides.
type decision struct {
	returns, success bool
	skips            bool // it returns that it is skipped
	wants            []*sweptTask
	by               *sweptTask // the child that is undecided, if it is one
}

func newSweeper(root *bt.Node, inputs []bt.Input, limit int) *sweeper {
	s := &sweeper{limit: limit}
	s.root = s.build(root, nil)
	for _, in := range inputs {
		s.input(in)
	}
	for _, t := range s.tasks { // one silent up pass of transient judgements
		t.computeFlags()
		t.status = t.judgement()
	}
	return s
}

func (s *sweeper) build(d *bt.Node, parent *sweptTask) *sweptTask {
	t := &sweptTask{kind: d.Kind, parent: parent, request: "accept", outcome: "none", scripted: d.Prompt}
	for _, child := range d.Children {
		t.children = append(t.children, s.build(child, t))
	}
	if d.Kind == bt.Parallel || d.Kind == bt.ReactiveParallel {
		t.enough, t.tooBad = -1, 1
		if d.Params != nil {
			t.enough, t.tooBad = d.Params[0], d.Params[1]
		}
	}
	if d.Kind == bt.ParallelAll {
		t.enough, t.tooBad = 1, 1
		if d.Params != nil {
			t.tooBad = d.Params[0]
		}
	}
	t.lenient = t.enough < 0
	if t.otherwise = 1; d.Kind == bt.Precondition && d.Params != nil {
		t.otherwise = d.Params[0]
	}
	t.instant = t.timer() && d.Params[0] == 0
	t.thenSkip = d.Kind == bt.RunOnce && (d.Params == nil || d.Params[0] == 2)
	if d.Kind == bt.Guard {
		t.resource = d.Params[0]
	}
	if d.Kind == bt.RetryUntilSuccessful || d.Kind == bt.Repeat {
		t.attempts = d.Params[0]
	}
	if t.enough < 0 {
		t.enough += len(t.children) + 1
	}
	if t.tooBad < 0 {
		t.tooBad += len(t.children) + 1
	}
	t.number = bt.Task(len(s.tasks))
	s.tasks = append(s.tasks, t)
	return t
}

func (s *sweeper) input(in bt.Input) {
	task, verb, value, entryToo, exitToo := bt.Decode(in)
	t := s.tasks[task]
	word := map[bt.Status]string{bt.Accept: "accept", bt.Success: "success", bt.Failure: "failure"}[value]
	switch verb {
	case "set":
		t.truth = word == "success"
	case "request":
		t.request = word
	case "end":
		if t.status == bt.Activating || t.status == bt.Running {
			t.outcome = word
		}
	case "slow":
		t.slowEntry, t.slowExit = entryToo, exitToo
	case "entered":
		t.entryUnfinished = false
	case "exited":
		t.exitUnfinished = false
	case "elapsed":
		if t.timed {
			t.timed, t.elapsed = false, true
		}
	}
}

// effective returns the effective status, section 3.
func (t *sweptTask) effective() bt.Status {
	t.looked = true
	if t.held {
		return t.result
	}
	return t.status
}

func (t *sweptTask) good() bool { e := t.effective(); return e == bt.Success || e == bt.Finished }

func (t *sweptTask) bad() bool { e := t.effective(); return e == bt.Failure || e == bt.Aborted }

func (t *sweptTask) skipped() bool { e := t.effective(); return e == bt.Skipped || e == bt.Dropped }

func (t *sweptTask) asks() bool {
	return !t.held && (t.status == bt.Accept || t.status == bt.Activating || t.status == bt.Running)
}

func (t *sweptTask) ended() bool {
	return !t.held && (t.status == bt.Finished || t.status == bt.Aborted)
}

func (t *sweptTask) is(kinds ...bt.Kind) bool { return slices.Contains(kinds, t.kind) }

func (t *sweptTask) fallback() bool { return t.is(bt.Fallback, bt.ReactiveFallback, bt.AsyncFallback) }

func (t *sweptTask) parallel() bool { return t.is(bt.Parallel, bt.ReactiveParallel, bt.ParallelAll) }

func (t *sweptTask) timer() bool { return t.is(bt.Delay, bt.Timeout, bt.Sleep) }

func says(success bool) decision { return decision{returns: true, success: success} }

var skip = decision{returns: true, skips: true}

// open is undecided, and wants a child if that asks.
func open(c *sweptTask) decision {
	if c.asks() {
		return decision{wants: []*sweptTask{c}, by: c}
	}
	return decision{by: c}
}

// like returns as a child does, and wants it if it asks.
func like(c *sweptTask) decision {
	switch {
	case c.skipped():
		return skip
	case c.good(), c.bad():
		return says(c.good())
	}
	return open(c)
}

func (t *sweptTask) computeFlags() {
	switch t.kind {
	case bt.Condition:
		t.decision = says(t.truth)
	case bt.Action:
		said := t.request
		switch t.status {
		case bt.Activating, bt.Running, bt.Finished, bt.Aborted:
			said = t.outcome
		}
		t.decision = decision{returns: said == "success" || said == "failure", success: said == "success"}
		t.switching = t.status == bt.Activating && t.entryUnfinished || t.status == bt.Deactivating && t.exitUnfinished
	default:
		t.decision, t.switching = t.decide(), false
		for _, c := range t.children {
			t.switching = t.switching || c.status == bt.Activating || c.status == bt.Deactivating
		}
	}
}

// judgement returns the status of a transient task with its flags.
func (t *sweptTask) judgement() bt.Status {
	switch {
	case !t.returns:
		return bt.Accept
	case t.skips:
		return bt.Skipped
	case t.success:
		return bt.Success
	}
	return bt.Failure
}

// f applies the status cycle until the status is stable.
func (s *sweeper) f(t *sweptTask) {
	for {
		t.computeFlags()
		to := t.status
		switch t.status {
		case bt.Success, bt.Failure, bt.Skipped:
			to = t.judgement()
		case bt.Accept:
			if to = t.judgement(); to == bt.Accept && t.active {
				to = bt.Activating
			}
		case bt.Activating:
			if !t.active {
				to = bt.Deactivating
			} else if !t.switching {
				to = bt.Running
			}
		case bt.Running:
			if !t.active {
				to = bt.Deactivating
			} else if t.returns {
				to = map[bt.Status]bt.Status{bt.Success: bt.Finished, bt.Failure: bt.Aborted, bt.Skipped: bt.Dropped}[t.judgement()]
			}
		case bt.Finished, bt.Aborted, bt.Dropped:
			if !t.active {
				to = bt.Deactivating
			}
		case bt.Deactivating:
			if !t.switching {
				to = t.judgement()
			}
		}
		if to == t.status {
			return
		}
		s.changes = append(s.changes, bt.Change{Task: t.number, From: t.status, To: to, Iteration: int32(s.iteration)})
		s.changed = true
		from := t.status
		t.status = to
		if t.kind == bt.Action {
			switch {
			case to == bt.Activating:
				t.outcome, t.entryUnfinished = "none", t.slowEntry
				s.commands = append(s.commands, bt.Command{Task: t.number})
			case to == bt.Deactivating:
				t.entryUnfinished, t.exitUnfinished = false, t.slowExit
				s.commands = append(s.commands, bt.Command{Task: t.number, Exit: true})
			case from == bt.Deactivating:
				t.outcome = "none"
			}
		}
		if to == bt.Deactivating {
			t.runs, t.branch, t.elapsed, t.caught = 0, 0, false, false
			if t.kind != bt.SequenceWithMemory {
				t.place, t.some = 0, false
			}
			for _, c := range t.children {
				c.held, c.pinned = false, false
			}
		}
	}
}

func (s *sweeper) up() {
	for _, t := range s.tasks {
		before := t.status
		if s.f(t); len(t.children) == 0 && t.status != before && t.status.Transient() && before.Transient() {
			for p := t.parent; p != nil; p = p.parent {
				if p.prompt() && p.parent != nil && !p.parent.kind.Memory() && len(p.parent.children) > 1 {
					p.held = p.held && p.pinned
				}
			}
		}
		if (t.status == bt.Success || t.status == bt.Failure || t.status == bt.Skipped) && t.held && !t.pinned {
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
	if t.ended() {
		t.hold()
	}
}

func (s *sweeper) pin(t *sweptTask) {
	if !t.pinned {
		t.hold()
		t.pinned, s.changed = true, true
	}
}

// hold keeps the judgement.
func (t *sweptTask) hold() {
	switch {
	case t.good():
		t.result = bt.Success
	case t.skipped():
		t.result = bt.Skipped
	default:
		t.result = bt.Failure
	}
	t.held = true
}

func (s *sweeper) down() {
	for _, t := range s.tasks {
		t.awaited = t.awaited && !t.status.Transient()
	}
	r := s.root
	granted := s.grant()
	if r.status == bt.Dropped && r.active {
		r.hold()
	}
	if s.halted || r.status == bt.Finished || r.status == bt.Aborted || s.withholds(r) {
		s.withdraw(r)
	} else if r.status == bt.Success || r.status == bt.Failure || r.skipped() {
		s.withdraw(r) // only after an instant was cut short between Accept and Activating
	} else if r.status == bt.Accept && !r.held && !r.active {
		r.active, s.changed = true, true
	}
	for _, t := range slices.Backward(s.tasks) { // parents before children
		if len(t.children) > 0 || t.kind == bt.Sleep {
			s.passOn(t, granted)
		}
	}
}

func (s *sweeper) passOn(t *sweptTask, granted map[int]*sweptTask) {
	for _, c := range t.children {
		c.looked = false
	}
	d := t.decide()
	looked := slices.DeleteFunc(slices.Clone(t.children), func(c *sweptTask) bool { return !c.looked })
	wants := d.wants
	passes := t.active && (t.status == bt.Accept || t.status == bt.Activating || t.status == bt.Running) && !d.returns
	shared := slices.ContainsFunc(s.tasks, func(o *sweptTask) bool { return o != t && o.kind == bt.Guard && o.resource == t.resource })
	if !passes || t.kind == bt.Guard && shared && granted[t.resource] != t {
		wants = nil
	}
	branch := t.branch
	if len(wants) == 1 && t.is(bt.OnSuccess, bt.OnFailure, bt.Post) {
		branch = t.after()
	} else if len(wants) == 1 && t.is(bt.IfThenElse, bt.FailureIf, bt.SuccessIf, bt.SkipIf, bt.Precondition) {
		branch = slices.Index(t.children, wants[0])
	}
	s.changed = s.changed || branch != t.branch
	t.branch = branch
	if place, some, caught := t.tried(); t.kind == bt.TryCatch && len(wants) == 1 && (place != t.place || caught != t.caught) {
		t.place, t.some, t.caught, s.changed = place, some, caught, true
	}
	if t.kind == bt.SequenceWithMemory {
		place, some := t.resumed()
		if len(wants) == 1 && place != t.place {
			t.place, t.some, s.changed = place, some, true
		}
		// It is deactivated below. After an exchange it need not be the one that was reached.
		if slices.ContainsFunc(t.children, func(c *sweptTask) bool { return c.active && c.ended() }) {
			if t.place, t.some = place, some; place == len(t.children) {
				t.place, t.some = 0, false
			}
		}
	}
	if t.timer() && !t.instant {
		switch {
		case t.timed && !t.active:
			t.timed, s.changed = false, true
			s.timings = append(s.timings, bt.Timing{Task: t.number})
		case !t.timed && !t.elapsed && passes:
			t.timed, s.changed = true, true
			s.timings = append(s.timings, bt.Timing{Task: t.number, Start: true})
		}
	}
	stay := len(t.children) // from here on, children stay active
	if passes && t.goesOnAfter(d.by) && d.by.waitsFor() {
		stay = slices.Index(t.children, d.by) + 1
	}
	seen, stays := true, []*sweptTask(nil)
	for i, c := range t.children {
		if i > 0 && t.children[i-1].waitsFor() && !t.children[i-1].pinned {
			seen = false
		}
		if passes && c.active && c.asks() && (i >= stay || t.parallel() && !seen) {
			stays = append(stays, c)
		}
		switch {
		case t.is(bt.Parallel, bt.ParallelAll) && passes && seen && (c.good() || c.bad()),
			t.is(bt.Sequence, bt.AsyncSequence, bt.Fallback, bt.AsyncFallback) && len(wants) == 1 &&
				i < slices.Index(t.children, wants[0]):
			s.pin(c)
		}
	}
	wants = slices.DeleteFunc(wants, func(c *sweptTask) bool { return s.withholds(c) })
	stays = slices.DeleteFunc(stays, func(c *sweptTask) bool { return s.withholds(c) })
	for _, c := range t.children {
		if slices.Contains(wants, c) || slices.Contains(stays, c) {
			continue
		}
		if c.active && c.ended() && t.kind == bt.RunOnce {
			t.once = map[bool]string{true: "success", false: "failure"}[c.good()]
		}
		if c.active && c.ended() && passes && (t.kind == bt.RetryUntilSuccessful && c.bad() ||
			t.is(bt.Repeat, bt.KeepRunningUntilFailure) && c.good()) { // once more
			if t.attempts > 0 {
				t.runs++
			}
			c.active, s.changed = false, true
			continue
		}
		s.withdraw(c)
	}
	for _, c := range wants {
		free := true
		for _, sibling := range t.children {
			free = free && (sibling == c || t.parallel() || sibling.status.Transient() || slices.Contains(stays, sibling))
		}
		if !c.active && free {
			c.active, s.changed = true, true
		}
	}
	for _, c := range t.children[:stay] { // of a branch that it has left
		if c.held && t.is(branching...) && !slices.Contains(looked, c) {
			c.held, s.changed = false, true
		}
	}
}

// branching are the kinds without memory that may look at some of their children only, in any order.
var branching = []bt.Kind{bt.WhileDoElse, bt.While, bt.Switch2, bt.Switch3, bt.Switch4, bt.Switch5, bt.Switch6,
	bt.UtilitySelector2, bt.UtilitySelector3, bt.UtilitySelector4}

// settle reports whether the tree settles within the limit.
func (s *sweeper) settle(inputs []bt.Input) (iterations int, settled bool) {
	s.changes, s.commands, s.timings = nil, nil, nil
	for _, in := range inputs {
		s.input(in)
	}
	for s.iteration = 1; s.iteration <= s.limit; s.iteration++ {
		s.changed = false
		s.up()
		s.spend()
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

// lasting makes conditions last until tasks have ended.
func (s *sweeper) lasting(until map[bt.Task][]bt.Task) *sweeper {
	s.until = until
	return s
}

// spend makes the conditions false that have lasted until a task that has ended in this iteration.
func (s *sweeper) spend() {
	for _, c := range s.changes {
		if int(c.Iteration) != s.iteration || c.To != bt.Finished && c.To != bt.Aborted && c.To != bt.Dropped {
			continue
		}
		for condition, tasks := range s.until {
			if slices.Contains(tasks, c.Task) {
				s.tasks[condition].truth = false
			}
		}
	}
}

// grant finds the guards that have their resource in this iteration.
func (s *sweeper) grant() map[int]*sweptTask {
	granted := map[int]*sweptTask{}
	guards := func(which func(t, c *sweptTask) bool) {
		for _, t := range s.tasks {
			if t.kind == bt.Guard && granted[t.resource] == nil && which(t, t.children[0]) {
				granted[t.resource] = t
			}
		}
	}
	guards(func(_, c *sweptTask) bool { return c.active || !c.status.Transient() })
	guards(func(t, c *sweptTask) bool {
		wants := t.decide().wants
		return t.active && (t.status == bt.Activating || t.status == bt.Running || t.status == bt.Accept) && len(wants) > 0
	})
	return granted
}
