package simulated

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"canopy/document/mission"
	"canopy/internal/cart"
	"canopy/run"
)

// manyLeaves is a mission whose cart turns around 400 times, with n leaves that have nothing to do with it: each has a
// threshold of its own, or all have the same one.
func manyLeaves(b *testing.B, n int, shared bool) *mission.Mission {
	b.Helper()
	var rules strings.Builder
	for i := range (n - 3) / 2 {
		at := 500 + i
		if shared {
			at = 500
		}
		fmt.Fprintf(&rules, `<ReactiveSequence name="s%d"><Condition name="c%d" on="x gt %d [m]"/><Action name="a%d" write="v := 0"/></ReactiveSequence>`, i, i, at, i)
	}
	m, diags := cart.Read(`<ReactiveFallback>`+rules.String()+`<ReactiveSequence><Condition ID="far" on="x ge 7 [m]" off="x le 3 [m]"/><Action ID="back" write="v := -1"/></ReactiveSequence>
		<Action ID="forth" write="v := 1"/></ReactiveFallback>`, "", "horizon=1600")
	if m == nil {
		b.Fatal(diags)
	}
	return m
}

// BenchmarkLeaves measures an event, with all that follows from it, beside leaves that it does not concern.
func BenchmarkLeaves(b *testing.B) {
	for _, shared := range []bool{true, false} {
		for _, n := range []int{11, 101, 1001, 20001} {
			b.Run(fmt.Sprintf("shared=%v/leaves=%d", shared, n), func(b *testing.B) {
				m := manyLeaves(b, n, shared)
				events := 0
				for b.Loop() {
					r, err := New(m, run.Continuous{}, math.Inf(1))
					if err != nil {
						b.Fatal(err)
					}
					r.Attach(&log{})
					for more := true; more; {
						if more, err = r.Step(); err != nil {
							b.Fatal(err)
						}
					}
					events += r.Events()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(events), "ns/event")
			})
		}
	}
}
