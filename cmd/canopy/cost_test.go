package main

import (
	"context"
	"io"
	"testing"
)

// No question about the shipped missions takes much more than it did: the number of allocations stands for the work,
// since it does not depend on the machine.
func TestQuestionsOfShippedMissionsAreCheap(t *testing.T) {
	const folder, examples = "../../missions/", "../examples/"
	check := func(name string) func() {
		return func() {
			s, err := subject(folder+name, "", io.Discard)
			must(t, err)
			ask(context.Background(), s, 60, &progress{})
		}
	}
	compared := func(old, updated string) func() {
		return func() {
			if _, err := difference(context.Background(), folder+old, folder+updated, 60, io.Discard); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, test := range []struct {
		name string
		ask  func()
		most float64 // a quarter more than it was
	}{
		{"check boat", check(examples + "08-finite-time/boat.yaml"), 150_000},
		{"check corridor", check(examples + "08-finite-time/corridor.yaml"), 175_000},
		{"check sliding", check(examples + "09-regression/sliding.yaml"), 97_000},
		{"check circuit", check("circuit.yaml"), 1_270_000},
		{"check inspection", check("inspection.yaml"), 880_000},
		{"check solar-day", check("solar-day.yaml"), 210_000},
		{"check fuelcell", check("solar-day-fuelcell.yaml"), 440_000},
		{"diff circuit", compared("circuit.yaml", "circuit.yaml"), 22_000},
		{"diff fuelcell", compared("solar-day-fuelcell.xml", "solar-day-fuelcell.xml"), 7400},
		{"diff solar-day fuelcell", compared("solar-day.yaml", "solar-day-fuelcell.yaml"), 23000},
	} {
		if got := testing.AllocsPerRun(1, test.ask); got > test.most {
			t.Errorf("%s allocates %.0f times, at most %.0f", test.name, got, test.most)
		}
	}
}
