package simulated

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"canopy/bt"
	"canopy/diag"
	"canopy/executive"
	"canopy/internal/cart"
	"canopy/run"
	"canopy/run/record"
	"canopy/snapshot"
)

// planLog is a log that also keeps the plans that take over.
type planLog struct {
	log
	plans []record.Takeover
}

func (l *planLog) Plan(p record.Takeover) error {
	l.plans = append(l.plans, p)
	return nil
}

// body returns the document of a plan of the cart from the body of its tree.
func body(name, text string) *diag.Source {
	return &diag.Source{Name: name, Text: cart.Plan(text)}
}

// begun returns a run of a cart's mission with a recorder, stepped to a time.
func begun(t *testing.T, text, yaml string, until float64) (*run.Run, *planLog) {
	t.Helper()
	r, err := New(cartMission(t, text, yaml), run.Continuous{}, math.Inf(1))
	if err != nil {
		t.Fatal(err)
	}
	l := &planLog{}
	r.Attach(l)
	step(t, r, until)
	return r, l
}

// step steps a run to its end or beyond a time.
func step(t *testing.T, r *run.Run, until float64) {
	t.Helper()
	for more, err := r.T() < until || until == 0, error(nil); more && r.T() < until; {
		if more, err = r.Step(); err != nil {
			t.Fatal(err)
		}
	}
}

// swapped compiles a plan, and requests that the run goes on with it.
func swapped(r *run.Run, p *diag.Source, safe bool) (diag.List, error) {
	next, list := r.Mission().WithPlan(p)
	if next == nil {
		return list, nil
	}
	return list, r.Exchange(next, safe)
}

func exchange(t *testing.T, r *run.Run, p *diag.Source) {
	t.Helper()
	if list, err := swapped(r, p, false); err != nil || list.HasErrors() {
		t.Fatal(err, list)
	}
}

const drive = `<Sequence name="all"><Action name="drive" write="v := 2" done="x ge 100"/></Sequence>`

// TestSwapKeeps: a kept action goes on without a command below another composite, and only new tasks begin.
func TestSwapKeeps(t *testing.T) {
	r, l := begun(t, drive, "", 20)
	exchange(t, r, body("other.xml", `<Parallel name="both" failure_count="1">
		<Action name="drive" write="v := 2" done="x ge 100"/><Action name="count" entry="gear := 3"/></Parallel>`))
	step(t, r, 100)
	if got := l.kinds(run.KindSwap); len(got) != 1 || !strings.Contains(got[0], "tasks kept: 1; removed: all; new: both, count") &&
		!strings.Contains(got[0], "tasks kept: 1; removed: all; new: count, both") {
		t.Errorf("%q", got)
	}
	var names []string
	h := r.Header()
	for _, p := range l.plans {
		h.Tasks = []record.Task{{Name: "drive"}, {Name: "all"}}
		h.Take(p)
	}
	for _, c := range l.statuses {
		names = append(names, fmt.Sprintf("%s %v", h.Tasks[c.Task].Name, c.To))
	}
	if n := slices.Index(names, "drive Activating"); n < 0 || slices.Contains(names[n+1:], "drive Activating") ||
		!slices.Contains(names, "all Accept") || !slices.Contains(names, "count Running") {
		t.Errorf("%q", names)
	}
	near(t, "drive ends", []float64{50}, 1e-6, func() float64 {
		for _, c := range l.statuses {
			if h.Tasks[c.Task].Name == "drive" && c.To == bt.Finished {
				return c.t
			}
		}
		return 0
	}())
}

// TestSwapWaits: a removed action ends its exit procedure first; nothing new starts before that.
func TestSwapWaits(t *testing.T) {
	r, l := begun(t, `<Action name="old" write="v := 1" exit_time="5" done="x ge 1000"/>`, "", 20)
	exchange(t, r, body("other.xml", `<Action name="now" write="v := 3" done="x ge 1000"/>`))
	if name, engaged, ok := r.Swapping(); !ok || name != "other.xml" || !slices.Equal(engaged, []string{"old"}) {
		t.Errorf("%s waits for %s: %t", name, engaged, ok)
	}
	at := r.T()
	step(t, r, 60)
	if len(l.plans) != 1 || l.plans[0].T != at+5 {
		t.Errorf("at %g: %+v", at, l.plans)
	}
	for _, c := range l.statuses {
		if c.Task == 1 && c.t < at+5 {
			t.Errorf("the new action is %v at %g", c.To, c.t)
		}
	}
	if _, _, ok := r.Swapping(); ok {
		t.Error("the exchange is still under way")
	}
}

