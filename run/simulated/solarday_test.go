package simulated

import (
	"bytes"
	"math"
	"os"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/run"
	"github.com/canopy-uav/canopy/run/record"
)

// milestones are the status changes of the solar day, simulated with the explicit method at rtol 1e-10 and absolute
// tolerances a ten-thousandth of the model's; an independent C program on ARKODE finds the same times within 0.0001
// s.
var milestones = []struct {
	t    float64
	task string
	to   bt.Status
}{
	{41376.5647, "mission", bt.Running}, // 11:29:37, the battery is no longer critical
	{41483.7493, "climb", bt.Running},   // 11:31:24, full
	{50226.0939, "mission", bt.Running}, // 13:57:06, at the top
	{69385.1986, "surplus", bt.Failure}, // 19:16:25
	{69484.1926, "sink", bt.Running},    // 19:18:04, the first sink; then switching near the critical charge
	{69621.9608, "mission", bt.Running},
	{69737.6185, "sink", bt.Running},
	{69837.3589, "mission", bt.Running},
	{69887.3177, "sink", bt.Running},
	{70152.8733, "mission", bt.Running},
	{70226.5119, "sink", bt.Running},
	{70511.1697, "mission", bt.Running},
	{70564.1860, "sink", bt.Running},
	{85883.9680, "hold", bt.Running}, // 23:51:24, at the bottom
}

func solarDay(t testing.TB, set ...string) *mission.Mission {
	t.Helper()
	m := read(t, "../../missions/solar-day.yaml", os.ReadFile, shipped, set)
	return m
}

// worst flies the day and returns how far any milestone is off, before 19:00 and after [s].
func worst(t *testing.T, m *mission.Mission) (r *run.Run, l *log, before, after float64) {
	t.Helper()
	r, l = flown(t, m)
	if s := r.Summary(); s.TimeEvents != 0 {
		t.Errorf("%d time events, want none", s.TimeEvents)
	}
	rest := l.statuses
	for i := 0; i < len(rest) && rest[i].t == 0; { // the first settling
		rest = rest[1:]
	}
	for _, want := range milestones {
		for len(rest) > 0 && (m.Plan.Tree.Name(rest[0].Task) != want.task || rest[0].To != want.to) {
			rest = rest[1:]
		}
		if len(rest) == 0 {
			t.Fatalf("%s never became %v about %g s", want.task, want.to, want.t)
		}
		switch off := math.Abs(rest[0].t - want.t); {
		case want.t < 68400:
			before = max(before, off)
		default:
			after = max(after, off)
		}
		rest = rest[1:]
	}
	return r, l, before, after
}

// The day of the 2014 paper, section 6, comes out: its milestones in order and in time.
//
// The evening's switching feeds on its own errors: each switch happens a fraction of a percent of charge after the
// last, so an error of the integration there shows larger in time than before 19:00.
func TestSolarDay(t *testing.T) {
	m := solarDay(t)
	_, l, before, after := worst(t, m)
	t.Logf("at rtol %g the milestones are off by at most %.3f s before 19:00, %.3f s after", m.Tolerance, before, after)
	if before > 0.1 || after > 1 {
		t.Errorf("the milestones are off by %.3f s before 19:00 and %.3f s after, want 0.1 and 1", before, after)
	}
	soc := l.column(m, "soc")
	least := math.Inf(1)
	for _, v := range soc {
		least = min(least, v)
	}
	near(t, "state of charge at the end", soc[len(soc)-1:], 0.005, 0.91)
	if least <= 0.1 {
		t.Errorf("the state of charge falls to %g", least)
	}
	near(t, "altitude at the end", l.ends(m, "h"), 0.02, 6000.0094)
	if runs := l.at(m, "climb", bt.Running); len(runs) != 1 {
		t.Errorf("climbs %d times, want once", len(runs))
	}
}

// Tightening the tolerance a hundredfold moves no event by more than 5 s; the events come nearer to the true ones.
func TestSolarDayTolerance(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: the day at a hundredth of the tolerance takes seconds")
	}
	_, _, before, after := worst(t, solarDay(t, "tolerance=1e-8"))
	t.Logf("at rtol 1e-8 the milestones are off by at most %.3f s before 19:00, %.3f s after", before, after)
	if before > 0.01 || after > 0.1 {
		t.Errorf("the milestones are off by %.3f s before 19:00 and %.3f s after, want 0.01 and 0.1", before, after)
	}
}

// logs flies a mission and returns its run.mcap, status.csv and signals.csv.
func logs(m *mission.Mission) (files [3][]byte, err error) {
	r, err := New(m, run.Continuous{}, math.Inf(1))
	if err != nil {
		return files, err
	}
	var b [3]bytes.Buffer
	w, err := record.NewWriter(r.Header(), record.Files{MCAP: &b[0], Status: &b[1], Signals: &b[2]})
	if err != nil {
		return files, err
	}
	r.Attach(w)
	for more := true; more; {
		if more, err = r.Step(); err != nil {
			return files, err
		}
	}
	err = w.Close(r.Summary())
	return [3][]byte{b[0].Bytes(), b[1].Bytes(), b[2].Bytes()}, err
}

// BenchmarkSolarDay flies the day without recording to files. docs/performance.md compares it with CVODE in C.
func BenchmarkSolarDay(b *testing.B) {
	m := solarDay(b)
	b.ReportAllocs()
	benchmarkDay(b, m, run.Continuous{})
}

// BenchmarkRecordedInputs flies the day from the inputs that the tree gave: what the plan and the search for its events
// cost is the difference to BenchmarkSolarDay, which the papers report as almost nothing.
func BenchmarkRecordedInputs(b *testing.B) {
	m := solarDay(b)
	_, trace := flyInto(b, m, run.Continuous{})
	benchmarkDay(b, m, trace.Inputs)
}

func benchmarkDay(b *testing.B, m *mission.Mission, c run.Configuration) {
	for b.Loop() {
		r, err := New(m, c, math.Inf(1))
		if err != nil {
			b.Fatal(err)
		}
		r.Attach(record.Nothing{})
		if err := r.Fly(b.Context(), nil); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(r.Summary().RHSEvaluations), "rhs/op")
		b.ReportMetric(float64(r.Summary().Steps), "steps/op")
	}
}
