package verify

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"canopy/bt"
)

// Chattering: tasks take turns across limits of one signal, because the effect of each activates the other again. While
// all other inputs are constant, a place is an interval of the signal with the values of the conditions with hysteresis
// that read it; an active action moves the place up or down as its declared effect allows. A turn is a closed walk: up
// by some tasks to where another lowers the signal, and down to where it began. Its margin is the distance between the
// highest and the lowest limit it crosses, and it takes at least
//
//	period = margin/up + margin/down
//
// with the maximum rates declared for the tasks on the way. Without hysteresis the margin is 0: the plan would switch
// infinitely often at once, a sliding mode.

// maxWalks bounds the steps of the search for turns.
const maxWalks = 20_000

// place is an interval of the signal with the values of its latches.
type place struct {
	interval int
	latched  int // bit i: of the signal's latch i
}

// turn is a closed walk. Tasks that are active together are treated separately.
type turn struct {
	up, down  []bt.Task // in the order in which they are active
	low, high float64   // the limits of the margin
	period    float64   // [s]
	places    []place   // from the lowest, up and down again
	tasks     []bt.Task // active at each of the places but the last
	in        set       // of the other inputs
	signal    int
}

// turner finds the turns of one signal.
type turner struct {
	m       *Model
	signal  int
	latches []int // leaves
	hidden  []int // variables: the signal's cuts and latches
	movers  []bt.Task
	active  map[place]map[bt.Task]set // by the other inputs
	walks   int
	found   []turn
}

// maxTurnLatches bounds the conditions with hysteresis whose memories are part of a turn's places.
const maxTurnLatches = 8

func askChatter(m *Model) []Finding {
	effects := m.subject.Declared.Effects
	if len(effects) == 0 {
		return nil
	}
	var found []Finding
	for i := range m.vocab.signals {
		t := m.newTurner(i)
		if len(t.movers) < 2 {
			continue
		}
		if len(t.latches) > maxTurnLatches || !t.search() {
			found = append(found, Finding{Verdict: Undecided, About: m.vocab.signals[i].name,
				Text: "not concluded whether tasks take turns on " + m.vocab.signals[i].name +
					": there are too many possible turns",
				Advice: "declare effects of fewer tasks"})
			continue
		}
		for _, x := range t.distinct() {
			found = append(found, m.turnFinding(x))
		}
	}
	if len(found) == 0 {
		found = []Finding{{Text: "no two tasks take turns on a signal"}}
	}
	return found
}

// newTurner collects the actions that move a signal and the latches that read it.
func (m *Model) newTurner(i int) *turner {
	t := &turner{m: m, signal: i, active: map[place]map[bt.Task]set{}}
	sig := &m.vocab.signals[i]
	for b := range sig.bits() {
		t.hidden = append(t.hidden, sig.at+b)
	}
	for l := range m.leaves {
		names := map[string]bool{}
		if v := m.leaves[l].latch; v >= 0 && !slices.Contains(t.hidden, v) {
			if mentions(m.leaves[l].on, names); !names["signal "+sig.name] {
				mentions(m.leaves[l].off, names)
			}
			if names["signal "+sig.name] {
				t.latches, t.hidden = append(t.latches, l), append(t.hidden, v)
			}
		}
	}
	for _, a := range m.actions() {
		if r := m.subject.Declared.Effects[a][sig.name]; r.Low < 0 || r.High > 0 {
			t.movers = append(t.movers, a)
		}
	}
	return t
}

// at returns the states in which the signal and its latches are at a place and stay there.
func (t *turner) at(p place) set {
	s, m := t.m.space, t.m
	all := m.between(t.signal, p.interval, p.interval)
	for i, l := range t.latches {
		value := p.latched>>i&1 != 0
		all = s.and(all, m.literal(m.leaves[l].latch, value))
		if value {
			all = s.and(all, m.truth[l])
		} else {
			all = s.and(all, s.not(m.truth[l]))
		}
	}
	return all
}

