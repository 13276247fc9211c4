package verify

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"canopy/bt"
	"canopy/diag"
	"canopy/document/declare"
	"canopy/document/plan"
	"canopy/executive"
	"canopy/expr"
	"canopy/snapshot"

	"pgregory.net/rapid"
)

// plane is a world whose signals x and y are set from outside.
type plane struct {
	executive.Numbers
	t       float64
	signals []float64 // x, y
	above   []bool
	u       []float64
	p       *executive.Program
}

func (w *plane) T() float64                            { return w.t }
func (w *plane) Signals() []float64                    { return w.signals }
func (w *plane) Discrete() (u []float64, above []bool) { return w.u, w.above }
func (w *plane) Set(input int, value float64)          { w.u[input] = value }
func (w *plane) Watch(int, bool)                       {}
func (w *plane) Restart()                              {}

// iterate commits the sides of the indicators and returns those that changed.
func (w *plane) iterate() (changed []int) {
	for i, x := range w.p.Indicators {
		if side := x.Value(w.signals) >= 0; side != w.above[i] {
			w.above[i] = side
			changed = append(changed, i)
		}
	}
	return changed
}

// compile makes a program of a plan over the signals x and y, without slots.
func compile(p *plan.Plan) *executive.Program {
	c := expr.NewCompiler(nil, func(name string) (int, bool) { return strings.Index("xy", name), true })
	code := func(e *expr.Expr) *expr.Code {
		if e == nil {
			return nil
		}
		return c.Compile(e)
	}
	program := &executive.Program{Tree: p.Tree}
	for _, l := range p.Leaves {
		program.Leaves = append(program.Leaves, executive.Leaf{Task: l.Task, Condition: !p.Tree.Kind(l.Task).Acts(),
			EntryTime: code(l.EntryTime), ExitTime: code(l.ExitTime),
			Formulas: [executive.Criteria]*expr.Code{executive.On: code(l.On), executive.Off: code(l.Off),
				executive.SuccessIf: code(l.SuccessIf), executive.FailureIf: code(l.FailureIf),
				executive.Done: code(l.Done), executive.Failed: code(l.Failed),
				executive.Entered: code(l.EntryUntil), executive.Exited: code(l.ExitUntil)}})
	}
	program.Indicators = c.Indicators()
	program.Link()
	return program
}

// TestPlayerDoesAsTheExecutive holds the player of proofs and the executive of runs together: in random plans and
// random worlds, one after the other, the states of their engines are the same to the last bit. A procedure of 5 s that
// is under way is over in the next world, which is 10 s later; so the executive, which visits only leaves that an
// indicator or a deadline concerns, is also compared with one that visits all.
func TestPlayerDoesAsTheExecutive(t *testing.T) {
	slow, looping := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		r := &randomPlan{Rand: rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "plan"), 1)), memory: true, slow: true, scripts: true, stubs: 3}
		text := `<root BTCPP_format="4"><BehaviorTree ID="p">` + r.node(1+r.IntN(4)) + `</BehaviorTree></root>`
		for _, until := range []string{`entry_until="x ge 1"`, `exit_until="y lt 2"`} {
			name, _, _ := strings.Cut(until, "_")
			if r.IntN(2) == 0 {
				text = strings.Replace(text, name+`_time="5 [s]"`, until, 1+r.IntN(3))
			}
		}
		p, list := plan.Read(&diag.Source{Name: "p.xml", Text: text}, nil)
		if p == nil {
			t.Fatalf("%s\n%v", text, list)
		}
		m := newModel(declare.Subject{Plan: p}, newDiagrams)
		draw := func(name string) float64 { return rapid.SampledFrom([]float64{0, 1, 1.5, 2, 3}).Draw(t, name) }
		w := &plane{p: compile(p), signals: []float64{draw("x"), draw("y")}}
		w.u, w.above = w.p.Initial(), make([]bool, len(w.p.Indicators))
		w.Numbers = executive.NewNumbers(w)
		w.iterate()
		var engine *bt.Engine
		x := executive.New(w.p, w, executive.Tree(func(in []bt.Input) executive.Engine {
			engine = bt.NewEngine(p.Tree, in, 0)
			return engine
		}))
		player, err := m.idleSlow().begin(m.world(w.signals))
		for n := range 12 {
			if n > 0 {
				over := player.underWay()
				slow += len(over)
				w.t += 10
				copy(w.signals, []float64{draw("x"), draw("y")})
				err = player.Move(m.world(w.signals), over...)
				x.Changed(w.iterate())
			}
			again, failed := true, error(nil)
			for k := 0; again && failed == nil && k <= maxRounds; k++ {
				again, failed = x.Settle()
			}
			x.Rest()
			if (err != nil) != (failed != nil || again) {
				t.Fatalf("%s\nworld %d: the player has %v, the executive %v", text, n, err, failed)
			}
			if err != nil {
				looping++
				return
			}
			if !bytes.Equal(snapshot.Save(nil, player.engine), snapshot.Save(nil, engine)) {
				for task := range bt.Task(p.Tree.Len()) {
					t.Logf("%s: player %v, executive %v", p.Tree.Name(task), player.engine.Status(task), engine.Status(task))
				}
				t.Fatalf("%s\nworld %d: the engines differ", text, n)
			}
		}
	})
	if slow == 0 && !testing.Short() { // a short round has few plans
		t.Error("no procedure took time")
	}
	t.Logf("%d procedures took time, %d plans looped", slow, looping)
}

// world abstracts values of x and y.
func (m *Model) world(values []float64) []bool {
	world := make([]bool, len(m.vocab.inputs))
	for _, s := range m.vocab.signals {
		v := values[strings.Index("xy", s.name)]
		k := 0
		for k < len(s.cuts) && (v > s.cuts[k].limit || v == s.cuts[k].limit && !s.cuts[k].strict) {
			k++
		}
		s.put(world, k)
	}
	for _, i := range m.vocab.byFree { // the generator has one relation that is no limit
		world[i] = math.Abs(values[0]-1.5) <= 0.5
	}
	return world
}

// underWay returns the tasks with a procedure under way that takes a time, or with a timer that runs.
func (p *Player) underWay() []bt.Task {
	tasks := slices.DeleteFunc(slices.Clone(p.m.tree.Timers()), func(t bt.Task) bool { return !p.engine.At(t).Timed })
	for i := range p.m.leaves {
		l := &p.m.leaves[i]
		switch s := p.engine.Status(l.task); {
		case s == bt.Activating && l.entry.until == nil, s == bt.Deactivating && l.exit.until == nil:
			tasks = append(tasks, l.task)
		}
	}
	return tasks
}
