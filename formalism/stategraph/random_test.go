package stategraph

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/snapshot"
)

// literal is a second implementation of the rules of docs/stategraphs.md, as literal and as slow as can be: sets of
// steps, and every question answered by asking it of the whole graph.
type literal struct {
	g       *Graph
	truth   map[int]func(conditions []bool) bool // of the transitions' conditions
	active  map[Step]bool
	memory  map[Step]map[Step]bool // of suspended steps: what was active inside
	since   map[int]float64        // of enabled delayed transitions
	now     float64
	given   []bool
	started bool
}

func (l *literal) inside(s, around Step) bool {
	for s = l.g.Parent(s); s != None; s = l.g.Parent(s) {
		if s == around {
			return true
		}
	}
	return false
}

// could reports whether a transition fires if no step around it is left.
func (l *literal) could(k int) bool {
	t := l.g.transitions[k]
	if !l.offered(k) || !l.truth[k](l.given) {
		return false
	}
	since, waits := l.since[k]
	return t.After == 0 || waits && l.now >= since+t.After
}

// offered reports whether the step that a transition leads from is available to it.
func (l *literal) offered(k int) bool {
	t := l.g.transitions[k]
	if !l.active[t.From] || !t.Suspends && !l.joined(t.From) {
		return false
	}
	for j, other := range l.g.transitions {
		earlier := other.Suspends == t.Suspends && j < k || t.Suspends && !other.Suspends
		if other.From == t.From && earlier && l.could(j) {
			return false
		}
	}
	return true
}

// joined reports whether all exits of a step are free: active, joined themselves, and left by no transition.
func (l *literal) joined(s Step) bool {
	for _, exit := range l.g.Exits(s) {
		if !l.active[exit] || !l.joined(exit) {
			return false
		}
		for k, t := range l.g.transitions {
			if t.From == exit && !t.Suspends && l.could(k) {
				return false
			}
		}
	}
	return true
}

// closed reports whether a step around a step is left or suspended.
func (l *literal) closed(s Step) bool {
	around := l.g.Parent(s)
	if around == None {
		return false
	}
	for k, t := range l.g.transitions {
		if t.From == around && l.could(k) {
			return true
		}
	}
	return l.closed(around)
}

func (l *literal) fires(k int) bool { return l.could(k) && !l.closed(l.g.transitions[k].From) }

// settle returns what happens at an instant and whether it ends.
func (l *literal) settle(t float64, given []bool) (changes []Change, rounds int, ends bool) {
	l.now, l.given = t, given
	if !l.started {
		l.started = true
		l.active = map[Step]bool{}
		l.begin(l.active, None)
		changes = l.compare(changes, map[Step]bool{}, 0)
	}
	fired := map[int]bool{}
	for {
		var firing []int
		waiting := map[int]float64{}
		left := map[Step]bool{}
		for k, t := range l.g.transitions {
			if l.fires(k) {
				firing = append(firing, k)
				left[t.From] = true
				if fired[k] && t.After == 0 && !t.LoopCheck {
					return changes, rounds, false
				}
			}
		}
		for k, t := range l.g.transitions {
			if t.After > 0 && !left[t.From] && !l.closed(t.From) && l.offered(k) && l.truth[k](given) {
				waiting[k] = l.now
				if since, already := l.since[k]; already {
					waiting[k] = since
				}
			}
		}
		l.since = waiting
		if len(firing) == 0 {
			return changes, rounds, true
		}
		rounds++
		before := l.active
		l.active = maps.Clone(before)
		for _, k := range firing {
			fired[k] = true
			from := l.g.transitions[k].From
			if l.g.transitions[k].Suspends {
				l.memory[from] = map[Step]bool{}
			} else {
				delete(l.memory, from)
			}
			for s := range Step(l.g.Len()) {
				if s != from && !l.inside(s, from) {
					continue
				}
				if l.g.transitions[k].Suspends && s != from && before[s] {
					l.memory[from][s] = true
				}
				if !l.g.transitions[k].Suspends {
					delete(l.memory, s)
				}
				delete(l.active, s)
			}
		}
		for _, k := range firing {
			to := l.g.transitions[k].To
			l.active[to] = true
			if kept, ok := l.memory[to]; ok && l.g.transitions[k].Resumes {
				maps.Copy(l.active, kept)
				delete(l.memory, to)
				continue
			}
			delete(l.memory, to)
			for s := range l.memory {
				if l.inside(s, to) {
					delete(l.memory, s)
				}
			}
			l.begin(l.active, to)
		}
		changes = l.compare(changes, before, rounds)
	}
}

