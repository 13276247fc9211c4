package simulated

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"canopy/document/mission"
	"canopy/run"
	"canopy/vehicle/model"
)

func circuitHundred(t testing.TB, n int) *mission.Mission {
	open := func(name string) ([]byte, error) {
		text, err := os.ReadFile(name)
		if err == nil && strings.HasSuffix(name, ".xml") {
			var b strings.Builder
			b.WriteString(`<ReactiveParallel success_count="-1" failure_count="-1">`)
			for k := range n {
				a := float64(k)
				x, y := 900*math.Sin(a*1.7), 900*math.Cos(a*2.3)
				fmt.Fprintf(&b, `<ReactiveFallback><Condition name="c%d" on="sqrt((x - %.3g [m])^2 + (y - %.3g [m])^2) le 60 [m]"/><Action name="a%d"/></ReactiveFallback>`, k, x, y, k)
			}
			s := strings.Replace(string(text), `<ReactiveSequence name="circuit">`, b.String()+`<ReactiveSequence name="circuit">`, 1)
			s = strings.Replace(s, "</ReactiveSequence>\n  </BehaviorTree>", "</ReactiveSequence></ReactiveParallel></BehaviorTree>", 1)
			text = []byte(s)
		}
		return text, err
	}
	m, diags := mission.Read("../../missions/circuit.yaml", open, model.Offers(model.Vehicles()...), nil)
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	m.Horizon = 3600
	return m
}

func BenchmarkHundred(b *testing.B) {
	for _, n := range []int{0, 100} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			m := circuitHundred(b, n)
			b.ResetTimer()
			for range b.N {
				r, err := New(m, run.Continuous{}, math.Inf(1))
				if err != nil {
					b.Fatal(err)
				}
				r.Attach(&log{})
				for more := true; more && err == nil; {
					more, err = r.Step()
				}
				if err != nil {
					b.Fatal(err)
				}
				b.Logf("%+v", r.Summary())
			}
		})
	}
}
