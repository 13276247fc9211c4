// Package flown is the step of a mission as it is flown, when nothing is known of the motion of its vehicle.
//
// The step is the executive's own code ([executive.Executive] with the plan's tree) in a world that decides nothing in
// advance. What tasks write is known exactly as long as it follows from constants: slots, captured and held values,
// discrete values, computed signals. Of a physical signal only those bounds are known that answers have given it in the
// present instant; of a value that a slot keeps, those that answers have given it since it was written. Where a
// question of the executive has no definite answer, the next entry of a tape is the answer; [Stepper.Steps] tries all
// tapes of one instant, depth first. So a tape holds only what was asked, in all rounds of the instant:
//
//   - states of the vehicle, and outputs that do not depend on the commands directly, do not jump within an instant,
//     unless a command sets off events of the vehicle itself: the states that these set then depend on the command;
//   - a signal that depends on what was written in a round may have any value in the next one;
//   - from one instant to the next every signal may change to any value; at the first instant, it is where the subject
//     says that it starts;
//   - a clock, of a procedure or a timer, is over when it reads its length, if that is known, else at any time; all
//     clocks advance together ([zone.Zone]), and some time passes from one instant to the next.
//
// [Key] is all that remains from one instant to the next.
package flown

import (
	"crypto/sha256"
	"math"
	"slices"

	"github.com/canopy-uav/canopy/analysis/zone"
	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/document/declare"
	"github.com/canopy-uav/canopy/executive"
	"github.com/canopy-uav/canopy/expr"
	ranges "github.com/canopy-uav/canopy/expr/interval"
)

// Stepper is a plan with the declarations about its world, prepared for its steps. It belongs to one goroutine.
type Stepper struct {
	Tree   *bt.Tree
	Limits []zone.Time // the maximum times with which the visitor compares its own clocks, Clocks() and those behind it
	Most   []zone.Time // the maximum readings of these clocks at the next instant, if they run

	Still bool // no time passes before the next instant: it follows at once
	ends  bool // every run ends with the plan

	p          *executive.Program
	compiler   *expr.Compiler
	names      []string // by place: of signals, for texts; grows with those of statements
	indicators []expr.Indicator
	facts      []expr.Logic

	relations map[string]*expr.Code // of statements, by key
	inner     [][]int               // by indicator: those whose sides decide the values that it reads
	jumping   []int                 // the indicators whose values tasks can change within an instant
	lagging   []int                 // the indicators whose sides decide values that others read
	depth     int                   // the maximum number of indicators inside each other
	decided   [][]int               // by place: the indicators whose sides decide the value
	follows   [][]int               // by slot: the places that depend on it at the same instant, itself included
	needed    []bool                // by slot: its value matters, or whether it is written
	captured  []int                 // by captured value: its slot
	kept      []bool                // it counts only while it is marked
	writer    []int                 // its leaf
	phase     []executive.Phase     // in which the leaf writes it
	fixed     map[*expr.Code]float64
	*forms
	*stack
	formSlots [][]int          // by form: the slots that it follows within an instant, by name
	places    map[string]int   // by name of a signal
	latches   map[string]latch // by their free signal
	hidden    map[string]bool  // nothing is known of these signals
	doubtful  []int            // slots that may be given a constant that is no number

	begin   map[string]ranges.Interval // of signals, at the first instant of a run
	atBegin []ranges.Interval          // by form: what follows from these

	// Times since activations; none unless they are followed.
	startOf      map[string]int // by the entry with the time of an activation: its number
	started      []int          // by number: the leaf that is activated
	longestSince []float64      // by number: the longest time with which that since then is compared [s]
	since        map[int]timed  // by indicator
	timed        []int          // the indicators

	always  []bool // by task: it is judged, heard or not; nil: all are
	all     bool   // all are, for a time
	w       *world
	world   executive.World // as the executive sees it
	x       *executive.Executive
	initial []float64                   // the inputs at the start,
	starts  []value                     // and, by input, the values of those that are held or captured
	seen    map[[sha256.Size]byte]place // the states between two rounds of the instant whose transitions are visited
	moment  Moment
	buffer  []byte
	tried   int      // see varies
	known   struct { // before a question of the visitor
		bounds        []interval
		sides, former []int8
	}
	beside []byte // the state of the plan that has settled before this one in the present transition
}

