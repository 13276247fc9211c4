package simulated

import (
	"math"
	"os"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/run"
)

// The solar day with the fuel cell of the 2014 paper's Figures 7 and 8: until the aircraft is at the top nothing
// differs; then the cell is loaded at constant power until it is full, and only then is the mission flown. The state
// graph does the same.
func TestSolarDayWithFuelCell(t *testing.T) {
	m := read(t, "../../missions/solar-day-fuelcell.yaml", os.ReadFile, shipped, nil)
	_, l := flown(t, m)
	const top, hours4 = 50226.0939, 4 * 3600 // the milestone of the day without, and 2000 Wh / 500 W
	near(t, "loading begins", l.at(m, "load", bt.Running), 0.1, top)
	near(t, "the cell is full", l.at(m, "cell_full", bt.Success), 0.1, top+hours4)
	near(t, "what is in it", l.ends(m, "loaded"), 1, 2000*3600)
	if at := l.at(m, "mission", bt.Running); len(at) < 2 || math.Abs(at[1]-(top+hours4)) > 0.1 {
		t.Errorf("the mission is flown from %v, want from the moment when the cell is full", at)
	}
	near(t, "state of charge at the end", l.ends(m, "soc"), 0.0001, 0.9106)

	difference, err := differ(m, run.Continuous{}, run.StateGraph{})
	if err != nil {
		t.Fatal(err)
	}
	if !difference.Same || difference.Time != 0 || difference.Signal != 0 {
		t.Errorf("the state graph differs: %+v", difference)
	}
}

// differ flies a mission in two configurations and compares.
func differ(m *mission.Mission, a, b run.Configuration) (run.Difference, error) {
	var histories []*run.History
	for _, c := range []run.Configuration{a, b} {
		r, err := New(m, c, math.Inf(1))
		if err != nil {
			return run.Difference{}, err
		}
		history := run.NewHistory(m)
		r.Attach(history.Recorder())
		for more := true; more; {
			if more, err = r.Step(); err != nil {
				return run.Difference{}, err
			}
		}
		histories = append(histories, history)
	}
	return histories[0].Minus(histories[1]), nil
}
