package mission_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/internal/cart"
)

const lossy = `<Condition name="near" on="x lt 3 [m] and age(T) lt 5 [s]"/>`

// The signals of sources are computed in simulation, and given by the world behind the outputs in a flight; another plan
// has its own.
func TestFlown(t *testing.T) {
	m, diags := cart.Read(lossy, "outages: [{source: x, from: 5}, {source: T}, {source: nearly}]")
	if m == nil {
		t.Fatal(diags)
	}
	want := []string{"T", "nearly", "x"}
	flown := m.Flown()
	other, diags := flown.WithPlan(m.Plan.Source)
	if other == nil {
		t.Fatal(diags)
	}
	slots := m.Program.Layout.Slots
	for k, sources := range [][]string{names(m.Sources()), names(flown.Sources()), names(other.Sources())} {
		if !slices.Equal(sources, want) {
			t.Errorf("%d: %v", k, sources)
		}
	}
	if got := flown.Program.Layout.Slots; got != slots+6 || other.Program.Layout.Slots != got {
		t.Errorf("%d places before the slots, not %d", got, slots+6)
	}
	for i, s := range flown.Sources() {
		if s.Known != slots+2*i || s.Stamp != s.Known+1 {
			t.Errorf("%+v", s)
		}
	}
	if m.Sources()[0].Known < m.Program.Layout.Computed || len(flown.Program.Computed) != 0 {
		t.Error("the simulation does not compute the signals of sources")
	}
	if m.Flown().Flown() == m || flown.Flown() != flown {
		t.Error("a mission of a flight is not one")
	}
	plain, _ := cart.Read(idle, "")
	if len(plain.Flown().Sources()) != 0 {
		t.Error("a mission without sources has some")
	}
	later, diags := plain.Flown().WithPlan(m.Plan.Source)
	if later != nil || len(diags) == 0 { // x has no source in a mission without outages
		t.Error("a plan has sources that the mission does not have")
	}
}

func names(list []mission.Source) []string {
	var names []string
	for _, s := range list {
		names = append(names, s.Name)
	}
	return names
}

// Many outages do not make formulas that cannot be read.
func TestOutageBudget(t *testing.T) {
	for n, fits := range map[int]bool{100: true, 101: false, 5000: false} {
		list := make([]string, n)
		for i := range list {
			list[i] = fmt.Sprintf("{source: x, from: %d, to: %d}", 2*i, 2*i+1)
		}
		if m, diags := cart.Read(lossy, "outages: [{source: T}, "+strings.Join(list[1:], ", ")+"]"); (m != nil) != fits {
			t.Errorf("%d outages: %v", n, diags)
		}
	}
}

// What is judged on a run is asked for several times: the document is not read again for it.
func TestWatchReadsNothing(t *testing.T) {
	m, _ := cart.Read(idle, "signals: {twice: {unit: m, value: 2 * x}}")
	if m == nil || m.Watch().Computed["twice"] == nil {
		t.Fatal("a computed signal is not judged by its formula")
	}
	if n := testing.AllocsPerRun(5, func() { m.Watch() }); n > 30 {
		t.Errorf("%g allocations", n)
	}
}
