package main

import (
	"slices"
	"testing"

	"github.com/canopy-uav/canopy/internal/flight"
)

func TestNumbers(t *testing.T) {
	dir := t.TempDir()
	t.Chdir("../..")
	err := flight.Try(run, dir, "paths.svg",
		"goto   8 tasks: home from all 50 headings, ",
		"amble  50 tasks: home from all 50 headings, ",
		"bar    19 tasks: grabbed from all 200 places, ",
		"the tower from all 22 arrangements, 119 actions in all (4 5 6 6 3 7 4 5 6 2 8 5 7 1 6 7 8 0 6 8 7 8), 119 are needed\n",
	)
	if err != nil {
		t.Error(err)
	}
}

// No robot drives through an obstacle.
func TestWaysAreClear(t *testing.T) {
	t.Chdir("../..")
	p, err := read("amble.tr")
	if err != nil {
		t.Fatal(err)
	}
	for k := range 20 {
		in := newPlain(k, obstacles)
		if _, err := execute(p, in, 20000); err != nil {
			t.Fatal(err)
		}
		for _, at := range in.path {
			if slices.ContainsFunc(obstacles, func(d disc) bool { return d.distance(at) < d.radius }) {
				t.Fatalf("run %d: the robot is inside an obstacle at %v", k, at)
			}
		}
	}
}

func TestSplit(t *testing.T) {
	name, args := split("clear-path(pos,new-point(pos,f(a,b)))")
	if name != "clear-path" || !slices.Equal(args, []string{"pos", "new-point(pos,f(a,b))"}) {
		t.Errorf("%s %q", name, args)
	}
	if name, args := split("idle"); name != "idle" || args != nil {
		t.Errorf("%s %q", name, args)
	}
}
