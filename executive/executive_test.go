package executive

import (
	"fmt"
	"slices"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/expr"
)

// A leaf sends each new input to the engine once.
func TestInputsOfALeaf(t *testing.T) {
	const action = bt.Task(0)
	k := Unknown
	for n, step := range []struct {
		status bt.Status
		holds  []Criterion
		want   []bt.Input
	}{
		{bt.Accept, nil, nil},
		{bt.Accept, []Criterion{SuccessIf, Done}, []bt.Input{bt.Request(action, bt.Success)}}, // no outcome: it is not active
		{bt.Success, []Criterion{SuccessIf, FailureIf}, []bt.Input{bt.Request(action, bt.Failure)}},
		{bt.Running, []Criterion{FailureIf, Done}, []bt.Input{bt.End(action, bt.Success)}},
		{bt.Running, []Criterion{FailureIf, Done}, nil},
		{bt.Running, []Criterion{Done, Failed}, []bt.Input{bt.Request(action, bt.Accept), bt.End(action, bt.Failure)}},
		{bt.Finished, []Criterion{Done}, nil},
		{bt.Activating, []Criterion{Entered, Exited}, nil}, // no procedure is under way
	} {
		got := k.AppendInputs(nil, action, false, step.status, func(f Criterion) bool { return slices.Contains(step.holds, f) })
		if !slices.Equal(got, step.want) {
			t.Errorf("step %d: %v, want %v", n, got, step.want)
		}
	}
	k.Start(true, true)
	exited := func(f Criterion) bool { return f == Exited }
	if got := k.AppendInputs(nil, action, false, bt.Deactivating, exited); !slices.Equal(got, []bt.Input{bt.Exited(action)}) {
		t.Errorf("an exit procedure that is over: %v", got)
	}
	if got := k.AppendInputs(nil, action, false, bt.Deactivating, exited); len(got) != 0 || k.Procedure != None {
		t.Errorf("told twice: %v", got)
	}
}

// A condition with hysteresis remembers; one without `off` is true while `on` holds.
func TestLatch(t *testing.T) {
	for _, test := range []struct{ before, on, off, want bool }{
		{false, true, true, true}, {false, false, false, false}, {true, false, false, true}, {true, false, true, false},
	} {
		got := Latch(test.before, func(f Criterion) bool { return f == On && test.on || f == Off && test.off })
		if got != test.want {
			t.Errorf("%+v: %t", test, got)
		}
	}
}

// flat is a world of one signal, which a test sets.
type flat struct {
	Numbers
	u, signals []float64
	above      []bool
	watched    []bool
}

func (w *flat) T() float64                            { return 0 }
func (w *flat) Signals() []float64                    { return w.signals }
func (w *flat) Discrete() (u []float64, above []bool) { return w.u, w.above }
func (w *flat) Set(input int, value float64)          { w.u[input] = value }
func (w *flat) Watch(indicator int, a Attention)      { w.watched[indicator] = a == Watched }
func (w *flat) Look([]int)                            {}
func (w *flat) Restart()                              {}

// A written slot concerns the leaves that read it, directly or through a computed signal; no others are visited.
func TestVisitsWhatAWrittenSlotConcerns(t *testing.T) {
	names := []string{"t", "legs", "laps", "twice"}
	scope := expr.Scope{"legs": {Type: expr.Integer}, "laps": {Type: expr.Integer}, "twice": {Type: expr.Integer}}
	c := expr.NewCompiler(scope, func(name string) (int, bool) { i := slices.Index(names, name); return i, i >= 0 })
	code := func(text string, want expr.Type) *expr.Code {
		e, err := expr.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		return c.CompileFor(e, expr.Variable{Type: want})
	}
	p := &Program{Layout: Layout{Outputs: 1, Slots: 1, Computed: 3, Signals: 4},
		Computed: []*expr.Code{code("2 * legs", expr.Integer)}}
	p.Slots = []Slot{{Name: "legs", Hold: true, Writers: []Writer{{Leaf: 4, Phase: Active}}}, {Name: "laps"}}
	root := &bt.Node{Kind: bt.Parallel}
	for i, on := range []string{"legs == 1", "laps == 1", "twice == 2", "laps == 2"} {
		root.Children = append(root.Children, &bt.Node{Kind: bt.Condition, Name: fmt.Sprint("c", i)})
		p.Leaves = append(p.Leaves, Leaf{Task: bt.Task(i), Condition: true,
			Formulas: [Criteria]*expr.Code{On: code(on, expr.Boolean)}})
	}
	root.Children = append(root.Children, &bt.Node{Kind: bt.Action, Name: "count"})
	p.Leaves = append(p.Leaves, Leaf{Task: 4, Slots: []int{0}, Entry: []Assignment{{Value: code("legs + 1", expr.Integer)}}})
	p.Captures = 1
	var err error
	if p.Tree, err = bt.Compile(root); err != nil {
		t.Fatal(err)
	}
	p.Link()
	w := &flat{u: p.Initial(), signals: make([]float64, 4)}
	w.Numbers = NewNumbers(w)
	x := New(p, w, Tree(func(in []bt.Input) Engine { return bt.NewEngine(p.Tree, in, 0) }))
	x.due.take()
	x.turn(4, Active)
	if got := x.due.take(); !slices.Equal(got, []int32{0, 2}) {
		t.Errorf("the leaves %v are visited, want 0 and 2", got)
	}
}

