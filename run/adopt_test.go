package run_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/internal/cart"
	"github.com/canopy-uav/canopy/internal/oracle"
	"github.com/canopy-uav/canopy/internal/trees"
	"github.com/canopy-uav/canopy/run"
	"github.com/canopy-uav/canopy/run/record"
	"github.com/canopy-uav/canopy/run/simulated"
	"github.com/canopy-uav/canopy/sim"
)

// everyEntry is a log with all that a recorder is told, to the last bit.
type everyEntry struct {
	record.Nothing
	lines []string
	heard bool // without tasks that do not run: those may be judged or not
}

func (l *everyEntry) Sample(t float64, row []float64) error {
	return l.add("sample", math.Float64bits(t), bits(row))
}

func (l *everyEntry) Status(t float64, micro int, c bt.Change) error {
	if l.heard {
		if c.From.Transient() && c.To.Transient() {
			return nil
		}
		micro, c.Iteration = 0, 0
	}
	return l.add(math.Float64bits(t), micro, c)
}

func (l *everyEntry) Event(e record.Event) error { return l.add(fmt.Sprintf("%+v", e)) }

func (l *everyEntry) Plan(p record.Takeover) error { return l.add("plan", p) }

func (l *everyEntry) Inputs(t float64, u []float64) error {
	return l.add("inputs", math.Float64bits(t), bits(u))
}

func (l *everyEntry) add(args ...any) error {
	l.lines = append(l.lines, fmt.Sprint(args...))
	return nil
}

func bits(list []float64) (numbers []uint64) {
	for _, x := range list {
		numbers = append(numbers, math.Float64bits(x))
	}
	return numbers
}

// moving is a vehicle for random missions whose signals move.
const moving = `vehicle: world
states:
  x: {initial: 1, derivative: "cos(1.3 * t / 1 [s]) * 1 [1/s]"}
  y: {initial: 2, derivative: "(u - y + 2 * sin(t / 1 [s])) * 1 [1/s]"}
commands:
  u: {default: 0}
`

// TestAdoptingTheSamePlan: at random instants of random missions of all kinds, in a simulation and along a path of
// signals, the plan takes over from itself by all that an exchange does. The log and all signals are those of a run
// without that, to the last bit, and so is the state that is saved. A simulation restarts its integrator there: the
// other run does, too.
func TestAdoptingTheSamePlan(t *testing.T) {
	entries := oracle.Shape{Depth: 2, Slots: true, Typed: true, Memory: true, Entries: true, Timers: true,
		Procedures: true}
	guards := oracle.Shape{Depth: 3, Slots: true, Memory: true, Guards: true, Procedures: true}
	shapes := []oracle.Shape{oracle.All, entries, guards}
	count, adopted, busy, changes := trees.Count(1_200, 60), 0, 0, 0
	for seed := range uint64(count) {
		random := rand.New(rand.NewPCG(seed, 71))
		described := oracle.Random(random, shapes[seed%3])
		described.Always, described.Goal, described.Facts, described.Written = nil, nil, nil, nil
		m, list := described.Read()
		if m == nil {
			t.Fatalf("%v\n%s", list, described)
		}
		all, path := seed%4 < 2, []oracle.Point{}
		for i := range 24 {
			x, y := .5*float64(1+random.IntN(5)), .5*float64(1+random.IntN(5))
			path = append(path, oracle.Point{T: float64(i) * .5, X: x, Y: y})
		}
		start := func() (*run.Run, error) {
			flown := m.Flown()
			return run.New(flown, oracle.NewWorld(flown, path), run.Continuous{All: all}, 12)
		}
		if seed%2 == 0 {
			f := cart.Files{"m/test.yaml": described.YAML(), "m/plan.xml": described.Plan(), "m/world.vehicle.yaml": moving}
			if m, list = mission.Read("m/test.yaml", f.Open, nil, nil); m == nil {
				t.Fatalf("%v\n%s", list, described)
			}
			start = func() (*run.Run, error) { return simulated.New(m, run.Continuous{All: all}, 12) }
		}
		often := 1 + random.IntN(6)
		var logs [2]*everyEntry
		for adopts := range 2 {
			r, err := start()
			if err != nil {
				t.Fatal(err)
			}
			l := &everyEntry{heard: !all}
			r.Attach(l)
			instants := rand.New(rand.NewPCG(seed, 72))
			for more := true; more && err == nil; {
				if more, err = r.Step(); !more || err != nil || instants.IntN(often) > 0 || r.Stopping() {
					continue
				}
				r.Restart()
				if adopts == 0 {
					continue
				}
				if failed := r.Adopt(); failed != nil {
					t.Fatalf("seed %d: %v\n%s", seed, failed, described)
				}
				adopted++
				for task, s := range r.Statuses() {
					if s == bt.Running && m.Plan.Tree.Kind(bt.Task(task)).Acts() {
						busy++
					}
				}
			}
			changes += r.Summary().StatusChanges
			if summary := r.Summary(); all {
				summary.RHSEvaluations = 0 // one restart at the same point is enough
				l.lines = append(l.lines, fmt.Sprintf("%+v %v", summary, err))
			}
			if logs[adopts] = l; errors.As(err, new(*sim.ChatterError)) {
				break // a new simulator has seen no events
			}
		}
		if logs[1] == nil {
			continue
		}
		if diff := cmp.Diff(logs[0].lines, logs[1].lines); diff != "" {
			t.Fatalf("seed %d: %s\n%s", seed, diff, described)
		}
	}
	t.Logf("%d times adopted, %d actions went on, %d changes", adopted, busy, changes)
	if adopted < 5*count || busy < 2*count || changes < 10*count {
		t.Error("too few")
	}
}
