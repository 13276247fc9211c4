package flown

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/document/declare"
	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/explore"
	"github.com/canopy-uav/canopy/expr"
	ranges "github.com/canopy-uav/canopy/expr/interval"
	"github.com/canopy-uav/canopy/internal/cart"
	"github.com/canopy-uav/canopy/internal/oracle"
	"github.com/canopy-uav/canopy/run"
	"github.com/canopy-uav/canopy/run/record"
)

// shadow is a world of a run that records what the executive sees.
type shadow struct {
	*oracle.World
	notes []note
}

// note is something that the executive has seen, or that has begun.
type note struct {
	what    string // instant, sides, value, start
	t       float64
	signals []float64
	above   []bool
	clock   int
	due     float64
}

func (w *shadow) note(what string) *note {
	_, above := w.Discrete()
	w.notes = append(w.notes, note{what: what, t: w.T(), signals: slices.Clone(w.Signals()), above: slices.Clone(above)})
	return &w.notes[len(w.notes)-1]
}

func (w *shadow) Advance(until float64) (run.Segment, error) {
	s, err := w.World.Advance(until)
	if len(s.Events) > 0 || s.Alarm {
		w.note("instant")
	}
	return s, err
}

func (w *shadow) Iterate() ([]int, error) {
	changed, err := w.World.Iterate()
	w.note("sides")
	return changed, err
}

func (w *shadow) Capture(input int, c *expr.Code) {
	w.note("value")
	w.World.Capture(input, c)
}

func (w *shadow) Keep(input, signal int) {
	w.note("value")
	w.World.Keep(input, signal)
}

func (w *shadow) Start(clock int, c *expr.Code, length float64) (float64, bool) {
	if c != nil {
		w.note("value")
	}
	due, ok := w.World.Start(clock, c, length)
	n := w.note("start")
	n.clock, n.due = clock, due
	return due, ok
}

// changes is a log of status changes.
type changes struct {
	record.Nothing
	list []bt.Change
}

func (c *changes) Status(_ float64, _ int, x bt.Change) error {
	c.list = append(c.list, x)
	return nil
}

// follower answers the questions of the abstract world as a run did.
type follower struct {
	*world
	t     *testing.T
	s     *Stepper
	notes []note
	now   note
	sides []bool // as committed
	past  []bool // the sides before those of now
	dues  map[int]float64
	kept  map[string]float64 // by name
	text  string
}

// next goes to the next note of a kind in this instant.
func (f *follower) next(what string) {
	for len(f.notes) > 0 {
		n := f.notes[0]
		if n.what == "instant" {
			break
		}
		f.notes = f.notes[1:]
		if n.what == "start" {
			f.dues[n.clock] = n.due
		}
		if n.what == what {
			if what == "sides" {
				f.past = f.sides
				f.sides = n.above
			}
			f.now = n
			return
		}
	}
	f.t.Fatalf("%s\nat t = %v: the run has no %s here; changes %v", f.text, f.now.t, what, f.s.moment.Changes)
}

func (f *follower) answer(q question) bool {
	switch q.kind {
	case bound:
		v := f.number(q.form)
		return v > q.limit || v == q.limit && !q.open
	case equal:
		return f.number(q.form) == q.limit
	case side:
		return f.now.above[q.index]
	case past:
		return f.past[q.index]
	case ended:
		due, ok := f.dues[q.index]
		return ok && f.now.t >= due
	case renewed: // the run goes on
		return false
	}
	panic("flown: a question of an unknown kind")
}

// number evaluates a form.
func (f *follower) number(form int32) float64 {
	sum := 0.0
	for _, t := range f.s.list[form].terms {
		a := &f.s.atoms[t.atom]
		if x, kept := f.kept[a.signal]; kept {
			sum += t.coefficient * x
		} else if a.signal != "" {
			sum += t.coefficient * f.now.signals[f.s.places[a.signal]]
		} else if a.operation == product || a.operation == rounded {
			x := t.coefficient
			for _, v := range a.args {
				x *= f.number(v.form)*v.scale + v.offset
			}
			sum += x
		} else {
			f.t.Fatalf("an operation %s", a.operation)
		}
	}
	return sum
}

// The executive asks for a value.
type watched struct{ *follower }

func (w watched) Capture(input int, c *expr.Code) { w.next("value"); w.world.Capture(input, c) }
func (w watched) Keep(input, signal int)          { w.next("value"); w.world.Keep(input, signal) }

func (w watched) Start(clock int, c *expr.Code, length float64) (float64, bool) {
	if c != nil {
		w.next("value")
	}
	return w.world.Start(clock, c, length)
}