// free precedes the names of leaves that may be true or false at any time.
const free = "leaf "

// New returns the steps of a subject.
func New(subject declare.Subject) *Stepper { return prepare(subject, &forms{}, &answers{}, false, nil) }

// Abstract returns the steps of a subject in which a condition with hysteresis is a free input if nothing else depends
// on its signals, apart from some tasks; and in which conditions that the tree does not hear are not judged, unless
// statements name them. The tasks behave as before, while there are fewer states and answers; of these signals nothing
// is known.
func Abstract(subject declare.Subject, except ...bt.Task) *Stepper {
	s := New(subject)
	if x := s.abstraction(&subject, except); x != nil {
		s = prepare(subject, &forms{}, &answers{}, false, x)
	}
	s.always = make([]bool, s.Tree.Len())
	for _, e := range subject.Declared.Expressions() {
		for _, name := range e.Names() {
			if t, ok := s.Tree.Find(name); ok {
				s.always[t] = true
			}
		}
	}
	return s
}

// prepare returns the steps of a subject in a world about which these answers are known. If all is kept, what is
// written matters in itself.
func prepare(subject declare.Subject, known *forms, a *answers, all bool, x *abstraction) *Stepper {
	s := &Stepper{Tree: subject.Plan.Tree, relations: map[string]*expr.Code{},
		fixed: map[*expr.Code]float64{}, forms: known, places: map[string]int{}, latches: map[string]latch{},
		begin: subject.Initial, ends: subject.Ends}
	if subject.Program == nil {
		s.compileAlone(subject.Plan)
	} else {
		program := *subject.Program
		s.p, s.compiler = &program, subject.Compiler.Clone()
		s.p.Leaves = slices.Clone(program.Leaves)
		s.p.Layout.Computed = program.Layout.Signals - len(program.Computed)
		s.names = slices.Clone(subject.Signals)
	}
	s.free(&subject)
	x.apply(s, &subject)
	s.doubt(&subject)
	s.prune(&subject, all)
	s.p.Link()
	s.depend()
	for i, statement := range subject.Declared.Facts {
		if x == nil || !x.facts[i] {
			s.facts = append(s.facts, s.Statement(statement))
		}
	}
	s.initial = s.p.Initial()
	s.starts = slices.Repeat([]value{unknown}, len(s.initial))
	for place, name := range s.names {
		s.places[name] = place
	}
	s.w = newWorld(s, a)
	s.begun()
	s.world = s.w
	s.stack = &stack{of: []*Stepper{s}}
	return s
}

// Clocks returns the number of clocks of the plan: of the leaves' procedures, by leaf, then of the timers, and of the
// times since activations.
func (s *Stepper) Clocks() int { return len(s.p.Leaves) + len(s.Tree.Timers()) + len(s.started) }

// Guide answers questions before the tape does, as far as it knows: is a signal at least a limit, or beyond it if the
// question is strict? A leaf that may be true or false at any time is beyond 0 where it is true; its signal is "leaf "
// and the name of its input. Clocks are then over as soon as they can be. Without a guide, nil, the tape answers all.
func (s *Stepper) Guide(above func(signal string, limit float64, strict bool) (is, known bool)) {
	if s.w.guide = nil; above == nil {
		return
	}
	s.w.guide = func(q question) (is, known bool) {
		switch {
		case q.kind == ended:
			return true, true
		case q.kind != bound && q.kind != equal:
			return false, false
		}
		f := &s.list[q.form]
		a := &s.atoms[f.terms[0].atom]
		switch {
		case len(f.terms) > 1 || a.signal == "":
			return false, false
		case s.truthValue(q.form):
			return s.freely(q, func(signal string) (is, known bool) { return above(signal, 0, true) })
		case q.kind == equal:
			return false, false
		}
		return above(a.signal, q.limit, q.open)
	}
}

