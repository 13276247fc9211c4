package verify

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"canopy/bt"
	"canopy/document/declare"
)

// orbit follows a signal with the engine, from limit to limit, until it runs away or is where it was before. It returns
// how long the closed part takes and which tasks take part in it.
func orbit(m *Model, start *Player, interval int) (period float64, tasks []bt.Task, closed bool) {
	type state struct {
		interval int
		key      string
	}
	sig := &m.vocab.signals[0]
	cuts := sig.cuts
	world := make([]bool, len(m.vocab.inputs))
	at, now := math.NaN(), 0.0
	seen := map[state]int{}
	var times []float64
	var active []bt.Task
	for {
		sig.put(world, interval)
		if start.Move(world) != nil {
			return 0, nil, false
		}
		task := bt.Task(-1)
		for _, a := range m.actions() {
			if start.active(a) {
				task = a
			}
		}
		if task < 0 {
			return 0, nil, false
		}
		rate := m.subject.Declared.Effects[task]["x"].High
		next := interval
		if rate < 0 {
			next--
		}
		if next < 0 || next >= len(cuts) {
			return 0, nil, false // away
		}
		if !math.IsNaN(at) {
			s := state{interval, fmt.Sprint(start.Key(), at)}
			if first, ok := seen[s]; ok {
				period, active = now-times[first], active[first:]
				slices.Sort(active)
				return period, slices.Compact(active), true
			}
			seen[s] = len(times)
			times, active = append(times, now), append(active, task)
			now += math.Abs((cuts[next].limit - at) / rate)
		}
		at = cuts[next].limit
		interval += map[bool]int{true: 1, false: -1}[rate > 0]
	}
}

// TestTurnsAreTheOrbits: with constant rates the turns of a plan of one signal are exactly the closed orbits of the
// engine, and as fast.
func TestTurnsAreTheOrbits(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	cases, closed, sliding := 400, 0, 0
	if testing.Short() {
		cases = 60
	}
	for range cases {
		var b strings.Builder
		n := 2 + rng.IntN(2)
		for i := range n {
			low, width := rng.IntN(4), rng.IntN(3)
			on, off := fmt.Sprintf("x ge %d", low+width), fmt.Sprintf("x lt %d", low)
			if rng.IntN(2) == 0 {
				on, off = fmt.Sprintf("x lt %d", low), fmt.Sprintf("x ge %d", low+width)
			}
			hysteresis := ""
			if width > 0 {
				hysteresis = ` off="` + off + `"`
			}
			fmt.Fprintf(&b, `<ReactiveSequence name="s%d"><Condition name="c%d" on="%s"%s/><Action name="a%d"/></ReactiveSequence>`,
				i, i, on, hysteresis, i)
		}
		s := declare.Subject{Plan: readPlan(t, `<ReactiveFallback name="root">`+b.String()+fmt.Sprintf(`<Action name="a%d"/></ReactiveFallback>`, n))}
		s.Declared.Effects = declare.Effects{}
		for i := range n + 1 {
			task, _ := s.Plan.Tree.Find(fmt.Sprintf("a%d", i))
			r := float64([]int{-2, -1, 1, 2}[rng.IntN(4)])
			s.Declared.Effects[task] = map[string]declare.Rate{"x": {Low: r, High: r}}
		}
		m := NewModel(s)
		turner := m.newTurner(0)
		if !turner.search() {
			t.Fatal("too many walks")
		}
		turns := map[string]float64{}
		key := func(tasks []bt.Task) string {
			tasks = slices.Clone(tasks)
			slices.Sort(tasks)
			return fmt.Sprint(slices.Compact(tasks))
		}
		for _, x := range turner.found {
			k := key(append(slices.Clone(x.up), x.down...))
			if p, ok := turns[k]; !ok || x.period < p {
				turns[k] = x.period
			}
		}
		orbits := map[string]float64{}
		for first := range len(m.vocab.signals[0].cuts) + 1 {
			for second := range len(m.vocab.signals[0].cuts) + 1 {
				p := m.newTrace()
				world := make([]bool, len(m.vocab.inputs))
				m.vocab.signals[0].put(world, first)
				if p.Move(world) != nil {
					t.Fatal("the plan does not settle")
				}
				if period, tasks, ok := orbit(m, p, second); ok {
					k := key(tasks)
					if old, known := orbits[k]; !known || period < old {
						orbits[k] = period
					}
				}
			}
		}
		for k, period := range orbits {
			bound, ok := turns[k]
			if !ok || bound > period+1e-9 {
				t.Fatalf("%s\n%v\nan orbit of tasks %s takes %g s, the turns are %v", s.Plan.Source.Text, s.Declared.Effects, k, period, turns)
			}
			if closed++; period == 0 {
				sliding++
			}
		}
		for k := range turns {
			if _, ok := orbits[k]; !ok {
				t.Fatalf("%s\n%v\nno orbit has the tasks of the turn %s; there are %v", s.Plan.Source.Text, s.Declared.Effects, k, orbits)
			}
		}
	}
	if closed < cases/4 || sliding < cases/20 {
		t.Errorf("%d closed orbits, %d of them sliding", closed, sliding)
	}
}
