package simulated

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/internal/cart"
	"github.com/canopy-uav/canopy/run"
	"github.com/canopy-uav/canopy/run/record"
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
	l := &planLog{}
	r := begin(t, cartMission(t, text, yaml), run.Continuous{}, math.Inf(1), l)
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
	if got := l.kinds(record.KindSwap); len(got) != 1 || !strings.Contains(got[0], "tasks kept: 1; removed: all; new: both, count") &&
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
	exchange(t, r, body("endless.xml", `<Sequence><Script code="n := 1"/><Repeat num_cycles="-1"><Script code="n := 3 - n"/></Repeat></Sequence>`))
	step(t, r, 100)
	if got := l.kinds(record.KindSwap); len(got) != 2 || !strings.Contains(got[1], "endless.xml cannot take over") || len(l.plans) > 0 {
		t.Errorf("%q, %d plans", got, len(l.plans))
	}
	if len(l.statuses) == before || l.last(cartMission(t, drive, ""), "x") < 100 {
		t.Errorf("the old plan does not go on: %v", l.statuses[before:])
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