// freely answers a question about what is simply true or false.
func (s *Stepper) freely(q question, value func(signal string) (is, known bool)) (answer, known bool) {
	if q.kind != bound && q.kind != equal || !s.truthValue(q.form) {
		return false, false
	}
	is, known := value(s.atoms[s.list[q.form].terms[0].atom].signal)
	return is == (q.kind == bound || q.limit != 0), known
}

// Knows reports whether anything is known of a signal.
func (s *Stepper) Knows(signal string) bool {
	_, ok := s.compiler.Slot(signal)
	return ok && !s.hidden[signal]
}

// Follows reports whether a signal depends on what tasks write without delay, so that it may jump within an instant.
func (s *Stepper) Follows(signal string) bool {
	place, ok := s.compiler.Slot(signal)
	return ok && s.jumps(place)
}

func (s *Stepper) jumps(place int) bool {
	return slices.ContainsFunc(s.follows, func(places []int) bool { return slices.Contains(places, place) })
}

// Statement returns the structure of a declared statement. The name of a task means that it is active, or true.
func (s *Stepper) Statement(statement declare.Statement) expr.Logic {
	return statement.Logic(func(name string) bool { _, ok := s.Tree.Find(name); return ok })
}

// pseudo returns a code that holds if a signal beyond those of the program does: a free truth value.
func (s *Stepper) pseudo(text string) *expr.Code {
	text = free + text // apart from the signals
	place, known := s.places[text]
	if !known {
		place = len(s.names)
		s.names, s.places[text] = append(s.names, text), place
	}
	e, err := expr.Parse("free")
	if err != nil {
		panic("flown: a name is refused")
	}
	c := expr.NewCompiler(nil, func(string) (int, bool) { return place, true })
	return c.CompileFor(e, expr.Variable{Type: expr.Boolean})
}

// free gives leaves without a meaning, and actions that are declared free, formulas that may hold at any time.
func (s *Stepper) free(subject *declare.Subject) {
	for i := range s.p.Leaves {
		l, name := &s.p.Leaves[i], s.Tree.Name(s.p.Leaves[i].Task)
		switch {
		case l.Condition && l.Formulas[executive.On] == nil:
			_, input := subject.Plan.Input(&subject.Plan.Leaves[i], nil)
			l.Formulas[executive.On] = s.pseudo(input)
		case !l.Condition && slices.Contains(subject.Declared.Free, name):
			l.Formulas[executive.Done], l.Formulas[executive.Failed] = s.pseudo(name+Succeeds), s.pseudo(name+Fails)
			l.Formulas[executive.SuccessIf] = s.pseudo(name + Idle)
			l.Formulas[executive.FailureIf] = s.pseudo(name + Unable)
		}
	}
}

// prune lets tasks write a constant where nothing that is asked depends on the value: neither a leaf, nor a duration,
// nor a statement, directly or through other signals.
func (s *Stepper) prune(subject *declare.Subject, all bool) {
	s.needed = s.asked(subject, all)
	zero, _ := expr.Parse("0")
	p, nothing := s.p, s.compiler.CompileAtOnce(zero, expr.Variable{})
	useless := func(slot int, c *expr.Code) bool { return !s.needed[slot] && c != nil && !notFinite(c) }
	p.Kept = slices.DeleteFunc(slices.Clone(p.Kept), func(r executive.Role) bool { return !s.needed[r.Slot] })
	p.Slots = slices.Clone(p.Slots)
	for i := range p.Slots {
		p.Slots[i].Writers = slices.Clone(p.Slots[i].Writers)
		for k := range p.Slots[i].Writers {
			if w := &p.Slots[i].Writers[k]; useless(i, w.Value) {
				w.Value, w.Known = nothing, nil
			}
		}
	}
	for i := range p.Leaves {
		l := &p.Leaves[i]
		l.Entry, l.Exit = slices.Clone(l.Entry), slices.Clone(l.Exit)
		for _, list := range [][]executive.Assignment{l.Entry, l.Exit} {
			for k := range list {
				if useless(list[k].Slot, list[k].Value) {
					l.Varies = max(l.Varies, s.varies(l.Task, list[k]))
					list[k].Value = nothing
				}
			}
		}
	}
	for i := range p.Leaves {
		for _, a := range slices.Concat(p.Leaves[i].Entry, p.Leaves[i].Exit) {
			for _, slot := range a.Entries { // reading it may be an error
				s.needed[slot] = true
			}
		}
	}
}

