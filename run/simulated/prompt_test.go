package simulated

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/run"
)

// settlings is a world that compares the states and outputs between the settlings of one instant.
type settlings struct {
	*world
	at      float64
	seen    []float64 // at the settling before
	jumps   func(from, to []float64)
	instant bool // a settling of the instant has been seen
}

func (w *settlings) Advance(until float64) (run.Segment, error) {
	w.instant = false
	return w.world.Advance(until)
}

func (w *settlings) Iterate() ([]int, error) {
	changed, err := w.world.Iterate()
	now := slices.Clone(w.Signals())
	if w.instant && w.at == w.T() {
		w.jumps(w.seen, now)
	}
	w.seen, w.at, w.instant = now, w.T(), true
	return changed, err
}

// TestPromptSignalsJump: within an instant the plan sees a state or an output change only if one of the commands has
// changed that set off events of it at once, or on which it depends.
func TestPromptSignalsJump(t *testing.T) {
	vehicles := 400
	if testing.Short() {
		vehicles = 60
	}
	jumped, kept := 0, 0
	for seed := range uint64(vehicles) {
		r := rand.New(rand.NewPCG(seed, 11))
		pick := func(list ...string) string { return list[r.IntN(len(list))] }
		term := func() string { return pick("x", "y", "a", "b", "u", "v", "w", "z", "o") }
		v := fmt.Sprintf("vehicle: v\nstates:\n  x: {derivative: \"%d [1/s]\"}\n  y: {derivative: \"(u - y) * 1 [1/s]\"}\n", r.IntN(3)-1) +
			"discrete: {a: {}, b: {}}\ncommands: {u: {}, v: {}, w: {}}\noutputs:\n"
		v += fmt.Sprintf("  z: {value: %s + %s}\n", pick("x", "a", "u", "b"), pick("y", "b", "v"))
		v += fmt.Sprintf("  o: {value: \"if(%s gt %d, 1, %s)\"}\nevents:\n", pick("x", "z", "a", "w"), r.IntN(3), pick("z", "x", "b"))
		for range 1 + r.IntN(4) {
			v += fmt.Sprintf("  - {when: %s %s %d, then: \"%s := %s\"}\n", term(), pick("gt", "lt"), r.IntN(4)-1,
				pick("x", "y", "a", "b"), pick("0", "1", "2", "u", "1 - a", "v + 1"))
		}
		task := func(name string) string {
			return fmt.Sprintf(`<Action name="%s" write="%s := %d" done="%s %s %d"/>`, name, pick("u", "v", "w"),
				r.IntN(4)-1, term(), pick("ge", "lt"), r.IntN(3))
		}
		files := map[string]string{"v.yaml": v, "m.yaml": "plan: p.xml\nvehicle: v.yaml\nhorizon: 6\n",
			"p.xml": `<root BTCPP_format="4"><BehaviorTree ID="p"><Repeat num_cycles="5"><Sequence>` + task("i") + task("j") +
				`<ReactiveFallback>` + task("k") + task("l") + `</ReactiveFallback></Sequence></Repeat></BehaviorTree></root>`}
		m, diags := mission.Read("m.yaml", func(name string) ([]byte, error) { return []byte(files[name]), nil }, nil, nil)
		if m == nil {
			t.Fatal(v, diags)
		}
		w, err := newWorld(m, false)
		if err != nil {
			t.Fatal(err)
		}
		l := &m.Program.Layout
		check := func(from, to []float64) {
			for place := 1; place < l.Slots; place++ {
				if from[place] == to[place] {
					kept++
					continue
				}
				jumped++
				if !slices.ContainsFunc(m.Program.Direct[place-1], func(c int) bool { return from[l.Slots+c] != to[l.Slots+c] }) {
					t.Fatalf("seed %d: %s jumps from %v to %v at t = %v\n%s%s", seed, m.Subject().Signals[place], from[place], to[place],
						w.T(), v, files["p.xml"])
				}
			}
		}
		x, err := run.New(m, &settlings{world: w, jumps: check}, run.Continuous{}, 6)
		if err != nil {
			t.Fatal(err)
		}
		x.Attach(&silent{})
		for more := true; more && err == nil; { // an error ends a run: events without end
			more, err = x.Step()
		}
	}
	if jumped < vehicles/4 || kept < vehicles {
		t.Errorf("%d signals jumped, %d did not", jumped, kept)
	}
}