// begin adds the first steps inside a step, and those inside them.
func (l *literal) begin(active map[Step]bool, around Step) {
	for s := range Step(l.g.Len()) {
		if l.g.Parent(s) == around && l.g.First(s) {
			active[s] = true
			l.begin(active, s)
		}
	}
}

func (l *literal) compare(changes []Change, before map[Step]bool, round int) []Change {
	for s := range Step(l.g.Len()) {
		if l.active[s] != before[s] {
			changes = append(changes, Change{s, l.active[s], int32(round)})
		}
	}
	return changes
}

// names of the conditions of random graphs.
var conditionNames = []string{"a", "b", "c"}

// randomGraph writes a random document that obeys the rules but perhaps that of loops.
type randomGraph struct {
	random *rand.Rand
	steps  int
	links  []string
	truth  map[string]func(map[string]bool) bool // by text of the condition
}

func (r *randomGraph) chance(p float64) bool { return r.random.Float64() < p }

// level writes the steps of a level and returns its branches.
func (r *randomGraph) level(out *strings.Builder, indent string, depth int) (branches [][]string) {
	for range 1 + r.random.IntN(2) {
		var branch []string
		parallel := map[string]bool{}
		exits := map[string]bool{}
		for i := range 1 + r.random.IntN(4) {
			name := fmt.Sprintf("s%d", r.steps)
			r.steps++
			fmt.Fprintf(out, "%s%s:\n", indent, name)
			if depth == 0 && i == 0 {
				fmt.Fprintf(out, "%s  initial: true\n", indent)
			}
			if depth < 3 && r.chance(0.3) {
				parallel[name] = true
				var inside strings.Builder
				var entry, exit []string
				for _, b := range r.level(&inside, indent+"    ", depth+1) {
					entry = append(entry, b[0])
					if r.chance(0.7) {
						exit = append(exit, b[r.random.IntN(len(b))])
					}
				}
				exits[name] = len(exit) > 0
				fmt.Fprintf(out, "%s  entry: [%s]\n%s  exit: [%s]\n%s  steps:\n%s", indent, strings.Join(entry, ", "), indent,
					strings.Join(exit, ", "), indent, inside.String())
				if len(exit) == 0 {
					exits[name] = false
				}
			}
			branch = append(branch, name)
		}
		for i, to := range branch { // every step can be reached
			if i > 0 {
				r.link(branch[r.random.IntN(i)], to, parallel, exits)
			}
		}
		for range r.random.IntN(2 * len(branch)) {
			r.link(branch[r.random.IntN(len(branch))], branch[r.random.IntN(len(branch))], parallel, exits)
		}
		branches = append(branches, branch)
	}
	return branches
}

func (r *randomGraph) link(from, to string, parallel, exits map[string]bool) {
	text := "from: " + from
	if parallel[from] && (!exits[from] || r.chance(0.5)) {
		text = "suspend: " + from
	}
	if parallel[to] && r.chance(0.5) {
		text += ", resume: " + to
	} else {
		text += ", to: " + to
	}
	if r.chance(0.8) {
		text += ", when: " + r.condition()
	}
	if r.chance(0.5) {
		text += fmt.Sprintf(", after: %g", float64(1+r.random.IntN(8))/4)
	} else if r.chance(0.5) {
		text += ", loop_check: false"
	}
	r.links = append(r.links, "{"+text+"}")
}

// condition returns a random condition, and keeps its meaning.
func (r *randomGraph) condition() string {
	x, y := conditionNames[r.random.IntN(3)], conditionNames[r.random.IntN(3)]
	texts := []string{x, "not " + x, x + " and not " + y, x + " or " + y, "not (" + x + " and " + y + ")"}
	meanings := []func(map[string]bool) bool{
		func(v map[string]bool) bool { return v[x] },
		func(v map[string]bool) bool { return !v[x] },
		func(v map[string]bool) bool { return v[x] && !v[y] },
		func(v map[string]bool) bool { return v[x] || v[y] },
		func(v map[string]bool) bool { return !v[x] || !v[y] },
	}
	i := r.random.IntN(len(texts))
	r.truth[texts[i]] = meanings[i]
	return texts[i]
}

// document writes a whole graph.
func (r *randomGraph) document() string {
	var steps strings.Builder
	r.level(&steps, "  ", 0)
	r.random.Shuffle(len(r.links), func(i, j int) { r.links[i], r.links[j] = r.links[j], r.links[i] })
	return "steps:\n" + steps.String() + "transitions: [" + strings.Join(r.links, ",\n  ") + "]\n"
}

