package oracle

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/canopy-uav/canopy/document/mission"
)

// classes are the abilities that are compared one by one.
var classes = []struct {
	name  string
	shape Shape
}{
	{name: "plain", shape: Shape{Depth: 3, Facts: true}},
	{name: "hysteresis", shape: Shape{Depth: 3, Hysteresis: true, Facts: true}},
	{name: "memory", shape: Shape{Depth: 3, Memory: true, Hysteresis: true, Facts: true}},
	{name: "shared", shape: Shape{Depth: 3, Memory: true, Hysteresis: true, Shared: true}},
	{name: "timers", shape: Shape{Depth: 2, Memory: true, Timers: true}},
	{name: "procedures", shape: Shape{Depth: 2, Memory: true, Procedures: true}},
	{name: "computed", shape: Shape{Depth: 2, Memory: true, Computed: true}},
	{name: "slots", shape: Shape{Depth: 2, Slots: true}},
	{name: "remembering", shape: Shape{Depth: 2, Slots: true, Memory: true}},
	{name: "typed", shape: Shape{Depth: 2, Slots: true, Typed: true, Memory: true}},
	{name: "captured", shape: Shape{Depth: 2, Slots: true, Captured: true, Memory: true}},
	{name: "all", shape: All},
	{name: "entries", shape: Shape{Depth: 2, Memory: true, Entries: true}},
	{name: "scripts", shape: scripts},
	{name: "guards", shape: Shape{Depth: 3, Memory: true, Guards: true}},
	{name: "guarded", shape: guarded},
}

var missions = flag.Int("missions", 0, "number of random missions of each class; 0: as many as the tests need")

// effort returns the number of random missions of each class, and the maximum number of states of the witness.
func effort(few, states int) (cases, limit int) {
	if *missions > 0 {
		return *missions, 10_000
	}
	return rounds(few), states
}

// rounds is the number of random missions of a test: all with -missions, else fewer.
func rounds(all int) int {
	switch {
	case testing.Short():
		return all / 40
	case *missions > 0:
		return all
	}
	return all / 4
}

// trial is a random mission of a class.
type trial struct {
	m      *Mission
	read   *mission.Mission
	seed   uint64
	class  int
	counts map[string]int // of the class
	wrong  func(kind, format string, args ...any)
}

// drawn returns a random mission, and what Canopy reads.
func drawn(t *testing.T, r *rand.Rand, shape Shape) (*Mission, *mission.Mission) {
	t.Helper()
	m := Random(r, shape)
	read, diags := m.Read()
	if read == nil {
		t.Fatalf("%v\n%s", diags, m)
	}
	return m, read
}

// eachClass tries random missions of each class, and reports the smallest for each kind of what is wrong; after looks
// at the counts.
func eachClass(t *testing.T, few int, stream uint64, try func(x *trial),
	after func(t *testing.T, shape Shape, cases int, counts map[string]int),
) {
	t.Helper()
	cases, _ := effort(few, 0)
	for n, class := range classes {
		t.Run(class.name, func(t *testing.T) {
			counts, wrong, smallest := map[string]int{}, map[string]int{}, map[string]string{}
			for seed := range uint64(cases) {
				x := &trial{seed: seed, class: n, counts: counts}
				x.m, x.read = drawn(t, rand.New(rand.NewPCG(seed, stream+uint64(100*n))), class.shape)
				x.wrong = func(kind, format string, args ...any) {
					text := kind + ": " + fmt.Sprintf(format, args...) + "\n" + x.m.String()
					if wrong[kind]++; smallest[kind] == "" || len(text) < len(smallest[kind]) {
						smallest[kind] = text
					}
				}
				try(x)
			}
			after(t, class.shape, cases, counts)
			for _, kind := range slices.Sorted(maps.Keys(counts)) {
				t.Log(kind, counts[kind])
			}
			for kind, text := range smallest {
				t.Errorf("%d times in %d missions, the smallest:\n%s", wrong[kind], cases, text)
			}
		})
	}
}
