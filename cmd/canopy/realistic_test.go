package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/analysis/verify"
)

// usual is where the states of the vehicles of the realistic missions are at a start.
var usual = map[string]string{"drone.vehicle.yaml": "x 0 1500 h 0.5 110 soc 0.1 1 seen 0 3000",
	"glider.vehicle.yaml": "h 50 1500 fuel 0 1 x 0 12000", "buoy.vehicle.yaml": "T 282.5 285.5 soc 0.1 1 sent 0 100"}

// TestRealisticMissions: of the missions in testdata/missions, which are like those that users write, at most one answer
// in ten is not concluded; no flight contradicts an answer.
func TestRealisticMissions(t *testing.T) {
	const folder = "testdata/missions"
	names, err := filepath.Glob(folder + "/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	c := &campaign{T: t, counts: map[string]int{}}
	answers, open, missions := 0, 0, 0
	for _, name := range names {
		name = filepath.Base(name)
		vehicle := ""
		text, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, ".vehicle.yaml") || testing.Short() && !strings.Contains(string(text), ".vehicle.yaml") {
			continue
		}
		missions++
		for v, states := range usual {
			if strings.Contains(string(text), v) {
				vehicle = states
			}
		}
		found := c.realistic(string(text), strings.Fields(vehicle))
		for i := range found {
			switch f := &found[i]; {
			case f.Verdict == verify.NotAsked && f.Needs != "", f.Question == "regression":
			case f.Verdict == verify.Undecided || f.Verdict == verify.NotAsked:
				t.Logf("%s: %s %s: %s", name, f.Question, f.Word(), f.Text)
				open++
				fallthrough
			default:
				c.counts[f.Question+" "+f.Word()]++
				answers++
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.counts)) {
		t.Logf("%6d %s", c.counts[name], name)
	}
	t.Logf("%d of %d answers about %d missions are not concluded", open, answers, missions)
	if open*10 > answers {
		t.Error("more than one in ten")
	}
}

// realistic checks a mission and flies it from its declared start and, if its vehicle is given as equations, from
// others; it returns the answers.
func (c *campaign) realistic(text string, states []string) []verify.Finding {
	c.open = os.DirFS("testdata/missions")
	c.files = func(initial string, _ float64) map[string]string { return map[string]string{"m.yaml": text + initial} }
	m, list := c.read("", 0)
	if m == nil {
		c.Fatal(list)
	}
	asked, err := provable(m)
	if err != nil {
		c.Fatal(err)
	}
	found := verify.Check(asked)
	r := rand.New(rand.NewPCG(27, 27))
	for i := range flightsEach {
		initial := ""
		if i > 0 {
			initial = "initial:\n"
			for k := 0; k < len(states); k += 3 {
				low, _ := strconv.ParseFloat(states[k+1], 64)
				high, _ := strconv.ParseFloat(states[k+2], 64)
				initial += fmt.Sprintf("  %s: %.3f\n", states[k], low+(high-low)*r.Float64())
			}
		}
		if i == 0 || len(states) > 0 {
			c.judge(found, c.fly(initial, 0), initial)
		}
	}
	return found
}