// mostTried bounds the work of varies for all assignments of a plan.
const mostTried = 5_000_000

// varies reports whether an assignment of which nothing is asked gives its slot a new value each time: it depends on
// the value before and, from some values on, comes to none that stays.
func (s *Stepper) varies(task bt.Task, a executive.Assignment) executive.Varies {
	read, own := map[int]bool{}, s.p.Signal(a.Slot)
	if s.tried += 1_000; s.tried > mostTried {
		return executive.Perhaps
	}
	if s.sources(a.Value, read); !read[own] || !s.p.Slots[a.Slot].Hold {
		return executive.Shown
	}
	if len(read) > 1 || s.loopsWith(task, a.Slot) {
		return executive.Perhaps
	}
	signals := make([]float64, s.p.Layout.Signals+len(s.p.Cells))
	for _, start := range []float64{s.p.Slots[a.Slot].Initial, 0, 1, -1, 1000} {
		signals[own] = start
		for range executive.MaxSettlings {
			next := a.Value.Value(signals, nil)
			if s.tried++; next == signals[own] || next != next || s.tried > mostTried {
				return executive.Perhaps
			}
			signals[own] = next
		}
	}
	return executive.Always
}

// loopsWith reports whether a task that runs a child again has another leaf below it that assigns to a slot.
func (s *Stepper) loopsWith(task bt.Task, slot int) bool {
	for i := range s.p.Leaves {
		l := &s.p.Leaves[i]
		assigns := func(a executive.Assignment) bool { return a.Slot == slot }
		if l.Task == task || !slices.ContainsFunc(l.Entry, assigns) && !slices.ContainsFunc(l.Exit, assigns) {
			continue
		}
		for above := l.Task; above >= 0; above = s.Tree.Parent(above) {
			for of := task; of >= 0 && s.Tree.Repeats(above); of = s.Tree.Parent(of) {
				if of == above {
					return true
				}
			}
		}
	}
	return false
}

// asked reports, by slot, whether a leaf, a duration or a statement depends on its value, or whether all of them are to
// be known.
func (s *Stepper) asked(subject *declare.Subject, all bool) []bool {
	read := map[int]bool{}
	for i := range s.p.Leaves {
		l := &s.p.Leaves[i]
		for _, c := range append(l.Formulas[:], l.EntryTime, l.ExitTime) {
			s.sources(c, read)
		}
	}
	for _, e := range subject.Declared.Expressions() {
		for _, name := range e.Names() {
			if place, ok := s.compiler.Slot(name); ok {
				s.depends(place, read)
			}
		}
	}
	asked := make([]bool, len(s.p.Slots))
	for i := range asked {
		if all {
			s.depends(s.p.Signal(i), read)
		}
		asked[i] = read[s.p.Signal(i)]
	}
	return asked
}

