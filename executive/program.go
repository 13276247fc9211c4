package executive

import (
	"math"
	"slices"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/expr"
)

// Program is a plan compiled for the signals that it reads and writes. It is immutable and may be shared.
//
// The dependencies between signals form a graph of steps; each purpose has its own order, with only the steps it needs.
type Program struct {
	Tree       *bt.Tree
	Leaves     []Leaf
	Slots      []Slot
	Computed   []*expr.Code     // the signals that are expressions of others
	Indicators []expr.Indicator // of the relations that are events
	Switches   []bool           // by indicator: the vehicle's commands depend on its side
	Steady     []bool           // by indicator: it depends on time and states alone, so no instant changes it
	Cells      []expr.Cell      // what functions with many pieces remember, behind the signals
	Standing   []int            // indicators inside computed signals and of Judged: watched at all times
	Judged     []int            // indicators of what the run is judged by, with those inside
	Captures   int              // number of values that procedures capture
	Kept       []Role           // the writers that keep their value while it is not known
	Direct     [][]int          // by state and output of the vehicle: the commands on which it depends at the same instant
	Layout     Layout

	Derive  []Evaluation // up to the vehicle's commands
	Observe []Evaluation // up to the signals that the indicators read
	All     []Evaluation // every signal
	Reads   []int        // states that the indicators depend on; nil means all

	readers [][]int32         // by indicator: the leaves with a formula that depends on it
	open    []int32           // the leaves with a formula that depends on discrete signals of the world
	written [][]int32         // by slot: the leaves with a formula that depends on its discrete value
	typed   []bool            // by leaf: a formula reads discrete signals
	entries [][Criteria][]int // by leaf: the slots that its formulas read and that are entries; nil: none are
	marks   int               // number of marks among the discrete inputs
	roles   [][]Role          // by leaf: its places among the writers
	leafOf  []int             // by task: its leaf, -1 for composites
	halted  map[bt.Task]int   // the leaf whose assignments are made when a task is deactivated without having ended
	order   []int32           // by leaf: its place in the order in which a tick reaches the leaves
	lasting [][]int           // by task: the conditions that stay true until it has ended
}

// Layout holds the offset of each kind of signal in the signal vector: the clock is at 0, the states follow.
type Layout struct {
	Outputs, Slots, Computed int
	Signals                  int // their number; the vector has the memory of the cells behind them
	Commands                 int // number of slots, from the first, that are commands of the vehicle
}

// Slot is a signal that tasks may write. The first active writer in the order of the tree counts; when none is
// active, the slot has its held value: the default, or with Hold the last value written.
type Slot struct {
	Name    string
	Initial float64
	Empty   bool // it has no value at the start; Initial does not count
	Hold    bool
	Entry   bool // of a blackboard: reading it is an error of the run as long as it has no value
	Writers []Writer
}

// Writer is a leaf that writes a slot in a phase: a value that follows the signals, or a captured one.
type Writer struct {
	Leaf     int
	Phase    Phase
	Value    *expr.Code // nil: captured
	Known    *expr.Code // the value is known; nil: always. While it is not, the captured one counts
	Captured int        // index of the captured value among those of all leaves
}

// Phase is the effect of a leaf on slots, one of the discrete inputs.
type Phase = float64

// The phases.
const (
	Resting Phase = iota
	Active        // it writes its values and those captured by its entry procedure
	Leaving       // its exit procedure takes time: it writes the values captured by it
)

// Leaf is a leaf of the plan with its expressions compiled.
type Leaf struct {
	Task                bt.Task
	Condition           bool
	Lenient             bool                 // a condition that may read an entry without a value
	Formulas            [Criteria]*expr.Code // nil where the plan gives none
	Until               []bt.Task            // a condition stays true until one of these has ended; none: see Off
	Entry, Exit         []Assignment
	EntryTime, ExitTime *expr.Code // durations [s]; nil where the plan gives none
	Slots               []int      // that it writes while active, continuously or by its entry
	Writes              []int      // indicators inside the values that it writes
	Varies              Varies     // whether what it assigns is new each time, though an abstraction shows a constant
}

// Varies is whether an action assigns something new each time.
type Varies uint8

// The answers.
const (
	Shown   Varies = iota // its values show it
	Perhaps               // the world is asked (see Situated)
	Always
)

// Assignment sets a slot to a value, once.
type Assignment struct {
	Slot     int
	Value    *expr.Code // nil: none, which an entry of a blackboard may have
	Known    *expr.Code // the value is known; else the slot keeps its value. nil: it always is
	Captured int        // index of the captured value, set by Add
	Entries  []int      // the slots that it reads and that are entries of a blackboard, set by Add
}

// Remembers reports whether a condition is not judged by its formulas alone.
func (l *Leaf) Remembers() bool { return l.Formulas[Off] != nil || len(l.Until) > 0 }

// Slow reports which procedures of an action take time.
func (l *Leaf) Slow() (entry, exit bool) {
	return l.EntryTime != nil || l.Formulas[Entered] != nil, l.ExitTime != nil || l.Formulas[Exited] != nil
}

