package simulated

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/internal/cart"
	"github.com/canopy-uav/canopy/internal/oracle"
	"github.com/canopy-uav/canopy/run"
	"github.com/canopy-uav/canopy/snapshot"
)

// randomMission returns a random mission of a vehicle whose signals move; its horizon is 20 s.
func randomMission(t *testing.T, seed uint64) (m *mission.Mission, text string) {
	t.Helper()
	described := oracle.Random(rand.New(rand.NewPCG(seed, 1)), []oracle.Shape{oracle.All,
		{Depth: 2, Slots: true, Typed: true, Memory: true, Entries: true, Timers: true, Procedures: true},
		{Depth: 3, Slots: true, Memory: true, Guards: true, Procedures: true}}[seed%3])
	described.Always, described.Goal, described.Facts, described.Written = nil, nil, nil, nil
	f := cart.Files{"m/test.yaml": described.YAML(), "m/plan.xml": described.Plan(), "m/world.vehicle.yaml": `vehicle: world
states:
  x: {initial: 1, derivative: "cos(1.3 * t / 1 [s]) * 1 [1/s]"}
  y: {initial: 2, derivative: "(u - y + 2 * sin(t / 1 [s])) * 1 [1/s]"}
commands:
  u: {default: 0}
`}
	m, diags := mission.Read("m/test.yaml", f.Open, nil, []string{"horizon=20"})
	if m == nil {
		t.Fatalf("%v\n%s", diags, described)
	}
	return m, described.String()
}

// everything is a world that passes all indicators to the executive as if each had changed, also once where none has: all
// leaves that depend on one are visited.
type everything struct {
	*world
	all    []int
	passed bool // all, although none had changed
}

func (w *everything) Iterate() ([]int, error) {
	changed, err := w.world.Iterate()
	if w.passed = !w.passed && len(changed) == 0; w.passed || len(changed) > 0 {
		return w.all, err
	}
	return nil, err
}

// TestRandomMissions: leaves that are not visited have nothing new, and a run that is saved and continued after every
// seventh step goes on alike: random missions leave the same log.
func TestRandomMissions(t *testing.T) {
	changes, n := 0, 600
	if testing.Short() {
		n = 60
	}
	for seed := range uint64(n) {
		m, body := randomMission(t, seed)
		c := []run.Configuration{run.Continuous{}, run.Ticked{Period: 0.3}}[seed%2]
		fly := func(all, restored bool) string {
			start := func() *run.Run {
				w, err := newWorld(m, false)
				if err != nil {
					t.Fatal(err)
				}
				var outside run.World = w
				if all {
					e := &everything{world: w}
					for i := range m.Program.Indicators {
						e.all = append(e.all, i)
					}
					outside = e
				}
				flight, err := run.New(m, outside, c, math.Inf(1))
				if err != nil {
					t.Fatal(err)
				}
				return flight
			}
			l, flight := &log{}, start()
			flight.Attach(l)
			var err error
			for n, more := 0, true; more && err == nil; n++ {
				if more, err = flight.Step(); restored && more && err == nil && n%7 == 0 {
					saved := snapshot.Save(nil, flight)
					flight = start()
					if err := snapshot.Load(saved, flight); err != nil {
						t.Fatal(err)
					}
					flight.Attach(l)
				}
			}
			changes += len(l.statuses)
			return fmt.Sprintln(l.statuses, l.events, l.times, l.rows, err)
		}
		want := fly(false, false)
		if fly(true, false) != want || fly(false, true) != want {
			t.Errorf("seed %d: another log:\n%s", seed, body)
		}
	}
	if changes < 20*n {
		t.Errorf("%d changes in %d missions are not enough", changes, n)
	}
}

// TestListeningFliesAlike: whether a run judges everything or only what is heard, the same tasks run at the same times,
// and every value on the grid is the same number.
func TestListeningFliesAlike(t *testing.T) {
	runs, saved, n := 0, 0, 400
	if testing.Short() {
		n = 100
	}
	for seed := range uint64(n) {
		m, body := randomMission(t, seed)
		fly := func(all bool) (flight string, count int) {
			x, err := New(m, run.Continuous{All: all}, math.Inf(1))
			if err != nil {
				t.Fatal(err)
			}
			l, more := &log{}, true
			x.Attach(l)
			for more && err == nil {
				more, err = x.Step()
			}
			var text strings.Builder
			for _, c := range l.statuses {
				if !c.From.Transient() || !c.To.Transient() {
					runs++
					fmt.Fprintln(&text, c.t, m.Plan.Tree.Name(c.Task), c.From, c.To)
				}
			}
			for i, at := range l.times {
				if math.Mod(at, m.Interval) == 0 && (i == 0 || l.times[i-1] < at) { // one side of it, if an event is there
					fmt.Fprintln(&text, at, l.rows[i])
				}
			}
			if err != nil {
				return "does not settle", 0
			}
			return fmt.Sprintln(text.String(), x.Summary().Plan), len(l.statuses)
		}
		want, all := fly(true)
		got, heard := fly(false)
		if got != want {
			t.Errorf("seed %d: other tasks run:\n%s\n%s\n%s", seed, body, got, want)
		}
		saved += all - heard
	}
	t.Logf("%d missions, %d changes of tasks that run; %d changes are not made", n, runs, saved)
	if runs < 20*n || saved < n {
		t.Errorf("%d missions with %d changes, %d saved, are not enough", n, runs, saved)
	}
}
