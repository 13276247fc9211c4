package translate

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/executive"
	"github.com/canopy-uav/canopy/explore"
)

// ErrTooLarge is the error of a tree with too many inputs or states.
var ErrTooLarge = errors.New("the tree is too large for a state graph")

// ErrHalts is the error of a plan that assigns when a task is halted: no step of a graph does.
var ErrHalts = errors.New("it assigns when a task is halted")

// ErrLasts is the error of a tree with a condition that lasts until a task has ended: no condition of a graph does.
var ErrLasts = errors.New("a condition lasts until a task has ended")

// defaultLimit bounds the work of finding the states of a tree: the number of tasks that are settled.
const defaultLimit = 1 << 27

// maxKept bounds the memory of the states: the number of tasks in all of them, each state counting as 8 tasks more.
const maxKept = 1 << 22

// Use is the meaning of an input for one leaf, or for a task with a timer.
type Use struct {
	Task bt.Task
	Says executive.Criterion // On: a condition's truth, or that a timer has elapsed; never Off
}

// Proposition is a truth value from outside to which a tree reacts.
type Proposition struct {
	Name string // as the conditions of a graph spell it; empty: it is always true
	Uses []Use
}

// loop is a tree engine that receives the inputs at every instant, like run.Run: as long as an action has an input that
// the tree has not received, the tree is settled once more.
type loop struct {
	engine *bt.Engine
	known  []executive.Known // by task: the inputs that the engine has received
	slow   []answers         // by task: Entered and Exited if these procedures take time; never changes
	in     []bt.Input        // scratch
}

// answers are the formulas of a leaf that hold.
type answers [executive.Criteria]bool

func (a *answers) holds(f executive.Criterion) bool { return f == executive.Off || a[f] }

func newLoop(tree *bt.Tree, inputs []Proposition) *loop {
	l := &loop{known: slices.Repeat([]executive.Known{executive.Unknown}, tree.Len()), slow: make([]answers, tree.Len())}
	for _, in := range inputs {
		for _, u := range in.Uses {
			l.slow[u.Task][u.Says] = true
		}
	}
	var initial []bt.Input
	for t, s := range l.slow {
		if s[executive.Entered] || s[executive.Exited] {
			initial = append(initial, bt.Slow(bt.Task(t), s[executive.Entered], s[executive.Exited]))
		}
	}
	l.engine = bt.NewEngine(tree, initial, 0)
	return l
}

func (l *loop) copyFrom(o *loop) {
	l.engine.CopyFrom(o.engine)
	copy(l.known, o.known)
}

func (l *loop) clone() *loop {
	return &loop{engine: l.engine.Clone(), known: slices.Clone(l.known), slow: l.slow}
}

// settle gives the tree the inputs of its leaves, by task and meaning, and settles it.
func (l *loop) settle(says []answers) error {
	tree := l.engine.Tree()
	in := l.in[:0]
	for _, t := range tree.Leaves() {
		in = l.known[t].AppendInputs(in, t, !tree.Kind(t).Acts(), l.engine.Status(t), says[t].holds)
	}
	for _, t := range tree.Timers() {
		if says[t][executive.On] && l.engine.At(t).Timed {
			in = append(in, bt.Elapsed(t))
		}
	}
	l.in = in
	instant, err := l.engine.Settle(in)
	for _, c := range instant.Commands {
		procedure := executive.Entered
		if c.Exit {
			procedure = executive.Exited
		}
		l.known[c.Task].Start(c.Exit, l.slow[c.Task][procedure])
	}
	return err
}

// key returns the memory of a settled tree: trees with equal keys behave alike from then on if they receive the same
// inputs. Transient statuses are left out, because the next visit of a task computes them again from the inputs of the
// leaves.
func (l *loop) key() string {
	var b []byte
	for t := range bt.Task(len(l.known)) {
		status, told := l.engine.Status(t), bt.Accept
		if status.Transient() {
			status = bt.Accept
		}
		if status == bt.Activating {
			told = l.known[t].Outcome
		}
		var memory byte
		if result, held := l.engine.Held(t); held {
			memory = 4 + byte(result)<<3
		}
		if l.engine.Pinned(t) {
			memory |= 1
		}
		if l.engine.Active(t) {
			memory |= 2
		}
		b = append(b, byte(status)<<4|byte(told), memory)
		if tree := l.engine.Tree(); tree.Kind(t).Family() == bt.Script {
			at := l.engine.At(t)
			b = append(binary.LittleEndian.AppendUint32(b, uint32(at.Count)), at.State)
			if at.Timed {
				b = append(b, 1)
			} else {
				b = append(b, 0)
			}
		}
	}
	return string(b)
}

