package verify

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/document/declare"
)

var flightsFlag = flag.Int("flights", 0, "how many random plans fly in the tests of reach and chatter; 0: a few hundred")

// flight is a flight of a random plan with real values of the signals x and y, and an own reading of the expressions.
type flight struct {
	*randomPlan
	*brute
	state bruteState
	at    []float64
	stubs []bool
	now   float64
	since map[bt.Task]float64 // of procedures and timers that are under way
}

// planWithEffects is a random plan with random rates, for most of its actions and signals.
func (r *randomPlan) planWithEffects(t *testing.T) declare.Subject {
	s := r.subject(t)
	s.Declared.Facts = nil
	goal := r.conditionless()
	s.Declared.Goal = &goal
	s.Declared.Effects = declare.Effects{}
	for _, name := range r.actions {
		a, _ := s.Plan.Tree.Find(name)
		rates := map[string]declare.Rate{}
		for _, sig := range bruteNames {
			low := float64(r.IntN(7)-3) / 2
			if r.IntN(5) > 0 {
				rates[sig] = declare.Rate{Low: low, High: low + float64(r.IntN(3))/4}
			}
		}
		s.Declared.Effects[a] = rates
	}
	return s
}

func (r *randomPlan) fly(b *brute) *flight {
	return &flight{randomPlan: r, brute: b, state: bruteState{truth: make([]bool, len(b.codes))},
		at:    []float64{0.2 + 2.8*r.Float64(), 0.2 + 2.8*r.Float64()},
		stubs: []bool{r.IntN(2) == 0, r.IntN(2) == 0, r.IntN(2) == 0}, since: map[bt.Task]float64{}}
}

// settle moves the engine, with the procedures that are over and the timers that elapse; ok is false if the plan does
// not settle.
func (f *flight) settle() (ok bool) {
	over := map[bt.Task]bool{}
	for task, since := range f.since {
		if f.now >= since+f.length(task) {
			over[task] = true
		}
	}
	if !f.enter(&f.state, bruteWorld{signals: f.at, stubs: f.stubs}, over) {
		return false
	}
	since := map[bt.Task]float64{}
	for _, task := range f.under(f.state.engine) {
		if at, known := f.since[task]; known && !over[task] {
			since[task] = at
		} else {
			since[task] = f.now
		}
	}
	f.since = since
	return true
}

// length returns how long a procedure or a timer takes [s].
func (f *flight) length(task bt.Task) float64 {
	if f.Plan.Tree.Kind(task).Timer() {
		return f.Plan.Tree.Timer(task)
	}
	return 5
}

// rate returns the range of a signal's rate; ok is false if nothing is known of it.
func (f *flight) rate(signal string) (r declare.Rate, ok bool) {
	r = anyRate
	for task, rates := range f.Declared.Effects {
		if e, known := rates[signal]; known && f.state.engine.Active(task) {
			r, ok = declare.Rate{Low: max(r.Low, e.Low), High: min(r.High, e.High)}, true
		}
	}
	return r, ok && r.Low <= r.High
}

// jumps reports whether no task has an effect on a signal, so that it may jump.
func (f *flight) jumps(signal string) bool {
	for _, rates := range f.Declared.Effects {
		if _, known := rates[signal]; known {
			return false
		}
	}
	return true
}

// toGoal flies from limit to limit, and a little beyond, until the goal holds by a margin. Other inputs change at random,
// signals of which nothing is known too. settles is false if an instant does not end.
func (f *flight) toGoal(margin float64) (reached, settles bool) {
	for range 3_000 {
		if !f.settle() {
			return false, false
		}
		there := true
		for corner := range 4 {
			near := []float64{f.at[0] + margin*float64(corner&1*2-1), f.at[1] + margin*float64(corner&2-1)}
			there = there && f.goal.holds(near, nil)
		}
		if there {
			return true, true
		}
		if f.IntN(10) == 0 {
			i := f.IntN(len(f.stubs))
			f.stubs[i] = !f.stubs[i]
		}
		rates := [2]float64{}
		for i, sig := range bruteNames {
			if r, known := f.rate(sig); known {
				rates[i] = r.Low + float64(f.IntN(3))/2*(r.High-r.Low)
			} else if rates[i] = float64(f.IntN(9) - 4); f.jumps(sig) && f.IntN(5) == 0 {
				f.at[i] = 3 * f.Float64()
			}
		}
		f.cross(rates, 0.005, 0.1+f.Float64())
	}
	return false, true
}

// forms are the sums of x and y that conditions compare with whole numbers.
var forms = [][2]float64{{1, 0}, {0, 1}, {1, -1}, {1, 1}}

