package oracle

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/run"
	"github.com/canopy-uav/canopy/run/monitor"
	"github.com/canopy-uav/canopy/run/record"
)

// flights are the abilities of the missions that are flown: together they have all kinds, but only one switch.
var flights = []Shape{All, scripts, guarded, {Depth: 3, Memory: true, Guards: true}}

// randomPath is a path of n points, at times that alarms may coincide with.
func randomPath(r *rand.Rand, m *Mission, n int) []Point {
	var path []Point
	for i := range n {
		path = append(path, Point{float64(i) * .5, m.points[r.IntN(len(m.points))], m.points[r.IntN(len(m.points))]})
	}
	return path
}

// statuses is those of all tasks as a text.
func statuses(tasks int, of func(bt.Task) bt.Status) string {
	text := make([]byte, tasks)
	for t := range text {
		text[t] = byte('0' + of(bt.Task(t)))
	}
	return string(text)
}

func (f *Flight) all() string { return statuses(f.Tree.Len(), f.engine.Status) }

// picture is all statuses and the slots.
func (f *Flight) picture() string {
	var slots []float64
	for i := range len(f.slots) + len(f.computed) {
		slots = append(slots, f.signal(2+i))
	}
	return fmt.Sprint(f.all(), slots)
}

// journal is what a run shows.
type journal struct {
	*monitor.Monitor
	statuses []bt.Status
	end      float64
	at       map[float64]string // by time: the last picture
	last     map[string]bool    // all statuses at the last time of the path, in between too
	judged   []record.Property
}

// Status implements record.Recorder.
func (j *journal) Status(t float64, micro int, c bt.Change) error {
	j.see(t, j.statuses) // the signals are those of the time already
	j.statuses[c.Task] = c.To
	j.see(t, j.statuses)
	return j.Monitor.Status(t, micro, c)
}

func (j *journal) see(t float64, list []bt.Status) (text string) {
	text = statuses(len(list), func(t bt.Task) bt.Status { return list[t] })
	if t == j.end {
		j.last[text] = true
	}
	return text
}

// fly flies the mission along a path with Canopy.
func fly(m *mission.Mission, path []Point) (*journal, error) {
	end := path[len(path)-1].T
	w := NewWorld(m, path)
	r, err := run.New(m, w, run.Continuous{All: true}, end+.25)
	if err != nil {
		return nil, err
	}
	header := r.Header()
	j := &journal{Monitor: monitor.New(&header, m.Watch()), statuses: r.Statuses(), end: end, at: map[float64]string{},
		last: map[string]bool{}}
	r.Attach(j)
	j.see(0, j.statuses)
	for more := true; more && err == nil; {
		if more, err = r.Step(); more {
			j.at[w.T()] = fmt.Sprint(j.see(w.T(), r.Statuses()), w.Signals()[m.Program.Layout.Slots:])
		}
	}
	if err == nil {
		summary := r.Summary()
		j.judged, err = j.Judge(&record.End{Summary: &summary, Told: summary.Ended})
	}
	return j, err
}

// witnessed flies it with the witness.
func (m *Mission) witnessed(path []Point) (map[float64]string, error) {
	pictures := map[float64]string{}
	f, err := m.compile().begin(path[0].X, path[0].Y)
	for i := 1; err == nil; {
		pictures[f.T] = f.picture()
		next := Point{math.Inf(1), f.world[0], f.world[1]}
		if i < len(path) {
			next = path[i]
		}
		over := f.next()
		if end := path[len(path)-1].T; min(next.T, over) > end {
			f.T = end + .25
			f.carryOut(f.engine.Halt())
			if f.lost {
				err = errUnset
			}
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
		shape := All
		switch {
		case seed%8 == 0:
			shape = scripts
		case seed%4 == 0:
			shape = guarded
		}
		m, read := drawn(t, r, shape)
		p := m.compile()
		for i := range p.Tree.Len() {
			if k := read.Plan.Tree.Kind(bt.Task(i)); k != p.Tree.Kind(bt.Task(i)) {
				t.Fatalf("seed %d: another tree\n%s", seed, m)
			} else if !slices.Contains(kinds, k) {
				kinds = append(kinds, k)
			}
		}
		path := randomPath(r, m, 20)
		want, errRun := fly(read, path)
		got, errHere := m.witnessed(path)
		if errRun != nil || errHere != nil {
			unsettled++
			if (errRun == nil) != (errHere == nil) {
				t.Fatalf("seed %d: the run: %v; here: %v\n%s", seed, errRun, errHere, m)
			}
			continue
		}
		for at, picture := range want.at {
			if got[at] != "" && got[at] != picture {
				t.Fatalf("seed %d, t = %g s:\nrun  %s\nhere %s\n%v\n%s", seed, at, picture, got[at], path, m)
			}
			agreed++
		}
	}
	t.Logf("%d instants agree, %d missions do not settle", agreed, unsettled)
	if agreed < rounds(10000)*10 || unsettled > rounds(10000)/30 {
		t.Errorf("%d instants agree, %d missions do not settle", agreed, unsettled)
	}
	for _, k := range bt.Kinds() {
		if k.Cases() <= 2 && !testing.Short() && !slices.Contains(kinds, k) {
			t.Errorf("no mission has a %s", k)
		}
	}
}