// TestSwapRefused: a plan that cannot be compiled, or is not complete, is refused; one without an end at its first
// instant does not take over: the old one goes on, and removed actions with it.
func TestSwapRefused(t *testing.T) {
	r, l := begun(t, drive, "", 20)
	for _, bad := range []string{`<Action name="a" write="nothing := 1"/>`, `<Undefined name="a"/>`,
		`<Sequence><Script code="n := 1"/><ScriptCondition code="ok and n == 1"/></Sequence>`} {
		if list, err := swapped(r, body("bad.xml", bad), false); err != nil || !list.HasErrors() {
			t.Errorf("%s: %v, %v", bad, list, err)
		}
	}
	before := len(l.statuses)
	exchange(t, r, body("endless.xml", `<Repeat num_cycles="-1"><Action name="a" done="true"/></Repeat>`))
	step(t, r, 100)
	if got := l.kinds(run.KindSwap); len(got) != 2 || !strings.Contains(got[1], "endless.xml cannot take over") || len(l.plans) > 0 {
		t.Errorf("%q, %d plans", got, len(l.plans))
	}
	if len(l.statuses) == before || l.last(cartMission(t, drive, ""), "x") < 100 {
		t.Errorf("the old plan does not go on: %v", l.statuses[before:])
	}
}

// randomBody returns the body of a plan of the cart: some of a fixed set of tasks, in some order.
func randomBody(r *rand.Rand) string {
	leaves := []string{
		`<Action name="a" write="v := 1" done="x ge 12"/>`, `<Action name="b" write="v := -1" exit_time="2" done="x le 5"/>`,
		`<Action name="c" entry="gear := 4" entry_time="1.5" exit="gear := 2" done="T le 200"/>`,
		`<Condition name="near" on="x le 8" off="x ge 11"/>`, `<Condition name="warm" on="T ge 220"/>`,
		`<Action name="d" entry="gear := 7" exit="gear := 1" exit_time="1" done="t ge 40"/>`,
	}
	kinds := []string{"Sequence", "Fallback", "ReactiveSequence", "ReactiveFallback", "Sequence"}
	r.Shuffle(len(leaves), func(i, j int) { leaves[i], leaves[j] = leaves[j], leaves[i] })
	outer, inner := kinds[r.IntN(len(kinds))], kinds[r.IntN(len(kinds))]
	n, m := 1+r.IntN(2), 1+r.IntN(3)
	repeated := func(text string) string {
		return `<Repeat name="again" num_cycles="-1"><Timeout name="limit" msec="7000">` + text + `</Timeout></Repeat>`
	}
	text := fmt.Sprintf(`<%s name="in">%s</%s>`, inner, strings.Join(leaves[n:n+m], ""), inner)
	if r.IntN(2) == 0 {
		text = repeated(text)
	}
	return fmt.Sprintf(`<%s name="out">%s%s</%s>`, outer, strings.Join(leaves[:n], ""), text, outer)
}

// flownTasks follows the statuses of a log whose plans are exchanged.
type flownTasks struct {
	*log
	header record.Header
	status map[string]bt.Status
	wrong  []string
	swaps  int
}

func (f *flownTasks) Plan(p record.Takeover) error {
	f.swaps++
	before := len(f.header.Tasks)
	f.header.Take(p)
	for _, t := range f.header.Tasks[before:] {
		f.status[t.Name] = t.Initial
	}
	return nil
}

func (f *flownTasks) Status(t float64, micro int, c bt.Change) error {
	name := f.header.Tasks[c.Task].Name
	if f.status[name] != c.From {
		f.wrong = append(f.wrong, fmt.Sprintf("at %g, %s changes from %v, but was %v", t, name, c.From, f.status[name]))
	}
	f.status[name] = c.To
	return f.log.Status(t, micro, c)
}