// Evaluation evaluates one signal, or all outputs of the vehicle at once.
type Evaluation struct {
	Kind  EvaluationKind
	Index int // of the slot or the computed signal
}

// EvaluationKind is the kind of signal that an evaluation concerns.
type EvaluationKind uint8

// The kinds of evaluations.
const (
	EvaluateOutputs  EvaluationKind = iota // the vehicle's outputs that depend on its states and time alone
	EvaluateDirect                         // those that also depend on the commands
	EvaluateSlot                           // a slot
	EvaluateComputed                       // a computed signal
)

// Role is one place of a leaf among the writers of a slot.
type Role struct {
	Slot, Writer int
	Phase        Phase
}

// Add adds a leaf with the values that it writes continuously, which precede those captured by its entry procedure.
func (p *Program) Add(l Leaf, write []Assignment) {
	add := func(slot int, w Writer) {
		w.Leaf = len(p.Leaves)
		p.Slots[slot].Writers = append(p.Slots[slot].Writers, w)
	}
	for _, a := range write {
		w := Writer{Phase: Active, Value: a.Value, Known: a.Known}
		if w.Known != nil {
			w.Captured = p.Captures
			p.Captures++
			p.Kept = append(p.Kept, Role{a.Slot, len(p.Slots[a.Slot].Writers), Active})
			l.Writes = append(l.Writes, w.Known.Indicators()...)
		}
		add(a.Slot, w)
		l.Slots = append(l.Slots, a.Slot)
		l.Writes = append(l.Writes, a.Value.Indicators()...)
	}
	capture := func(list []Assignment, phase Phase) []Assignment {
		list = slices.Clone(list)
		for k, a := range list {
			if a.Value != nil {
				list[k].Entries = p.entriesOf(a.Value)
			}
			if i := slices.IndexFunc(list[:k], func(b Assignment) bool { return b.Slot == a.Slot }); i >= 0 {
				list[k].Captured = list[i].Captured
				continue
			}
			if list[k].Captured = p.Captures; phase == Leaving || !slices.Contains(l.Slots, a.Slot) {
				add(a.Slot, Writer{Phase: phase, Captured: p.Captures})
			}
			p.Captures++
		}
		return list
	}
	l.Entry = capture(l.Entry, Active)
	for _, a := range l.Entry {
		if !slices.Contains(l.Slots, a.Slot) {
			l.Slots = append(l.Slots, a.Slot)
		}
	}
	l.Exit = capture(l.Exit, Leaving)
	p.Leaves = append(p.Leaves, l)
}

// entriesOf returns the slots that code reads and that are entries of a blackboard.
func (p *Program) entriesOf(code *expr.Code) []int {
	var list []int
	for _, place := range code.Discrete() {
		if slot := place - p.Layout.Slots; 0 <= slot && slot < len(p.Slots) && p.Slots[slot].Entry {
			list = append(list, slot)
		}
	}
	return list
}

// Link determines the leaves affected by each indicator and each discrete slot, and the slots of each leaf: the last
// step of creating a program.
func (p *Program) Link() {
	p.readers = make([][]int32, len(p.Indicators))
	p.written = make([][]int32, len(p.Slots))
	p.typed = make([]bool, len(p.Leaves))
	p.roles = make([][]Role, len(p.Leaves))
	p.leafOf = slices.Repeat([]int{-1}, p.Tree.Len())
	p.lasting = make([][]int, p.Tree.Len())
	p.marks = 0
	if slices.ContainsFunc(p.Slots, func(s Slot) bool { return s.Entry }) {
		p.entries = make([][Criteria][]int, len(p.Leaves))
	}
	if p.entries != nil || len(p.Kept) > 0 {
		p.marks = len(p.Slots) + p.Captures
	}
	for i := range p.Leaves {
		t := p.Leaves[i].Task
		p.leafOf[t] = i
		if p.Tree.Idle(t) && len(p.Leaves[i].Entry) > 0 {
			if p.halted == nil {
				p.halted = map[bt.Task]int{}
			}
			p.halted[p.Tree.Parent(t)] = i
		}
		for _, t := range p.Leaves[i].Until {
			p.lasting[t] = append(p.lasting[t], i)
		}
		for f, code := range p.Leaves[i].Formulas {
			if code != nil {
				if p.entries != nil {
					p.entries[i][f] = p.entriesOf(code)
				}
				p.typed[i] = p.typed[i] || len(code.Discrete()) > 0
				p.affect(int32(i), code, map[int]bool{})
			}
		}
	}
	for s := range p.Slots {
		for k, w := range p.Slots[s].Writers {
			p.roles[w.Leaf] = append(p.roles[w.Leaf], Role{s, k, w.Phase})
		}
	}
	p.order = make([]int32, len(p.Leaves))
	place := int32(0)
	p.Tree.InOrder(func(leaf bt.Task) {
		if i := p.leafOf[leaf]; i >= 0 {
			p.order[i] = place
			place++
		}
	})
}

// Readers returns the leaves with a formula that depends on the discrete value of a slot. The caller must not change
// them.
func (p *Program) Readers(slot int) []int32 { return p.written[slot] }

