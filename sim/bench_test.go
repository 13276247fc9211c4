package sim

import (
	"math"
	"testing"

	"canopy/internal/problems"
	"canopy/ode"
)

// recordedDay replays the events of a log as time events: the same integration without any search.
func recordedDay(t testing.TB, s *Simulator, p *problems.Problem, log []problems.Event, until float64) {
	for i := range s.Above {
		s.Watch(i, 0)
	}
	for s.T < until {
		if len(log) > 0 {
			s.Alarm = log[0].T
		}
		seg, err := s.Advance(until)
		if err != nil {
			t.Fatal(err)
		}
		for ; seg.Alarm && len(log) > 0 && log[0].T == s.T; log = log[1:] {
			answer(s, p.React, log[0].Index)
		}
	}
}

// BenchmarkSearch runs the first hours of solar72 (72 states, 8 indicators) with event search and with recorded events,
// in turn, and reports the ratio of the shortest times: what searching costs.
func BenchmarkSearch(b *testing.B) {
	const until = 14400
	for _, method := range []ode.Method{ode.Explicit, ode.Implicit, ode.Auto} {
		b.Run(method.String(), func(b *testing.B) {
			p, o := problems.Solar72, ode.Options{Method: method}
			log := follow(b, p, begin(b, p, o), until)
			searched, bare := math.Inf(1), math.Inf(1)
			var st, sb Stats
			for b.Loop() {
				began := b.Elapsed()
				s := begin(b, p, o)
				follow(b, p, s, until)
				middle := b.Elapsed()
				r := begin(b, p, o)
				recordedDay(b, r, p, log, until)
				searched = min(searched, (middle - began).Seconds())
				bare = min(bare, (b.Elapsed() - middle).Seconds())
				st, sb = s.Stats(), r.Stats()
			}
			b.ReportMetric(searched/bare, "search/bare")
			b.ReportMetric(float64(st.Steps), "steps")
			b.ReportMetric(float64(st.Samples)/float64(st.Steps), "samples/step")
			b.ReportMetric(float64(st.Evaluations)/float64(sb.Evaluations), "rhs-ratio")
		})
	}
}