// An instant visits the leaves that a side concerns, however many there are, and watches what they need.
func TestVisitsWhatChanged(t *testing.T) {
	const leaves = 999
	root := &bt.Node{Kind: bt.ReactiveSequence}
	c := expr.NewCompiler(nil, func(string) (int, bool) { return 0, true })
	p := &Program{Layout: Layout{Signals: 1}}
	for i := range leaves {
		e, err := expr.Parse(fmt.Sprintf("x ge %d", i%9))
		if err != nil {
			t.Fatal(err)
		}
		root.Children = append(root.Children, &bt.Node{Kind: bt.Condition, Name: fmt.Sprint("c", i)})
		p.Leaves = append(p.Leaves, Leaf{Task: bt.Task(i), Condition: true, Formulas: [Criteria]*expr.Code{On: c.Compile(e)}})
	}
	var err error
	if p.Tree, err = bt.Compile(root); err != nil {
		t.Fatal(err)
	}
	p.Indicators = c.Indicators()
	p.Link()
	w := &flat{u: p.Initial(), signals: []float64{0}, above: make([]bool, 9), watched: make([]bool, 9)}
	w.Numbers = NewNumbers(w)
	x := New(p, w, Tree(func(in []bt.Input) Engine { return bt.NewEngine(p.Tree, in, 0) }))
	for again := true; again; {
		if again, err = x.Settle(); err != nil {
			t.Fatal(err)
		}
	}
	x.Rest()
	if len(p.Indicators) != 9 || slices.Contains(w.watched, false) {
		t.Errorf("%d indicators, watched %v", len(p.Indicators), w.watched)
	}
	w.above[4] = true
	x.Changed([]int{4})
	if n := len(x.due.list); n != leaves/9 {
		t.Errorf("%d leaves to visit, want %d", n, leaves/9)
	}
	if _, err := x.Settle(); err != nil || len(x.Log) != leaves/9 || len(x.stale.list) != leaves/9 {
		t.Errorf("%d status changes, %d leaves with other indicators: %v", len(x.Log), len(x.stale.list), err)
	}
}

// asked is a world that counts the conditions that it is asked about.
type asked struct {
	flat
	truths int
}

func (w *asked) Truth(c *expr.Code) bool {
	w.truths++
	return w.flat.Truth(c)
}

// Where everything is judged, a settling asks about the leaves that it visits, once: worlds that answer by choice, as
// those of analyses do, are not asked what to watch.
func TestSettlingAsksOnce(t *testing.T) {
	c := expr.NewCompiler(nil, func(string) (int, bool) { return 0, true })
	code := func(text string) *expr.Code {
		e, err := expr.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		return c.Compile(e)
	}
	p := &Program{Layout: Layout{Signals: 1}}
	p.Leaves = []Leaf{{Condition: true, Formulas: [Criteria]*expr.Code{On: code("x ge 1"), Off: code("x lt 0")}}}
	var err error
	if p.Tree, err = bt.Compile(&bt.Node{Kind: bt.Condition, Name: "c"}); err != nil {
		t.Fatal(err)
	}
	p.Indicators = c.Indicators()
	p.Link()
	w := &asked{flat: flat{u: p.Initial(), signals: []float64{0}, above: make([]bool, 2), watched: make([]bool, 2)}}
	w.Numbers = NewNumbers(w)
	x := New(p, w, Tree(func(in []bt.Input) Engine { return bt.NewEngine(p.Tree, in, 0) }))
	for again := true; again; {
		if again, err = x.Settle(); err != nil {
			t.Fatal(err)
		}
	}
	w.truths = 0
	x.Changed([]int{0})
	if _, err := x.Settle(); err != nil || w.truths != 1 {
		t.Errorf("%d questions, want 1: %v", w.truths, err)
	}
}
