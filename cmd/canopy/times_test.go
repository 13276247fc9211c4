package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

// TestProvedTimesAreKept: carts at random speeds keep the times that are proved from the rates of their equations; also
// some times that are not proved are violated.
func TestProvedTimesAreKept(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 9))
	cases, proved, violated := 40, 0, 0
	if testing.Short() {
		cases = 6
	}
	for range cases {
		speed := func() (text string, low, high float64) {
			mean, part := 1+float64(r.IntN(8))/4, float64(r.IntN(4))/4
			return fmt.Sprintf("(%g + %g * sin(t * %g [1/s])) * 1 [m/s]", mean, part, 0.2+r.Float64()), mean - part, mean + part
		}
		fast, low1, _ := speed()
		slow, low2, high2 := speed()
		first, second := 5+r.IntN(10), 5+r.IntN(10)
		plan := fmt.Sprintf(`<ReactiveFallback>
			<ReactiveSequence><Condition name="low" on="x lt %d [m]"/><Action name="fast" write="u := %s"/></ReactiveSequence>
			<Condition name="high" on="x ge %d [m]"/><Action name="slow" write="u := %s"/></ReactiveFallback>`,
			first, fast, first+second, slow)
		most := float64(first)/max(low1, 0.01) + float64(second)/max(low2, 0.01)
		least := float64(second) / high2
		properties := []string{"eventually high"}
		for _, by := range []float64{0.5, 0.8, 1.001} {
			properties = append(properties, fmt.Sprintf("always (fast -> within %.3f [s] high)", most*by),
				fmt.Sprintf("always (fast -> for %.3f [s] (not high))", least*(2-by)),
				fmt.Sprintf("always (low -> within %.3f [s] (not low))", (float64(first)/max(low1, 0.01))*by))
		}
		mission := cart(t, plan, "check:\n  facts:\n    - x >= 0 [m]\n    - x <= 100 [m]\n  properties:\n    - "+
			strings.Join(properties, "\n    - ")+"\n")
		must(t, os.WriteFile(mission, []byte(strings.Replace(fileText(t, mission), "horizon: 10", "horizon: 60", 1)), 0o600))
		found := answers(t, mission, "property")
		out, stderr, _ := canopy("run", mission, "--out", t.TempDir())
		if !strings.Contains(out, "property ") {
			t.Fatal(out, stderr)
		}
		for _, p := range properties {
			broken := false
			for line := range strings.Lines(out) {
				broken = broken || strings.Contains(line, "violated") && strings.Contains(line, p)
			}
			switch {
			case !strings.Contains(found, "holds in every run: "+p):
			case broken:
				t.Fatalf("%s\n%s is proved, and the flight violates it\n%s", plan, p, found)
			default:
				proved++
			}
			if broken {
				violated++
			}
		}
	}
	t.Logf("%d proved, %d violated", proved, violated)
	if proved < 2*cases || violated < cases/2 {
		t.Errorf("%d proved, %d violated", proved, violated)
	}
}