// depend determines which signals follow which slots within an instant.
func (s *Stepper) depend() {
	p, l := s.p, &s.p.Layout
	readers := make([][]int, l.Signals) // by place: the places that read it at the same instant
	note := func(place int, c *expr.Code) {
		for _, r := range c.Reads() {
			readers[r] = append(readers[r], place)
		}
	}
	sides := make([][]int, l.Signals) // by place: the indicators whose sides decide the value
	for i, c := range p.Computed {
		note(l.Computed+i, c)
		sides[l.Computed+i] = c.Indicators()
	}
	for i, slot := range p.Slots {
		for _, w := range slot.Writers {
			if w.Value != nil {
				note(p.Signal(i), w.Value)
				sides[p.Signal(i)] = append(sides[p.Signal(i)], w.Value.Indicators()...)
				if len(w.Value.Reads()) == 0 {
					s.fixed[w.Value] = w.Value.Value(nil, nil)
				}
			}
		}
	}
	for i, commands := range p.Direct {
		for _, c := range commands {
			readers[p.Signal(c)] = append(readers[p.Signal(c)], 1+i)
		}
	}
	closure := func(place int) []int {
		list := []int{place}
		for k := 0; k < len(list); k++ {
			for _, r := range readers[list[k]] {
				if !slices.Contains(list, r) {
					list = append(list, r)
				}
			}
		}
		return list
	}
	for i := range p.Slots {
		s.follows = append(s.follows, closure(p.Signal(i)))
	}
	s.decided = make([][]int, l.Signals)
	for place := range sides {
		if len(sides[place]) > 0 {
			for _, r := range closure(place) {
				s.decided[r] = append(s.decided[r], sides[place]...)
			}
		}
	}
	s.nest()
	for k := range s.indicators {
		s.depth = max(s.depth, s.inside(k))
		if slices.ContainsFunc(s.inner, func(inner []int) bool { return slices.Contains(inner, k) }) {
			s.lagging = append(s.lagging, k)
		}
	}
	s.captured, s.kept, s.writer = make([]int, p.Captures), make([]bool, p.Captures), make([]int, p.Captures)
	s.phase = make([]executive.Phase, p.Captures)
	capture := func(at, slot, leaf int, phase executive.Phase) {
		s.captured[at], s.writer[at], s.phase[at] = slot, leaf, phase
	}
	for _, r := range p.Kept {
		w := &p.Slots[r.Slot].Writers[r.Writer]
		capture(w.Captured, r.Slot, w.Leaf, r.Phase)
		s.kept[w.Captured] = true
	}
	for i := range p.Leaves {
		for _, a := range p.Leaves[i].Entry {
			capture(a.Captured, a.Slot, i, executive.Active)
		}
		for _, a := range p.Leaves[i].Exit {
			capture(a.Captured, a.Slot, i, executive.Leaving)
		}
	}
}

// Written reports whether the value of a slot decides in any way an input of a leaf: what tasks write, or its default.
func (s *Stepper) Written() bool {
	return s.any(func(c *expr.Code) bool { return slices.ContainsFunc(c.Reads(), s.jumps) })
}

// Lags reports whether an input of a leaf may be older than the signals that it depends on: the sides of relations
// inside these are.
func (s *Stepper) Lags() bool {
	return s.any(func(c *expr.Code) bool {
		return slices.ContainsFunc(c.Indicators(), func(k int) bool { return len(s.inner[k]) > 0 })
	})
}

// any reports whether a formula of a leaf has a property.
func (s *Stepper) any(has func(c *expr.Code) bool) bool {
	for i := range s.p.Leaves {
		for _, c := range s.p.Leaves[i].Formulas {
			if c != nil && has(c) {
				return true
			}
		}
	}
	return false
}

// nest finds the indicators inside the new ones.
func (s *Stepper) nest() {
	s.indicators = s.compiler.Indicators()
	for i := len(s.inner); i < len(s.indicators); i++ {
		var inner []int
		for _, r := range s.indicators[i].Reads() {
			if r < len(s.decided) {
				inner = append(inner, s.decided[r]...)
			}
		}
		s.inner = append(s.inner, inner)
		s.time(i)
		if slices.ContainsFunc(s.indicators[i].Reads(), s.jumps) {
			s.jumping = append(s.jumping, i)
		}
	}
}

// inside returns the number of indicators inside each other inside one.
func (s *Stepper) inside(indicator int) int {
	depth := 0
	for _, k := range s.inner[indicator] {
		depth = max(depth, 1+s.inside(k))
	}
	return depth
}

// relation returns the code of a relation in a statement, or of what is simply true or false.
func (s *Stepper) relation(l *expr.Logic) *expr.Code {
	code := s.relations[l.Key]
	if code == nil {
		if l.Relation == nil {
			code = s.pseudo(l.Text)
		} else {
			if slices.ContainsFunc(l.Relation.Names(), func(name string) bool { return s.hidden[name] }) {
				panic("flown: a signal that is left out")
			}
			code = s.compiler.CompileFor(l.Relation, expr.Variable{Type: expr.Boolean})
		}
		s.relations[l.Key] = code
		s.nest()
		s.w.grow()
	}
	return code
}

var infinite = interval{low: math.Inf(-1), high: math.Inf(1)}