// cross moves straight on to some time beyond the next whole number of a form, or until a procedure or a timer ends, but
// not for longer than most.
func (f *flight) cross(rates [2]float64, beyond, most float64) {
	soonest := most
	for _, c := range forms {
		value, rate := c[0]*f.at[0]+c[1]*f.at[1], c[0]*rates[0]+c[1]*rates[1]
		next := math.Floor(value) + 1
		if rate < 0 {
			next = math.Ceil(value) - 1
		}
		if in := (next-value)/rate + beyond; rate != 0 && next >= -2 && next <= 6 {
			soonest = min(soonest, in)
		}
	}
	for task, since := range f.since {
		soonest = min(soonest, max(0, since+f.length(task)-f.now))
	}
	f.now += soonest
	f.at[0] += soonest * rates[0]
	f.at[1] += soonest * rates[1]
}

// plansFlown returns how many plans of each kind fly.
func plansFlown(few, short int) int {
	switch {
	case *flightsFlag > 0:
		return *flightsFlag
	case testing.Short():
		return short
	}
	return few
}

// TestReachedIsReached: on random plans with random rates, flights from where the goal is proved to be reached reach it,
// and from where it is refuted never do, whatever the rates in their ranges and however conditions change. What is proved
// may assume that the plan settles.
func TestReachedIsReached(t *testing.T) {
	count, cases := map[Verdict]int{}, plansFlown(40, 8)
	for k, shape := range []randomPlan{{}, {memory: true}, {relations: true}, {memory: true, slow: true, relations: true}} {
		r := &shape
		r.Rand = rand.New(rand.NewPCG(8, uint64(k)))
		for range cases {
			s := r.planWithEffects(t)
			m := NewModel(s)
			x, why := m.newLiveness(m.goal)
			if why != "" {
				continue
			}
			x.solve()
			b := newBrute(s)
			for range 4 {
				f := r.fly(b)
				verdict := Undecided
				for _, n := range x.starts {
					if x.matches(n, f.at, f.stubs) {
						switch {
						case x.sure[n]:
							verdict = Proved
						case !x.mayReach[n]:
							verdict = Refuted
						}
					}
				}
				if verdict == Undecided || b.goal.holds(f.at, nil) {
					continue
				}
				count[verdict]++
				margin := 0.0
				if verdict == Refuted {
					margin = 0.05 // a step goes over a limit that a signal only touches
				}
				from := slices.Clone(f.at)
				got, settles := f.toGoal(margin)
				if excluded := !settles && x.settles() != nil; got != (verdict == Proved) && !excluded {
					t.Fatalf("%s\ngoal %s\n%v\nfrom %v %v: %s, but reached: %t, settles: %t", s.Plan.Source.Text,
						s.Declared.Goal.Text, s.Declared.Effects, from, f.stubs, verdict, got, settles)
				}
			}
		}
	}
	t.Log(count)
	if count[Proved] < cases/4 || count[Refuted] < cases/4 {
		t.Error(count)
	}
}

// switching is a random plan whose tasks often take turns: branches with a condition and an action each, with memory or
// without, whose rates are seldom 0.
func (r *randomPlan) switching(t *testing.T) declare.Subject {
	effects := declare.Effects{}
	r.stubs, r.count, r.actions, r.conditions = 3, 0, nil, nil
	action := func(attributes string) string {
		r.actions = append(r.actions, fmt.Sprintf("t%d", len(r.actions)))
		return fmt.Sprintf(`<Action name="%s"%s/>`, r.actions[len(r.actions)-1], attributes)
	}
	text := ""
	for range 1 + r.IntN(3) {
		kind := r.pick("ReactiveSequence", "ReactiveSequence", "Sequence")
		condition := fmt.Sprintf(`<Condition name="d%d" on="%s"/>`, len(r.actions), r.expression())
		attributes := ""
		switch r.IntN(6) {
		case 0, 1:
			s, c := r.pick("x", "y", "x - y"), 1+r.IntN(2)
			condition = fmt.Sprintf(`<Condition name="d%d" on="%s ge 2" off="%s lt %d"/>`, len(r.actions), s, s, c)
		case 2:
			attributes = fmt.Sprintf(` done=%q`, r.expression())
		}
		text += "<" + kind + ">" + condition + action(attributes) + "</" + kind + ">"
	}
	root := r.pick("ReactiveFallback", "ReactiveFallback", "Fallback")
	text = "<" + root + ">" + text + action("") + "</" + root + ">"
	s := declare.Subject{Plan: readPlan(t, text)}
	for _, name := range r.actions {
		a, _ := s.Plan.Tree.Find(name)
		rates := map[string]declare.Rate{}
		for _, sig := range bruteNames {
			low := float64(r.IntN(5)-2) / 2
			if r.IntN(8) > 0 {
				rates[sig] = declare.Rate{Low: low, High: low + float64(r.IntN(5)/4)/4}
			}
		}
		effects[a] = rates
	}
	goal := r.conditionless()
	s.Declared.Goal, s.Declared.Effects, s.Declared.Period = &goal, effects, []float64{0.5, 1, 2, 4}[r.IntN(4)]
	return s
}

