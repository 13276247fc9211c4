package simulated

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"canopy/internal/cart"
	"canopy/run"
	"canopy/snapshot"
)

// randomMission writes the parts of a mission of the cart with typed and computed signals, procedures and timers.
type randomMission struct {
	*rand.Rand
	leaves int
}

const randomSignals = typed + `  zone: {type: enumeration, values: [close, between, away], value: "if(x lt 2 [m], close, if(x lt 5 [m], between, away))"}
  steep: {type: boolean, value: "zone == between"}
  flag: {type: boolean, value: "armed or legs == 2"}
  level: {type: integer, value: "if(flag, 2, 1)"}
  shifted: {unit: m, value: "x - 2 [m]"}
`

// fill returns one of some texts, with a random number in each place for one.
func (r *randomMission) fill(texts ...string) string {
	text := texts[r.IntN(len(texts))]
	for strings.Contains(text, "%") {
		text = strings.Replace(text, "%", fmt.Sprint(r.IntN(9)), 1)
	}
	return text
}

func (r *randomMission) formula() string {
	one := func() string {
		return r.fill("x ge % [m]", "x lt % [m]", "t ge 1% [s]", "t lt % [s]", "v ge 0.% [m/s]", "v lt 0.% [m/s]", "mode == transit",
			"mode != survey", "armed", "legs == 2", "laps lt 2", "note == 'a'", "zone == between", "zone != close", "steep", "flag",
			"level == 2", "shifted gt % [m]")
	}
	return one() + r.fill("", "", "", " and "+one(), " or "+one(), " and not ("+one()+")")
}

func (r *randomMission) assignments() string {
	here := r.fill("x ge % [m]", "x lt % [m]", "t ge 1% [s]") // no signal that depends on a slot: no circles
	return r.fill("v := %; ", "v := -1; ", "v := if("+here+", 1, -1); ", "") + r.fill("armed := "+here,
		"mode := transit", "mode := if("+here+", home, survey)", "legs := 2", "legs := if("+here+", 1, 2)", "laps := 1",
		"note := 'a'", "note := if("+here+", 'a', 'b')")
}

func (r *randomMission) leaf() string {
	r.leaves++
	perhaps := func(attributes ...string) string { return r.fill(append(attributes, "", "", "")...) }
	if r.IntN(5) < 2 {
		return fmt.Sprintf(`<Condition ID="c%d" on="%s"%s/>`, r.leaves, r.formula(), perhaps(` off="`+r.formula()+`"`))
	}
	return fmt.Sprintf(`<Action ID="a%d" write="%s"`, r.leaves, r.assignments()) +
		perhaps(` entry="note := 'b'"`, ` entry="mode := home"`, ` _successIf="`+r.formula()+`"`, ` _failureIf="`+r.formula()+`"`) +
		perhaps(` done="`+r.formula()+`"`, ` failed="`+r.formula()+`"`, ` done="`+r.formula()+`"`) +
		perhaps(` entry_time="%"`, ` entry_until="`+r.formula()+`"`) +
		perhaps(` exit_time="%"`, ` exit_until="x ge 0 [m]"`, ` exit_until="`+r.formula()+`"`, ` exit="mode := home" exit_until="`+r.formula()+`"`) + "/>"
}

func (r *randomMission) tree(depth int) string {
	if depth == 0 {
		return r.leaf()
	}
	a, b, c := r.tree(depth-1), r.tree(depth-1), r.leaf()
	tag := r.fill("Sequence", "Fallback", "ReactiveSequence", "ReactiveFallback", "ReactiveFallback", "IfThenElse", "TryCatch", "Parallel",
		"ReactiveParallel", "WhileDoElse")
	around := r.fill("", "", `Delay delay_msec="%100"`, `Timeout msec="%500"`, `RetryUntilSuccessful num_attempts="3"`)
	text := "<" + tag + ">" + a + b + c + "</" + tag + ">"
	if around != "" {
		name, _, _ := strings.Cut(around, " ")
		text = "<" + around + ">" + text + "</" + name + ">"
	}
	return text
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
	flown, changes, n := 0, 0, 180
	if testing.Short() {
		n = 24
	}
	for seed := range uint64(n) {
		r := &randomMission{Rand: rand.New(rand.NewPCG(seed, 1))}
		body := `<ReactiveParallel success_count="2" failure_count="2">` + r.tree(2) + r.tree(1) + "</ReactiveParallel>"
		m, _ := cart.Read(body, randomSignals, "horizon=20")
		if m == nil {
			continue // signals depend on each other in a circle
		}
		flown++
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
	if flown < n/2 || changes < 20*n {
		t.Errorf("%d missions with %d changes are not enough", flown, changes)
	}
}

// TestListeningFliesAlike: whether a run judges everything or only what is heard, the same tasks run at the same times,
// and every value on the grid is the same number.
func TestListeningFliesAlike(t *testing.T) {
	flown, runs, saved, n := 0, 0, 0, 400
	if testing.Short() {
		n = 100
	}
	for seed := range uint64(n) {
		r := &randomMission{Rand: rand.New(rand.NewPCG(seed, 2))}
		body := `<ReactiveParallel success_count="2" failure_count="2">` + r.tree(2) + r.tree(1) + "</ReactiveParallel>"
		m, _ := cart.Read(body, randomSignals, "horizon=20")
		if m == nil {
			continue // signals depend on each other in a circle
		}
		flown++
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
	t.Logf("%d missions, %d changes of tasks that run; %d changes are not made", flown, runs, saved)
	if flown < n/2 || runs < 20*n || saved < n {
		t.Errorf("%d missions with %d changes, %d saved, are not enough", flown, runs, saved)
	}
}