// activity returns where, by the other inputs, each mover is active at a place.
func (t *turner) activity(p place) map[bt.Task]set {
	if known, ok := t.active[p]; ok {
		return known
	}
	s, here := t.m.space, map[bt.Task]set{}
	at := s.and(t.at(p), t.m.allowed)
	for _, a := range t.movers {
		in := s.hide(s.and(at, t.m.active[a]), t.hidden)
		if !s.empty(in) {
			here[a] = in
		}
	}
	t.active[p] = here
	return here
}

// moved calls f with the places that follow when the signal goes to a neighbouring interval: the latches take the
// values that they have there, as far as the other inputs decide.
func (t *turner) moved(p place, by int, in set, f func(next place, in set)) {
	s, m := t.m.space, t.m
	k := p.interval + by
	if k < 0 || k > len(m.vocab.signals[t.signal].cuts) {
		return
	}
	before := m.between(t.signal, k, k)
	for i, l := range t.latches {
		before = s.and(before, m.literal(m.leaves[l].latch, p.latched>>i&1 != 0))
	}
	for mask := range 1 << len(t.latches) {
		to := before
		for i, l := range t.latches {
			if mask>>i&1 != 0 {
				to = s.and(to, m.truth[l])
			} else {
				to = s.and(to, s.not(m.truth[l]))
			}
		}
		in := s.and(in, s.hide(to, t.hidden))
		if !s.empty(in) {
			f(place{k, mask}, in)
		}
	}
}

// search finds the turns that begin with a step up from each place.
func (t *turner) search() (complete bool) {
	for k := range len(t.m.vocab.signals[t.signal].cuts) {
		for mask := range 1 << len(t.latches) {
			from := place{k, mask}
			t.walk(&walk{places: []place{from}, in: t.m.space.all()}, true)
		}
	}
	return t.walks <= maxWalks && !t.m.space.full()
}

// walk is a walk so far.
type walk struct {
	places   []place
	tasks    []bt.Task
	ups      int // number of tasks that move up, the first; the others move down
	in       set
	up, down float64 // maximum rates
}

// walk continues a walk, up or down. It turns where a task that was not active on the way up lowers the signal.
func (t *turner) walk(w *walk, up bool) {
	if t.walks++; t.walks > maxWalks {
		return
	}
	here := w.places[len(w.places)-1]
	sig := t.m.vocab.signals[t.signal].name
	active := t.activity(here)
	for _, a := range t.movers {
		in, ok := active[a]
		if !ok {
			continue
		}
		in = t.m.space.and(in, w.in)
		if t.m.space.empty(in) {
			continue
		}
		rate := t.m.subject.Declared.Effects[a][sig]
		if up && rate.High > 0 {
			t.onward(w, a, 1, max(w.up, rate.High), w.down, in)
		}
		if w.ups > 0 && rate.Low < 0 && (!up || !slices.Contains(w.tasks, a)) {
			t.onward(w, a, -1, w.up, max(w.down, -rate.Low), in)
		}
	}
}

func (t *turner) onward(w *walk, a bt.Task, by int, up, down float64, in set) {
	if by < 0 && slices.Contains(w.tasks[:w.ups], a) {
		return // the same task on both ways is no turn
	}
	t.moved(w.places[len(w.places)-1], by, in, func(next place, in set) {
		n := &walk{append(slices.Clone(w.places), next), append(slices.Clone(w.tasks), a), w.ups, in, up, down}
		if by > 0 {
			n.ups++
		}
		switch {
		case next == w.places[0] && by < 0:
			t.close(n)
		case slices.Contains(w.places, next):
		default:
			t.walk(n, by > 0)
		}
	})
}