// TestTurnsAreNotFaster: in flights of random plans with random rates, whose other conditions stay as they are, tasks
// take turns no faster than proved.
func TestTurnsAreNotFaster(t *testing.T) {
	r := &randomPlan{Rand: rand.New(rand.NewPCG(8, 1)), relations: true}
	proved, refuted, open, slow, fast := 0, 0, 0, 0, 0
	cases := plansFlown(400, 100)
	for range cases {
		s := r.switching(t)
		least := s.Declared.Period
		found := askChatter(NewModel(s))
		turns := !slices.ContainsFunc(found, func(f Finding) bool { return f.Text == "no two tasks take turns on a signal" })
		certain := !slices.ContainsFunc(found, func(f Finding) bool { return f.Verdict != Proved })
		switch {
		case certain:
			proved++
		case slices.ContainsFunc(found, func(f Finding) bool { return f.Verdict == Refuted }):
			refuted++
		default:
			open++
		}
		for range 4 {
			switch count, period := r.fly(newBrute(s)).turns(); {
			case count < 5:
			case certain && (!turns || period < least*0.999):
				t.Fatalf("%s\n%v\nproved that turns take %g s, but %d took %g s each: %v", s.Plan.Source.Text,
					s.Declared.Effects, least, count, period, found)
			case period < least*0.999:
				fast++
			default:
				slow++
			}
		}
	}
	summary := fmt.Sprintf("%d plans proved, %d refuted, %d not concluded; slow turns in %d flights, fast ones in %d", proved,
		refuted, open, slow, fast)
	t.Log(summary)
	if proved < cases/4 || refuted < cases/20 || open > cases/20 || fast < cases/8 || slow < cases/200 {
		t.Error(summary)
	}
}

// turns flies from limit to limit and returns how often the flight comes back to one state of the plan in one cell after
// other tasks were active, and how long that takes: of the state that it comes back to most often.
func (f *flight) turns() (count int, period float64) {
	type visits struct {
		first, last float64
		n           int
		changes     int // of active tasks, at the last visit
	}
	seen := map[string]visits{}
	changes, before := 0, ""
	best := visits{}
	for range 200 {
		if !f.settle() {
			break
		}
		active := ""
		for _, l := range f.Plan.Leaves {
			active += fmt.Sprint(f.state.engine.Active(l.Task) && f.Plan.Tree.Kind(l.Task) == bt.Action)
		}
		if active != before {
			changes++
			before = active
		}
		key := f.key(f.state)
		for _, c := range forms {
			key += fmt.Sprint(math.Floor(c[0]*f.at[0]+c[1]*f.at[1]), " ")
		}
		switch v, known := seen[key]; {
		case !known:
			seen[key] = visits{first: f.now, last: f.now, changes: changes}
		case v.changes < changes:
			v.n, v.last, v.changes = v.n+1, f.now, changes
			if seen[key] = v; v.n > best.n {
				best = v
			}
		}
		rates := [2]float64{}
		for i, sig := range bruteNames {
			if r, known := f.rate(sig); known {
				rates[i] = r.Low + float64(f.IntN(3))/2*(r.High-r.Low)
			}
		}
		f.cross(rates, 1e-7, 1e6)
	}
	// A turn may begin in the middle of its way, and turns in several sums may alternate.
	if best.n < 5 {
		return best.n, 0
	}
	return best.n, (best.last - best.first) * float64(len(forms)) / float64(best.n-len(forms))
}

// conditionless is a random goal over signals.
func (r *randomPlan) conditionless() declare.Statement {
	names := r.conditions
	r.conditions = nil
	defer func() { r.conditions = names }()
	return r.statement()
}

// matches reports whether a node's cells are those of these values.
func (x *liveness) matches(n int, at []float64, stubs []bool) bool {
	stub := 0
	for i := range x.axes {
		a, cell := &x.axes[i], 0
		if a.terms == nil {
			cell = btoi(stubs[stub])
			stub++
		} else {
			sum := 0.0
			for _, term := range a.terms {
				sum += term.Factor * at[slices.Index(bruteNames, term.Signal)]
			}
			for cell < len(a.cuts) && (sum > a.cuts[cell].limit || sum == a.cuts[cell].limit && !a.cuts[cell].strict) {
				cell++
			}
		}
		if s := x.nodes[n].cells[i]; cell < s.low || cell > s.high {
			return false
		}
	}
	return true
}