// phase is the observable state of an action.
type phase uint8

const (
	idle phase = iota
	entering
	running
	leaving
)

// observe returns the phases of the tree's actions.
func (l *loop) observe() []phase {
	tree := l.engine.Tree()
	var phases []phase
	for _, t := range tree.Leaves() {
		if tree.Kind(t).Acts() {
			phases = append(phases, phaseOf[l.engine.Status(t)])
		}
	}
	return phases
}

var phaseOf = [...]phase{bt.Activating: entering, bt.Running: running, bt.Finished: running, bt.Aborted: running,
	bt.Deactivating: leaving, bt.Dropped: running}

// machine is a finite automaton whose states are the memory of a tree. One step is one settling.
type machine struct {
	begin   int32     // the tree before its first settling; nothing is active
	outputs [][]phase // by state, by action
	next    [][]int32 // by state, by word: bit i is the truth of the i-th input with a name
}

// newMachine finds the states that a tree can reach, whatever the inputs are.
func newMachine(tree *bt.Tree, inputs []Proposition, limit int) (*machine, error) {
	if limit == 0 {
		limit = defaultLimit
	}
	m := &machine{}
	n := len(names(inputs))
	if n > 30 || tree.Len()<<n > limit {
		return nil, tooLarge(tree, n, 0)
	}
	words := make([][]answers, 1<<n)
	for w := range words {
		words[w] = say(tree, inputs, w)
	}
	search := explore.New[string, *loop](explore.Budget{})
	arrive := func(from int, l *loop) int32 {
		key := l.key()
		if s, known := search.Find(key); known {
			return int32(s)
		}
		m.outputs = append(m.outputs, l.observe())
		s, _ := search.Arrive(from, key, l.clone())
		return int32(s)
	}
	scratch := newLoop(tree, inputs)
	m.begin = arrive(-1, scratch)
	for s := range search.Leave() {
		if (s+1)*tree.Len()<<n > limit || (s+1)*(tree.Len()+8) > maxKept {
			return nil, tooLarge(tree, n, s)
		}
		row := make([]int32, len(words))
		for w, says := range words {
			scratch.copyFrom(search.Move(s))
			if err := scratch.settle(says); err != nil {
				return nil, err
			}
			row[w] = arrive(s, scratch)
		}
		m.next = append(m.next, row)
	}
	return m, nil
}

// tooLarge returns the error with the extent of the search.
func tooLarge(tree *bt.Tree, inputs, states int) error {
	return fmt.Errorf("%w: it has %d tasks, %d inputs and at least %d states", ErrTooLarge, tree.Len(), inputs, states+1)
}

// say returns the inputs of the leaves, by task and meaning, if the bits of a word are the inputs that have a name.
func say(tree *bt.Tree, inputs []Proposition, word int) []answers {
	says := make([]answers, tree.Len())
	for _, in := range inputs {
		holds := true
		if in.Name != "" {
			holds = word&1 == 1
			word >>= 1
		}
		for _, u := range in.Uses {
			says[u.Task][u.Says] = holds
		}
	}
	return says
}

// classes numbers the classes of states that no inputs can distinguish by their outputs, in the order of their first
// states (Moore 1956).
func (m *machine) classes() []int32 {
	class := make([]int32, len(m.next))
	split := func(sign func(s int) string) int {
		number := map[string]int32{}
		now := make([]int32, len(class))
		for s := range class {
			key := sign(s)
			k, known := number[key]
			if !known {
				k = int32(len(number))
				number[key] = k
			}
			now[s] = k
		}
		class = now
		return len(number)
	}
	count := split(func(s int) string { return fmt.Sprint(m.outputs[s]) })
	for {
		before := class
		now := split(func(s int) string {
			b := make([]byte, 0, 4*len(m.next[s])+4)
			for _, k := range append([]int32{int32(s)}, m.next[s]...) {
				c := before[k]
				b = append(b, byte(c), byte(c>>8), byte(c>>16), byte(c>>24))
			}
			return string(b)
		})
		if now == count {
			return class
		}
		count = now
	}
}

// merged returns the machine whose states are the classes.
func (m *machine) merged() *machine {
	class := m.classes()
	r := &machine{begin: class[m.begin]}
	for s, c := range class {
		if int(c) < len(r.next) {
			continue
		}
		row := make([]int32, len(m.next[s]))
		for w, next := range m.next[s] {
			row[w] = class[next]
		}
		r.next = append(r.next, row)
		r.outputs = append(r.outputs, m.outputs[s])
	}
	return r
}
