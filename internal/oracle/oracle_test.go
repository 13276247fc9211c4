package oracle

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"canopy/bt"
	"canopy/document/mission"
	"canopy/run"
	"canopy/run/record"
)

// nothing is a recorder that keeps nothing.
type nothing struct{}

func (nothing) Sample(float64, []float64) error      { return nil }
func (nothing) Status(float64, int, bt.Change) error { return nil }
func (nothing) Event(record.Event) error             { return nil }

// rounds is the number of random missions of a test.
func rounds(long int) int {
	if testing.Short() {
		return long / 40
	}
	return long
}

// randomPath is a path of n points, at times that alarms may coincide with.
func randomPath(r *rand.Rand, m *Mission, n int) []Point {
	var path []Point
	for i := range n {
		path = append(path, Point{float64(i) * .5, m.points[r.IntN(len(m.points))], m.points[r.IntN(len(m.points))]})
	}
	return path
}

// picture is all statuses and the slots at a time.
func picture(status func(bt.Task) bt.Status, tasks int, slots []float64) string {
	var s []bt.Status
	for t := range tasks {
		s = append(s, status(bt.Task(t)))
	}
	return fmt.Sprint(s, slots)
}

// fly flies the mission along a path with Canopy, and returns the last picture of each time.
func fly(t *testing.T, m *mission.Mission, path []Point) (map[float64]string, error) {
	t.Helper()
	w := NewWorld(m, path)
	r, err := run.New(m, w, run.Continuous{}, path[len(path)-1].T+.25)
	if err != nil {
		t.Fatal(err)
	}
	r.Attach(nothing{})
	pictures := map[float64]string{}
	for more := true; more && err == nil; {
		more, err = r.Step()
		statuses := r.Statuses()
		if more {
			pictures[w.T()] = picture(func(t bt.Task) bt.Status { return statuses[t] }, len(statuses),
				w.Signals()[m.Program.Layout.Slots:])
		}
	}
	return pictures, err
}

// witnessed flies it with the witness.
func (m *Mission) witnessed(path []Point) (map[float64]string, error) {
	pictures := map[float64]string{}
	f, err := m.compile().begin(path[0].X, path[0].Y)
	see := func() {
		var slots []float64
		for i := range len(m.slots) + len(m.computed) {
			slots = append(slots, f.signal(2+i))
		}
		pictures[f.T] = picture(f.engine.Status, f.Tree.Len(), slots)
	}
	for i := 1; err == nil; {
		see()
		next := Point{math.Inf(1), f.world[0], f.world[1]}
		if i < len(path) {
			next = path[i]
		}
		over := f.next()
		if min(next.T, over) > path[len(path)-1].T {
			break
		}
		if over < next.T {
			next = Point{over, f.world[0], f.world[1]}
		} else {
			i++
		}
		err = f.move(next.T, next.X, next.Y)
	}
	return pictures, err
}

// TestWitnessFliesLikeRuns: the witness and a run agree on every status and every slot at each instant of random
// missions with random signals.
func TestWitnessFliesLikeRuns(t *testing.T) {
	agreed, unsettled := 0, 0
	var kinds []bt.Kind
	for seed := range uint64(rounds(10000)) {
		r := rand.New(rand.NewPCG(seed, 9))
		m := Random(r, All)
		read, diags := m.Read()
		if read == nil {
			t.Fatalf("seed %d: %v\n%s", seed, diags, m)
		}
		p := m.compile()
		for i := range p.Tree.Len() {
			if k := read.Plan.Tree.Kind(bt.Task(i)); k != p.Tree.Kind(bt.Task(i)) {
				t.Fatalf("seed %d: another tree\n%s", seed, m)
			} else if !slices.Contains(kinds, k) {
				kinds = append(kinds, k)
			}
		}
		path := randomPath(r, m, 20)
		want, errRun := fly(t, read, path)
		got, errHere := m.witnessed(path)
		if errRun != nil || errHere != nil {
			unsettled++
			if (errRun == nil) != (errHere == nil) {
				t.Fatalf("seed %d: the run: %v; here: %v\n%s", seed, errRun, errHere, m)
			}
			continue
		}
		for at, picture := range want {
			if got[at] != "" && got[at] != picture {
				t.Fatalf("seed %d, t = %g s:\nrun  %s\nhere %s\n%v\n%s", seed, at, picture, got[at], path, m)
			}
			agreed++
		}
	}
	t.Logf("%d instants agree, %d missions do not settle", agreed, unsettled)
	if agreed < rounds(10000)*10 || unsettled > rounds(10000)/50 {
		t.Errorf("%d instants agree, %d missions do not settle", agreed, unsettled)
	}
	for _, k := range bt.Kinds() {
		if k.Cases() <= 2 && !slices.Contains(kinds, k) {
			t.Errorf("no mission has a %s", k)
		}
	}
}