// newLiteral gives the second implementation the meaning of the conditions.
func (r *randomGraph) newLiteral(g *Graph) *literal {
	l := &literal{g: g, memory: map[Step]map[Step]bool{}, truth: map[int]func([]bool) bool{}}
	for k, t := range g.Transitions() {
		l.truth[k] = func([]bool) bool { return true }
		if t.When != nil {
			meaning := r.truth[t.When.String()]
			l.truth[k] = func(given []bool) bool {
				values := map[string]bool{}
				for i, name := range g.Conditions() {
					values[name] = given[i]
				}
				return meaning(values)
			}
		}
	}
	return l
}

// The engine takes the rounds of the rules, on random graphs with random conditions at random times and at the alarms;
// in addition, exactly one step of each branch of an active level is active, and a copy continues alike.
func TestRandom(t *testing.T) {
	graphs := 3000
	if testing.Short() {
		graphs = 300
	}
	random := rand.New(rand.NewPCG(3, 4))
	accepted, loops, rounds, nested := 0, 0, 0, 0
	for range graphs {
		r := &randomGraph{random: random, truth: map[string]func(map[string]bool) bool{}}
		text := r.document()
		g, list := Read(&diag.Source{Name: "random.yaml", Text: text}, nil)
		if g == nil {
			for _, d := range list {
				if d.Code != "loop-without-delay" {
					t.Fatalf("%v\n%s", list, text)
				}
			}
			continue
		}
		accepted++
		branch := branches(g)
		e, l := NewEngine(g), r.newLiteral(g)
		now := 0.0
		for range 40 {
			if alarm := e.Alarm(); r.chance(0.5) && !math.IsInf(alarm, 1) {
				now = alarm
			} else {
				now += float64(r.random.IntN(4)) / 8
			}
			given := make([]bool, len(g.Conditions()))
			for i := range given {
				given[i] = r.chance(0.5)
			}
			restored := NewEngine(g)
			if err := snapshot.Load(snapshot.Save(nil, e), restored); err != nil {
				t.Fatal(err)
			}
			instant, err := e.Settle(now, given)
			changes, n, ends := l.settle(now, given)
			if !slices.Equal(instant.Changes, changes) || instant.Rounds != n || (err == nil) != ends {
				t.Fatalf("t = %g, %v %v:\n%v, %d rounds, %v; the rules say\n%v, %d rounds\n%s", now, g.Conditions(), given,
					instant.Changes, instant.Rounds, err, changes, n, text)
			}
			if err != nil && !errors.Is(err, ErrLoop) {
				t.Fatal(err)
			}
			alarm := math.Inf(1)
			for k, since := range l.since {
				alarm = min(alarm, since+g.Transitions()[k].After)
			}
			if e.Alarm() != alarm {
				t.Fatalf("t = %g: the alarm is %g, the rules say %g\n%s", now, e.Alarm(), alarm, text)
			}
			again, _ := restored.Settle(now, given)
			if !slices.Equal(again.Changes, instant.Changes) || restored.Alarm() != alarm {
				t.Fatalf("a restored engine goes on differently: %v, not %v", again, instant)
			}
			checkBranches(t, e, branch)
			rounds = max(rounds, instant.Rounds)
			if err != nil {
				loops++
			}
			for _, c := range changes {
				if g.Parent(c.Step) != None && g.Parent(g.Parent(c.Step)) != None {
					nested++
				}
			}
		}
	}
	t.Logf("%d graphs of %d, %d loops, at most %d rounds, %d changes two levels down", accepted, graphs, loops, rounds, nested)
	if accepted < graphs/4 || loops == 0 || rounds < 6 || nested < graphs {
		t.Error("the random graphs show too little")
	}
}

// branches returns for each step the first step of its branch.
func branches(g *Graph) []Step {
	first := make([]Step, g.Len())
	for s := range first {
		first[s] = None
		if g.First(Step(s)) {
			first[s] = Step(s)
		}
	}
	for range g.Len() {
		for _, t := range g.Transitions() {
			if first[t.To] == None {
				first[t.To] = first[t.From]
			}
		}
	}
	return first
}

// checkBranches holds that one step of each branch of an active level is active, and none of another level.
func checkBranches(t *testing.T, e *Engine, branch []Step) {
	t.Helper()
	g := e.Graph()
	count := map[Step]int{}
	for s := range Step(g.Len()) {
		if e.active[s] {
			count[branch[s]]++
		}
	}
	for s := range Step(g.Len()) {
		want := 0
		if around := g.Parent(s); around == None || e.active[around] {
			want = 1
		}
		if branch[s] == s && count[s] != want {
			t.Fatalf("%d steps of the branch of %s are active, want %d", count[s], g.StepName(s), want)
		}
	}
}