// A run of a random mission is one that the steps allow: the answers of each instant are among those that are possible,
// and statuses, written values and captured values are the same after each.
func TestRunsAreAmongTheSteps(t *testing.T) {
	missions := 1500
	if testing.Short() {
		missions = 150
	}
	instants := 0
	for seed := range uint64(missions) {
		r := rand.New(rand.NewPCG(seed, 77))
		o := oracle.Random(r, oracle.All)
		m, _ := o.Read()
		if m == nil {
			continue
		}
		var path []oracle.Point
		for i := range 20 {
			path = append(path, oracle.Point{T: float64(i) * .5, X: .5 + .5*float64(r.IntN(5)), Y: .5 + .5*float64(r.IntN(5))})
		}
		instants += follow(t, fmt.Sprint("seed ", seed, "\n", o), m, path)
	}
	if instants < 5*missions {
		t.Errorf("only %d instants", instants)
	}
}

// The same for plans that ask for distances from points, for coordinates, and for sums of these, which facts limit.
func TestRunsNearPointsAreAmongTheSteps(t *testing.T) {
	missions := 800
	if testing.Short() {
		missions = 100
	}
	instants, implied := 0, 0
	for seed := range uint64(missions) {
		r := rand.New(rand.NewPCG(seed, 79))
		near := func() string {
			switch x, y, size := r.IntN(4), r.IntN(4), 1+r.IntN(4); r.IntN(7) {
			case 0:
				return fmt.Sprintf("x %s %d", []string{"ge", "lt"}[r.IntN(2)], x)
			case 1:
				return fmt.Sprintf("2 * y - %d gt %d", y, size)
			case 2:
				return fmt.Sprintf("(x - %d)^2 - 2 * (y - %d)^2 ge %d", x, y, size-2)
			case 3:
				return fmt.Sprintf("(2 * x - %d)^2 + (%d - y)^2 lt %d", x, y, size)
			case 4:
				return fmt.Sprintf("x %s 2 * y + %d", []string{"ge", "lt"}[r.IntN(2)], x-2)
			case 5:
				return fmt.Sprintf("x * y + 0.5 * x - y gt %d", size)
			default:
				return fmt.Sprintf("(x - %d)^2 + (y - %d)^2 le %d", x, y, size)
			}
		}
		to := func(name string) string {
			return fmt.Sprintf(`<Action name="%s" write="s := %d" done="%s and %s" failed="%s"/>`, name, r.IntN(3), near(), near(),
				near())
		}
		plan := `<root BTCPP_format="4"><BehaviorTree ID="p"><Repeat num_cycles="3"><Fallback><Sequence>` + to("a") + to("b") +
			`</Sequence><ReactiveSequence><Condition name="c" on="` + near() + `" off="` + near() + `"/>` + to("d") +
			`</ReactiveSequence><Action name="e"/></Fallback></Repeat></BehaviorTree></root>`
		files := cart.Files{"p.xml": plan, "m.yaml": "plan: p.xml\nvehicle: v.yaml\nhorizon: 1000\nsignals: {s: {}}\n" +
			"check: {facts: [x ge 0 and x le 3.5, not (y gt 3.5), y ge 0]}\n",
			"v.yaml": "states: {x: {derivative: \"0 [1/s]\"}, y: {derivative: \"0 [1/s]\"}}\ncommands: {u: {}}\n"}
		m, diags := mission.Read("m.yaml", files.Open, nil, nil)
		if m == nil {
			t.Fatal(plan, diags)
		}
		var path []oracle.Point
		for i := range 30 {
			path = append(path, oracle.Point{T: float64(i) * .5, X: .5 * float64(r.IntN(8)), Y: .5 * float64(r.IntN(8))})
		}
		instants += follow(t, fmt.Sprint("seed ", seed, "\n", plan), m, path)
		s := New(m.Subject())
		s.Steps("", func(*Moment) {})
		for f := range s.list {
			implied += btoi(s.list[f].sum)
		}
	}
	if instants < 5*missions || implied < missions {
		t.Errorf("only %d instants, %d sums with squares", instants, implied)
	}
}

// startAt returns a start at a point, or in ranges around it.
func startAt(p oracle.Point) map[string]ranges.Interval {
	start := map[string]ranges.Interval{"t": ranges.Point(0)}
	for i, x := range []float64{p.X, p.Y} {
		switch name := []string{"x", "y"}[i]; int(4*(p.X+2*p.Y)) / (1 + i) % 3 {
		case 0:
			start[name] = ranges.Point(x)
		case 1:
			start[name] = ranges.Between(x-0.5, x+0.25)
		}
	}
	return start
}