// close records a turn.
func (t *turner) close(w *walk) {
	cuts := t.m.vocab.signals[t.signal].cuts
	lowest, highest := w.places[0].interval, w.places[w.ups].interval
	x := turn{low: cuts[lowest].limit, high: cuts[highest-1].limit, places: w.places, tasks: w.tasks, in: w.in,
		signal: t.signal}
	x.up = slices.Compact(slices.Clone(w.tasks[:w.ups]))
	x.down = slices.Compact(slices.Clone(w.tasks[w.ups:]))
	margin := x.high - x.low
	if margin > 0 {
		x.period = margin/w.up + margin/w.down
	}
	t.found = append(t.found, x)
}

// distinct returns the turns, of those with the same tasks only the fastest.
func (t *turner) distinct() []turn {
	var list []turn
	for _, x := range t.found {
		same := func(y turn) bool {
			return x.up[len(x.up)-1] == y.up[len(y.up)-1] && x.down[len(x.down)-1] == y.down[len(y.down)-1]
		}
		switch i := slices.IndexFunc(list, same); {
		case i < 0:
			list = append(list, x)
		case x.period < list[i].period:
			list[i] = x
		}
	}
	return list
}

func (m *Model) turnFinding(x turn) Finding {
	sig := m.vocab.signals[x.signal].name
	names := func(tasks []bt.Task) string {
		var list []string
		for _, t := range tasks {
			list = append(list, m.tree.Name(t))
		}
		return strings.Join(list, " and ")
	}
	f := Finding{Tasks: append(slices.Clone(x.up), x.down...), About: sig}
	who := fmt.Sprintf("%s and %s take turns on %s", names(x.up), names(x.down), sig)
	switch {
	case x.period >= m.subject.Declared.Period:
		f.Text = fmt.Sprintf("%s no faster than every %.3g s", who, x.period)
		return f
	case x.high == x.low:
		f.Text = fmt.Sprintf("%s at %s without end: one raises it above the limit, the other lowers it below", who,
			number(x.low))
		f.Advice = "give the condition hysteresis: an `off` limit apart from `on`"
	case x.period == 0:
		f.Text = fmt.Sprintf("%s between %s and %s, without a minimum period: their effects have no maximum rate", who,
			number(x.low), number(x.high))
		f.Advice = "declare the maximum rates of these effects, as in [-2e-5, 1e-5]: no margin is large enough for any rate"
	default:
		f.Text = fmt.Sprintf("%s between %s and %s, as fast as every %.3g s; the minimum is %.3g s", who, number(x.low),
			number(x.high), x.period, m.subject.Declared.Period)
		f.Advice = fmt.Sprintf("use a margin of %s, or declare a shorter `period`",
			number(roundUp((x.high-x.low)*m.subject.Declared.Period/x.period)))
	}
	f.Verdict = Refuted
	f.Where, f.More = m.regions(x.in)
	if f.Script = m.replayTurn(x); f.Script == "" {
		f.Verdict, f.Text = Undecided, "not concluded whether "+f.Text+": the engine does not confirm it from the start"
	}
	return f
}

// roundUp keeps two digits.
func roundUp(x float64) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(x))-1)
	return math.Ceil(x/unit-1e-9) * unit
}

// replayTurn returns a script that goes through a turn twice, "" if the engine does not show it.
func (m *Model) replayTurn(x turn) string {
	if m.empty(x.in) {
		return ""
	}
	world := concrete(m.space.witness(m.space.and(x.in, m.allowed)))
	p, sig := m.newTrace(), &m.vocab.signals[x.signal]
	for i := range m.leaves {
		if l := &m.leaves[i]; l.latch >= 0 {
			p.latched[i] = world[l.latch]
		}
	}
	t := m.newTurner(x.signal)
	for i := range m.leaves { // the latches of the signal are as at the first place
		for j, l := range t.latches {
			if m.leaves[i].latch >= 0 && m.leaves[i].latch == m.leaves[l].latch {
				p.latched[i] = x.places[0].latched>>j&1 != 0
			}
		}
	}
	for range 2 {
		for i, at := range x.places[:len(x.places)-1] {
			sig.put(world, at.interval)
			if p.Move(world) != nil || !p.active(x.tasks[i]) {
				return ""
			}
		}
	}
	return p.script()
}
