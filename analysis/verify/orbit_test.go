package verify

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/document/declare"
)

// relay is a condition on x with hysteresis: it becomes true on one side of the band from low to high.
type relay struct {
	low, high int
	falls     bool // true below the band
}

// leaf writes the condition; without a band, it needs no second threshold.
func (c relay) leaf(i int) string {
	on, off := fmt.Sprintf("x ge %d", c.high), fmt.Sprintf("x lt %d", c.low)
	if c.falls {
		on, off = off, on
	}
	if c.low == c.high {
		return fmt.Sprintf(`<Condition name="c%d" on="%s"/>`, i, on)
	}
	return fmt.Sprintf(`<Condition name="c%d" on="%s" off="%s"/>`, i, on, off)
}

// relays is a list of rules: the first one whose relay is true moves x at its rate, otherwise the last rate does.
type relays struct {
	conditions []relay
	rates      []int
	cuts       []int // the limits, in order; cell k lies below the k-th
}

// after returns the relays in a cell that follows another state of them, and the rule that is active.
func (s *relays) after(before []bool, cell int) (now []bool, active int) {
	at := func(limit int) bool { return cell > slices.Index(s.cuts, limit) } // x is at or above the limit
	for i, c := range s.conditions {
		on, off := at(c.high), !at(c.low)
		if c.falls {
			on, off = off, on
		}
		now = append(now, on || before[i] && !off)
	}
	if active = slices.Index(now, true); active < 0 {
		active = len(s.conditions)
	}
	return now, active
}

// orbit follows x from limit to limit until it runs away or its state repeats. It returns the time of the closed part
// and the rules that are active on it.
func (s *relays) orbit(memory []bool, cell int) (period float64, rules []int, closed bool) {
	seen := map[string]int{}
	var times []float64
	now, at := 0.0, -1
	for {
		var active int
		memory, active = s.after(memory, cell)
		if at >= 0 {
			key := fmt.Sprint(memory, cell, at)
			if first, ok := seen[key]; ok {
				rules = slices.Clone(rules[first:])
				slices.Sort(rules)
				return now - times[first], slices.Compact(rules), true
			}
			seen[key] = len(times)
			times, rules = append(times, now), append(rules, active)
		}
		rate := s.rates[active]
		next, step := cell, 1
		if rate < 0 {
			next, step = cell-1, -1
		}
		if next < 0 || next >= len(s.cuts) {
			return 0, nil, false // away
		}
		if at >= 0 {
			now += float64(s.cuts[next]-at) / float64(rate)
		}
		at, cell = s.cuts[next], cell+step
	}
}

// randomRelays returns two or three rules and a last one, as a plan with rates, and the numbers of its actions.
func randomRelays(t *testing.T, rng *rand.Rand) (s *relays, subject declare.Subject, name map[bt.Task]string) {
	t.Helper()
	s = &relays{}
	text := ""
	for i := range 2 + rng.IntN(2) {
		low := rng.IntN(4)
		c := relay{low, low + rng.IntN(3), rng.IntN(2) == 0}
		s.conditions, s.cuts = append(s.conditions, c), append(s.cuts, c.low, c.high)
		text += fmt.Sprintf(`<ReactiveSequence>%s<Action name="a%d"/></ReactiveSequence>`, c.leaf(i), i)
	}
	slices.Sort(s.cuts)
	s.cuts = slices.Compact(s.cuts)
	text = fmt.Sprintf(`<ReactiveFallback>%s<Action name="a%d"/></ReactiveFallback>`, text, len(s.conditions))
	subject = declare.Subject{Plan: readPlan(t, text)}
	subject.Declared.Effects = declare.Effects{}
	name = map[bt.Task]string{}
	for i := range len(s.conditions) + 1 {
		rate := []int{-2, -1, 1, 2}[rng.IntN(4)]
		s.rates = append(s.rates, rate)
		task, _ := subject.Plan.Tree.Find(fmt.Sprintf("a%d", i))
		name[task] = fmt.Sprint(i)
		subject.Declared.Effects[task] = map[string]declare.Rate{"x": {Low: float64(rate), High: float64(rate)}}
	}
	return s, subject, name
}

// TestTurnsAreTheOrbits: with constant rates, the turns of a list of rules about one signal are exactly the closed
// orbits of the signal, and as fast.
func TestTurnsAreTheOrbits(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	cases, closed, sliding := 400, 0, 0
	if testing.Short() {
		cases = 60
	}
	for range cases {
		s, subject, name := randomRelays(t, rng)
		orbits, turns := map[string]float64{}, map[string]float64{}
		fastest := func(list map[string]float64, key string, period float64) {
			if old, known := list[key]; !known || period < old {
				list[key] = period
			}
		}
		for first := range len(s.cuts) + 1 { // where the relays come from
			memory, _ := s.after(make([]bool, len(s.conditions)), first)
			for second := range len(s.cuts) + 1 {
				if period, rules, ok := s.orbit(memory, second); ok {
					fastest(orbits, fmt.Sprint(rules), period)
				}
			}
		}
		m := NewModel(subject)
		g := m.newGraph(m.lazy(), m.axes(), mergeEqual)
		g.turns = true
		if why := g.explore(); why != "" {
			t.Fatal(why)
		}
		found := g.findTurns()
		for _, x := range found.found {
			var rules []string
			for _, task := range found.tasks(&x) {
				rules = append(rules, name[task])
			}
			slices.Sort(rules)
			fastest(turns, fmt.Sprint(rules), x.period)
		}
		for rules, period := range orbits {
			if bound, ok := turns[rules]; !ok || bound > period+1e-9 {
				t.Fatalf("%s\n%v\nan orbit of %s takes %g s, the turns are %v", subject.Plan.Source.Text, s.rates, rules, period, turns)
			}
			if closed++; period == 0 {
				sliding++
			}
		}
		for rules := range turns {
			if _, ok := orbits[rules]; !ok {
				t.Fatalf("%s\n%v\nno orbit has the rules of the turn %s; there are %v", subject.Plan.Source.Text, s.rates, rules, orbits)
			}
		}
	}
	if closed < cases/4 || sliding < cases/20 {
		t.Errorf("%d closed orbits, %d of them sliding", closed, sliding)
	}
}