// Place returns the place of a leaf in the order in which a tick reaches the leaves.
func (p *Program) Place(leaf int) int { return int(p.order[leaf]) }

// Entries returns the slots that code reads and that are entries of a blackboard.
func (p *Program) Entries(c *expr.Code) []int { return p.entriesOf(c) }

// renews reports whether a leaf writes at its end what its request reads, so that this is known only then.
func (p *Program) renews(i int) bool {
	return p.entries != nil && slices.ContainsFunc(p.Leaves[i].Exit, func(a Assignment) bool {
		return slices.Contains(p.entries[i][FailureIf], a.Slot)
	})
}

// affect enters a leaf as one that depends on code: on its indicators and, through the discrete signals that it reads,
// on slots, the values written to them, and computed signals. seen are the signals that are entered.
func (p *Program) affect(leaf int32, code *expr.Code, seen map[int]bool) {
	enter := func(list *[]int32) {
		if l := *list; len(l) == 0 || l[len(l)-1] != leaf {
			*list = append(l, leaf)
		}
	}
	for _, k := range code.Indicators() {
		enter(&p.readers[k])
	}
	for _, signal := range code.Discrete() {
		if seen[signal] {
			continue
		}
		seen[signal] = true
		if signal < p.Layout.Slots { // one of the world, which has no writer
			enter(&p.open)
			continue
		}
		if signal >= p.Layout.Computed {
			p.affect(leaf, p.Computed[signal-p.Layout.Computed], seen)
			continue
		}
		slot := signal - p.Layout.Slots
		enter(&p.written[slot])
		for _, w := range p.Slots[slot].Writers {
			if w.Value != nil {
				p.affect(leaf, w.Value, seen)
			}
		}
	}
}

// The discrete inputs of a world that the program writes: the phase of each leaf, then the number of each slot's writer
// that counts (from 1; 0: none), then the held value of each slot, then the values that procedures captured, then, if
// the program needs them, the marks of held and captured values. A world whose program has cells keeps their memory
// behind these.

// Inputs returns the number of discrete inputs.
func (p *Program) Inputs() int { return p.Capture(p.Captures) + p.marks }

// mark returns the index of the mark of a held or captured value among the discrete inputs; -1: the program needs none.
func (p *Program) mark(input int) int {
	if p.marks == 0 {
		return -1
	}
	return input + p.marks
}

// Marked reports whether a held or captured value is marked in the inputs u.
func (p *Program) Marked(value int, u []float64) bool {
	at := p.mark(value)
	return at >= 0 && u[at] != 0
}

// MarkOf returns the held or captured value whose mark an input is; ok is false if it is no mark.
func (p *Program) MarkOf(input int) (value int, ok bool) {
	value = input - p.marks
	return value, p.marks > 0 && value >= p.Held(0)
}

// SetHeld sets the held value of a slot in the inputs u from outside.
func (p *Program) SetHeld(u []float64, slot int, value float64) { p.put(u, p.Held(slot), value, true) }

// put sets a held or captured value, or that there is none.
func (p *Program) put(u []float64, at int, value float64, ok bool) {
	if u[at] = value; !ok {
		u[at] = math.NaN()
	}
	if mark := p.mark(at); mark >= 0 {
		u[mark] = 0
		if !ok {
			u[mark] = 1
		}
	}
}

// start gives a held or captured value what its slot has at the start.
func (p *Program) start(u []float64, at, slot int) {
	s := &p.Slots[slot]
	p.put(u, at, s.Initial, !s.Empty)
}

// counts returns the index, among the discrete inputs, of the number of the writer that counts.
func (p *Program) counts(slot int) int { return len(p.Leaves) + slot }

// Held returns the index of a slot's held value among the discrete inputs.
func (p *Program) Held(slot int) int { return len(p.Leaves) + len(p.Slots) + slot }

// Capture returns the index of a captured value among the discrete inputs.
func (p *Program) Capture(i int) int { return len(p.Leaves) + 2*len(p.Slots) + i }

// Drives returns the discrete inputs on which the vehicle's commands depend.
func (p *Program) Drives() []int {
	drives := []int{}
	for _, x := range p.Derive {
		if x.Kind != EvaluateSlot {
			continue
		}
		drives = append(drives, p.counts(x.Index), p.Held(x.Index))
		for _, w := range p.Slots[x.Index].Writers {
			if w.Value == nil || w.Known != nil {
				drives = append(drives, p.Capture(w.Captured))
				if w.Known != nil {
					drives = append(drives, p.mark(p.Capture(w.Captured)))
				}
			}
		}
	}
	return drives
}

// The clocks of an execution: those of the leaves' procedures, by leaf, then the timers, by place in Tree.Timers.

// clock returns the number of a timer's clock.
func (p *Program) clock(timer int) int { return len(p.Leaves) + timer }

// Initial returns the discrete inputs at the start: no leaf is active, every slot is at its default.
func (p *Program) Initial() []float64 {
	u := make([]float64, p.Inputs())
	for i := range p.Slots {
		p.start(u, p.Held(i), i)
	}
	return u
}

// Signal returns the index of a slot in the signal vector.
func (p *Program) Signal(slot int) int { return p.Layout.Slots + slot }