func follow(t *testing.T, text string, m *mission.Mission, path []oracle.Point) (instants int) {
	w := &shadow{World: oracle.NewWorld(m, path)}
	w.note("sides")
	x, err := run.New(m, w, run.Continuous{All: true}, path[len(path)-1].T+.25)
	if err != nil {
		t.Fatal(err)
	}
	log, end := &changes{}, x.Until()
	x.Attach(log)
	subject := m.Subject()
	subject.Initial = startAt(path[0])
	s := New(subject)
	_, above := w.Discrete()
	f := &follower{sides: make([]bool, len(above)), world: s.w, t: t, s: s, dues: map[int]float64{}, text: text}
	s.w.guide = func(q question) (answer, known bool) { return f.answer(q), true }
	s.world = watched{f}
	facts := expr.NewCompiler(nil, func(name string) (int, bool) { place, ok := s.places[name]; return place, ok })
	key := Key("")
	for more := true; more; {
		log.list = log.list[:0]
		if more, err = x.Step(); err != nil {
			return instants
		}
		if !more || x.T() >= end { // what follows is its end
			break
		}
		if slices.ContainsFunc(subject.Declared.Facts, func(fact declare.Statement) bool {
			return !facts.Compile(fact.Parts[0]).Bool(w.Signals(), nil)
		}) {
			break // steps say nothing about such runs
		}
		if key != "" && !slices.ContainsFunc(w.notes, func(n note) bool { return n.what == "instant" }) {
			continue
		}
		f.notes = slices.Clone(w.notes)
		if key != "" {
			f.notes = f.notes[1:]
		}
		w.notes = nil
		f.next("sides")
		moments := 0
		s.Follow(key, nil, func(m *Moment) {
			moments++
			if m.Err != nil {
				t.Fatalf("%s\nat t = %v: %v", text, w.T(), m.Err)
			}
			switch {
			case !m.Over && s.w.idle > 1 && slices.Equal(f.past, f.sides): // the run's instant is over
				f.past = f.sides
				return
			case !m.Over:
				f.next("sides")
				return
			}
			statuses := x.Statuses()
			for task, status := range statuses {
				if got := m.Status(bt.Task(task)); got != status {
					t.Fatalf("%s\nat t = %v: %s is %v, in the run %v", text, w.T(), s.Tree.Name(bt.Task(task)), got, status)
				}
			}
			if !slices.Equal(m.Changes, log.list) {
				t.Fatalf("%s\nat t = %v: changes %v, in the run %v", text, w.T(), m.Changes, log.list)
			}
			u, _ := w.Discrete()
			for i, v := range s.w.u {
				known := true
				if s.w.isValue(i) {
					v, known = s.w.values[i].offset, s.w.values[i].known()
				}
				if known && !s.idle(i) && v != u[i] {
					t.Fatalf("%s\nat t = %v: input %d is %v, in the run %v", text, w.T(), i, v, u[i])
				}
			}
			key = m.After()
			f.kept = map[string]float64{}
			for i, v := range s.w.values {
				if v.form >= 0 && !s.idle(i) {
					f.kept[s.atoms[s.list[v.form].terms[0].atom].signal] = u[i]
				}
			}
			instants++
		})
	}
	return instants
}

// Two states of one class are followed by states of the same classes, by the same tasks becoming active.
func TestClassesHaveOneFuture(t *testing.T) {
	missions, merged := 400, 0
	if testing.Short() {
		missions = 80
	}
	for seed := range uint64(missions) {
		o := oracle.Random(rand.New(rand.NewPCG(seed, 78)), oracle.All)
		m, _ := o.Read()
		if m == nil {
			continue
		}
		s := New(m.Subject())
		search := explore.New[Key, string](explore.Budget{States: 400})
		search.Arrive(-1, "", "")
		future := map[string]string{}
		for n := range search.Leave() {
			next := map[string]bool{}
			s.Steps(search.Key(n), func(x *Moment) {
				switch {
				case x.Err != nil:
					next[fmt.Sprint(x.Err)] = true
				case x.Over:
					class := x.Class()
					next[fmt.Sprint(class, x.Entered())] = true
					search.Arrive(n, x.After(), class)
				}
			})
			class := search.Move(n)
			text := fmt.Sprint(slices.Sorted(maps.Keys(next)))
			if before, known := future[class]; known {
				if merged++; before != text {
					t.Fatalf("seed %d\n%s\nstate %d", seed, o, n)
				}
			}
			future[class] = text
		}
	}
	t.Logf("%d states share a class", merged)
	if merged < missions/4 {
		t.Errorf("only %d states share a class", merged)
	}
}
