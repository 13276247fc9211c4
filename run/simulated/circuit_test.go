package simulated

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/run"
)

// circuitMission reads the circuit with settings. Its plan is changed by replacing, which must change it.
func circuitMission(t *testing.T, replacing []string, set ...string) *mission.Mission {
	t.Helper()
	return read(t, "circuit.yaml", edited(".xml", func(text string) string {
		changed := strings.NewReplacer(replacing...).Replace(text)
		if len(replacing) > 0 && changed == text {
			t.Fatalf("the plan does not have %q", replacing[0])
		}
		return changed
	}), shipped, set)
}

// The circuit of the 2013 paper, section 6, comes out: the times of its Figure 8, and of a second round.
func TestCircuit(t *testing.T) {
	m := circuitMission(t, nil)
	r, l := flown(t, m)
	reached := []float64{119.4, 157.4, 245.9, 283.9, 372.5, 410.5, 499.0, 537.0}
	near(t, "altitude ok", l.at(m, "altitude", bt.Success), 0.3, 100.1)
	near(t, "waypoints reached", l.at(m, "reached", bt.Success), 0.3, reached...)
	near(t, "advance failed", l.at(m, "advance", bt.Aborted), 0.3, 283.9, 537.0)
	near(t, "reset", l.at(m, "reset", bt.Finished), 0.3, 283.9, 537.0)
	near(t, "altitude at the end", l.ends(m, "h"), 0.5, 250)
	if s := r.Summary(); s.TimeEvents != 0 {
		t.Errorf("%d time events, want none", s.TimeEvents)
	}

	// At each waypoint fly is left, advance entered and left, and fly entered again, at one instant; at the last one
	// reset comes in between.
	for i, at := range l.at(m, "reached", bt.Success) {
		var order []string
		for _, c := range l.statuses {
			name := m.Plan.Tree.Name(c.Task)
			if c.t == at && m.Plan.Tree.Kind(c.Task) == bt.Action && (c.To == bt.Activating || c.To == bt.Deactivating) {
				order = append(order, name+" "+c.To.String())
			}
		}
		want := "fly Deactivating, advance Activating, advance Deactivating, fly Activating"
		if i%4 == 3 {
			want = strings.Replace(want, ", fly A", ", reset Activating, reset Deactivating, fly A", 1)
		}
		if got := strings.Join(order, ", "); got != want {
			t.Errorf("at %.3f s: %s, want %s", at, got, want)
		}
	}
}

// The exit procedure of the take-off is what keeps the aircraft from climbing on (Figure 9).
func TestCircuitWithoutExitProcedure(t *testing.T) {
	m := circuitMission(t, []string{`exit="V_cmd := 18 [m/s]; h_cmd := 250 [m]"`, ""})
	_, l := flown(t, m)
	if h := l.last(m, "h"); !(h > 1300) {
		t.Errorf("without the exit procedure it ends at %g m, want more than 1300 m", h)
	}
	if n := len(l.at(m, "advance", bt.Activating)); n < 5 {
		t.Errorf("%d waypoints were reached", n)
	}
}

// Ticked conventionally, the altitude check and the take-off are activated at every tick (Figure 10); if tasks can be
// transient, the check never is and the take-off once, ticked or not.
func TestCircuitConventional(t *testing.T) {
	m := circuitMission(t, nil)
	for _, c := range []struct {
		configuration  run.Configuration
		check, takeOff int
	}{
		{run.Ticked{Period: 1, Conventional: true}, 100, 100},
		{run.Ticked{Period: 1}, 0, 1},
		{run.Continuous{}, 0, 1},
	} {
		l := &log{}
		r := begin(t, m, c.configuration, 99.5, l)
		if err := r.Fly(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		check, takeOff := len(l.at(m, "altitude", bt.Activating)), len(l.at(m, "take_off", bt.Activating))
		if check != c.check || takeOff != c.takeOff {
			t.Errorf("%v: the check is activated %d times and the take-off %d times, want %d and %d", c.configuration,
				check, takeOff, c.check, c.takeOff)
		}
		v := l.column(m, "V_cmd")
		if v := v[len(v)-2]; v != 16 { // the last is after the exit procedures
			t.Errorf("%v: between two ticks V_cmd is %g, want that of the take-off", c.configuration, v)
		}
	}
}

// A plan whose procedures take time cannot be ticked conventionally.
func TestConventionalRefusesSlowProcedures(t *testing.T) {
	m := cartMission(t, `<Action name="wait" entry_time="3s"/>`, "")
	if _, err := New(m, run.Ticked{Period: 1, Conventional: true}, 10); !errors.Is(err, run.ErrConventional) ||
		!strings.Contains(err.Error(), "wait") {
		t.Error(err)
	}
}

// The limit that docs/plans.md names: a waypoint that is reached as soon as it is the current one ends the round.
func TestCircuitWaypointsTooClose(t *testing.T) {
	m := circuitMission(t, nil, "route.x2=1880", "route.y2=0")
	_, l := flown(t, m)
	near(t, "the round ends", l.at(m, "round", bt.Finished), 0.3, 119.4)
}

// Started in flight, the aircraft does not take off (section 6: "no take-off is executed").
func TestCircuitInFlight(t *testing.T) {
	m := read(t, "circuit.yaml", edited(".yaml", func(text string) string {
		return text + "initial: {h: 250, V: 18}\ncommands: {h_cmd: {default: 250}, V_cmd: {default: 18}}\n"
	}), shipped, nil)
	_, l := flown(t, m)
	if n := len(l.at(m, "take_off", bt.Activating)); n != 0 {
		t.Errorf("it takes off %d times", n)
	}
	if at := l.at(m, "reached", bt.Success); len(at) == 0 || math.Abs(at[0]-1850/18.0) > 0.1 {
		t.Errorf("the first waypoint is reached at %v s, want 1850 m / 18 m/s", at)
	}
}