// TestSwapsAtRandom: at random instants of random runs, the plan is exchanged for another random one, with checkpoints
// in between. The log is consistent: each change of a task begins at its status before, also across exchanges. Before
// anything that only the new plan has begins, all actions that it does not have are transient. At the end, all actions
// have left.
func TestSwapsAtRandom(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 2))
	swaps, waits, restored := 0, 0, 0
	for trial := range 200 {
		m, list := cart.Read(randomBody(random), "")
		if m == nil {
			t.Fatal(list)
		}
		fresh := func() *run.Run {
			r, err := New(m, run.Continuous{}, math.Inf(1))
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		r := fresh()
		f := &flownTasks{log: &log{}, header: r.Header(), status: map[string]bt.Status{}}
		for _, task := range f.header.Tasks {
			f.status[task.Name] = task.Initial
		}
		r.Attach(f)
		var err error
		for more := true; more && err == nil; {
			if more, err = r.Step(); !more || err != nil {
				break
			}
			if random.IntN(8) == 0 {
				before := f.swaps
				next := randomBody(random)
				_, err = swapped(r, body("next.xml", next), random.IntN(4) == 0)
				if errors.Is(err, run.ErrSwap) {
					err = nil
				}
				if _, engaged, ok := r.Swapping(); ok && err == nil {
					waits++
					if f.swaps != before || len(engaged) == 0 {
						t.Errorf("trial %d: it waits for %v after %d swaps", trial, engaged, f.swaps-before)
					}
				}
			}
			if random.IntN(10) == 0 && err == nil {
				saved := snapshot.Save(nil, r)
				again := fresh()
				if err := snapshot.Load(saved, again); err != nil {
					t.Fatal(err)
				}
				again.Attach(f)
				if more := snapshot.Save(nil, again); string(more) != string(saved) {
					t.Fatalf("trial %d: a restored run is another one", trial)
				}
				r, restored = again, restored+1
			}
		}
		if errors.Is(err, executive.ErrUnsettled) { // a plan without an end at an instant
			err = nil
		}
		if swaps += f.swaps; len(f.wrong) > 0 || err != nil {
			t.Errorf("trial %d: %v\n%s", trial, err, strings.Join(f.wrong, "\n"))
		}
	}
	if swaps < 200 || waits < 50 || restored < 200 {
		t.Errorf("%d swaps, %d waits, %d restored: it tests little", swaps, waits, restored)
	}
}

// TestSafePoint: a safe exchange takes place at the end of the removed actions that ran at the request, before the next
// one begins: in a sequence, in a loop, beside one that both plans have, and beside others that begin meanwhile, which
// run to their end.
func TestSafePoint(t *testing.T) {
	leg := func(name string, x float64) string {
		return fmt.Sprintf(`<Action name="%s" write="v := 1" done="x ge %g"/>`, name, x)
	}
	legs := leg("leg1", 10) + leg("leg2", 20) + leg("leg3", 30) + leg("leg4", 40)
	timed := func(name string, until float64) string {
		return fmt.Sprintf(`<Action name="%s" entry="gear := 3" done="t ge %g"/>`, name, until)
	}
	for _, c := range []struct {
		name, plan string
		at         float64 // of the exchange [s]; the request is at 14 s
		entered    string  // the actions that were entered
	}{
		{"sequence", `<Sequence>` + legs + `</Sequence>`, 20, "leg1 leg2"},
		{"loop", `<Repeat num_cycles="-1"><Sequence>` + leg("leg1", 10) + leg("leg2", 20) + `<Action name="back" write="v := -1" done="x le 5"/></Sequence></Repeat>`,
			20, "leg1 leg2"},
		{"one again and again", `<Repeat num_cycles="-1"><Action name="leg" write="v := 1" done="t ge 20"/></Repeat>`, 20, "leg"},
		{"beside a kept one", `<Parallel><Action name="kept" entry="gear := 3" done="t ge 90"/><Sequence>` + legs + `</Sequence></Parallel>`,
			20, "kept leg1 leg2"},
		{"several", `<Parallel><Sequence>` + legs + `</Sequence>` + timed("other", 24) + `</Parallel>`, 30,
			"leg1 other leg2 leg3"},
		{"several in turn", `<Parallel><Sequence>` + legs + `</Sequence><Sequence>` + timed("a", 12) + timed("b", 17) +
			timed("c", 23) + timed("d", 40) + `</Sequence></Parallel>`, 23, "leg1 a leg2 b c"},
	} {
		r, l := begun(t, `<Parallel name="all">`+c.plan+`<Action name="event" entry="gear := 2" done="t ge 14"/></Parallel>`, "", 14)
		var names []string
		var acts []bool
		for _, x := range r.Header().Tasks {
			names, acts = append(names, x.Name), append(acts, x.Kind == "Action" && x.Name != "event")
		}
		if list, err := swapped(r, body("next.xml", `<Sequence><Action name="kept" entry="gear := 3" done="t ge 90"/>`+
			`<Action name="new" write="v := -1" done="false"/></Sequence>`), true); err != nil || list.HasErrors() {
			t.Fatal(err, list)
		}
		step(t, r, 60)
		var entered, aborted []string
		for _, x := range l.statuses {
			switch {
			case int(x.Task) >= len(names):
			case x.To == bt.Activating && acts[x.Task] && !slices.Contains(entered, names[x.Task]):
				entered = append(entered, names[x.Task])
			case x.From == bt.Running && x.To == bt.Deactivating && acts[x.Task] && names[x.Task] != "kept":
				aborted = append(aborted, names[x.Task])
			}
		}
		if len(l.plans) != 1 || math.Abs(l.plans[0].T-c.at) > 1e-6 || strings.Join(entered, " ") != c.entered ||
			len(aborted) > 0 {
			t.Errorf("%s: %+v, %q, interrupted %q", c.name, l.plans, entered, aborted)
		}
	}
}
